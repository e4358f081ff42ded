"""Whether plans get worse from turn to turn, with how many trajectories still run."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from analysis.figures.decline import decline_figure
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.scores import turn_scores
from analysis.pages.decline.slope_fits import kept_fits
from analysis.pages.decline.slopes import decline_later as decline_later
from analysis.pages.decline.slopes import shown_slopes
from analysis.pages.decline.turn_columns import chosen_dimensions, columns_of
from analysis.pages.decline.turn_slopes import Slopes, slopes_how, verdict, verdict_badges
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
    number_column,
    rounded,
    text_cell,
    text_column,
)
from analysis.reports.few_clusters import few_tasks_notices
from analysis.reports.formatting import listed, plural, stated
from analysis.reports.leading import lead_row
from analysis.stats.trends.decline import Alignment, Curve, score_by_turn
from analysis.stats.trends.slopes import SlopeModels

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = (
    "The decline page shows how scores change from turn to turn while constraints come to light."
)
MANY = 4
MOST_ROWS = 100
WAITS = "The change per turn of these agents is not computed yet. It follows in the background."
UNSEEN = (
    "The mixed model allows for endings that depend on the scores. If endings depend on something "
    "that was not scored, every estimate of the change per turn is wrong, and the data cannot show "
    "it."
)


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
    curves = score_by_turn(*columns, align=align, scale=common.RUBRIC_SCALE)
    fits = kept_fits(selection.system, selection.family)
    slopes = shown_slopes(fits, selection) if fits is not None else None
    titles = [dimension.title for dimension in dimensions]
    figure = decline_figure(
        curves,
        titles,
        styles=common.styles([run.label for run in selection.runs]),
        links=_links(curves, selection),
    )
    points = _points(curves, align, selection)
    return Report(
        sentence=sentence(curves, slopes) if slopes is not None else WAITS,
        figures=(_figure(figure, align, selection),),
        tables=(_slopes(slopes, selection), points) if slopes is not None else (points,),
        notices=(
            *common.selection_notices(selection),
            *_survivors(curves, align),
            *few_tasks_notices(frame["task"].nunique()),
            *([Notice(UNSEEN, "info")] if slopes is not None else []),
        ),
        how=(*common.how_runs(selection), *_how(frame, align, slopes)),
        methods="Mean scores by turn are over the trajectories that have such a turn, a turn's "
        "score being the mean of its judges; the change per turn is the slope of a linear mixed "
        "model with random intercepts and slopes of trajectories, tested with Holm's correction "
        "over all agents and dimensions of the data.",
        waits=slopes is None,
    )


def sentence(curves: Sequence[Curve], slopes: Slopes) -> str:
    """How many pairs of agent and dimension decline or rise, and the steepest with its interval."""
    known = slopes.known
    if not known:
        fits = [one.mixed.slope for one in slopes.models]
        reasons = {fit.undefined or fit.no_interval for fit in fits}
        why = listed(sorted(reason for reason in reasons if reason)) or "no scores"
        return f"Whether plans get worse is not known: {why}."
    falling, rising = slopes.clear(-1), slopes.clear(1)
    verdicts = f"{_verb(len(falling), 'decline')} and {_verb(len(rising), 'rise')}"
    size = slopes.family.size
    if len(known) == size:
        pairs = "agent–dimension pair" if size == 1 else "agent–dimension pairs"
        text = f"After correction, of {size:,} {pairs} {verdicts}"
    else:
        text = (
            f"Of the {plural(len(known), 'agent–dimension pair')} shown {verdicts} (corrected for "
            f"all {size:,} of the data)"
        )
    if falling:
        text += f"; the steepest decline is {_one(falling[0])}"
    elif rising:
        text += f"; the steepest rise is {_one(rising[0])}"
    return f"{text}{_survivors_words(curves)}."


def _verb(count: int, verb: str) -> str:
    """Such as “1 declines”, “2 decline”, “none rises”."""
    return f"{count:,} {verb}" if count > 1 else f"{'1' if count else 'none'} {verb}s"


def _one(one: SlopeModels) -> str:
    return (
        f"{one.agent} on {one.dimension.lower()}, "
        f"{stated(one.mixed.slope, 'points', signed=True)} points a turn, "
        f"n = {plural(one.mixed.slope.n, 'trajectory', 'trajectories')}"
    )


def _survivors_words(curves: Sequence[Curve]) -> str:
    counts = _running(curves)
    if not counts or counts[0] == counts[-1]:
        return ""
    reach = "reaches" if counts[-1] == 1 else "reach"
    return f"; of {counts[0]:,} trajectories, {counts[-1]:,} {reach} turn {len(counts)}"


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


def _slopes(slopes: Slopes, selection: Selection) -> Table:
    """One row per agent, one column per dimension; what is clear in the family is marked."""
    titles = list(dict.fromkeys(one.dimension for one in slopes.models))
    found = {(one.agent, one.dimension): one for one in slopes.models}
    rows = [
        (
            common.agent_cell(run),
            *(_slope_cell(slopes, found[run.label, title], run) for title in titles),
        )
        for run in selection.runs
        if titles and (run.label, titles[0]) in found
    ]
    size = slopes.family.size
    return Table(
        "slopes",
        "Change per turn, by mixed models",
        (
            Column("Agent", ("agent", "kind", "run"), num=False),
            *(_slope_column(title) for title in titles),
        ),
        tuple(rows),
        note="Points of the scale per turn, with 95 % intervals of one pair each and n "
        f"trajectories. “Declines” and “rises” mark what is clear after Holm over {size:,} pairs: "
        "all agents and dimensions of the data, whichever are shown here. An interval without a "
        "mark may exclude 0 by chance.",
    )


def _slope_column(title: str) -> Column:
    column = estimate_column(title)
    name = title.lower()
    return replace(column, parts=(*column.parts, f"{name} p", f"{name} verdict"))


def _slope_cell(slopes: Slopes, one: SlopeModels, run: ChosenRun) -> Cell:
    cell = estimate_cell(
        one.mixed.slope,
        "points",
        signed=True,
        show_n=True,
        url=common.trajectories_of(run, min_turns=2),
    )
    p = rounded(slopes.test(one).adjusted)
    return replace(
        cell,
        data=(*cell.data, p, verdict(slopes, one)),
        badges=verdict_badges(slopes, one),
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
                Cell(f"{point.position:d}".replace("-", "−"), (point.position,)),
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
        reach = "reaches" if counts[-1] == 1 else "reach"
        text = (
            f"Late turns rest on few trajectories: {counts[-1]:,} of {counts[0]:,} {reach} turn "
            f"{len(counts)}. Means of different turns are of different trajectories, so read the "
            "change per turn instead."
        )
    return [Notice(text)]


def _how(frame: "DataFrame", align: Alignment, slopes: Slopes | None) -> list[str]:
    missing = int(frame["score"].isna().sum())
    where = "turn" if align == "turn" else "distance from the last turn"
    lines = [
        "A turn's score is the mean over its judges, where every judge scored it. The mean by "
        f"{where} is taken over the trajectories that have such a turn, with a 95 % t interval.",
        f"{missing:,} of {len(frame):,} turns and dimensions have no score and are left out."
        if missing
        else "No turn is left out.",
    ]
    return lines if slopes is None else [*lines, *slopes_how(slopes)]
