"""The tools page shows how agents search, call tools, fail, and find the wanted data types."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.figures.decline import decline_figure
from analysis.figures.layout.theme import Figure
from analysis.figures.tool_use import PointRow, SharePart, cells_width, panel_dots, share_cells
from analysis.filters.selection import Selection
from analysis.frames.outcomes import outcome_frame
from analysis.frames.tool_calls import KEPT, RUNNING, failure_categories, progress_frame
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    TableOf,
    UrlOf,
    agent_of,
    estimate_of,
)
from analysis.pages.empty import why_no_runs
from analysis.pages.leaderboard.rows import ACCURATE
from analysis.pages.tools.rows import ToolRow, ToolsData, ToolsResult, compute
from analysis.reports import addresses, chosen_runs, figure_specs
from analysis.reports.content import (
    Cell,
    Column,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
)
from analysis.reports.formatting import counted, ends, number
from analysis.stats.results import Estimate
from benchmarks.core.registry import find_system

SERIES = {RUNNING: "Still under way", KEPT: "All, last value kept"}


def failure_columns(result: ToolsResult) -> Sequence[ColumnOf[ToolRow]]:
    """Give each agent how many trajectories ended in each way, with their share."""
    helps = {key: words[1] for key, words in result.data.use.categories.items()}
    return (
        agent_of(lambda row: row.run),
        ColumnOf(
            number_column("Scored", help="Trajectories that have an accuracy"),
            lambda row: count_cell(row.scored, url=addresses.trajectories_of(row.run)),
        ),
        *(_end_column(kind, title, helps.get(kind, "")) for kind, title in result.titles.items()),
        ColumnOf(
            Column("Left out", ("left out",), help="Trajectories without accuracy, by reason"),
            _left_out,
        ),
    )


def _end_column(kind: str, title: str, help: str) -> ColumnOf[ToolRow]:
    parts = tuple(f"{title.lower()}{part}" for part in ("", " share", " low", " high"))
    return ColumnOf(Column(title, parts, help=help), lambda row: _end_cell(row, kind))


def _end_cell(row: ToolRow, kind: str) -> Cell:
    count, share = row.ends.get(kind, 0), row.shares[kind]
    interval = share.interval
    sub = [] if share.value is None else [number(share.value, "share")]
    if interval is not None:
        sub.append(ends(interval, "share").removesuffix(" %"))
    low, high = (interval.low, interval.high) if interval is not None else (None, None)
    return Cell(
        f"{count:,}",
        (count, *(None if x is None else round(x, 6) for x in (share.value, low, high))),
        sub="\n".join(sub),
        url=row.end_url(kind),
    )


def _left_out(row: ToolRow) -> Cell:
    total = sum(row.left_out.values())
    words = counted(row.left_out)
    url = addresses.trajectories_of(row.run, accurate="undefined") if total else ""
    return Cell(f"{total:,}", (words,), tip=words, url=url)


def use_columns(result: ToolsResult) -> Sequence[ColumnOf[ToolRow]]:
    """Give each agent its searches, calls, their ratio, and what went wrong per call."""
    return (
        agent_of(lambda row: row.run),
        estimate_of(
            "Searches",
            lambda row: row.searches,
            "number",
            help="Mean per trajectory, failed ones included",
            show_n=True,
        ),
        estimate_of(
            "Calls",
            lambda row: row.calls,
            "number",
            help="Mean per trajectory, refused ones included",
        ),
        estimate_of(
            "Searches per call",
            lambda row: row.balance,
            "number",
            help="Total searches by total calls",
        ),
        *(
            estimate_of(
                f"{title}, per call",
                lambda row, name=name: row.mishaps[name],  # type: ignore[misc]
                "share",
                help=result.data.measures[name].help,
            )
            for name, title in result.mishaps.items()
        ),
    )


def progress_columns(result: ToolsResult) -> Sequence[ColumnOf[int]]:
    """Give each step the recall of every agent: of those under way, and of all."""
    columns = [ColumnOf[int](number_column("Step"), lambda step: Cell(str(step), (step,)))]
    for row in result.with_steps:
        columns += [
            _under_way(result, row),
            _recall(result, row, RUNNING, "Recall of these", "recall under way"),
            _recall(result, row, KEPT, "of all", "recall of all"),
        ]
    return columns


def _under_way(result: ToolsResult, row: ToolRow) -> ColumnOf[int]:
    def cell(step: int) -> Cell:
        point = result.point(row, RUNNING, step)
        count = point.running if point is not None else 0
        url = addresses.trajectories_of(row.run, min_turns=step) if count else ""
        return count_cell(count, url=url)

    return ColumnOf(Column(f"{row.label}: under way", (f"{row.label} under way",)), cell)


def _recall(result: ToolsResult, row: ToolRow, series: str, label: str, part: str) -> ColumnOf[int]:
    nothing = "nothing ran so long"

    def cell(step: int) -> Cell:
        point = result.point(row, series, step)
        if point is None:
            return Cell(data=(None, None, None, 0, nothing), reason=nothing)
        url = addresses.trajectories_of(row.run, min_turns=step) if series == RUNNING else ""
        return estimate_cell(point.mean, "share", url=url)

    return ColumnOf(
        estimate_column(label, f"{row.label} {part}"), cell, lambda _: Link(runs=(row.run.pk,))
    )


def load(selection: Selection) -> ToolsData | NothingToShow:
    """Load how trajectories ended, and what they searched, called and found."""
    use = find_system(selection.system).comparisons.tool_use if selection.system else None
    if selection.dataset is None or not selection.runs:
        return why_no_runs(selection)
    if use is None:
        facts = {
            "dataset_name": chosen_runs.dataset_name(selection),
            "dataset": selection.filters.dataset,
        }
        return NothingToShow("no tools", facts)
    names = [ACCURATE, use.searches, use.calls, *use.mishaps]
    return ToolsData(
        selection.runs,
        outcome_frame(selection.runs, names),
        failure_categories(selection.runs),
        progress_frame(selection.runs, use),
        use,
        find_system(selection.system).labels.measures,
    )


def _ends(result: ToolsResult) -> Mapping[str, list[SharePart]]:
    return {
        row.label: [
            SharePart(row.ends.get(kind, 0), row.shares[kind].value, row.end_url(kind))
            for kind in result.titles
        ]
        for row in result.rows
    }


def draw_failures(result: ToolsResult, _: UrlOf) -> Figure:
    """Draw how the trajectories of each agent ended."""
    return share_cells(_ends(result), list(result.titles.values()))


def draw_balance(result: ToolsResult, url: UrlOf) -> Figure:
    """Draw searches, calls, and searches per call."""
    kinds: Mapping[str, Mapping[str, Estimate]] = {
        "Searches": {row.label: row.searches for row in result.rows},
        "Calls": {row.label: row.calls for row in result.rows},
        "Searches per call": {row.label: row.balance for row in result.rows},
    }
    return panel_dots(
        _panels(result, kinds, url),
        unit="points",
        title=("Searches per trajectory", "Calls per trajectory", "Searches ÷ calls"),
        columns=3,
        styles=figure_specs.styles([row.label for row in result.rows]),
    )


def draw_mishaps(result: ToolsResult, url: UrlOf) -> Figure:
    """Draw how often calls go wrong, a kind of mishap in each panel."""
    kinds = {
        title: {row.label: row.mishaps[name] for row in result.rows}
        for name, title in result.mishaps.items()
    }
    return panel_dots(
        _panels(result, kinds, url),
        unit="share",
        title="Share of calls",
        columns=3,
        styles=figure_specs.styles([row.label for row in result.rows]),
    )


def _panels(
    result: ToolsResult, kinds: Mapping[str, Mapping[str, Estimate]], url: UrlOf
) -> dict[str, list[PointRow]]:
    return {
        title: [
            PointRow(row.label, values[row.label], row.label, url(row.link)) for row in result.rows
        ]
        for title, values in kinds.items()
    }


def draw_progress(result: ToolsResult, _: UrlOf) -> Figure | None:
    """Draw mean recall by step: of trajectories still under way, and of all."""
    if not result.curves:
        return None
    runs = {row.label: row.run for row in result.rows}
    named = [replace(curve, dimension=SERIES[curve.dimension]) for curve in result.curves]
    links = {
        (curve.agent, point.position): addresses.trajectories_of(
            runs[curve.agent], min_turns=point.position
        )
        for curve in result.curves
        for point in curve.points
    }
    looks = figure_specs.styles([row.label for row in result.rows])
    return decline_figure(named, list(SERIES.values()), (0, 1), looks, links, position="step")


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf(
        "failures",
        "How scored trajectories ended",
        draw_failures,
        least_width=lambda result: cells_width(_ends(result)),
    ),
    table=TableOf(
        "failures",
        "How scored trajectories ended",
        rows=lambda result: result.rows,
        columns=failure_columns,
        link=lambda row: row.link,
    ),
    folded=(
        FigureOf("balance", "Searching and calling", draw_balance, table="use"),
        FigureOf("mishaps", "Calls gone wrong, per call", draw_mishaps, table="use"),
        TableOf(
            "use",
            "Searches and calls",
            rows=lambda result: result.rows,
            columns=use_columns,
            link=lambda row: row.link,
        ),
        FigureOf(
            "progress",
            lambda result: f"Recall by step: share of the {result.data.use.parts_title} found",
            draw_progress,
        ),
        TableOf(
            "progress",
            "Recall by step",
            rows=lambda result: result.steps,
            columns=progress_columns,
            folded=True,
        ),
    ),
)
