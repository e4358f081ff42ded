"""The details of the decline page: slopes by other estimators, and matched turns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.figures.turn_slopes import matched_figure
from analysis.filters.selection import Selection
from analysis.frames.scores import turn_scores
from analysis.pages.decline.slope_fits import Fits, fit_runs
from analysis.pages.decline.turn_slopes import (
    ALPHA,
    MOST_ROWS,
    OPEN_ROWS,
    Slopes,
    pulled_words,
    slopes_figure,
    slopes_how,
    slopes_notices,
    slopes_table,
)
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    FigureSpec,
    Notice,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.deferred import tell
from analysis.reports.formatting import listed, number, plural
from analysis.reports.leading import lead_row
from analysis.stats.trends.matched_turns import MatchedCurve, matched_turns
from analysis.stats.trends.slopes import slope_tests
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

Columns = tuple[list[str], list[str], list[int], list[int], list[float]]


def chosen_dimensions(selection: Selection) -> tuple[Dimension, ...]:
    """Return the dimensions that the selection names, in the rubric's order."""
    known = common.dimensions_of(selection.system)
    return tuple(d for d in known if d.key in selection.filters.dimensions)


def columns_of(frame: "DataFrame", dimensions: Sequence[Dimension]) -> Columns:
    """Return scores of turns as the columns that statistics take, with dimensions by title."""
    titles = {dimension.key: dimension.title for dimension in dimensions}
    return (
        frame["label"].tolist(),
        frame["dimension"].map(titles).tolist(),
        frame["trajectory"].tolist(),
        frame["turn"].tolist(),
        frame["score"].tolist(),
    )


def decline_later(selection: Selection) -> Report:
    """Slopes by other estimators, and the same trajectories throughout.

    Fits what the page leads with as well, for every agent and dimension of the chosen data.
    """
    dimensions = chosen_dimensions(selection)
    tell("reading the scores")
    frame = turn_scores(selection.runs, [d.key for d in dimensions], final=False)
    if frame.empty:
        return Report(sentence="There are no scores of turns to fit anything to.")
    columns = columns_of(frame, dimensions)
    fits = fit_runs(selection.system, selection.family)
    slopes = shown_slopes(fits, selection)
    tell("comparing the same trajectories")
    matched = matched_turns(*columns, scale=common.RUBRIC_SCALE)
    figures = [slopes_figure(slopes)]
    if any(curve.points for curve in matched):
        figures.append(_matched_spec(matched, selection))
    return Report(
        sentence="Four estimates of the change per turn, side by side"
        f"{pulled_words(slopes.known)}.",
        figures=tuple(figures),
        tables=(slopes_table(slopes), matched_table(matched, selection)),
        notices=(*_stayers(matched), *slopes_notices(slopes)),
        how=(*slopes_how(slopes), *_how_matched(matched)),
    )


def shown_slopes(fits: Fits, selection: Selection) -> Slopes:
    """The slopes of the agents and dimensions that the page shows, tested with all others."""
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


def _matched_spec(matched: Sequence[MatchedCurve], selection: Selection) -> FigureSpec:
    return common.figure_spec(
        "matched",
        "The same trajectories at every turn",
        "Means of trajectories that reach the last turn shown, with 95 % intervals; open marks at "
        "turn 1: those that ended before.",
        matched_figure(matched, styles=common.styles([run.label for run in selection.runs])),
    )


def matched_table(matched: Sequence[MatchedCurve], selection: Selection) -> Table:
    """Where the same trajectories began and where they got, and who is not among them."""
    runs = {run.label: run for run in selection.runs}
    columns = (
        text_column("Agent"),
        text_column("Dimension"),
        number_column("Turns", "last turn"),
        number_column("Trajectories", help="Scored on each of these turns"),
        estimate_column("First turn"),
        estimate_column("Last turn"),
        estimate_column("Change", help="Last of these turns minus the first"),
        estimate_column("Left before", help="Mean at turn 1 of those that ended before"),
        text_column("Of those that last", "notes", "How they began beside those that left"),
    )
    rows = []
    for curve in matched:
        last = curve.points[-1] if curve.points else curve.change
        horizon = (
            Cell(f"1 to {curve.horizon}", (curve.horizon,))
            if curve.horizon
            else Cell(data=(None,), reason=curve.change.undefined)
        )
        run, turns = runs[curve.agent], curve.horizon or 2
        left = common.trajectories_of(run, max_turns=turns - 1)
        cells = (
            text_cell(curve.agent),
            text_cell(curve.dimension),
            horizon,
            count_cell(curve.change.n if curve.points else 0),
            estimate_cell(curve.stayed, "points"),
            estimate_cell(last, "points"),
            estimate_cell(curve.change, "points", signed=True),
            estimate_cell(curve.left, "points", show_n=True, url=left),
            _began_cell(curve),
        )
        rows.append(lead_row(cells, columns, common.trajectories_of(run, min_turns=turns)))
    return Table(
        "matched",
        f"The same trajectories at every turn ({plural(len(rows), 'row')})",
        columns,
        tuple(rows),
        note="Turns 1 to the highest that half of an agent's trajectories reach, over trajectories "
        "with a score on each of them: who ends early cannot move these means, but they speak of "
        "trajectories that last so long alone.",
        open=len(rows) <= OPEN_ROWS,
        most=MOST_ROWS,
    )


def _began_cell(curve: MatchedCurve) -> Cell:
    """How those that stayed had begun, where that is clear; the CSV has the whole sentence."""
    full = "; ".join(curve.warnings)
    if not full or curve.left.value is None or curve.stayed.value is None:
        return Cell(full, (full,))
    ahead = curve.stayed.value - curve.left.value
    words = f"began {number(abs(ahead), 'points')} {'higher' if ahead > 0 else 'lower'}"
    return Cell(words, (full,), tip=full)


def _stayers(matched: Sequence[MatchedCurve]) -> list[Notice]:
    """Where those that stayed had begun better or worse than those that left."""
    by_word: dict[str, list[str]] = {}
    for curve in matched:
        if curve.warnings and curve.left.value is not None:
            word = "better" if (curve.stayed.value or 0) > curve.left.value else "worse"
            by_word.setdefault(word, []).append(f"{curve.agent} on {curve.dimension.lower()}")
    return [
        Notice(
            f"Trajectories that last began {word} than those that ended early (95 % intervals of "
            f"their means do not meet): {listed(names)}. Means by turn compare these with each "
            "other, so the curves above cannot be read as decline there."
        )
        for word, names in by_word.items()
    ]


def _how_matched(matched: Sequence[MatchedCurve]) -> list[str]:
    gone: dict[str, int] = {}
    for curve in matched:
        for reason, count in curve.change.excluded.items():
            gone[reason] = max(gone.get(reason, 0), count)
    lines = [
        "Same trajectories: those with a score on each of the turns 1 … T, T being the highest "
        "turn that half of an agent's trajectories reach (at least 2); 95 % t intervals over "
        "trajectories. Where a low score ends a trajectory, those that last had some luck before "
        "T, so the change leans downwards by as much."
    ]
    if gone:
        words = ", ".join(f"{reason}: up to {count:,}" for reason, count in gone.items())
        lines.append(f"Not among them, of one agent: {words} of its trajectories.")
    return lines
