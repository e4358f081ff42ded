"""Do judges' scores of single turns change as people's do, and how far do both agree?"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from analysis.figures.decline import decline_figure
from analysis.figures.layout.theme import ACCENT, NEUTRAL, PEOPLE_SYMBOL, Figure, Style
from analysis.figures.turn_slopes import two_sides
from analysis.filters.study_kinds import asks_about_turns, turn_questions
from analysis.frames.ratings import every_turn_scores, rating_frame
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.agreement.dimensions import (
    DimensionAgreement,
    agreement_columns,
    compare,
    differences_table,
    dimension_title,
)
from analysis.pages.agreement.influence import show_influence
from analysis.pages.decline.pooled_fits import ALL, PooledRow, limits_of, pooled_rows
from analysis.pages.decline.turn_slopes import (
    BY_TURN,
    MOST_ROWS,
    NO_SCORES,
    Slopes,
    four_fits,
    how_slopes,
    p_cell,
    points_of,
    slope_cell,
    table_points,
    where_of,
)
from analysis.pages.people import (
    AnswerCounts,
    asked_study,
    chosen_people,
    how_turns_were_seen,
    no_answers,
    people_details,
    people_notices,
    who_answered,
)
from analysis.pages.turn_scores.sides import (
    JUDGES,
    PEOPLE,
    columns_of,
    fit_sides,
    keep_fits,
    kept_fits,
    side_scores,
)
from analysis.reports import system_facts
from analysis.reports.content import Cell, estimate_column, number_column
from analysis.reports.deferred_reports import note_progress
from analysis.reports.formatting import (
    ends,
    first_up,
    level,
    listed,
    number,
    p_words,
    plural,
    stated_change,
)
from analysis.stats.rater_agreement.differences import Agreement
from analysis.stats.rater_agreement.reliability import Reliability, score_agreement
from analysis.stats.results import Estimate
from analysis.stats.trends.decline import Alignment, score_by_turn, within_slope
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
NOT_ASKED = Estimate.without_value("judges are not asked this")
PURPOSE = "The page on turn scores compares people's scores of every turn with the judges'."
REMEDY = (
    "To have every turn scored, make a study of the same trajectories and choose a questionnaire "
    "that asks about turns, such as “Four questions on every turn”."
)


class SideSlopes(NamedTuple):
    """The change per turn of both sides on one dimension, by mixed models.

    ``gap`` is the judges' minus people's, None where judges are not asked the same.
    """

    title: str
    key: str
    gap: PooledRow | None
    models: Mapping[str, SlopeModels]


class TurnAgreement(NamedTuple):
    """The agreement on one dimension at one turn."""

    turn: int
    trajectories: int
    row: DimensionAgreement


class PeopleAgreement(NamedTuple):
    """The agreement of people with each other on the turns of one dimension."""

    question: Question
    agreement: Reliability


def content(page: Page) -> Content:
    """Compare the change per turn of both sides, then their scores turn by turn."""
    selection = page.selection
    study = asked_study(
        page, PURPOSE, asks_about_turns, title="No scores of single turns", remedy=REMEDY
    )
    if study is None:
        return
    questions = turn_questions(load_questionnaire(study.questionnaire))
    answers = rating_frame(study, page.runs, turns=True)
    frame, people, everyone = chosen_people(answers, selection)
    if frame.empty:
        no_answers(page, everyone, PURPOSE)
        return
    dimensions = system_facts.dimensions_of(selection.system)
    keys = {question.title: question.dimension for question in questions}
    judged = every_turn_scores(study, page.runs, [dimension.key for dimension in dimensions])
    agreements, overall = compare(frame, dimensions, judged)
    fits = kept_fits(selection)
    slopes = fits.slopes if fits is not None else None
    gaps, family_size = (
        pooled_rows(fits.differences, keys)
        if fits is not None and ALL in fits.differences
        else ([], 0)
    )
    rows = _side_slopes(slopes, gaps, keys) if slopes is not None else []
    page.answer(_answer(rows, slopes, people, overall))
    page.waits = slopes is None
    people_notices(page, people)
    if study.turn_by_turn:
        page.info("People scored each turn before they saw the next, so no score knows more.")

    def draw_slopes() -> Figure:
        return two_sides(
            {row.title: [_gap(row), *(_slope(row, side) for side in LOOKS)] for row in rows},
            {GAP: GAP_LOOK, **LOOKS},
            {row.title: page.url(dimension=row.key) for row in rows},
            clear=[row.title for row in rows if _differs(row)],
        )

    page.figure(
        "slopes",
        "Change per turn: judges minus people, and each side",
        draw_slopes if rows else None,
        subtitle=f"{BY_TURN} of one fit each. Left of the line: judges fall faster than people, or "
        "scores fall. Filled squares: clear.",
    )
    single = plural(family_size, "dimension")
    tests = plural(slopes.family.size if slopes is not None else 0, "test")
    page.table(
        "slopes",
        "Change per turn of judges and people",
        rows,
        [
            columns.text("Dimension", lambda row: row.title),
            Column(
                estimate_column("Difference", help="Judges minus people, points a turn"),
                lambda row: slope_cell(
                    _gap(row), "differs" * _differs(row), "clear after correction"
                ),
            ),
            Column(
                number_column("p", help=f"All dimensions: one test; others: Holm over {single}"),
                lambda row: p_cell(row.gap.p if row.gap is not None else None),
            ),
            *(_side_column(slopes, side) for side in LOOKS),
        ],
        link=lambda row: Link(dimension=row.key),
        note=f"{BY_TURN} and n trajectories. Difference: slope of judges' minus people's scores on "
        "the turns that both scored; “differs” marks what is clear, over all dimensions by one "
        f"test, on single ones after Holm over {single}. “Declines” and “rises” mark what is clear "
        f"after Holm over {tests} of one side each. “All dimensions” is the mean of all that a "
        "turn is asked about.",
    )
    yield
    scores = columns_of(side_scores(study, questions, frame, judged))
    align: Alignment = "from_end" if selection.filters.align == "end" else "turn"
    where = where_of(align)
    curves = score_by_turn(*scores, align=align, scale=system_facts.RUBRIC_SCALE)
    for warning in dict.fromkeys(warning for curve in curves for warning in curve.warnings):
        page.warning(f"{first_up(warning)}.")

    def draw_curves() -> Figure:
        drawn = {curve.dimension for curve in curves}
        titles = [question.title for question in questions if question.title in drawn]
        most = max(question.scale.most for question in questions)
        links = {
            (one.curve.agent, one.point.position): page.url(
                more={"min_turns": one.point.least_turns}
            )
            for one in points_of(curves)
        }
        return decline_figure(curves, titles, scale=(1, most), styles=LOOKS, links=links)

    page.figure(
        "curves",
        f"Mean score by {where}: people and judges",
        draw_curves,
        subtitle="The same trajectories on both sides, with 95 % intervals. Below: how many "
        "trajectories each point stands for.",
        table="points",
    )
    if overall is not None:
        every_row = [*agreements, DimensionAgreement("", overall)]
        _show_agreement(page, every_row, _by_turn(frame, dimensions, judged))
    _show_people(page, frame, questions)
    show_influence(page, study, frame, questions, judged)
    within = {(slope.agent, slope.dimension): slope.slope for slope in within_slope(*scores)}

    def within_of(side: str, row: SideSlopes) -> Estimate:
        return within.get((side, row.title), NOT_ASKED)

    page.table(
        "within",
        "Change per turn within trajectories",
        rows,
        [
            columns.text("Dimension", lambda row: row.title),
            *(
                columns.estimate(side, partial(within_of, side), "points", signed=True, show_n=True)
                for side in LOOKS
            ),
        ],
        link=lambda row: Link(dimension=row.key),
        note="Each trajectory compared with itself; points of the scale per turn, with 95 % "
        "intervals and n trajectories. Biased where the last score decides when a trajectory ends: "
        "read the mixed models instead.",
    )
    table_points(
        page,
        curves,
        [
            columns.text("Dimension", lambda one: one.curve.dimension),
            columns.text("Side", lambda one: one.curve.agent),
        ],
        lambda one: Link(
            dimension=keys.get(one.curve.dimension, ""), more={"min_turns": one.point.least_turns}
        ),
    )
    people_details(page, people, everyone)
    page.how(
        "People: mean over a turn's annotators. Judges: mean over the turn's judges, where every "
        f"judge scored it. The mean by {where} is taken over the trajectories that have such a "
        "turn, with a 95 % t interval; trajectories are those that somebody scored.",
        "All dimensions: mean over the dimensions that a turn is asked about, where all were "
        "scored.",
    )
    gap = next((row.gap.fit.slope for row in rows if row.title == ALL and row.gap), None)
    if gap is not None:
        page.how(
            "Difference of slopes: the slope of judges' minus people's scores on the turns that "
            f"both scored, {gap.method or 'linear mixed model'}; interval as for one slope over "
            "all agents on Decline. What both sides see of a plan cancels out, so endings that "
            "depend on the plan's quality do not move it; endings that depend on one side's own "
            "scores can."
        )
    page.how(how_turns_were_seen([study.turn_by_turn]))
    page.how(
        "Change per turn within trajectories: least squares with one intercept per trajectory, "
        "95 % t interval clustered by trajectory."
    )
    if slopes is not None:
        how_slopes(page, slopes)
    if overall is not None:
        page.how(
            f"Agreement: each answer against the mean of {overall.judges} judges on the same turn; "
            "95 % intervals are by task, because turns of one task are not independent."
        )
    change = ""
    if gap is not None and gap.interval is not None:
        n = plural(gap.n, "trajectory", "trajectories")
        change = f": {stated_change(gap, 'points')} points per turn, n = {n}"
    page.methods(
        "Scores of turns are means over a turn's annotators and over its judges; the difference of "
        "their changes per turn is the slope of judges' minus people's scores of the same turns by "
        f"a linear mixed model{change}, tested once over all dimensions and with Holm's correction "
        "over single ones. Each side's own slopes are corrected over both sides and all dimensions."
    )


def deferred(page: Page) -> None:
    """Fit the change per turn of both sides, and keep it for the answer of the page."""
    selection, study = page.selection, page.selection.study
    note_progress("reading the scores")
    questions = turn_questions(load_questionnaire(study.questionnaire)) if study else []
    if study is None or not questions:
        page.answer(NO_SCORES)
        return
    frame, _, _ = chosen_people(rating_frame(study, page.runs, turns=True), selection)
    if frame.empty:
        page.answer(NO_SCORES)
        return
    fits = kept_fits(selection)
    if fits is None:
        names = [dimension.key for dimension in system_facts.dimensions_of(selection.system)]
        judged = every_turn_scores(study, page.runs, names)
        fits = fit_sides(side_scores(study, questions, frame, judged))
        keep_fits(selection, fits)
    keys = {question.title: question.dimension for question in questions}
    four_fits(
        page, fits.slopes, lambda one: Link(dimension=keys.get(one.dimension, "")), who="Side"
    )


def _show_agreement(
    page: Page, every_row: Sequence[DimensionAgreement], turns: Sequence[TurnAgreement]
) -> None:
    """Add how far judges agree with people, over all turns and at each of them."""
    page.table(
        "agreement",
        "Agreement by dimension",
        every_row,
        agreement_columns(),
        link=lambda row: Link(dimension=row.key),
        note="Equal: the judges' mean equals the person's score.",
    )
    differences_table(page, every_row)
    page.table(
        "turns",
        f"Agreement by turn ({plural(len(turns), 'row')})",
        turns,
        [
            Column(number_column("Turn"), lambda row: Cell(f"{row.turn}", (row.turn,))),
            columns.text("Dimension", lambda row: dimension_title(row.row)),
            columns.count(
                "Trajectories", lambda row: row.trajectories, help="Scored by people at this turn"
            ),
            columns.count("n", lambda row: row.row.agreement.n),
            columns.estimate("Equal", lambda row: row.row.agreement.exact, "share"),
            columns.estimate("Within one", lambda row: row.row.agreement.within_one, "share"),
            columns.estimate(
                "Bias",
                lambda row: row.row.agreement.bias,
                "points",
                signed=True,
                help="Judges' mean minus the person's score",
            ),
        ],
        link=lambda row: Link(dimension=row.row.key, more={"min_turns": row.turn}),
        note="Later turns are those of trajectories that still ran. 95 % intervals are by task.",
        folded=True,
        most=MOST_ROWS,
    )


def _show_people(page: Page, frame: "DataFrame", questions: Sequence[Question]) -> None:
    """Add how far people agree with each other."""
    page.table(
        "people",
        "Agreement between people",
        [PeopleAgreement(question, _among_people(frame, question)) for question in questions],
        [
            columns.text("Dimension", lambda row: row.question.title),
            columns.count(
                "Turns",
                lambda row: row.agreement.items,
                help="Turns that two people or more scored",
            ),
            columns.estimate(
                "Alpha",
                lambda row: row.agreement.alpha,
                "points",
                help="Krippendorff's alpha, ordinal",
            ),
            columns.estimate(
                "Equal",
                lambda row: row.agreement.equal,
                "share",
                help="Share of pairs of answers that are equal",
            ),
            columns.estimate(
                "Within one",
                lambda row: row.agreement.within_one,
                "share",
                help="Share of pairs at most one point apart",
            ),
        ],
        link=lambda row: Link(dimension=row.question.dimension),
        note="Of turns that two people or more scored; 95 % intervals are by task.",
    )


def _side_slopes(
    slopes: Slopes, gaps: Sequence[PooledRow], keys: Mapping[str, str]
) -> list[SideSlopes]:
    """Return the change per turn by dimension, all dimensions together first."""
    by_title: dict[str, dict[str, SlopeModels]] = {}
    for one in slopes.models:
        by_title.setdefault(one.dimension, {})[one.agent] = one
    # A question that is no dimension is not asked of judges.
    compared = {row.title: row for row in gaps if row.title == ALL or row.key}
    return [
        SideSlopes(title, keys.get(title, ""), compared.get(title), by_title[title])
        for title in sorted(by_title, key=lambda title: title != ALL)
    ]


def _gap(row: SideSlopes) -> Estimate:
    """Return the judges' change per turn minus people's."""
    return row.gap.fit.slope if row.gap is not None else NOT_ASKED


def _differs(row: SideSlopes) -> bool:
    """Return whether both sides clearly change at different rates."""
    return row.gap is not None and bool(row.gap.verdict)


def _slope(row: SideSlopes, side: str) -> Estimate:
    """Return the mixed model's slope of a side."""
    return row.models[side].mixed.slope if side in row.models else NOT_ASKED


