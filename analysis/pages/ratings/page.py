"""What people say of trajectories, question by question, and how far they agree with each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING

from analysis.figures.ratings import question_dots
from analysis.figures.rubric import rubric_dots
from analysis.filters.selection import Selection
from analysis.filters.study_kinds import whole_scores
from analysis.frames.ratings import rating_frame
from analysis.pages.declaration import WrittenPage
from analysis.pages.people import (
    People,
    after_unblinding,
    chosen_people,
    few_items,
    how_people,
    no_answers,
    no_study,
    other_page,
    simulated_banner,
    who,
)
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Column,
    FigureSpec,
    Notice,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    how_interval,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import listed, number, plural
from analysis.stats.descriptive.means import MeanTable, mean_by_cluster
from analysis.stats.rater_agreement.reliability import Reliability, reliability
from analysis.stats.results import RESAMPLES, Estimate
from annotation.models import Study
from annotation.questionnaires import Question, load_questionnaire
from annotation.questionnaires.requirements import QuestionUse, study_questions

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = "The ratings page shows what people answered, and how far they agree with each other."
SEED = 20251122
NOT_ASKED = "no answered item was asked this"
TITLE = 24


@dataclass(frozen=True)
class Answered:
    """The answers to one question: the mean over all, by agent, and agreement between people."""

    question: Question
    mean: Estimate
    by_agent: Mapping[str, Estimate]
    agreement: Reliability

    @property
    def name(self) -> str:
        return f"{self.question.number} {self.question.title}"


def ratings_report(selection: Selection) -> Report:
    """Everything on the page about people's answers."""
    study = selection.study
    if study is None:
        return Report(empty=no_study(PURPOSE), notices=tuple(map(Notice, selection.notes)))
    questions = whole_scores(load_questionnaire(study.questionnaire))
    if not questions:
        return Report(empty=other_page(PURPOSE, study), notices=tuple(map(Notice, selection.notes)))
    frame = rating_frame(study, selection.runs)
    frame, people, everyone = chosen_people(frame, selection)
    if frame.empty:
        return Report(
            empty=no_answers(PURPOSE, everyone, selection),
            notices=tuple(common.selection_notices(selection)),
        )
    agents = [run.label for run in selection.runs if run.label in set(frame["label"])]
    answered = [_answered(q, frame, agents) for q in questions]
    asked = _asked(study, questions)
    tables = [_question_table(answered, asked), _agreement_table(answered)]
    if len(agents) > 1:
        tables.append(_agent_table(answered, selection, agents))
    return Report(
        sentence=sentence(answered, people),
        figures=tuple(_figures(answered, agents, selection)),
        tables=tuple(tables),
        notices=(
            *common.selection_notices(selection),
            *after_unblinding(people, selection),
            *_notices(answered, people),
        ),
        banners=simulated_banner(people),
        methods="Answers are averaged by question over items and annotators; agreement between "
        "annotators is Krippendorff's alpha with the ordinal metric.",
        how=(
            *common.how_runs(selection),
            *how_people(people, everyone, selection),
            *_how(answered, asked),
        ),
    )


def _asked(study: Study, questions: Sequence[Question]) -> list[QuestionUse]:
    """Of how many items each question was asked."""
    found = study_questions(study, load_questionnaire(study.questionnaire))
    keys = {question.key for question in questions}
    return [asked for asked in found if asked.question.key in keys]


def _answered(question: Question, frame: "DataFrame", agents: Sequence[str]) -> Answered:
    rows = frame[frame["question"] == question.key]
    table = rows.pivot_table(index=["trajectory", "task"], columns="annotator", values="human")
    return Answered(
        question,
        _mean(rows),
        {agent: _mean(rows[rows["label"] == agent]) for agent in agents},
        reliability(
            table.to_numpy(dtype="float64"),
            scale=(1, question.scale.most),
            clusters=table.index.get_level_values("task").tolist() if len(table) else [],
            seed=SEED,
        ),
    )


def _mean(rows: "DataFrame") -> Estimate:
    if rows.empty:
        return Estimate.without_value(NOT_ASKED)
    return mean_by_cluster(
        rows["human"].to_numpy(), rows["task"].tolist(), scale=common.RUBRIC_SCALE
    )


def sentence(answered: Sequence[Answered], people: People) -> str:
    """The best and the worst question, and whether people agree."""
    known = sorted(
        (row for row in answered if row.mean.value is not None),
        key=lambda row: row.mean.value or 0.0,
    )
    items = plural(people.items, "item")
    if not known:
        return f"{who(people)} submitted {items} without an answer to a question."
    low, high = known[0], known[-1]
    if low is high:
        said = f"“{low.question.title}” has a mean of {_points(low)}"
    else:
        said = (
            f"means lie between {_points(low)} (“{low.question.title}”) and {_points(high)} "
            f"(“{high.question.title}”)"
        )
    return f"{who(people)} answered on {items}: {said}; {_agreeing(answered)}."


def _scale(answered: Sequence[Answered]) -> tuple[int, int]:
    """The longest scale among the questions."""
    return 1, max(row.question.scale.most for row in answered)


def _scale_words(answered: Sequence[Answered]) -> str:
    longest = {row.question.scale.most for row in answered}
    ends = " or ".join(f"1 to {most}, {most} best" for most in sorted(longest))
    return ends if len(longest) == 1 else f"{ends}, by question"


def _points(row: Answered) -> str:
    return number(row.mean.value or 0.0, "points")


