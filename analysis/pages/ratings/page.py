"""The ratings page shows people's answers question by question, and how far people agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.layout.theme import Figure
from analysis.figures.ratings import question_dots
from analysis.figures.rubric import rubric_dots
from analysis.filters.selection import ChosenRun, Selection
from analysis.filters.study_kinds import whole_scores
from analysis.frames.ratings import rating_frame
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    TableOf,
    UrlOf,
    agent_of,
    count_of,
    estimate_of,
    text_of,
)
from analysis.pages.people import AnswerCounts, chosen_people, why_no_answers, why_not_asked
from analysis.reports import figure_specs, system_facts
from analysis.reports.content import Cell, Column, how_interval
from analysis.stats.descriptive.means import MeanTable, mean_by_cluster
from analysis.stats.rater_agreement.reliability import Reliability, reliability
from analysis.stats.results import RESAMPLES, Estimate
from annotation.questionnaires import Question, load_questionnaire
from annotation.questionnaires.requirements import QuestionUse, study_questions

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20251122
NOT_ASKED = "no answered item was asked this"


@dataclass(frozen=True)
class RatingsData:
    """People's answers, and of how many items each question was asked."""

    frame: "DataFrame"
    runs: tuple[ChosenRun, ...]
    asked: tuple[QuestionUse, ...]
    people: AnswerCounts
    everyone: AnswerCounts


@dataclass(frozen=True)
class QuestionRatings:
    """The answers to one question: the mean over all, by agent, and agreement between people."""

    use: QuestionUse
    mean: Estimate
    by_agent: Mapping[str, Estimate]
    agreement: Reliability

    @property
    def question(self) -> Question:
        return self.use.question

    @property
    def name(self) -> str:
        return f"{self.question.number} {self.question.title}"


@dataclass(frozen=True)
class RatingsResult:
    """The answers by question, and the agents that they are about."""

    data: RatingsData
    rows: tuple[QuestionRatings, ...]
    agents: tuple[ChosenRun, ...]

    @property
    def known(self) -> list[QuestionRatings]:
        """The questions with an answer, from the lowest mean to the highest."""
        answered = (row for row in self.rows if row.mean.value is not None)
        return sorted(answered, key=lambda row: row.mean.value or 0.0)

    @property
    def answered_twice(self) -> int:
        """The number of items that two people or more answered, at most over the questions."""
        return max((row.agreement.items for row in self.rows), default=0)

    @property
    def alphas(self) -> list[float]:
        """The defined coefficients of agreement, from low to high."""
        values = (row.agreement.alpha.value for row in self.rows if row.agreement.items)
        return sorted(value for value in values if value is not None)

    @property
    def scale(self) -> tuple[int, int]:
        """The longest scale among the questions."""
        return 1, max(self.scales)

    @property
    def scales(self) -> list[int]:
        """The best answers to the questions: one where all have the same scale."""
        return sorted({row.question.scale.most for row in self.rows})

    @property
    def several_agents(self) -> bool:
        return len(self.agents) > 1

    @property
    def intervals_of_means(self) -> str:
        return how_interval([row.mean for row in self.rows])

    @property
    def intervals_of_alphas(self) -> str:
        return how_interval([row.agreement.alpha for row in self.rows])

    @property
    def resamples(self) -> int:
        return RESAMPLES

    @property
    def not_asked_of_all(self) -> list[str]:
        """The questions that some items were not asked, with why."""
        return [f"{row.name} ({row.use.why})" for row in self.rows if row.use.left_out]


def load(selection: Selection) -> RatingsData | NothingToShow:
    """Load what people answered to the questions about whole items."""
    study = selection.study
    if study is None:
        return NothingToShow("no study")
    questionnaire = load_questionnaire(study.questionnaire)
    questions = whole_scores(questionnaire)
    if not questions:
        return why_not_asked(study)
    frame, people, everyone = chosen_people(rating_frame(study, selection.runs), selection)
    if frame.empty:
        return why_no_answers(everyone, selection)
    uses = {use.question.key: use for use in study_questions(study, questionnaire)}
    asked = tuple(uses[question.key] for question in questions)
    return RatingsData(frame, selection.runs, asked, people, everyone)


