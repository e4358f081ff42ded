"""Change per turn, curve by curve: what is clear of it, and what pages show of its four fits."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from analysis.exports.notes import TableNotes
from analysis.figures.turn_slopes import slope_forest
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Page
from analysis.reports.content import (
    Badge,
    Cell,
    estimate_cell,
    estimate_column,
    number_column,
    rounded,
    text_column,
)
from analysis.reports.formatting import MINUS, first_up, number, p_text, p_words, plural
from analysis.stats.comparison.multiplicity import AdjustedTest, Family
from analysis.stats.results import Estimate
from analysis.stats.trends import gee, mixed_models
from analysis.stats.trends.decline import Alignment, Curve, TurnPoint
from analysis.stats.trends.slopes import SHARED, SlopeModels, curve_name

ALPHA = 0.05
MOST_ROWS, OPEN_ROWS = 100, 24
# Warnings that begin so are about few trajectories or tasks; the page counts them.
FEW = "only "
# From where a line through all scores is called pulled away, in points a turn.
PULLED = 0.015
NO_SCORES = "There are no scores of turns to fit anything to."
BY_TURN = "Points of the scale per turn, with 95 % intervals"


class CurvePoint(NamedTuple):
    """The mean of one curve at one turn."""

    curve: Curve
    point: TurnPoint


class Slopes(NamedTuple):
    """The curves that are shown, and the tests of one family, which may have more curves."""

    models: tuple[SlopeModels, ...]
    family: Family

    def test(self, one: SlopeModels) -> AdjustedTest:
        """Return the test of a curve, corrected over the family."""
        return self.family[curve_name(one.agent, one.dimension)]

    def verdict(self, one: SlopeModels) -> str:
        """Return whether a curve clearly rises or declines in its family."""
        return verdict(one.mixed.slope, self.test(one).adjusted)

    def cell(self, one: SlopeModels) -> Cell:
        """Return the slope of the mixed model, marked where it is clear."""
        p = self.test(one).adjusted
        after = f"after Holm over {plural(self.family.size, 'test')}"
        return slope_cell(
            one.mixed.slope, self.verdict(one), f"{p_words(p)} {after}" if p is not None else ""
        )


def verdict(slope: Estimate, p: float | None) -> str:
    """Return whether scores clearly decline or rise; nothing where neither is clear."""
    if p is None or p > ALPHA:
        return ""
    return "declines" if (slope.value or 0.0) < 0 else "rises"


def slope_cell(slope: Estimate, mark: str = "", why: str = "") -> Cell:
    """Return a change per turn, with a word that marks what is clear of it."""
    badges = (Badge(mark, "ok" if mark == "rises" else "warn", why),) if mark else ()
    return replace(estimate_cell(slope, "points", signed=True, show_n=True), badges=badges)


def p_cell(p: float | None, why_none: str = "not tested: no error is known") -> Cell:
    """Return a p-value, or why there is none."""
    return Cell(data=(None,), reason=why_none) if p is None else Cell(p_text(p), (rounded(p),))


def four_fits(
    page: Page, slopes: Slopes, link: Callable[[SlopeModels], Link], *, who: str = "Agent"
) -> None:
    """Write the change per turn of every curve by four fits, and what each of them is worth."""
    page.answer(f"Four estimates of the change per turn, side by side{_one_line(slopes)}.")
    models, tests = slopes.models, plural(slopes.family.size, "test")
    links = {(one.agent, one.dimension): page.links.url(link(one)) for one in models}
    page.figure(
        "slope-models",
        "Change per turn, by four fits",
        lambda: slope_forest(models, links),
        subtitle="With 95 % intervals. The line through all scores shows what it makes of "
        "trajectories that end early.",
    )
    notes = TableNotes()
    for one in models:
        for note in _notes_of(one):
            notes.mark(note)
    legend = "".join(f" {letter}: {text}." for letter, text in notes.lines())
    page.table(
        "slope-models",
        f"Change per turn, by four fits ({plural(len(models), 'row')})",
        models,
        _fit_columns(slopes, notes, who),
        link=link,
        note=f"{BY_TURN} and n trajectories. “Declines” and “rises” mark what is clear after Holm "
        f"over {tests}; other intervals are of one curve each and mark nothing.{legend}",
        folded=len(models) > OPEN_ROWS,
        most=MOST_ROWS,
    )
    few = _few([one.mixed.slope for one in models])
    if few:
        page.warning(
            f"{few} fewer than {mixed_models.ENOUGH} trajectories: intervals of the mixed models "
            "rest on the model being right there."
        )
    few = _few([one.gee.slope for one in models])
    if few:
        page.warning(
            f"{few} fewer than {gee.ENOUGH} trajectories or tasks: intervals of GEE are too narrow "
            "there."
        )
    how_slopes(page, slopes)


def _one_line(slopes: Slopes) -> str:
    """Say how far a line through all scores is from the mixed models, where trajectories end."""
    gaps = [
        one.pooled.slope.value - one.mixed.slope.value
        for one in slopes.models
        if one.mixed.slope.interval is not None
        and one.running
        and one.running[-1] < one.running[0]
        and one.pooled.slope.value is not None
        and one.mixed.slope.value is not None
    ]
    if not gaps:
        return ""
    off = sum(gaps) / len(gaps)
    if abs(off) < PULLED:
        return "; one line through all scores says nearly the same"
    return (
        "; one line through all scores, which compares trajectories that ended with those that "
        f"stayed, is off by {number(off, 'points', signed=True)} on average "
        f"({'upwards' if off > 0 else 'downwards'})"
    )


def _few(slopes: Sequence[Estimate]) -> str:
    """Return such as: 2 of 5 curves have; empty where no fit warns of few trajectories."""
    few = sum(any(text.startswith(FEW) for text in slope.warnings) for slope in slopes)
    if not few:
        return ""
    return f"{few:,} of {plural(len(slopes), 'curve')} {'has' if few == 1 else 'have'}"


def _fit_columns(slopes: Slopes, notes: TableNotes, who: str) -> Sequence[Column[SlopeModels]]:
    """Put the fits side by side, with p-values of the family, and what is odd."""

    def p_value(one: SlopeModels) -> Cell:
        test = slopes.test(one)
        return p_cell(test.adjusted, test.undefined)

    def odd(one: SlopeModels) -> Cell:
        given = _notes_of(one)
        # Letters, which are told once for the whole table; the CSV has the words in each row.
        letters = ", ".join(notes.mark(note) for note in given)
        return Cell(letters, (first_up("; ".join(given)),))

    def fit(label: str, read: Callable[[SlopeModels], Estimate], help: str) -> Column[SlopeModels]:
        return columns.estimate(label, read, "points", signed=True, show_n=True, help=help)

    tests = plural(slopes.family.size, "test")
    allows = "Allows for endings that depend on scores seen"
    instead = "What was fitted instead, and why: letters over the table"
    return (
        columns.text(who, lambda one: one.agent),
        columns.text("Dimension", lambda one: one.dimension),
        Column(estimate_column("Mixed model", help=allows), slopes.cell),
        Column(number_column("p", help=f"Of the mixed model, Holm over {tests}"), p_value),
        fit("GEE", lambda one: one.gee.slope, "Biased where scores decide the ending"),
        fit("Within", lambda one: one.within, "Biased where the last score decides the ending"),
        fit(
            "One line",
            lambda one: one.pooled.slope,
            "Compares trajectories that ended with those that ran on",
        ),
        Column(text_column("Notes", help=instead), odd),
    )


def _notes_of(one: SlopeModels) -> list[str]:
    """Return what was fitted instead, and why. That trajectories are few, or share tasks, is said
    once.
    """
    given = (*one.mixed.slope.warnings, *one.gee.slope.warnings)
    return list(dict.fromkeys(text for text in given if not text.startswith(FEW)))


def points_of(curves: Sequence[Curve]) -> list[CurvePoint]:
    """Return the points of all curves."""
    return [CurvePoint(curve, point) for curve in curves for point in curve.points]


def table_points(
    page: Page,
    curves: Sequence[Curve],
    names: Sequence[Column[CurvePoint]],
    link: Callable[[CurvePoint], Link],
    *,
    most: int | None = None,
) -> None:
    """Add the numbers behind the figures of means by turn; ``names`` are the first columns."""
    points = points_of(curves)
    by_turn = all(curve.align == "turn" for curve in curves)

    def position(one: CurvePoint) -> Cell:
        at = one.point.position
        return Cell(f"{at}".replace("-", MINUS), (at,))

    page.table(
        "points",
        f"The numbers of the figure ({plural(len(points), 'row')})",
        points,
        [
            *names,
            Column(
                number_column("Turn" if by_turn else "Turns from the last", "position"), position
            ),
            columns.count("Running", lambda one: one.point.running),
            columns.count("Scored", lambda one: one.point.mean.n),
            columns.estimate("Mean", lambda one: one.point.mean, "points"),
        ],
        link=link,
        folded=True,
        most=most,
    )


def where_of(align: Alignment) -> str:
    """Return the unit by which turns are counted."""
    return "turn" if align == "turn" else "distance from the last turn"


def how_slopes(page: Page, slopes: Slopes) -> None:
    """Say how the change per turn was fitted and tested."""
    methods = dict.fromkeys(
        f"{slope.method}; "
        for one in slopes.models
        for slope in (one.mixed.slope, one.gee.slope, one.pooled.slope)
        if slope.method
    )
    untested = sum(slopes.family.excluded.values())
    not_made = f", {untested:,} could not be made" if untested else ""
    page.how(
        f"Fits: {''.join(methods)}within trajectories: least squares with one intercept per "
        "trajectory, t interval clustered by trajectory or task.",
        "Mixed model of one curve: score = a + b·turn + random intercept and slope of each "
        "trajectory, REML; random intercepts alone where slopes cannot be fitted, and the row says "
        "why. Its interval comes from the curvature of the likelihood, with a t quantile of the "
        "trajectories that have two scored turns, minus 1.",
        "What biases each: the mixed model stays right where endings depend on scores seen. Where "
        "the last score decides the ending, the slope within trajectories moves by itself, because "
        "it takes the chance in that score for change; GEE moves less. The line through all scores "
        "compares trajectories that ended with those that ran on. Where endings depend on "
        "something that was not scored, all four are wrong, and the data cannot show it.",
        f"Clearly: p at most {ALPHA} after Holm, over the family of {slopes.family.statement} "
        f"({plural(slopes.family.size, 'test')}{not_made}). Intervals are of one curve each and "
        "not corrected. Nothing here is drawn at random.",
    )
    if any(SHARED in one.warnings for one in slopes.models):
        page.how(f"{first_up(SHARED)}.")
