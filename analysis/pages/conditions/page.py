"""What conditions do to accuracy: by agent, paired by task, beside what is published."""

from collections.abc import Mapping, Sequence
from math import ceil

from analysis.figures.lines import number_lines
from analysis.figures.tool_use import PointRow, panel_dots
from analysis.filters.selection import Selection
from analysis.frames.outcomes import outcome_frame
from analysis.pages.conditions.rows import Grid, Lengths, grid_of, lengths_of
from analysis.pages.conditions.tables import (
    accuracy_table,
    change_table,
    drop_table,
    kinds_table,
    lengths_tables,
    published_table,
)
from analysis.pages.declaration import WrittenPage
from analysis.pages.empty import no_runs
from analysis.pages.leaderboard.rows import ACCURATE
from analysis.reports import common
from analysis.reports.content import FigureSpec, Notice, Report, Table, exclusions, how_interval
from analysis.reports.formatting import counted, ends, level, listed, number, plural
from analysis.stats.results import Estimate
from benchmarks.core.comparisons import Contrasts
from benchmarks.core.published import Published
from benchmarks.core.registry import find_system, get_system

NEARLY = 1e-9
PURPOSE = "This page compares the accuracy of agents under the conditions that they were run in."


def conditions_report(selection: Selection) -> Report:
    """Everything on the page."""
    if not selection.runs or ACCURATE not in find_system(selection.system).labels.measures:
        return Report(empty=no_runs(PURPOSE, selection))
    contrasts = find_system(selection.system).comparisons.contrasts
    frame = outcome_frame(selection.runs, [ACCURATE])
    grid = grid_of(selection.runs, frame, contrasts)
    published: list[Published] = []
    if contrasts is not None and selection.filters.published != "hide":
        known = get_system(selection.system).published
        published = [entry for entry in known if entry.metric in contrasts.published]
    lengths = lengths_of(frame, grid, contrasts) if contrasts is not None else None
    tables: list[Table] = [*drop_table(grid, contrasts), accuracy_table(grid), *change_table(grid)]
    if contrasts is not None:
        tables += kinds_table(grid, contrasts.kinds)
        tables += lengths_tables(grid, lengths, contrasts) if lengths is not None else []
        tables += published_table(published, contrasts.published)
    return Report(
        sentence=sentence(grid, contrasts),
        figures=tuple(_figures(grid, contrasts, lengths, published)),
        tables=tuple(tables),
        notices=(*common.selection_notices(selection), *_notices(grid)),
        how=(*common.how_runs(selection), *_how(grid, contrasts, lengths)),
        methods="Accuracy is the share of trajectories under a condition; a change is the mean "
        "difference on the tasks that were scored under both conditions, without correction for "
        "the number of comparisons.",
    )


def sentence(grid: Grid, contrasts: Contrasts | None) -> str:
    """What a condition costs whom, or why that cannot be said."""
    if not grid.others:
        return (
            f"All runs here have the condition “{grid.title(grid.conditions[0])}”, so there is "
            "nothing to compare."
        )
    if not grid.baseline:
        return "There is no run under the standard condition to compare the others with."
    wanted = grid.others
    if contrasts is not None and contrasts.contrast in grid.others:
        wanted = (contrasts.contrast,)
    changes = {
        (agent, condition): value
        for (agent, condition), estimate in grid.change.items()
        if condition in wanted and (value := estimate.value) is not None
    }
    if not changes:
        return "No agent has a task that was scored under two of these conditions."
    most = max(changes, key=lambda key: (abs(changes[key]), key))
    text = _said(grid, *most)
    tied = [
        agent
        for agent, condition in changes
        if condition == most[1] and abs(changes[agent, condition] - changes[most]) < NEARLY
    ]
    if len(tied) > 1 and changes[most]:
        verb = "falls" if changes[most] < 0 else "rises"
        return (
            f"Accuracy {verb} most for {listed(tied)}, by "
            f"{number(100 * abs(changes[most]), 'number')} points each from "
            f"“{grid.title(grid.baseline)}” to “{grid.title(most[1])}”: {most[0]} "
            f"{_points(grid.change[most])}."
        )
    least = min(changes, key=lambda key: changes[key] if changes[most] > 0 else -changes[key])
    if len(wanted) == 1 and least[0] != most[0]:
        text += f"; {least[0]} changes by {_points(grid.change[least])}"
    return text + "."


def _said(grid: Grid, agent: str, condition: str) -> str:
    change = grid.change[agent, condition]
    value = change.value or 0.0
    verb = "falls most" if value < 0 else "rises most" if value > 0 else "does not change"
    base, now = grid.accuracy[agent, grid.baseline], grid.accuracy[agent, condition]
    text = f"Accuracy {verb} for {agent}"
    if not value:
        text = "Accuracy does not change for any agent"
        return f"{text} from “{grid.title(grid.baseline)}” to “{grid.title(condition)}”"
    return (
        f"{text}: from {number(base.value or 0, 'share')} (“{grid.title(grid.baseline)}”) to "
        f"{number(now.value or 0, 'share')} (“{grid.title(condition)}”), a change of "
        f"{_points(change)}"
    )