def _agreeing(answered: Sequence[Answered]) -> str:
    both = [row for row in answered if row.agreement.items]
    if not both:
        return "each item was answered by one person, so how far people agree is not known"
    known = [row.agreement.alpha.value for row in both if row.agreement.alpha.value is not None]
    if not known:
        return "on common items all answers are equal, so agreement beyond chance is undefined"
    items = plural(max(row.agreement.items for row in both), "common item")
    if len(known) == 1:
        return f"on {items} people agree with alpha = {number(known[0], 'points')}"
    span = f"{number(min(known), 'points')} to {number(max(known), 'points')}"
    return f"on {items} people agree with alpha from {span}, by question"


def _figures(
    answered: Sequence[Answered], agents: Sequence[str], selection: Selection
) -> list[FigureSpec]:
    scale = _scale(answered)
    subtitle = f"{_scale_words(answered)}, with 95 % intervals by task."
    found = [
        common.figure_spec(
            "questions",
            "Mean answer by question",
            subtitle,
            question_dots([row.name for row in answered], [row.mean for row in answered], scale),
        )
    ]
    if len(agents) > 1:
        # Four panels side by side leave room for a few words each.
        titles = {row.name: shorten(row.name, TITLE, placeholder="…") for row in answered}
        table = MeanTable(
            tuple(agents),
            tuple(titles.values()),
            {(a, titles[row.name]): row.by_agent[a] for row in answered for a in agents},
        )
        urls = common.run_links(selection)
        links = {(a, title): urls.get(a, "") for title in titles.values() for a in agents}
        found.append(
            common.figure_spec(
                "agents",
                "Mean answer by question and agent",
                subtitle,
                rubric_dots(table, scale=scale, styles=common.styles(list(agents)), links=links),
            )
        )
    return found


def _question_table(answered: Sequence[Answered], asked: Sequence[QuestionUse]) -> Table:
    columns = (
        text_column("Question"),
        estimate_column("Mean"),
        Column(
            "Asked of", ("items asked", "items", "not asked because"), help="Items of the study"
        ),
    )
    rows = []
    for row, of in zip(answered, asked, strict=True):
        why = f"the others {of.why}" if of.items else f"these items {of.why}"
        rows.append(
            (
                text_cell(row.name, sub=row.question.definition),
                estimate_cell(row.mean, "points", show_n=True),
                Cell(
                    f"{of.items:,} of {of.total:,}",
                    (of.items, of.total, of.why if of.left_out else ""),
                    sub=why if of.left_out else "",
                ),
            )
        )
    return Table(
        "questions",
        "Answers by question",
        columns,
        tuple(rows),
        note=f"{_scale_words(answered)}; 95 % intervals are by task; n counts answers.",
    )


def _agreement_table(answered: Sequence[Answered]) -> Table:
    columns = (
        text_column("Question"),
        number_column("Items", "items answered twice", "Items that two people or more answered"),
        estimate_column("Alpha", help="Krippendorff's alpha, ordinal: 1 is perfect, 0 is chance"),
        estimate_column("Equal", help="Share of pairs of answers to one item that are equal"),
        estimate_column("Within one", help="Share of pairs at most one point apart"),
    )
    return Table(
        "people",
        "Agreement between people",
        columns,
        tuple(
            (
                text_cell(row.name),
                count_cell(row.agreement.items),
                estimate_cell(row.agreement.alpha, "points"),
                estimate_cell(row.agreement.equal, "share"),
                estimate_cell(row.agreement.within_one, "share"),
            )
            for row in answered
        ),
        note="Of items that two people or more answered. Where nearly all scores are equal alpha "
        "is low however often people agree: read it beside the shares.",
    )


def _agent_table(
    answered: Sequence[Answered], selection: Selection, agents: Sequence[str]
) -> Table:
    runs = {run.label: run for run in selection.runs}
    return Table(
        "agents",
        "Answers by question and agent",
        (
            Column("Agent", ("agent", "kind", "run"), num=False),
            *(estimate_column(row.name, help=row.question.definition) for row in answered),
        ),
        tuple(
            (
                common.agent_cell(runs[agent]),
                *(estimate_cell(row.by_agent[agent], "points", show_n=True) for row in answered),
            )
            for agent in agents
        ),
        note=f"{_scale_words(answered)}; 95 % intervals are by task; n counts answers.",
        open=False,
    )


def _notices(answered: Sequence[Answered], people: People) -> list[Notice]:
    found = []
    if not any(row.agreement.items for row in answered):
        found.append(
            Notice(
                "Each item was answered by one annotator. To see how far people agree, make a "
                "study with two annotators or more for each query.",
                "info",
            )
        )
    return [*found, *map(Notice, few_items(people))]


def _how(answered: Sequence[Answered], asked: Sequence[QuestionUse]) -> list[str]:
    means = [row.mean for row in answered]
    alphas = [row.agreement.alpha for row in answered]
    lines = [
        f"Means of current answers of submitted items; intervals (95 %): "
        f"{how_interval(means) or 'none'}.",
        "Agreement: Krippendorff's alpha with the ordinal metric over items with two answers or "
        f"more; intervals (95 %): {how_interval(alphas) or f'none ({RESAMPLES:,} resamples)'}. "
        "Equal and within one: share of an item's pairs of answers, mean over items.",
    ]
    left = [f"{of.question.number} {of.question.title} ({of.why})" for of in asked if of.left_out]
    lines.append(
        f"Not asked of some items: {listed(left, most=len(left))}."
        if left
        else "Every item was asked every question."
    )
    return lines


CONTENT = WrittenPage(ratings_report)
