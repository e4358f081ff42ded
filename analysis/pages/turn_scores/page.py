"""The turn scores page shows people's and judges' scores of every turn, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.figures.decline import decline_figure
from analysis.figures.layout.theme import ACCENT, NEUTRAL, PEOPLE_SYMBOL, Figure, Style
from analysis.figures.turn_slopes import two_sides
from analysis.filters.selection import Selection
from analysis.filters.study_kinds import turn_questions
from analysis.frames.ratings import every_turn_scores, rating_frame
from analysis.kit.links import Link
from analysis.pages.agreement.dimensions import (
    DimensionAgreement,
    agreement_columns,
    compare,
    difference_columns,
    dimension_title,
)
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
from analysis.pages.decline.pooled_fits import ALL, PooledFits, PooledRow
from analysis.pages.decline.turn_slopes import Slopes, TurnResult, verdict_badges
from analysis.pages.people import (
    AnswerCounts,
    PeopleResult,
    chosen_people,
    why_no_answers,
    why_not_asked,
)
from analysis.pages.turn_scores.sides import (
    DEFERRED,
    JUDGES,
    PEOPLE,
    Sides,
    kept_fits,
    sides_of,
)
from analysis.reports import system_facts
from analysis.reports.content import (
    Badge,
    Cell,
    estimate_cell,
    estimate_column,
    number_column,
    rounded,
)
from analysis.reports.formatting import p_text, plural
from analysis.stats.rater_agreement.differences import Agreement
from analysis.stats.rater_agreement.reliability import Reliability, score_agreement
from analysis.stats.results import Estimate
from analysis.stats.trends.decline import (
    Alignment,
    Curve,
    Slope,
    TurnPoint,
    score_by_turn,
    within_slope,
)
from analysis.stats.trends.slopes import SlopeModels
from annotation.questionnaires import Question, load_questionnaire
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20251207
LOOKS = {
    PEOPLE: Style(ACCENT, PEOPLE_SYMBOL, "solid"),
    JUDGES: Style(NEUTRAL, "circle", "dash"),
}
GAP, GAP_LOOK = "Judges minus people", Style(ACCENT, "square", "solid")
MOST_ROWS = 100
NOT_ASKED = Estimate.without_value("judges are not asked this")


@dataclass(frozen=True)
class TurnScoresData:
    """People's scores of turns, the judges' of the same turns, and the fits of their change."""

    frame: "DataFrame"
    judged: "DataFrame"
    sides: Sides
    people: AnswerCounts
    everyone: AnswerCounts
    questions: tuple[Question, ...]
    dimensions: tuple[Dimension, ...]
    align: Alignment
    slopes: Slopes | None
    differences: PooledFits | None


@dataclass(frozen=True)
class SideSlopes:
    """The change per turn of both sides on one dimension, by mixed models and within.

    ``difference`` is the judges' minus people's, None where judges are not asked the same.
    """

    title: str
    key: str
    difference: PooledRow | None
    mixed: Mapping[str, SlopeModels]
    within: Mapping[str, Estimate]

    @property
    def link(self) -> Link:
        return Link(dimension=self.key)

    @property
    def gap(self) -> Estimate:
        """The judges' change per turn minus people's."""
        return self.difference.slope if self.difference is not None else NOT_ASKED

    @property
    def differs(self) -> bool:
        """Return whether both sides clearly change at different rates."""
        return self.difference is not None and self.difference.is_clear

    def slope(self, side: str) -> Estimate:
        """Return the mixed model's slope of a side."""
        return self.mixed[side].mixed.slope if side in self.mixed else NOT_ASKED


@dataclass(frozen=True)
class SidePoint:
    """The mean of one side and dimension at one turn."""

    key: str
    curve: Curve
    point: TurnPoint

    @property
    def link(self) -> Link:
        """The trajectories that are long enough to have the point."""
        return Link(dimension=self.key, more={"min_turns": self.point.least_turns})


@dataclass(frozen=True)
class TurnAgreement:
    """The agreement on one dimension at one turn."""

    turn: int
    trajectories: int
    row: DimensionAgreement

    @property
    def link(self) -> Link:
        return Link(dimension=self.row.key, more={"min_turns": self.turn})