def _side_column(slopes: Slopes | None, side: str) -> Column[SideSlopes]:
    def cell(row: SideSlopes) -> Cell:
        if slopes is None or side not in row.models:
            return slope_cell(NOT_ASKED)
        return slopes.cell(row.models[side])

    return Column(estimate_column(side), cell)


def _answer(
    rows: Sequence[SideSlopes],
    slopes: Slopes | None,
    people: AnswerCounts,
    overall: Agreement | None,
) -> str:
    """Say whether judges' scores change as people's do, and how far both agree."""
    who, together = who_answered(people), next((row for row in rows if row.title == ALL), None)
    if slopes is None:
        return (
            "The change per turn of people's and judges' scores is not computed yet. It follows in "
            "the background."
        )
    if together is None:
        return (
            f"{who} scored the turns of {plural(people.items, 'item')}; judges are not asked the "
            "same, so there is nothing to compare."
        )
    gap, limits = _gap(together), ""
    if together.gap is None or gap.interval is None:
        words = [
            "Whether judges' scores change as people's do is not known "
            f"({gap.undefined or gap.no_interval})."
        ]
    else:
        limits = limits_of(together.gap.fit)
        clear = "a clear difference" if _differs(together) else "no clear difference"
        single = [row.title.lower() for row in rows if row.title != ALL and _differs(row)]
        named = f"; on single dimensions clear for {listed(single)}" if single else ""
        words = [
            f"Per turn, judges' scores change by {stated_change(gap, 'points')} points relative to "
            f"people's: {clear} ({p_words(together.gap.p or 0.0)}, "
            f"n = {plural(gap.n, 'trajectory', 'trajectories')}){named}."
        ]
    by_people, by_judges = (_by(_slope(together, side)) for side in (PEOPLE, JUDGES))
    words.append(f"The scores of {who} change by {by_people}, the judges' by {by_judges}.")
    words += [limits] * bool(limits)
    if overall is None or overall.exact.value is None:
        words.append("No turn was scored by every judge, so agreement is not known.")
    else:
        within, equal = (
            number(one.value or 0.0, "share") for one in (overall.within_one, overall.exact)
        )
        words.append(
            f"The judges' mean is within one point of the person's score on {within} of "
            f"{overall.n:,} answers and equal on {equal}."
        )
    return " ".join(words)


