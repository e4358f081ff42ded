"""Which agent do people prefer where they see two side by side?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.layout.theme import NEUTRAL, PEOPLE_SYMBOL, Figure
from analysis.figures.shares import Shares, share_dots
from analysis.filters.selection import ChosenRun
from analysis.filters.study_kinds import asks_pairs, pair_questions
from analysis.frames.preferences import preference_frame
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.people import (
    AnswerCounts,
    asked_study,
    chosen_people,
    few_items,
    no_answers,
    people_details,
    people_notices,
    who_answered,
)
from analysis.reports import content as parts
from analysis.reports.content import Cell
from analysis.reports.formatting import listed, p_text, plural, stated
from analysis.stats.comparison.multiplicity import Family, adjust_family
from analysis.stats.comparison.pairwise import (
    FIRST,
    METHOD,
    SECOND,
    TIE,
    PairwiseStrengths,
    StrengthDifference,
    bradley_terry,
)
from analysis.stats.rater_agreement.reliability import Reliability, category_agreement
from annotation.questionnaires import Question, load_questionnaire
from annotation.questionnaires import types as scales

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20261128
ALPHA = 0.05
PURPOSE = "The preferences page ranks agents by which of two trajectories people prefer."
# Stored answers as outcomes of a comparison.
OUTCOMES = {scales.FIRST: FIRST, scales.TIE: TIE, scales.SECOND: SECOND}


@dataclass(frozen=True)
class Preferences:
    """The answers to one question: strengths, tests of all pairs, and agreement of people."""

    question: Question
    frame: "DataFrame"
    strengths: PairwiseStrengths
    family: Family
    agreement: Reliability

    def tally(self, label: str, other: str = "") -> tuple[int, int, int]:
        """Return how often an agent was preferred, tied and not preferred, perhaps to one other."""
        won = tied = lost = 0
        for first, second, value in self.frame[["first", "second", "value"]].itertuples(
            index=False
        ):
            if label not in (first, second) or other and other not in (first, second):
                continue
            ahead = value == (scales.FIRST if label == first else scales.SECOND)
            tied += value == scales.TIE
            won += ahead
            lost += not ahead and value != scales.TIE
        return won, tied, lost


@dataclass(frozen=True)
class Pair:
    """Two agents on one question, with the corrected p-value of their difference."""

    of: Preferences
    agents: tuple[str, str]
    difference: StrengthDifference

    @property
    def adjusted(self) -> float | None:
        return self.of.family[" – ".join(self.agents)].adjusted

    @property
    def clear(self) -> bool | None:
        return self.of.family[" – ".join(self.agents)].clear


def content(page: Page) -> Content:
    """Rank agents by pairwise preferences, question by question."""
    study = asked_study(page, PURPOSE, asks_pairs)
    if study is None:
        return
    frame, people, everyone = chosen_people(
        preference_frame(study, page.runs), page.selection, "pair"
    )
    if frame.empty:
        no_answers(page, everyone, PURPOSE)
        return
    questions = pair_questions(load_questionnaire(study.questionnaire))
    asked = [_preferences(frame[frame["question"] == question.key], question)
             for question in questions if question.key in set(frame["question"])]  # fmt: skip
    page.answer(_answer(asked[0], people))
    people_notices(page, people)
    few_items(page, people)
    for row in asked:
        if row.strengths.undefined:
            page.warning(f"{row.question.title}: undefined, because {row.strengths.undefined}.")
    labels = set(frame["first"]) | set(frame["second"])
    agents = [run for run in page.runs if run.label in labels]
    _strengths(page, asked[0], agents)
    yield
    for row in asked[1:]:
        _strengths(page, row, agents)
    page.table(
        "pairs",
        "Pairs of agents",
        [
            Pair(row, (str(a), str(b)), difference)
            for row in asked
            for (a, b), difference in row.strengths.differences.items()
        ],
        _pair_columns(len(asked) > 1),
        note="Differences of log-strengths, first minus second. p: t test with tasks − 1 degrees "
        f"of freedom, corrected over the pairs of a question (Holm); clear: p under {ALPHA}.",
    )
    page.table("people", "Agreement between people", asked, _agreement_columns())
    people_details(page, people, everyone)
    page.how(
        f"{METHOD}: a tie is an outcome of its own, and its probability follows from the strengths "
        "of both. Undefined where an agent never lost or never won, without a tie.",
        f"Intervals and tests take {plural(asked[0].strengths.clusters, 'task')} as independent; "
        "answers of several people on one task, and pairs of one task, are not.",
        _sides(study.has_duels),
        "Agreement: Krippendorff's alpha with the nominal metric over first, second and neither.",
    )
    page.methods(
        "Strengths of agents from pairwise preferences were estimated by the Bradley–Terry model "
        "with ties (Davidson 1970), with intervals by a jackknife over tasks."
    )


def _sides(duels: bool) -> str:
    if duels:
        return (
            "Players voted in blind duels, in which both agents reply at once. Sides follow a "
            "Latin square of players by tasks. “Both bad” counts as a tie. Votes at the end of a "
            "duel of which a side broke off are left out, as are duels in which another agent took "
            "over."
        )
    return (
        "Each agent stands on either side equally often, and every other annotator sees each pair "
        "the other way round."
    )


def _strengths(page: Page, row: Preferences, agents: Sequence[ChosenRun]) -> None:
    """Show the agents by their strengths on a question, as a figure and as a table."""
    name = row.question.key.replace("_", "-")
    order = sorted(agents, key=lambda run: -_strength(row, run))
    if not row.strengths.undefined:
        page.figure(
            name,
            row.question.title,
            lambda: _draw(page, row, order),
            subtitle="Probability of being preferred to an agent of mean strength, where there is "
            "no tie; 95 % intervals by task.",
        )
    page.table(
        name,
        row.question.title,
        order,
        _agent_columns(row),
        link=lambda run: Link(runs=(run.pk,)),
    )


def _preferences(frame: "DataFrame", question: Question) -> Preferences:
    strengths = bradley_terry(
        frame["first"].tolist(),
        frame["second"].tolist(),
        [OUTCOMES[value] for value in frame["value"]],
        frame["task"].tolist(),
    )
    family = adjust_family(
        {f"{a} – {b}": row.p_value for (a, b), row in strengths.differences.items()},
        statement=f"all pairs of agents on “{question.title}”",
        alpha=ALPHA,
    )
    agreement = category_agreement(
        frame[["annotator", "pair", "value"]].itertuples(index=False, name=None),
        clusters=dict(zip(frame["pair"], frame["task"], strict=True)),
        seed=SEED,
    )
    return Preferences(question, frame, strengths, family, agreement)


def _strength(row: Preferences, run: ChosenRun) -> float:
    estimate = row.strengths.strengths.get(run.label)
    return (estimate.value if estimate else None) or 0.0


def _answer(row: Preferences, people: AnswerCounts) -> str:
    who = f"{who_answered(people)} compared {plural(people.items, 'pair')}."
    strengths = row.strengths
    if strengths.undefined:
        return f"No order of the agents: {strengths.undefined}. {who}"
    best = max(strengths.agents, key=lambda agent: strengths.strengths[agent].value or 0.0)
    share = stated(strengths.preferred[best], "share")
    beaten = []
    for (a, b), difference in strengths.differences.items():
        other = b if a == best else a
        value = (difference.estimate.value or 0.0) * (1 if a == best else -1)
        if best in (a, b) and row.family[f"{a} – {b}"].clear and value > 0:
            beaten.append(str(other))
    rest = len(strengths.agents) - 1
    clear = (
        f"clearly more than {listed(beaten)}" if beaten else "not clearly more than any other agent"
    )
    if len(beaten) == rest and rest > 1:
        clear = "clearly more than every other agent"
    corrected = f" (Holm, {plural(row.family.size, 'pair')})" if row.family.size > 1 else ""
    return f"{best} is preferred to an average agent in {share}, {clear}{corrected}. {who}"


def _draw(page: Page, row: Preferences, order: Sequence[ChosenRun]) -> Figure:
    estimates = [row.strengths.preferred[run.label] for run in order]
    urls = [page.url(runs=(run.pk,)) for run in order]
    shares = [Shares("preferred", estimates, PEOPLE_SYMBOL, NEUTRAL, urls)]
    return share_dots([run.label for run in order], shares, title="Preferred to an average agent")


def _agent_columns(row: Preferences) -> list[Column[ChosenRun]]:
    strengths = row.strengths
    return [
        columns.agent(lambda run: run),
        columns.estimate("Preferred", lambda run: strengths.preferred[run.label], "share"),
        columns.estimate(
            "Log-strength", lambda run: strengths.strengths[run.label], "points", signed=True,
            help="Mean of all agents: 0",
        ),
        *(
            columns.count(name, lambda run, at=at: row.tally(run.label)[at])  # type: ignore[misc]
            for at, name in enumerate(("Won", "Tied", "Lost"))
        ),
    ]  # fmt: skip


def _pair_columns(several: bool) -> list[Column[Pair]]:
    question: list[Column[Pair]] = [columns.text("Question", lambda pair: pair.of.question.title)]

    def p_cell(pair: Pair) -> Cell:
        alone, adjusted = pair.difference.p_value, pair.adjusted
        if alone is None or adjusted is None:
            return Cell(data=(None, None), reason=pair.difference.estimate.no_interval)
        return Cell(p_text(adjusted), (float(f"{adjusted:.6g}"), float(f"{alone:.6g}")))

    return [
        *(question if several else []),
        columns.text("First", lambda pair: pair.agents[0]),
        columns.text("Second", lambda pair: pair.agents[1]),
        columns.estimate(
            "Difference", lambda pair: pair.difference.estimate, "points", signed=True
        ),
        Column(parts.Column("p", ("p adjusted", "p alone"), help="Holm, over all pairs"), p_cell),
        columns.text("Clear", lambda pair: {True: "yes", False: "no", None: ""}[pair.clear]),
        *(
            columns.count(name, lambda pair, at=at: pair.of.tally(*pair.agents)[at])  # type: ignore[misc]
            for at, name in enumerate(("Won", "Tied", "Lost"))
        ),
    ]


def _agreement_columns() -> list[Column[Preferences]]:
    return [
        columns.text("Question", lambda row: row.question.title),
        columns.count("Pairs", lambda row: row.agreement.items, help="Judged by two or more"),
        columns.estimate("Alpha", lambda row: row.agreement.alpha, "points"),
        columns.estimate("Equal", lambda row: row.agreement.equal, "share"),
        columns.estimate(
            "Tie", lambda row: row.strengths.tie, "share", help="Between agents of equal strength"
        ),
    ]