@dataclass(frozen=True)
class PeopleAgreement:
    """The agreement of people with each other on the turns of one dimension."""

    question: Question
    found: Reliability

    @property
    def link(self) -> Link:
        return Link(dimension=self.question.dimension)


@dataclass(frozen=True)
class TurnScoresResult(PeopleResult, TurnResult):
    """Both sides' scores by turn, their change per turn, and how far they agree."""

    rows: tuple[DimensionAgreement, ...]
    overall: Agreement | None
    data: TurnScoresData
    curves: tuple[Curve, ...]
    within: tuple[Slope, ...]

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

    @property
    def keys(self) -> dict[str, str]:
        """The dimensions of the questions by title."""
        return {one.title: one.dimension for one in self.data.questions}

    @property
    def side_slopes(self) -> list[SideSlopes]:
        """The change per turn by dimension, all dimensions together first."""
        if self.slopes is None:
            return []
        by_title: dict[str, dict[str, SlopeModels]] = {}
        for one in self.slopes.models:
            by_title.setdefault(one.dimension, {})[one.agent] = one
        within: dict[str, dict[str, Estimate]] = {}
        for slope in self.within:
            within.setdefault(slope.dimension, {})[slope.agent] = slope.slope
        titles = sorted(by_title, key=lambda title: title != ALL)
        fits = self.data.differences
        rows = fits.rows(self.keys) if fits is not None else []
        gaps = {row.title: row for row in rows if self.keys.get(row.title, ALL)}
        return [
            SideSlopes(
                title, self.keys.get(title, ""), gaps.get(title), by_title[title], within[title]
            )
            for title in titles
        ]

    @property
    def all_together(self) -> SideSlopes | None:
        """The change per turn over all dimensions."""
        return next((one for one in self.side_slopes if one.title == ALL), None)

    @property
    def people_slope(self) -> Estimate | None:
        return self.all_together.slope(PEOPLE) if self.all_together is not None else None

    @property
    def judges_slope(self) -> Estimate | None:
        return self.all_together.slope(JUDGES) if self.all_together is not None else None

    @property
    def dimensions_tested(self) -> int:
        """The number of dimensions for which the tests of differences are corrected."""
        return self.data.differences.family.size if self.data.differences is not None else 0

    @property
    def differing(self) -> list[str]:
        """The dimensions on which both sides clearly change at different rates."""
        return [one.title.lower() for one in self.side_slopes if one.title != ALL and one.differs]

    @property
    def survivors(self) -> list[str]:
        """The note that later turns are those of trajectories that lasted."""
        found = dict.fromkeys(warning for curve in self.curves for warning in curve.warnings)
        return [f"{warning[:1].upper()}{warning[1:]}" for warning in found]


def load(selection: Selection) -> TurnScoresData | NothingToShow:
    """Load the scores of turns by people and judges, and the fits that a job has kept."""
    study = selection.study
    if study is None:
        return NothingToShow("no study")
    questions = turn_questions(load_questionnaire(study.questionnaire))
    if not questions:
        return why_not_asked(study)
    answers = rating_frame(study, selection.runs, turns=True)
    frame, people, everyone = chosen_people(answers, selection)
    if frame.empty:
        return why_no_answers(everyone, selection)
    dimensions = system_facts.dimensions_of(selection.system)
    fits = kept_fits(selection)
    judged = every_turn_scores(study, selection.runs, [d.key for d in dimensions])
    return TurnScoresData(
        frame,
        judged,
        sides_of(study, questions, frame, judged),
        people,
        everyone,
        tuple(questions),
        dimensions,
        "from_end" if selection.filters.align == "end" else "turn",
        fits.slopes if fits is not None else None,
        PooledFits.of(fits.differences) if fits is not None and ALL in fits.differences else None,
    )


def compute(data: TurnScoresData) -> TurnScoresResult:
    """Compute means by turn, the slopes within trajectories, and agreement over all turns."""
    columns = data.sides.columns
    rows, overall = compare(data.frame, data.dimensions, data.judged)
    return TurnScoresResult(
        rows,
        overall,
        data,
        tuple(score_by_turn(*columns, align=data.align, scale=system_facts.RUBRIC_SCALE)),
        tuple(within_slope(*columns)),
    )


