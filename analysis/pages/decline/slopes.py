"""The deferred part of the decline page: slopes by other estimators, and matched turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.layout.theme import Figure
from analysis.figures.turn_slopes import matched_figure
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.scores import turn_scores
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    DeferredPart,
    FigureOf,
    TableOf,
    UrlOf,
    count_of,
    estimate_of,
    text_of,
)
from analysis.pages.decline.pooled_fits import fit_pooled
from analysis.pages.decline.slope_fits import Fits, fit_runs
from analysis.pages.decline.turn_slopes import (
    ALPHA,
    MOST_ROWS,
    OPEN_ROWS,
    Slopes,
    draw_fits,
    fit_columns,
    fits_title,
)
from analysis.reports import figure_specs, system_facts
from analysis.reports.content import Cell, number_column, text_column
from analysis.reports.deferred_reports import note_progress
from analysis.reports.formatting import number, plural
from analysis.stats.comparison.thresholds import REFERENCE
from analysis.stats.results import Estimate
from analysis.stats.trends.logit_slope import logit_slope
from analysis.stats.trends.matched_turns import MatchedCurve, matched_turns
from analysis.stats.trends.slopes import SlopeModels, slope_tests
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

Columns = tuple[list[str], list[str], list[int], list[int], list[float]]


@dataclass(frozen=True)
class DeclineDetails:
    """The slopes by four fits, and means of the same trajectories at every turn."""

    runs: tuple[ChosenRun, ...]
    dimensions: tuple[Dimension, ...]
    slopes: Slopes
    matched: tuple[MatchedCurve, ...]
    odds: tuple["OddsRow", ...]

    @property
    def passing(self) -> float:
        """The mean score from which a turn passes."""
        return REFERENCE

    @property
    def began(self) -> list[tuple[str, list[str]]]:
        """The curves where those that stayed had begun better, or worse, than those that left."""
        by_word: dict[str, list[str]] = {}
        for curve in self.matched:
            if curve.warnings and curve.left.value is not None:
                word = "better" if (curve.stayed.value or 0) > curve.left.value else "worse"
                by_word.setdefault(word, []).append(f"{curve.agent} on {curve.dimension.lower()}")
        return list(by_word.items())

    @property
    def gone(self) -> Mapping[str, int]:
        """The largest number of trajectories of one agent that are not matched, by reason."""
        found: dict[str, int] = {}
        for curve in self.matched:
            for reason, count in curve.change.excluded.items():
                found[reason] = max(found.get(reason, 0), count)
        return found

    def link(self, agent: str, dimension: str, **more: int) -> Link:
        """Return the trajectories of an agent, with a dimension."""
        run = next(run.pk for run in self.runs if run.label == agent)
        key = next(one.key for one in self.dimensions if one.title == dimension)
        return Link(runs=(run,), dimension=key, more=more)


def chosen_dimensions(selection: Selection) -> tuple[Dimension, ...]:
    """Return the dimensions that the selection names, in the rubric's order."""
    known = system_facts.dimensions_of(selection.system)
    return tuple(d for d in known if d.key in selection.filters.dimensions)


def columns_of(frame: "DataFrame", dimensions: Sequence[Dimension]) -> Columns:
    """Return the scores of turns as the columns that statistics take, with dimensions by title."""
    titles = {dimension.key: dimension.title for dimension in dimensions}
    return (
        frame["label"].tolist(),
        frame["dimension"].map(titles).tolist(),
        frame["trajectory"].tolist(),
        frame["turn"].tolist(),
        frame["score"].tolist(),
    )


def compute_deferred(selection: Selection) -> DeclineDetails | None:
    """Fit slopes by four estimators, and compare the same trajectories throughout.

    Fits what the page leads with as well, for every agent and dimension of the chosen data.
    """
    dimensions = chosen_dimensions(selection)
    note_progress("reading the scores")
    frame = turn_scores(selection.runs, [d.key for d in dimensions], final=False)
    if frame.empty:
        return None
    fits = fit_runs(selection.system, selection.family)
    fit_pooled(selection.system, selection.family)
    slopes = shown_slopes(fits, selection)
    note_progress("comparing the same trajectories")
    matched = matched_turns(*columns_of(frame, dimensions), scale=system_facts.RUBRIC_SCALE)
    odds = odds_rows(frame, dimensions)
    return DeclineDetails(selection.runs, dimensions, slopes, tuple(matched), odds)


@dataclass(frozen=True)
class OddsRow:
    """The factor by which the odds of a passing score change per turn on a dimension."""

    dimension: Dimension
    odds: Estimate

    @property
    def link(self) -> Link:
        return Link(dimension=self.dimension.key, more={"min_turns": 2})


def odds_rows(frame: "DataFrame", dimensions: Sequence[Dimension]) -> tuple[OddsRow, ...]:
    """Fit a logit GEE of whether the judges' mean reaches the threshold, by dimension."""
    found = []
    for dimension in dimensions:
        note_progress(f"fitting the odds on {dimension.title.lower()}")
        rows = frame[frame["dimension"] == dimension.key].dropna(subset=["score"])
        passed = (rows["score"] >= REFERENCE).astype(float)
        odds = logit_slope(
            rows["label"].tolist(),
            rows["task"].tolist(),
            rows["trajectory"].tolist(),
            rows["turn"].tolist(),
            passed.to_numpy(),
        )
        found.append(OddsRow(dimension, odds))
    return tuple(found)


