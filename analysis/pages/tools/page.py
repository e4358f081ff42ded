"""How agents search, call tools and fail, and how fast they find what a task asks for."""

from collections.abc import Mapping
from dataclasses import replace

from analysis.figures.decline import decline_figure
from analysis.figures.theme import Figure
from analysis.figures.tool_use import PointRow, SharePart, cells_width, panel_dots, share_cells
from analysis.filters.selection import Selection
from analysis.frames.outcomes import outcome_frame
from analysis.frames.tool_calls import KEPT, RUNNING, failure_categories, progress_frame
from analysis.pages.declaration import DeclaredPage, FigureOf, NothingToShow, TableOf, UrlOf
from analysis.pages.empty import why_no_runs
from analysis.pages.leaderboard.rows import ACCURATE
from analysis.pages.tools.rows import ToolsData, ToolsResult, compute
from analysis.pages.tools.tables import failure_columns, progress_columns, use_columns
from analysis.reports import addresses, chosen_runs, figure_specs
from analysis.stats.results import Estimate
from benchmarks.core.registry import find_system

SERIES = {RUNNING: "Still under way", KEPT: "All, last value kept"}


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
