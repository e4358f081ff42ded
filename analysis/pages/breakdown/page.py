"""The breakdown page shows the ranking measure by kind of task, for each agent and condition."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from analysis.figures.layout.theme import Figure
from analysis.figures.lines import number_lines
from analysis.figures.rubric import rubric_heatmap
from analysis.figures.tool_use import PointRow, panel_dots
from analysis.filters.factors import condition_titles
from analysis.filters.selection import Selection
from analysis.frames.outcomes import group_values, outcome_frame
from analysis.kit.links import Link
from analysis.pages.breakdown.rows import (
    BreakdownData,
    BreakdownResult,
    BreakdownRow,
    PairedRow,
    PublishedShare,
    compute,
    merge_counts,
    published_here,
)
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    TableOf,
    UrlOf,
    agent_of,
    estimate_of,
    text_of,
)
from analysis.pages.empty import why_no_runs
from analysis.pages.outcome_estimates import NOTHING_HERE
from analysis.reports import addresses, figure_specs, run_marks
from analysis.reports.content import (
    Cell,
    Column,
    estimate_cell,
    estimate_column,
    points_cell,
    text_cell,
    text_column,
)
from analysis.reports.formatting import Unit
from analysis.reports.published import published_estimate
from analysis.stats.descriptive.means import MeanTable
from analysis.stats.results import Estimate
from benchmarks.core.registry import find_system

# More panels than these are not read; the table has them all.
MOST_PANELS, MOST_COLUMNS = 16, 24
MOST_ROWS = 60


def load(selection: Selection) -> BreakdownData | NothingToShow:
    """Load the outcomes of all runs with their kind of task."""
    system = find_system(selection.system) if selection.system else None
    grouping = system.comparisons.groups.get(selection.filters.by) if system is not None else None
    if system is None or grouping is None or not selection.runs:
        return why_no_runs(selection)
    values = group_values(selection.runs, selection.filters.by, system.comparisons.groups)
    if not values:
        return NothingToShow("not finished")
    curves: dict[int, tuple[int, str]] = {}
    if grouping.counts:
        counts = {pk: int(value) for pk, (value,) in values.items()}
        crossed = f"{selection.filters.by}+{grouping.curves_by}"
        names = group_values(selection.runs, crossed, system.comparisons.groups)
        curves = {pk: (counts[pk], name) for pk, (_, name) in names.items()}
    labels = system.labels
    # What agents are ranked by, and after it the verdicts.
    ranking = dict.fromkeys((*labels.headlines, *labels.verdicts))
    measures = {
        name: labels.measures[name]
        for name in ranking
        if name in labels.headlines
        or (name in labels.measures and labels.measures[name].kind == "rate")
    }
    if not measures:
        return why_no_runs(selection)
    frame = outcome_frame(selection.runs, list(measures))
    if grouping.counts:
        tasks = dict(zip(frame["trajectory"].tolist(), frame["task"].tolist(), strict=True))
        values = merge_counts({pk: counts[pk] for pk in tasks.keys() & counts.keys()}, tasks)
    return BreakdownData(
        selection.runs,
        frame,
        values,
        grouping,
        measures,
        condition_titles(system, [run.condition for run in selection.runs]),
        published_here(system.published, selection.filters.by, grouping, labels.measures),
        curves,
    )


def _name(result: BreakdownResult, row: BreakdownRow) -> str:
    return f"{row.agent}, {row.condition}" if len(result.conditions) > 1 else row.agent


def draw_grid(result: BreakdownResult, url: UrlOf) -> Figure | None:
    """Draw the first measure as a cell for each agent, condition and kind of task."""
    if not 1 <= len(result.titles) <= MOST_COLUMNS:
        return None
    names = tuple(dict.fromkeys(_name(result, row) for row in result.rows))
    none = Estimate.without_value(NOTHING_HERE)
    cells = dict.fromkeys(product(names, result.titles), none)
    cells |= {(_name(result, row), row.title): row.first for row in result.rows}
    links = {(_name(result, row), row.title): url(Link(runs=(row.run.pk,))) for row in result.rows}
    values = [row.first.value for row in result.rows if row.first.value is not None]
    most = result.measure.most or max(values, default=0) or 1
    table = MeanTable(names, tuple(result.titles), cells)
    return rubric_heatmap(
        table, (0, most), links, unit="share" if result.measure.in_percent else "points",
    )  # fmt: skip


def least_width(result: BreakdownResult) -> int:
    """Return how wide the grid has to be for its names and numbers, in pixels."""
    longest = max((len(_name(result, row)) for row in result.rows), default=0)
    return 130 + 7 * longest + 56 * len(result.titles)


def draw(result: BreakdownResult, _: UrlOf) -> Figure | None:
    """Draw the first measure with intervals, a kind of task in each panel."""
    if not 1 <= len(result.titles) <= MOST_PANELS:
        return None
    panels: dict[str, list[PointRow]] = {title: [] for title in result.titles}
    for row in result.rows:
        panels[row.title].append(PointRow(_name(result, row), row.first, row.agent))
    looks = figure_specs.styles(list(dict.fromkeys(row.agent for row in result.rows)))
    most = result.measure.most
    return panel_dots(
        panels,
        unit="share" if result.measure.in_percent else "points",
        title=result.measure.title,
        span=(0, most) if most is not None else None,
        styles=looks,
    )


def draw_curves(result: BreakdownResult, _: UrlOf) -> Figure | None:
    """Draw the first measure over counts, a curve for each value of another grouping."""
    if not result.curves or not result.measure.in_percent:
        return None
    across = result.data.grouping.axis or result.data.grouping.title
    return number_lines(result.curves, across, result.measure.title, about="at ")


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
                measure.title,
                lambda row, name=name: row.shares[name],  # type: ignore[misc]
                "share" if measure.in_percent else "number",
                part=name,
                show_n=True,
            )
            for name, measure in result.data.measures.items()
        ),
    )


def paired_columns(result: BreakdownResult) -> Sequence[ColumnOf[PairedRow]]:
    """Give each pair its kind of task, agent, values on the common tasks, and their difference."""
    unit: Unit = result.unit
    condition: tuple[ColumnOf[PairedRow], ...] = (
        text_of("Condition", lambda row: row.condition, "condition"),
    )
    return (
        text_of(result.data.grouping.title, lambda row: row.title, "group"),
        agent_of(lambda row: row.run),
        *(condition if len(result.conditions) > 1 else ()),
        estimate_of(
            "Agent", lambda row: row.agent_value, unit, part="agent_value", show_n=True,
            help=f"{result.measure.title} on the tasks that people did, too.",
        ),
        estimate_of(
            "People", lambda row: row.people_value, unit, part="people_value", show_n=True,
            help="Several people at one task: their mean, with an interval by task.",
            link=lambda row: Link(runs=(row.people.pk,)),
        ),
        ColumnOf(
            estimate_column(
                "Agent − people", "difference", help="Mean over the common tasks; n counts tasks."
            ),
            lambda row: (
                points_cell(row.difference)
                if result.measure.in_percent
                else estimate_cell(row.difference, unit, signed=True, show_n=True)
            ),
            lambda row: Link(
                url=addresses.side_by_side(row.run, row.people, next(iter(result.data.measures)))
            ),
        ),
    )  # fmt: skip


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
    compared=lambda result: (result.differences, result.points),
    figure=FigureOf(
        "grid",
        lambda result: f"{result.measure.title}, by {result.name}",
        draw_grid,
        table="breakdown",
        least_width=least_width,
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
        FigureOf(
            "curves",
            lambda result: f"{result.measure.title} over {result.name}, all agents together",
            draw_curves,
            table="breakdown",
        ),
        FigureOf(
            "breakdown",
            lambda result: f"{result.measure.title}, by {result.name}, with intervals",
            draw,
            table="breakdown",
        ),
        TableOf(
            "paired",
            lambda result: f"Agents beside people on the same tasks, by {result.name}",
            rows=lambda result: result.beside_people,
            columns=paired_columns,
            link=lambda row: Link(runs=(row.run.pk,)),
            most=MOST_ROWS,
        ),
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
