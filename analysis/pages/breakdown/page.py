"""On which kinds of task agents are right or wrong: shares by agent and condition."""

from collections.abc import Sequence
from dataclasses import replace

from analysis.figures.theme import Figure
from analysis.figures.tool_use import PointRow, panel_dots
from analysis.filters.selection import Selection
from analysis.frames.groups import group_values
from analysis.frames.outcomes import outcome_frame
from analysis.pages.breakdown.rows import (
    BreakdownData,
    BreakdownResult,
    BreakdownRow,
    PublishedShare,
    compute,
    published_here,
)
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    TableOf,
    UrlOf,
    estimate_of,
    text_of,
)
from analysis.pages.empty import why_no_runs
from analysis.pages.links import Link
from analysis.reports import figure_specs, run_marks
from analysis.reports.content import (
    Cell,
    Column,
    estimate_cell,
    estimate_column,
    text_cell,
    text_column,
)
from analysis.reports.references import published_estimate
from benchmarks.core.registry import find_system

# More panels than these are not read; the table has them all.
MOST_PANELS = 16
MOST_ROWS = 60


def load(selection: Selection) -> BreakdownData | NothingToShow:
    """Load the outcomes of all runs with their kind of task."""
    system = find_system(selection.system) if selection.system else None
    grouping = system.comparisons.groups.get(selection.filters.by) if system is not None else None
    if system is None or grouping is None or not selection.runs:
        return why_no_runs(selection)
    values = group_values(selection.runs, selection.filters.by)
    if not values:
        return NothingToShow("not finished")
    labels, contrasts = system.labels, system.comparisons.contrasts
    measures = {
        name: title
        for name, title in labels.verdicts.items()
        if name in labels.measures and labels.measures[name].kind == "rate"
    }
    named = contrasts.conditions if contrasts is not None else {}
    return BreakdownData(
        selection.runs,
        outcome_frame(selection.runs, list(measures)),
        values,
        grouping,
        measures,
        {name: one.title for name, one in named.items()},
        published_here(system.published, selection.filters.by, grouping, labels.measures),
    )


def draw(result: BreakdownResult, _: UrlOf) -> Figure | None:
    """Draw the first share, a kind of task in each panel."""
    if not 1 <= len(result.titles) <= MOST_PANELS:
        return None
    several = len(result.conditions) > 1
    panels: dict[str, list[PointRow]] = {title: [] for title in result.titles}
    for row in result.rows:
        name = f"{row.agent}, {row.condition}" if several else row.agent
        panels[row.title].append(PointRow(name, row.first, row.agent))
    looks = figure_specs.styles(list(dict.fromkeys(row.agent for row in result.rows)))
    return panel_dots(panels, unit="share", title=result.measure, span=(0, 1), styles=looks)


def _agent(row: BreakdownRow) -> Cell:
    """Name the agent with what marks it, such as that it is scripted."""
    return Cell(
        row.agent, (row.agent, row.run.agent_kind), badges=tuple(run_marks.agent_badges(row.run))
    )


def columns(result: BreakdownResult) -> Sequence[ColumnOf[BreakdownRow]]:
    """Give each row its kind of task, agent, condition and shares."""
    condition: tuple[ColumnOf[BreakdownRow], ...] = (
        text_of("Condition", lambda row: row.condition, "condition"),
    )
    return (
        text_of(result.data.grouping.title, lambda row: row.title, "group"),
        ColumnOf(Column("Agent", ("agent", "kind"), num=False), _agent),
        *(condition if len(result.conditions) > 1 else ()),
        *(
            estimate_of(
                title,
                lambda row, name=name: row.shares[name],  # type: ignore[misc]
                "share",
                part=name,
                show_n=True,
            )
            for name, title in result.data.measures.items()
        ),
    )


def published_columns(result: BreakdownResult) -> Sequence[ColumnOf[PublishedShare]]:
    """Give each published figure its kind of task, measure, model and source."""
    return (
        text_of(result.data.grouping.title, lambda one: one.title, "group"),
        text_of("Measure", lambda one: one.measure.title, "measure"),
        ColumnOf(
            text_column("Model", "model"),
            lambda one: text_cell(
                one.entry.model,
                badges=(
                    replace(run_marks.PUBLISHED_BADGE, why=f"{one.entry.source}; {one.entry.note}"),
                ),
            ),
        ),
        ColumnOf(estimate_column("Published", "published"), _published),
        text_of("Source", lambda one: one.entry.source, sub=lambda one: one.entry.note),
    )


def _published(one: PublishedShare) -> Cell:
    rate = one.measure.in_percent
    estimate = published_estimate(one.entry, is_rate=rate)
    return estimate_cell(estimate, "share" if rate else "number", show_n=bool(one.entry.n))


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf(
        "breakdown", lambda result: f"{result.measure}, by {result.name}", draw, table="breakdown"
    ),
    table=TableOf(
        "breakdown",
        lambda result: f"By {result.name}",
        rows=lambda result: result.rows,
        columns=columns,
        link=lambda row: Link(runs=(row.run.pk,)),
        most=MOST_ROWS,
    ),
    folded=(
        TableOf(
            "published",
            lambda result: f"Published, by {result.name}",
            rows=lambda result: result.data.published,
            columns=published_columns,
            link=lambda _: None,
            folded=True,
        ),
    ),
)
