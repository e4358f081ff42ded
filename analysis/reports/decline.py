"""Whether plans get worse from turn to turn, with how many trajectories still run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analysis.figures.decline import decline_figure
from analysis.frames.scores import turn_scores
from analysis.reports import common
from analysis.reports.decline_slopes import decline_later as decline_later
from analysis.reports.leading import lead_row
from analysis.reports.parts import (
    Cell,
    Column,
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
from analysis.reports.turn_columns import Columns, chosen_dimensions, columns_of
from analysis.reports.words import listed, number, plural
from analysis.selection import Selection
from analysis.stats.decline import Alignment, Curve, Slope, score_by_turn, within_slope

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = (
    "The decline page shows how scores change from turn to turn while constraints come to light."
)
MANY = 4
ALPHA = 0.05
MOST_ROWS = 100


def decline_report(selection: Selection) -> Report:
    """Everything on the page about turns."""
    dimensions = chosen_dimensions(selection)
    if not selection.runs or not dimensions:
        return Report(empty=common.no_runs(PURPOSE, selection))
    frame = turn_scores(selection.runs, [d.key for d in dimensions], final=False)
    if frame.empty:
        return Report(empty=common.no_runs(PURPOSE, selection))
    columns = columns_of(frame, dimensions)
    align: Alignment = "from_end" if selection.filters.align == "end" else "turn"
    curves = score_by_turn(*columns, align=align)
    slopes = within_slope(*columns)
    titles = [dimension.title for dimension in dimensions]
    figure = decline_figure(
        curves,
        titles,
        styles=common.styles([run.label for run in selection.runs]),
        links=_links(curves, selection),
    )
    return Report(
        sentence=sentence(curves, slopes, clear_slopes(columns, slopes)),
        figures=(_figure(figure, align, selection),),
        tables=(_slopes(slopes, selection), _points(curves, align, selection)),
        notices=(*common.selection_notices(selection), *_survivors(curves, align)),
        how=(*common.how_runs(selection), *_how(frame, align)),
        methods="Mean scores by turn are over the trajectories that have such a turn, a turn's "
        "score being the mean of its judges; the change per turn is a least-squares slope with one "
        "intercept per trajectory.",
    )


def clear_slopes(columns: Columns, slopes: Sequence[Slope]) -> tuple[Slope, ...]:
    """The slopes that rise or fall even with intervals widened for the whole family (Bonferroni).

    Of many curves some would fall by chance at 95 % each.
    """
    family = sum(slope.slope.interval is not None for slope in slopes)
    if not family:
        return ()
    wide = within_slope(*columns, level=1 - ALPHA / family)
    return tuple(
        slope
        for slope in wide
        if (found := slope.slope.interval) is not None and (found.high < 0 or found.low > 0)
    )


def sentence(curves: Sequence[Curve], slopes: Sequence[Slope], clear: Sequence[Slope]) -> str:
    """How many curves clearly fall or rise, and the steepest with its interval."""
    known = [slope for slope in slopes if slope.slope.interval is not None]
    if not known:
        reasons = {slope.slope.undefined or slope.slope.no_interval for slope in slopes}
        why = listed(sorted(reason for reason in reasons if reason)) or "no scores"
        return f"Whether plans get worse cannot be said: {why}."
    names = {(slope.agent, slope.dimension) for slope in clear}
    sure = [slope for slope in known if (slope.agent, slope.dimension) in names]
    falling = [slope for slope in sure if (slope.slope.value or 0) < 0]
    rising = [slope for slope in sure if (slope.slope.value or 0) > 0]
    total = plural(len(known), "curve")
    if not sure:
        return (
            f"Within trajectories no score clearly falls or rises from turn to turn: {total}, one "
            f"for each agent and dimension{_survivors_words(curves)}."
        )
    text = (
        f"Within trajectories {len(falling)} of {total} (one for each agent and dimension) clearly "
        f"fall and {len(rising)} rise"
    )
    if falling:
        text += f"; the steepest fall is {_one(min(falling, key=lambda s: s.slope.value or 0))}"
    else:
        text += f"; the steepest rise is {_one(max(rising, key=lambda s: s.slope.value or 0))}"
    return f"{text}{_survivors_words(curves)}."


def _one(slope: Slope) -> str:
    value, interval = slope.slope.value or 0.0, slope.slope.interval
    words = (
        f"{slope.agent} on {slope.dimension.lower()}: {number(value, 'points', signed=True)} a turn"
    )
    if interval is None:
        return words
    low, high = (number(end, "points", signed=True) for end in (interval.low, interval.high))
    return (
        f"{words} (95 % interval {low} to {high}, n = "
        f"{plural(slope.slope.n, 'trajectory', 'trajectories')})"
    )


def _survivors_words(curves: Sequence[Curve]) -> str:
    counts = _running(curves)
    if not counts or counts[0] == counts[-1]:
        return ""
    return f"; of {counts[0]:,} trajectories, {counts[-1]:,} reach turn {len(counts)}"


def _running(curves: Sequence[Curve]) -> list[int]:
    """Trajectories of all agents that have at least so many turns."""
    by_agent = {curve.agent: curve for curve in curves}
    longest = max((len(curve.points) for curve in curves), default=0)
    return [
        sum(c.points[i].running for c in by_agent.values() if i < len(c.points))
        for i in range(longest)
    ]


def _figure(figure: dict[str, Any], align: Alignment, selection: Selection) -> FigureSpec:
    words = "turn" if align == "turn" else "distance from the last turn"
    return common.figure_spec(
        "curves",
        f"Mean score by {words}, with 95 % intervals",
        "Below: how many trajectories each point stands for. Open marks have no interval.",
        _quiet(figure, len(selection.runs)),
    )


def _links(curves: Sequence[Curve], selection: Selection) -> dict[tuple[str, int], str]:
    """A point leads to the trajectories that are long enough to have it."""
    runs = {run.label: run for run in selection.runs}
    return {
        (curve.agent, point.position): common.trajectories_of(
            runs[curve.agent],
            min_turns=point.position if curve.align == "turn" else 1 - point.position,
        )
        for curve in curves
        for point in curve.points
    }


def _quiet(figure: dict[str, Any], agents: int) -> dict[str, Any]:
    """Where many agents share a panel their intervals step back behind the means."""
    if agents > MANY:
        for trace in figure["data"]:
            if trace.get("hoverinfo") == "skip":
                trace["opacity"] = 0.25
    return figure


def _slopes(slopes: Sequence[Slope], selection: Selection) -> Table:
    """One row per agent, one column per dimension."""
    titles = list(dict.fromkeys(slope.dimension for slope in slopes))
    found = {(slope.agent, slope.dimension): slope.slope for slope in slopes}
    rows = []
    for run in selection.runs:
        if (run.label, titles[0]) not in found:
            continue
        name = common.agent_cell(run)
        rows.append(
            (
                name,
                *(
                    estimate_cell(
                        found[run.label, title],
                        "points",
                        signed=True,
                        show_n=True,
                        url=common.trajectories_of(run, min_turns=2),
                    )
                    for title in titles
                ),
            )
        )
    return Table(
        "slopes",
        "Change per turn within trajectories",
        (
            Column("Agent", ("agent", "kind", "run"), num=False),
            *(estimate_column(title) for title in titles),
        ),
        tuple(rows),
        note="Each trajectory compared with itself, so that it does not matter which ones last; "
        "points of the scale per turn, with 95 % intervals and n trajectories.",
    )


def _points(curves: Sequence[Curve], align: Alignment, selection: Selection) -> Table:
    word = "Turn" if align == "turn" else "Turns from the last"
    links = _links(curves, selection)
    columns = (
        text_column("Agent"),
        text_column("Dimension"),
        number_column(word, "position"),
        number_column("Running"),
        number_column("Scored"),
        estimate_column("Mean"),
    )
    rows = [
        lead_row(
            (
                text_cell(curve.agent),
                text_cell(curve.dimension),
                Cell(number(point.position, "number").removesuffix(".00"), (point.position,)),
                count_cell(point.running),
                count_cell(point.mean.n),
                estimate_cell(point.mean, "points"),
            ),
            columns,
            links[curve.agent, point.position],
        )
        for curve in curves
        for point in curve.points
    ]
    return Table(
        "points",
        f"The numbers of the figure ({plural(len(rows), 'row')})",
        columns,
        tuple(rows),
        open=False,
        most=MOST_ROWS,
    )


def _survivors(curves: Sequence[Curve], align: Alignment) -> list[Notice]:
    counts = _running(curves)
    if not counts or counts[0] == counts[-1]:
        return []
    if align == "from_end":
        text = (
            f"Only {counts[-1]:,} of {counts[0]:,} trajectories are {len(counts)} turns long: "
            "points "
            "far from the end hold long trajectories only."
        )
    else:
        text = (
            f"Trajectories that end early leave: {counts[-1]:,} of {counts[0]:,} reach turn "
            f"{len(counts)}. Means of different turns compare different survivors; the change "
            "within trajectories does not."
        )
    return [Notice(text)]


def _how(frame: "DataFrame", align: Alignment) -> list[str]:
    missing = int(frame["score"].isna().sum())
    where = "turn" if align == "turn" else "distance from the last turn"
    lines = [
        "A turn's score is the mean over its judges, where every judge scored it. The mean by "
        f"{where} "
        "is taken over the trajectories that have such a turn, with a 95 % t interval.",
        "Change per turn: least squares with one intercept per trajectory, 95 % t interval "
        "clustered by "
        "trajectory. It assumes a straight line, and that ending does not depend on the last "
        "score.",
        f"Clearly: the interval excludes no change even at {ALPHA} divided by the number of curves "
        "(Bonferroni, family: all curves of the page).",
        f"{missing:,} of {len(frame):,} turns and dimensions have no score and are left out."
        if missing
        else "No turn is left out.",
    ]
    return lines
