"""What do people say, question by question, and do they agree with each other?"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.figures.layout.theme import Figure
from analysis.figures.ratings import question_dots
from analysis.figures.rubric import rubric_dots
from analysis.filters.selection import ChosenRun
from analysis.filters.study_kinds import asks_scores, whole_scores
from analysis.frames.ratings import rating_frame
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
from analysis.reports import figure_specs, system_facts
from analysis.reports.content import Cell, how_interval
from analysis.reports.formatting import listed, number, plural
from analysis.stats.descriptive.means import MeanTable, mean_by_cluster
from analysis.stats.rater_agreement.reliability import Reliability, reliability
from analysis.stats.results import RESAMPLES, Estimate
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.requirements import QuestionUse, study_questions

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20251122
NOT_ASKED = "no answered item was asked this"
PURPOSE = "The ratings page shows what people answered, and how far they agree with each other."
MANY = 99


class QuestionRatings(NamedTuple):
    """The answers to one question: the mean over all, by agent, and agreement between people."""

    use: QuestionUse
    name: str
    mean: Estimate
    by_agent: Mapping[str, Estimate]
    agreement: Reliability


def content(page: Page) -> Content:
    """Average the answers to each question, and compare people's answers to the same item."""
    study = asked_study(page, PURPOSE, asks_scores)
    if study is None:
        return
    questionnaire = load_questionnaire(study.questionnaire)
    questions = whole_scores(questionnaire)
    frame, people, everyone = chosen_people(rating_frame(study, page.runs), page.selection)
    if frame.empty:
        no_answers(page, everyone, PURPOSE)
        return
    uses = {use.question.key: use for use in study_questions(study, questionnaire)}
    labels = set(frame["label"])
    agents = [run for run in page.runs if run.label in labels]
    rows = [_ratings(uses[question.key], frame, agents) for question in questions]

    twice = max((row.agreement.items for row in rows), default=0)
    scales = sorted({row.use.question.scale.most for row in rows})
    scale = " or ".join(f"1 to {most}, {most} best" for most in scales)
    scale += ", by question" * (len(scales) > 1)
    page.answer(_answer(rows, people, twice))
    people_notices(page, people)
    if not twice:
        page.info(
            "Each item was answered by one annotator. To see how far people agree, make a study "
            "with two annotators or more for each query."
        )
    few_items(page, people)

    def draw() -> Figure:
        means = [row.mean for row in rows]
        drawn = question_dots([row.name for row in rows], means, (1, max(scales)))
        return figure_specs.linked(drawn, {row.name: page.url() for row in rows})

    page.figure(
        "questions",
        "Mean answer by question",
        draw,
        subtitle=f"{scale}, with 95 % intervals by task.",
    )
    items = parts.Column(
        "Asked of", ("items asked", "items", "not asked because"), help="Items of the study"
    )
    by_task = f"{scale}; 95 % intervals are by task; n counts answers."
    page.table(
        "questions",
        "Answers by question",
        rows,
        [
            columns.text(
                "Question", lambda row: row.name, tip=lambda row: row.use.question.definition
            ),
            columns.estimate("Mean", lambda row: row.mean, "points", show_n=True),
            Column(items, _asked_of),
        ],
        note=by_task,
    )
    yield
    page.table(
        "people",
        "Agreement between people",
        rows,
        _agreement_columns(),
        note="Of items that two people or more answered. Where nearly all scores are equal alpha "
        "is low however often people agree: read it beside the shares.",
    )
    several = agents if len(agents) > 1 else []
    page.figure(
        "agents",
        "Mean answer by question and agent",
        lambda: _draw_agents(page, rows, several, (1, max(scales))),
        subtitle=f"{scale}, with 95 % intervals by task.",
    )
    page.table(
        "agents",
        "Answers by question and agent",
        several,
        [
            columns.agent(lambda run: run),
            *(
                columns.estimate(
                    row.name, lambda run, row=row: row.by_agent[run.label], "points",  # type: ignore[misc]
                    help=row.use.question.definition, show_n=True,
                )
                for row in rows
            ),
        ],
        link=lambda run: Link(runs=(run.pk,)),
        note=by_task,
        folded=True,
    )  # fmt: skip
    people_details(page, people, everyone)
    means = how_interval([row.mean for row in rows])
    alphas = how_interval([row.agreement.alpha for row in rows])
    gaps = [f"{row.name} ({row.use.why})" for row in rows if row.use.left_out]
    page.how(
        f"Means of current answers of submitted items; intervals (95 %): {means or 'none'}.",
        "Agreement: Krippendorff's alpha with the ordinal metric over items with two answers or "
        f"more; intervals (95 %): {alphas or f'none ({RESAMPLES:,} resamples)'}. Equal and within "
        "one: share of an item's pairs of answers, mean over items.",
        f"Not asked of some items: {listed(gaps, most=MANY)}."
        if gaps
        else "Every item was asked every question.",
    )
    page.methods(
        "Answers are averaged by question over items and annotators; agreement between annotators "
        "is Krippendorff's alpha with the ordinal metric."
    )


