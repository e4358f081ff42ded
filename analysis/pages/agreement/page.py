"""The agreement page shows how far judges are from people who scored the same final plans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.figures.agreement import agreement_bars, agreement_shares
from analysis.figures.layout.theme import Figure
from analysis.figures.rubric import people_and_judges
from analysis.filters.selection import Selection
from analysis.filters.study_kinds import asks_dimensions, whole_scores
from analysis.frames.ratings import final_scores, rating_frame
from analysis.kit.links import Link
from analysis.pages.agreement.beyond_chance import BeyondChance, beyond_chance, stated_range
from analysis.pages.agreement.judges import DEFERRED
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    TableOf,
    UrlOf,
    count_of,
    estimate_of,
    text_of,
)
from analysis.pages.people import (
    AnswerCounts,
    PeopleResult,
    chosen_people,
    why_no_answers,
    why_not_asked,
)
from analysis.reports import figure_specs, system_facts
from analysis.reports.content import Cell, Column, how_interval, text_column
from analysis.reports.formatting import counted
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.rater_agreement.differences import (
    EXACT_RULE,
    ROUNDED_RULE,
    Agreement,
    rubric_agreement,
)
from analysis.stats.results import Estimate
from annotation.questionnaires import Question, load_questionnaire
from benchmarks.core.ports.published import PaperStatements
from benchmarks.core.registry import find_system
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

# A dimension on which at least this share of answers is equal agrees often.
OFTEN = 0.6
MIXED = Estimate.without_value("scores of several dimensions are not mixed in one coefficient")


@dataclass(frozen=True)
class AgreementData:
    """People's answers in a study, and the judges' scores of the same final plans."""

    frame: "DataFrame"
    judged: "DataFrame"
    people: AnswerCounts
    everyone: AnswerCounts
    dimensions: tuple[Dimension, ...]
    questions: tuple[Question, ...]
    reference: PaperStatements


@dataclass(frozen=True)
class DimensionAgreement:
    """The agreement on one dimension; the ``key`` is empty for all dimensions together."""

    key: str
    agreement: Agreement

    @property
    def title(self) -> str:
        name = self.agreement.dimension
        return name[:1].upper() + name[1:]

    @property
    def link(self) -> Link:
        """The trajectories behind its numbers."""
        return Link(dimension=self.key)


@dataclass(frozen=True)
class AgreementRows:
    """Agreement by dimension, and over all of them, if any answer could be compared."""

    rows: tuple[DimensionAgreement, ...]
    overall: Agreement | None

    @property
    def compared(self) -> bool:
        """Return whether an answer has a score of every judge beside it."""
        return self.overall is not None and self.overall.exact.value is not None

    @property
    def every_row(self) -> list[DimensionAgreement]:
        """The dimensions, and all of them together at the end."""
        if self.overall is None:
            return []
        return [*self.rows, DimensionAgreement("", self.overall)]


@dataclass(frozen=True)
class AgreementResult(AgreementRows, PeopleResult):
    """The agreement of judges with people in a study; ``chance`` is by key of the dimension."""

    data: AgreementData
    chance: Mapping[str, BeyondChance]

    @property
    def alphas(self) -> str:
        """The ordinal alphas of people with the panel over dimensions, in words."""
        return stated_range(self.chance, "alpha")

    @property
    def kappas(self) -> str:
        """The linear kappas of people with the panel over dimensions, in words."""
        return stated_range(self.chance, "kappa")

    @property
    def people_alphas(self) -> str:
        """The ordinal alphas of people among themselves over dimensions, in words."""
        return stated_range(self.chance, "people")

    @property
    def reference(self) -> PaperStatements:
        return self.data.reference

    @property
    def defined(self) -> int:
        """The number of dimensions that have answers to compare."""
        return sum(row.agreement.exact.value is not None for row in self.rows)

    @property
    def often_equal(self) -> int:
        """The number of dimensions on which the judges' mean, rounded, often equals the score."""
        shares = (row.agreement.rounded.value for row in self.rows)
        return sum(share is not None and share >= OFTEN for share in shares)

    @property
    def bias_is_clear(self) -> bool:
        """Return whether the interval of the bias leaves out 0."""
        interval = self.overall.bias.interval if self.overall is not None else None
        return interval is not None and not interval.holds(0)

    @property
    def bias_size(self) -> float:
        return abs(self.overall.bias.value or 0) if self.overall is not None else 0

    @property
    def one_each(self) -> bool:
        """Return whether every trajectory was judged by one annotator."""
        per_item = self.data.frame.groupby("trajectory")["annotator"].nunique()
        return len(per_item) > 0 and int(per_item.max()) == 1

    @property
    def intervals(self) -> str:
        """The methods of all intervals."""
        found = [row.agreement for row in self.every_row]
        return how_interval([one for row in found for one in (row.rounded, row.bias)])