def compute(data: RatingsData) -> RatingsResult:
    """Average the answers to each question, and compare people's answers to the same item."""
    labels = set(data.frame["label"])
    agents = tuple(run for run in data.runs if run.label in labels)
    rows = tuple(_ratings(use, data.frame, agents) for use in data.asked)
    return RatingsResult(data, rows, agents)


def _ratings(use: QuestionUse, frame: "DataFrame", agents: Sequence[ChosenRun]) -> QuestionRatings:
    rows = frame[frame["question"] == use.question.key]
    table = rows.pivot_table(index=["trajectory", "task"], columns="annotator", values="human")
    return QuestionRatings(
        use,
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


def draw_questions(result: RatingsResult, url: UrlOf) -> Figure:
    """Draw the mean answer to each question."""
    rows = result.rows
    drawn = question_dots([row.name for row in rows], [row.mean for row in rows], result.scale)
    return figure_specs.linked(drawn, {row.name: url(Link()) for row in rows})


def draw_agents(result: RatingsResult, url: UrlOf) -> Figure | None:
    """Draw the mean answers about each agent, a question in each panel."""
    if not result.several_agents:
        return None
    labels = [run.label for run in result.agents]
    table = MeanTable(
        tuple(labels),
        tuple(row.name for row in result.rows),
        {(label, row.name): row.by_agent[label] for row in result.rows for label in labels},
    )
    links = {
        (run.label, row.name): url(Link(runs=(run.pk,)))
        for row in result.rows
        for run in result.agents
    }
    return rubric_dots(table, scale=result.scale, styles=figure_specs.styles(labels), links=links)


def question_columns(_: RatingsResult) -> Sequence[ColumnOf[QuestionRatings]]:
    """Give each question its mean, and of how many items it was asked."""
    asked = Column(
        "Asked of", ("items asked", "items", "not asked because"), help="Items of the study"
    )
    return (
        text_of("Question", lambda row: row.name, sub=lambda row: row.question.definition),
        estimate_of("Mean", lambda row: row.mean, "points", show_n=True),
        ColumnOf(asked, _asked_of),
    )


def _asked_of(row: QuestionRatings) -> Cell:
    of = row.use
    why = f"the others {of.why}" if of.items else f"these items {of.why}"
    return Cell(
        f"{of.items:,} of {of.total:,}",
        (of.items, of.total, of.why if of.left_out else ""),
        tip=why if of.left_out else "",
    )


def agreement_columns(_: RatingsResult) -> Sequence[ColumnOf[QuestionRatings]]:
    """Give each question how far people agree on it."""
    return (
        text_of("Question", lambda row: row.name),
        count_of(
            "Items",
            lambda row: row.agreement.items,
            "items answered twice",
            "Items that two people or more answered",
        ),
        estimate_of(
            "Alpha",
            lambda row: row.agreement.alpha,
            "points",
            help="Krippendorff's alpha, ordinal: 1 is perfect, 0 is chance",
        ),
        estimate_of(
            "Equal",
            lambda row: row.agreement.equal,
            "share",
            help="Share of pairs of answers to one item that are equal",
        ),
        estimate_of(
            "Within one",
            lambda row: row.agreement.within_one,
            "share",
            help="Share of pairs at most one point apart",
        ),
    )


def agent_columns(result: RatingsResult) -> Sequence[ColumnOf[ChosenRun]]:
    """Give each agent the mean answer to every question."""
    return (
        agent_of(lambda run: run),
        *(
            estimate_of(
                row.name,
                lambda run, row=row: row.by_agent[run.label],  # type: ignore[misc]
                "points",
                help=row.question.definition,
                show_n=True,
            )
            for row in result.rows
        ),
    )


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf("questions", "Mean answer by question", draw_questions),
    table=TableOf(
        "questions",
        "Answers by question",
        rows=lambda result: result.rows,
        columns=question_columns,
    ),
    folded=(
        TableOf(
            "people",
            "Agreement between people",
            rows=lambda result: result.rows,
            columns=agreement_columns,
        ),
        FigureOf("agents", "Mean answer by question and agent", draw_agents),
        TableOf(
            "agents",
            "Answers by question and agent",
            rows=lambda result: result.agents if result.several_agents else (),
            columns=agent_columns,
            link=lambda run: Link(runs=(run.pk,)),
            folded=True,
        ),
    ),
)