def shown_slopes(fits: Fits, selection: Selection) -> Slopes:
    """Return the slopes of the agents and dimensions that the page shows, tested with all
    others.
    """
    everyone = [one for models in fits.values() for one in models]
    titles = [dimension.title for dimension in chosen_dimensions(selection)]
    shown = [
        one
        for run in selection.runs
        for title in titles
        for one in fits.get(run.label, ())
        if one.dimension == title
    ]
    return Slopes(tuple(shown), slope_tests(everyone, alpha=ALPHA))


def _slope_link(result: DeclineDetails, one: SlopeModels) -> Link:
    return result.link(one.agent, one.dimension, min_turns=2)


def draw_four(result: DeclineDetails, url: UrlOf) -> Figure:
    """Draw the change per turn by four fits."""
    return draw_fits(result.slopes, lambda one: url(_slope_link(result, one)))


def draw_matched(result: DeclineDetails, url: UrlOf) -> Figure | None:
    """Draw the means of the same trajectories at every turn."""
    if not any(curve.points for curve in result.matched):
        return None
    links = {
        (curve.agent, curve.dimension): url(_matched_link(result, curve))
        for curve in result.matched
    }
    looks = figure_specs.styles([run.label for run in result.runs])
    return matched_figure(result.matched, styles=looks, links=links)


def _matched_link(result: DeclineDetails, curve: MatchedCurve) -> Link:
    return result.link(curve.agent, curve.dimension, min_turns=curve.horizon or 2)


@dataclass(frozen=True)
class MatchedRow:
    """A curve of the same trajectories, and where its numbers lead."""

    curve: MatchedCurve
    link: Link
    left: Link

    @property
    def last(self) -> Estimate:
        return self.curve.points[-1] if self.curve.points else self.curve.change


def matched_rows(result: DeclineDetails) -> list[MatchedRow]:
    """Return the curves with their links."""
    return [
        MatchedRow(
            curve,
            _matched_link(result, curve),
            result.link(curve.agent, curve.dimension, max_turns=(curve.horizon or 2) - 1),
        )
        for curve in result.matched
    ]


def matched_columns(_: DeclineDetails) -> Sequence[ColumnOf[MatchedRow]]:
    """Say where the same trajectories began and where they got, and who is not among them."""
    return (
        text_of("Agent", lambda row: row.curve.agent),
        text_of("Dimension", lambda row: row.curve.dimension),
        ColumnOf(number_column("Turns", "last turn"), _horizon),
        count_of(
            "Trajectories",
            lambda row: row.curve.change.n if row.curve.points else 0,
            help="Scored on each of these turns",
        ),
        estimate_of("First turn", lambda row: row.curve.stayed, "points"),
        estimate_of("Last turn", lambda row: row.last, "points"),
        estimate_of(
            "Change",
            lambda row: row.curve.change,
            "points",
            signed=True,
            help="Last of these turns minus the first",
        ),
        estimate_of(
            "Left before",
            lambda row: row.curve.left,
            "points",
            show_n=True,
            help="Mean at turn 1 of those that ended before",
            link=lambda row: row.left,
        ),
        ColumnOf(
            text_column(
                "Of those that last", "notes", help="How they began beside those that left"
            ),
            _began,
        ),
    )


def _horizon(row: MatchedRow) -> Cell:
    if row.curve.horizon:
        return Cell(f"1 to {row.curve.horizon}", (row.curve.horizon,))
    return Cell(data=(None,), reason=row.curve.change.undefined)


def _began(row: MatchedRow) -> Cell:
    """Return how those that stayed had begun, where that is clear; the CSV has the whole
    sentence.
    """
    curve = row.curve
    full = "; ".join(curve.warnings)
    if not full or curve.left.value is None or curve.stayed.value is None:
        return Cell(full, (full,))
    ahead = curve.stayed.value - curve.left.value
    words = f"began {number(abs(ahead), 'points')} {'higher' if ahead > 0 else 'lower'}"
    return Cell(words, (full,), tip=full)


def folded_over(rows: int) -> bool:
    """Return whether a table has too many rows to be shown at once."""
    return rows > OPEN_ROWS


DEFERRED = DeferredPart(
    compute=compute_deferred,
    parts=(
        FigureOf("slope-models", "Change per turn, by four fits", draw_four),
        FigureOf("matched", "The same trajectories at every turn", draw_matched),
        TableOf(
            "slope-models",
            lambda result: fits_title(result.slopes),
            rows=lambda result: result.slopes.models,
            columns=lambda result: fit_columns(result.slopes),
            about=_slope_link,
            folded=lambda result: folded_over(len(result.slopes.models)),
            most=MOST_ROWS,
        ),
        TableOf(
            "odds",
            lambda result: f"Odds of a mean score of {result.passing:g} or more, by turn",
            rows=lambda result: result.odds,
            columns=lambda _: (
                text_of("Dimension", lambda row: row.dimension.title),
                estimate_of("Odds ratio per turn", lambda row: row.odds, "points", show_n=True),
            ),
            link=lambda row: row.link,
        ),
        TableOf(
            "matched",
            lambda result: (
                f"The same trajectories at every turn ({plural(len(result.matched), 'row')})"
            ),
            rows=matched_rows,
            columns=matched_columns,
            link=lambda row: row.link,
            folded=lambda result: folded_over(len(result.matched)),
            most=MOST_ROWS,
        ),
    ),
)