@dataclass(frozen=True)
class DimensionMeans:
    """The means of people and of judges over the same answers."""

    key: str
    title: str
    people: Estimate
    judges: Estimate

    @property
    def link(self) -> Link:
        """The trajectories behind its numbers."""
        return Link(dimension=self.key)


@dataclass(frozen=True)
class QuestionMean:
    """The mean answer to a question that is no rubric dimension, beside the paper's mean."""

    question: Question
    mean: Estimate
    published: float | None


def load(selection: Selection) -> AgreementData | NothingToShow:
    """Load the answers of a study, and the judges' scores of the same final plans."""
    study = selection.study
    if study is None:
        return NothingToShow("no study")
    questionnaire = load_questionnaire(study.questionnaire)
    if not asks_dimensions(questionnaire):
        return why_not_asked(study)
    frame, people, everyone = chosen_people(rating_frame(study, selection.runs), selection)
    if frame.empty:
        return why_no_answers(everyone, selection)
    dimensions = system_facts.dimensions_of(selection.system)
    return AgreementData(
        frame,
        final_scores(study, selection.runs, [dimension.key for dimension in dimensions]),
        people,
        everyone,
        dimensions,
        tuple(whole_scores(questionnaire)),
        find_system(selection.system).paper,
    )


def compute(data: AgreementData) -> AgreementResult:
    """Compare people with the mean of the judges, by dimension and over all."""
    rows, overall = compare(data.frame, data.dimensions, data.judged)
    sides = _same_answers(data.frame, data.dimensions, data.judged)
    chance = {}
    if sides is not None:
        asked = data.frame.groupby("dimension")
        chance = {
            key: beyond_chance(people, sides.judges[key], sides.tasks, asked.get_group(key))
            for key, people in sides.people.items()
        }
    return AgreementResult(rows, overall, data, chance)


def compare(
    frame: "DataFrame", dimensions: Sequence[Dimension], judged: "DataFrame"
) -> tuple[tuple[DimensionAgreement, ...], Agreement | None]:
    """Return the agreement by dimension and over all.

    ``judged`` holds the judges' scores by seat; its index says what is compared: trajectories, or
    their turns.
    """
    sides = _same_answers(frame, dimensions, judged)
    if sides is None:
        return (), None
    titles = {dimension.key: dimension.title for dimension in dimensions}
    results, overall = rubric_agreement(
        {titles[key]: people for key, people in sides.people.items()},
        {titles[key]: judges for key, judges in sides.judges.items()},
        tasks=sides.tasks,
    )
    rows = (DimensionAgreement(*both) for both in zip(sides.people, results, strict=True))
    return tuple(rows), overall


@dataclass(frozen=True)
class _SameAnswers:
    """Both sides' scores of the same answers, by the key of the dimension."""

    people: Mapping[str, Any]
    judges: Mapping[str, Any]
    tasks: Sequence[Any]