def _points(change: Estimate) -> str:
    """A difference of shares in points, with its interval."""
    text = f"{number(100 * (change.value or 0), 'number').removesuffix('.00')} points"
    interval = change.interval
    if interval is None:
        return f"{text} on {plural(change.n, 'task')}"
    inside = ends(interval, "share", signed=False).removesuffix(" %")
    return f"{text} ({level(interval)} interval {inside}, paired by task, n = {change.n} tasks)"


def _figures(
    grid: Grid,
    contrasts: Contrasts | None,
    lengths: Lengths | None,
    published: Sequence[Published],
) -> list[FigureSpec]:
    looks = common.styles(list(grid.agents))
    lines = {}
    for entry in published:
        title = contrasts.published[entry.metric].title if contrasts is not None else ""
        lines[f"{entry.model}, {title}: {entry.printed} % (published)"] = entry.value / 100
    found = [
        common.figure_spec(
            "accuracy",
            "Accuracy by condition, an agent in each panel",
            "With 95 % intervals." + (" Lines: published figures." if lines else ""),
            panel_dots(
                {agent: _marks(grid, agent, grid.conditions, "accuracy") for agent in grid.agents},
                unit="share", span=(0, 1), lines=lines, styles=looks,
            ),
        )
    ]  # fmt: skip
    shown = [kind for kind in (contrasts.kinds if contrasts else ()) if kind in grid.conditions]
    if shown and grid.baseline:
        panels = {
            grid.title(kind): [
                PointRow(agent, grid.change[agent, kind], agent, _url(grid, agent, kind, "no"))
                for agent in grid.agents
            ]
            for kind in shown
        }
        found.append(
            common.figure_spec(
                "kinds",
                "What each kind of disturbance alone changes",
                f"Accuracy minus that under “{grid.title(grid.baseline)}” on the same tasks, with "
                "95 % intervals.",
                panel_dots(panels, unit="share", columns=3, span=_span(panels), styles=looks),
            )
        )
    if lengths is not None and contrasts is not None and lengths.bins:
        curves = {
            agent: [(size, lengths.accuracy[agent, size]) for size in lengths.bins]
            for agent in grid.agents
        }
        urls = {agent: _url(grid, agent, contrasts.lengths[-1]) for agent in grid.agents}
        found.append(
            common.figure_spec(
                "lengths",
                "Accuracy by the length of what remained",
                "Conditions on length together, with 95 % intervals. Tasks differ from length to "
                "length.",
                number_lines(
                    curves, contrasts.remaining_title.lower(), "accuracy", styles=looks, urls=urls
                ),
            )
        )
    return found


def _span(panels: Mapping[str, Sequence[PointRow]]) -> tuple[float, float]:
    """An axis around 0 that holds every value and interval, in whole quarters."""
    reach = [0.25]
    for mark in (mark for marks in panels.values() for mark in marks):
        interval, value = mark.value.interval, mark.value.value
        reach += [abs(interval.low), abs(interval.high)] if interval is not None else []
        reach += [abs(value)] if value is not None else []
    widest = ceil(4 * max(reach) - NEARLY) / 4
    return -widest, widest


def _marks(grid: Grid, agent: str, conditions: Sequence[str], what: str) -> list[PointRow]:
    estimates = getattr(grid, what)
    return [
        PointRow(grid.title(name), estimates[agent, name], agent, _url(grid, agent, name))
        for name in conditions
    ]


def _url(grid: Grid, agent: str, condition: str, accurate: str = "") -> str:
    run = grid.runs.get((agent, condition))
    more = {"accurate": accurate} if accurate else {}
    return common.trajectories_of(run, **more) if run is not None else ""


def _notices(grid: Grid) -> list[Notice]:
    missing = [
        f"{agent} ({sum((agent, name) not in grid.runs for name in grid.conditions)})"
        for agent in grid.agents
        if any((agent, name) not in grid.runs for name in grid.conditions)
    ]
    if not missing:
        return []
    return [
        Notice(
            f"Not every agent was run under all {len(grid.conditions)} conditions here; missing: "
            f"{', '.join(missing)}.",
            "info",
        )
    ]


def _how(grid: Grid, contrasts: Contrasts | None, lengths: Lengths | None) -> list[str]:
    accuracies = list(grid.accuracy.values())
    changes = [grid.change[agent, name] for agent in grid.agents for name in grid.others]
    left = exclusions(accuracies)
    lines = [
        f"Accuracy: share of trajectories, 95 % intervals: {how_interval(accuracies) or 'none'}. "
        "Where a task was tried several times, they are by task.",
        f"Left out of accuracy: {counted(left)}." if left else "Nothing is left out of accuracy.",
    ]
    if grid.baseline and grid.others:
        lines.append(
            f"Change: mean over tasks of the accuracy under a condition minus that under "
            f"“{grid.title(grid.baseline)}”, on tasks scored under both; "
            f"{how_interval(changes) or 'no interval'}. Intervals are not corrected for their "
            "number."
        )
    if lengths is not None:
        lines.append(
            "Length of what remained: mean over the paths that hold no blocked tool, rounded to "
            f"whole tools. {plural(lengths.left_out, 'trajectory', 'trajectories')} without such a "
            "length (nothing was blocked) left out. The same task may stand under two lengths."
        )
    if contrasts is not None and contrasts.published:
        lines.append("Published: as printed, with the Wilson interval of n where n can be told.")
    return lines


CONTENT = WrittenPage(conditions_report)