def draw_slopes(result: TurnScoresResult, url: UrlOf) -> Figure | None:
    """Draw the difference of both sides' change per turn, and the change of each."""
    rows = result.side_slopes
    if not rows:
        return None
    return two_sides(
        {row.title: [row.gap, *(row.slope(side) for side in LOOKS)] for row in rows},
        {GAP: GAP_LOOK, **LOOKS},
        {row.title: url(row.link) for row in rows},
        clear=[row.title for row in rows if row.differs],
    )


def draw_curves(result: TurnScoresResult, url: UrlOf) -> Figure:
    """Draw the mean score by turn of both sides, one panel a dimension."""
    drawn = {curve.dimension for curve in result.curves}
    titles = [one.title for one in result.data.questions if one.title in drawn]
    most = max(one.scale.most for one in result.data.questions)
    links = {
        (one.curve.agent, one.point.position): url(replace(one.link, dimension=""))
        for one in side_points(result)
    }
    return decline_figure(result.curves, titles, scale=(1, most), styles=LOOKS, links=links)


def side_points(result: TurnScoresResult) -> list[SidePoint]:
    """Return the points of all curves."""
    keys = result.keys
    return [
        SidePoint(keys.get(curve.dimension, ""), curve, point)
        for curve in result.curves
        for point in curve.points
    ]


def turn_rows(result: TurnScoresResult) -> list[TurnAgreement]:
    """Return the agreement turn by turn: early turns may be easier to agree on than late ones."""
    data, found = result.data, []
    if result.overall is None:
        return []
    for turn in sorted(set(data.frame["turn"].tolist())):
        here = data.frame[data.frame["turn"] == turn]
        rows, overall = compare(here, data.dimensions, data.judged)
        together = [DimensionAgreement("", overall)] if overall is not None else []
        count = here["trajectory"].nunique()
        found += [TurnAgreement(int(turn), count, row) for row in (*together, *rows)]
    return found


def people_rows(result: TurnScoresResult) -> list[PeopleAgreement]:
    """Return how far people agree with each other, by dimension."""
    rows = []
    for question in result.data.questions:
        own = result.data.frame[result.data.frame["question"] == question.key]
        places = list(zip(own["trajectory"].tolist(), own["turn"].tolist(), strict=True))
        found = score_agreement(
            zip(own["annotator"].tolist(), places, own["human"].tolist(), strict=True),
            scale=(1, question.scale.most),
            clusters=dict(zip(places, own["task"].tolist(), strict=True)),
            seed=SEED,
        )
        rows.append(PeopleAgreement(question, found))
    return rows


def slope_columns(result: TurnScoresResult) -> Sequence[ColumnOf[SideSlopes]]:
    """Give the difference of both sides' change per turn with its test, then that of each side."""
    slopes = result.slopes
    assert slopes is not None
    holm = plural(result.dimensions_tested, "dimension")
    return (
        text_of("Dimension", lambda row: row.title),
        ColumnOf(estimate_column("Difference", help="Judges minus people, points a turn"), _gap),
        ColumnOf(
            number_column("p", help=f"All dimensions: one test; others: Holm over {holm}"),
            _gap_p,
        ),
        *(_side_column(slopes, side) for side in LOOKS),
    )


def _gap(row: SideSlopes) -> Cell:
    shown = estimate_cell(row.gap, "points", signed=True, show_n=True)
    badges = (Badge("differs", "warn", "clear after correction"),) if row.differs else ()
    return replace(shown, badges=badges)


def _gap_p(row: SideSlopes) -> Cell:
    p = row.difference.p if row.difference is not None else None
    if p is None:
        return Cell(data=(None,), reason="not tested: no error is known")
    return Cell(p_text(p), (rounded(p),))


def _side_column(slopes: Slopes, side: str) -> ColumnOf[SideSlopes]:
    def cell(row: SideSlopes) -> Cell:
        shown = estimate_cell(row.slope(side), "points", signed=True, show_n=True)
        badges = verdict_badges(slopes, row.mixed[side]) if side in row.mixed else ()
        return replace(shown, badges=badges)

    return ColumnOf(estimate_column(side), cell)


def _within_column(side: str) -> ColumnOf[SideSlopes]:
    return estimate_of(
        side,
        lambda row: row.within.get(side, NOT_ASKED),
        "points",
        signed=True,
        show_n=True,
    )