def _same_answers(
    frame: "DataFrame", dimensions: Sequence[Dimension], judged: "DataFrame"
) -> _SameAnswers | None:
    asked = frame[frame["dimension"] != ""]
    if asked.empty or judged.empty:
        return None
    there = set(asked["dimension"])
    keys = [dimension.key for dimension in dimensions if dimension.key in there]
    index = [str(name) for name in judged.index.names if name != "dimension"]
    human = asked.pivot_table(
        index=[*index, "task", "annotator"], columns="dimension", values="human"
    )
    places = human.reset_index().set_index(index).index
    people, judges = {}, {}
    for key in keys:
        rows = judged[judged.index.get_level_values("dimension") == key].droplevel("dimension")
        people[key] = human[key].to_numpy(dtype="float64")
        judges[key] = rows.reindex(places).to_numpy(dtype="float64")
    return _SameAnswers(people, judges, human.index.get_level_values("task").tolist())


def dimension_means(result: AgreementResult) -> list[DimensionMeans]:
    """Return both sides' means on the answers that both have."""
    data = result.data
    sides = _same_answers(data.frame, data.dimensions, data.judged)
    if sides is None:
        return []
    titles = {dimension.key: dimension.title for dimension in data.dimensions}
    found = []
    for key, people in sides.people.items():
        complete = sides.judges[key].mean(axis=1) + 0 * people  # missing where either side is
        kept = complete == complete
        tasks = [task for task, keep in zip(sides.tasks, kept, strict=True) if keep]
        means = (
            mean_by_cluster(scores[kept], tasks, scale=system_facts.RUBRIC_SCALE)
            for scores in (people, complete)
        )
        found.append(DimensionMeans(key, titles[key], *means))
    return found


def question_means(result: AgreementResult) -> list[QuestionMean]:
    """Return the means of the questions that are no rubric dimension."""
    frame, published = result.data.frame, result.reference.questions
    found = []
    for question in result.data.questions:
        if question.dimension:
            continue
        answers = frame[frame["question"] == question.key]
        mean = Estimate.without_value("no item was asked this")
        if len(answers):
            mean = mean_by_cluster(
                answers["human"].to_numpy(),
                answers["task"].tolist(),
                scale=system_facts.RUBRIC_SCALE,
            )
        found.append(QuestionMean(question, mean, published.get(question.key)))
    return found


def draw_differences(result: AgreementResult, url: UrlOf) -> Figure | None:
    """Draw how many answers lie at each difference, one panel a dimension."""
    if not result.compared:
        return None
    links = {
        (row.agreement.dimension, bin.numerator): url(row.link)
        for row in result.rows
        for bin in row.agreement.distribution.bins
    }
    return agreement_bars([row.agreement for row in result.rows], links)


def draw_shares(result: AgreementResult, url: UrlOf) -> Figure | None:
    """Draw the share equal and the share within one point."""
    if not result.compared:
        return None
    marks = {row.agreement.dimension: url(row.link) for row in result.rows}
    return figure_specs.linked(agreement_shares([row.agreement for row in result.rows]), marks)


def draw_means(result: AgreementResult, url: UrlOf) -> Figure | None:
    """Draw what people and judges gave on the same answers."""
    if not result.compared:
        return None
    means = dimension_means(result)
    drawn = people_and_judges(
        [row.title for row in means],
        [row.people for row in means],
        [row.judges for row in means],
    )
    return figure_specs.linked(drawn, {row.title: url(row.link) for row in means})


def agreement_columns(_: Any) -> list[ColumnOf[DimensionAgreement]]:
    """Say how often both sides are equal or close, and in which direction judges err."""
    return [
        text_of("Dimension", lambda row: row.title),
        count_of("n", lambda row: row.agreement.n),
        estimate_of("Equal", lambda row: row.agreement.exact, "share", help=EXACT_RULE),
        estimate_of(
            "Equal when rounded", lambda row: row.agreement.rounded, "share", help=ROUNDED_RULE
        ),
        estimate_of(
            "Within one",
            lambda row: row.agreement.within_one,
            "share",
            help="At most one point apart",
        ),
        estimate_of(
            "Bias",
            lambda row: row.agreement.bias,
            "points",
            signed=True,
            help="Judges' mean minus the person's score",
        ),
        estimate_of(
            "Mean difference",
            lambda row: row.agreement.absolute,
            "points",
            help="Mean absolute difference",
        ),
        ColumnOf(text_column("Left out"), _left_out),
    ]