def _by(slope: Estimate) -> str:
    """Return how scores change, such as: −0.20 points (95 % interval −0.34 to −0.06)."""
    if slope.value is None:
        return f"an unknown amount ({slope.undefined})"
    text = f"{number(slope.value, 'points', signed=True)} points"
    if slope.interval is None:
        return text
    return f"{text} ({level(slope.interval)} interval {ends(slope.interval, 'points')})"


def _by_turn(
    frame: "DataFrame", dimensions: Sequence[Dimension], judged: "DataFrame"
) -> list[TurnAgreement]:
    """Return the agreement turn by turn: early turns may be easier to agree on than late ones."""
    rows = []
    for turn in sorted(set(frame["turn"].tolist())):
        here = frame[frame["turn"] == turn]
        agreements, overall = compare(here, dimensions, judged)
        together = [DimensionAgreement("", overall)] if overall is not None else []
        count = here["trajectory"].nunique()
        rows += [TurnAgreement(int(turn), count, row) for row in (*together, *agreements)]
    return rows


def _among_people(frame: "DataFrame", question: Question) -> Reliability:
    """Return how far people agree with each other on the turns of one question."""
    own = frame[frame["question"] == question.key]
    turns = list(zip(own["trajectory"].tolist(), own["turn"].tolist(), strict=True))
    return score_agreement(
        zip(own["annotator"].tolist(), turns, own["human"].tolist(), strict=True),
        scale=(1, question.scale.most),
        clusters=dict(zip(turns, own["task"].tolist(), strict=True)),
        seed=SEED,
    )