def turn_columns(_: TurnScoresResult) -> Sequence[ColumnOf[TurnAgreement]]:
    """Give agreement at one turn."""
    return (
        ColumnOf(number_column("Turn"), lambda row: Cell(f"{row.turn}", (row.turn,))),
        text_of("Dimension", lambda row: dimension_title(row.row)),
        count_of(
            "Trajectories", lambda row: row.trajectories, help="Scored by people at this turn"
        ),
        count_of("n", lambda row: row.row.agreement.n),
        estimate_of("Equal", lambda row: row.row.agreement.exact, "share"),
        estimate_of("Within one", lambda row: row.row.agreement.within_one, "share"),
        estimate_of(
            "Bias",
            lambda row: row.row.agreement.bias,
            "points",
            signed=True,
            help="Judges' mean minus the person's score",
        ),
    )


def people_columns(_: TurnScoresResult) -> Sequence[ColumnOf[PeopleAgreement]]:
    """Give agreement between people."""
    return (
        text_of("Dimension", lambda row: row.question.title),
        count_of("Turns", lambda row: row.found.items, help="Turns that two people or more scored"),
        estimate_of(
            "Alpha", lambda row: row.found.alpha, "points", help="Krippendorff's alpha, ordinal"
        ),
        estimate_of(
            "Equal",
            lambda row: row.found.equal,
            "share",
            help="Share of pairs of answers that are equal",
        ),
        estimate_of(
            "Within one",
            lambda row: row.found.within_one,
            "share",
            help="Share of pairs at most one point apart",
        ),
    )


def point_columns(result: TurnScoresResult) -> Sequence[ColumnOf[SidePoint]]:
    """Give the numbers of the figure of means."""
    word = "Turn" if result.data.align == "turn" else "Turns from the last"
    return (
        text_of("Dimension", lambda one: one.curve.dimension),
        text_of("Side", lambda one: one.curve.agent),
        ColumnOf(
            number_column(word, "position"),
            lambda one: Cell(f"{one.point.position}", (one.point.position,)),
        ),
        count_of("Running", lambda one: one.point.running),
        count_of("Scored", lambda one: one.point.mean.n),
        estimate_of("Mean", lambda one: one.point.mean, "points"),
    )


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf(
        "slopes",
        "Change per turn: judges minus people, and each side",
        draw_slopes,
        fits=lambda result: bool(result.side_slopes),
    ),
    table=TableOf(
        "slopes",
        "Change per turn of judges and people",
        rows=lambda result: result.side_slopes,
        columns=slope_columns,
        link=lambda row: row.link,
    ),
    folded=(
        FigureOf(
            "curves",
            lambda result: f"Mean score by {result.where}: people and judges",
            draw_curves,
            table="points",
        ),
        TableOf(
            "agreement",
            "Agreement by dimension",
            rows=lambda result: result.every_row,
            columns=lambda _: [ColumnOf(*column) for column in agreement_columns()],
            link=lambda row: Link(dimension=row.key),
        ),
        TableOf(
            "differences",
            "Answers at each absolute difference",
            rows=lambda result: result.every_row,
            columns=lambda result: [ColumnOf(*one) for one in difference_columns(result.every_row)],
            link=lambda row: Link(dimension=row.key),
            folded=True,
        ),
        TableOf(
            "turns",
            lambda result: f"Agreement by turn ({plural(len(turn_rows(result)), 'row')})",
            rows=turn_rows,
            columns=turn_columns,
            link=lambda row: row.link,
            folded=True,
            most=MOST_ROWS,
        ),
        TableOf(
            "people",
            "Agreement between people",
            rows=people_rows,
            columns=people_columns,
            link=lambda row: row.link,
        ),
        TableOf(
            "within",
            "Change per turn within trajectories",
            rows=lambda result: result.side_slopes,
            columns=lambda _: (
                text_of("Dimension", lambda row: row.title),
                *(_within_column(side) for side in LOOKS),
            ),
            link=lambda row: row.link,
        ),
        TableOf(
            "points",
            lambda result: f"The numbers of the figure ({plural(len(side_points(result)), 'row')})",
            rows=side_points,
            columns=point_columns,
            link=lambda one: one.link,
            folded=True,
        ),
    ),
    deferred=DEFERRED,
    waits=lambda result: result.slopes is None,
)