def _answer(rows: Sequence[QuestionRatings], people: AnswerCounts, twice: int) -> str:
    """State the questions with the highest and lowest scores, and how far people agree."""
    assignments = plural(people.items, "assignment")
    known = sorted(
        (row for row in rows if row.mean.value is not None), key=lambda row: row.mean.value or 0.0
    )
    if not known:
        return f"{who_answered(people)} submitted {assignments} without an answer to a question."
    low, high = known[0], known[-1]
    least, most = (number(row.mean.value or 0.0, "points") for row in (low, high))
    if len(known) == 1:
        gave = f"answered “{low.use.question.title}” with {least} on average"
    else:
        gave = (
            f"gave {least} (“{low.use.question.title}”) to {most} (“{high.use.question.title}”) on "
            "average"
        )
    coefficients = (row.agreement.alpha.value for row in rows if row.agreement.items)
    alphas = sorted(value for value in coefficients if value is not None)
    if not twice:
        agree = "Each item was answered by one person, so how far people agree is not known."
    elif not alphas:
        agree = "On common items all answers are equal, so agreement beyond chance is undefined."
    else:
        span = number(alphas[0], "points")
        if len(alphas) > 1:
            span += f" to {number(alphas[-1], 'points')}, depending on the question"
        agree = (
            f"On {plural(twice, 'common item')} ordinal alpha, 1 for perfect agreement and 0 for "
            f"chance, is {span}."
        )
    return f"{who_answered(people)} {gave}, in {assignments}. {agree}"


def _ratings(use: QuestionUse, frame: "DataFrame", agents: Sequence[ChosenRun]) -> QuestionRatings:
    rows = frame[frame["question"] == use.question.key]
    table = rows.pivot_table(index=["trajectory", "task"], columns="annotator", values="human")
    return QuestionRatings(
        use,
        f"{use.question.number} {use.question.title}",
        _mean(rows),
        {run.label: _mean(rows[rows["label"] == run.label]) for run in agents},
        reliability(
            table.to_numpy(dtype="float64"),
            scale=(1, use.question.scale.most),
            clusters=table.index.get_level_values("task").tolist() if len(table) else [],
            seed=SEED,
        ),
    )


def _mean(rows: "DataFrame") -> Estimate:
    if rows.empty:
        return Estimate.without_value(NOT_ASKED)
    return mean_by_cluster(
        rows["human"].to_numpy(), rows["task"].tolist(), scale=system_facts.RUBRIC_SCALE
    )


def _draw_agents(
    page: Page,
    rows: Sequence[QuestionRatings],
    agents: Sequence[ChosenRun],
    scale: tuple[int, int],
) -> Figure | None:
    """Draw the mean answers about each of several agents, a question in each panel."""
    if not agents:
        return None
    labels = [run.label for run in agents]
    table = MeanTable(
        tuple(labels),
        tuple(row.name for row in rows),
        {(label, row.name): row.by_agent[label] for row in rows for label in labels},
    )
    links = {(run.label, row.name): page.url(runs=(run.pk,)) for row in rows for run in agents}
    return rubric_dots(table, scale=scale, styles=figure_specs.styles(labels), links=links)


def _asked_of(row: QuestionRatings) -> Cell:
    of = row.use
    why = f"the others {of.why}" if of.items else f"these items {of.why}"
    return Cell(
        f"{of.items:,} of {of.total:,}",
        (of.items, of.total, of.why if of.left_out else ""),
        tip=why if of.left_out else "",
    )


def _agreement_columns() -> list[Column[QuestionRatings]]:
    """Give each question how far people agree on it."""
    return [
        columns.text("Question", lambda row: row.name),
        columns.count(
            "Items",
            lambda row: row.agreement.items,
            "items answered twice",
            "Items that two people or more answered",
        ),
        columns.estimate(
            "Alpha",
            lambda row: row.agreement.alpha,
            "points",
            help="Krippendorff's alpha, ordinal: 1 is perfect, 0 is chance",
        ),
        columns.estimate(
            "Equal",
            lambda row: row.agreement.equal,
            "share",
            help="Share of pairs of answers to one item that are equal",
        ),
        columns.estimate(
            "Within one",
            lambda row: row.agreement.within_one,
            "share",
            help="Share of pairs at most one point apart",
        ),
    ]