def chance_columns(result: AgreementResult) -> list[ColumnOf[DimensionAgreement]]:
    """Put agreement beyond chance before how often both sides are equal or close."""

    def coefficient(label: str, part: str, help: str) -> ColumnOf[DimensionAgreement]:
        def estimate(row: DimensionAgreement) -> Estimate:
            found = result.chance.get(row.key)
            if found is None:
                return MIXED
            estimates = {"alpha": found.alpha, "kappa": found.kappa, "people": found.people}
            return estimates[part]

        return estimate_of(label, estimate, "points", help=help)

    first, second, *others = agreement_columns(result)
    return [
        first,
        second,
        coefficient("Alpha", "alpha", "Krippendorff’s, ordinal: people with the rounded mean"),
        coefficient("Kappa", "kappa", "Linear weights: people with the rounded mean"),
        coefficient("Alpha, people", "people", "Krippendorff’s, ordinal: among people"),
        *others,
    ]


def _left_out(row: DimensionAgreement) -> Cell:
    left = counted(row.agreement.excluded)
    return Cell(str(sum(row.agreement.excluded.values())) if left else "none", (left,), sub=left)


def difference_columns(rows: Sequence[DimensionAgreement]) -> list[ColumnOf[DimensionAgreement]]:
    """Count the answers at each distance."""
    bins = rows[0].agreement.distribution.bins

    def at(number: int) -> ColumnOf[DimensionAgreement]:
        return count_of(
            bins[number].label, lambda row: row.agreement.distribution.bins[number].count
        )

    return [text_of("Dimension", lambda row: row.title), *(at(i) for i in range(len(bins)))]


def _question_columns(_: AgreementResult) -> list[ColumnOf[QuestionMean]]:
    return [
        text_of(
            "Question",
            lambda row: f"{row.question.number} {row.question.title}",
            sub=lambda row: row.question.definition,
        ),
        estimate_of("Mean", lambda row: row.mean, "points", show_n=True),
        ColumnOf(Column("Published", ("published",)), _published),
    ]


def _published(row: QuestionMean) -> Cell:
    if row.published is None:
        return Cell(data=(None,), reason="not published")
    return Cell(f"{row.published:.2f}", (row.published,), sub="n = 240", source="appendix F.1")


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf(
        "shares",
        "Share equal and share within one point, by dimension",
        draw_shares,
        table="agreement",
    ),
    table=TableOf(
        "agreement",
        "Agreement by dimension",
        rows=lambda result: result.every_row,
        columns=chance_columns,
        link=lambda row: row.link,
    ),
    folded=(
        FigureOf(
            "differences", "How far the judges' mean is from the person's score", draw_differences
        ),
        FigureOf("means", "Mean scores of people and of judges on the same answers", draw_means),
        TableOf(
            "differences",
            "Answers at each absolute difference",
            rows=lambda result: result.every_row,
            columns=lambda result: difference_columns(result.every_row),
            link=lambda row: row.link,
            folded=True,
        ),
        TableOf(
            "means",
            "Mean scores on the same answers",
            rows=dimension_means,
            columns=lambda _: [
                text_of("Dimension", lambda row: row.title),
                estimate_of("People", lambda row: row.people, "points", show_n=True),
                estimate_of("Judges", lambda row: row.judges, "points", show_n=True),
            ],
            link=lambda row: row.link,
            folded=True,
        ),
        TableOf(
            "questions",
            "Questions on the feedback",
            rows=question_means,
            columns=_question_columns,
        ),
    ),
    deferred=DEFERRED,
)
