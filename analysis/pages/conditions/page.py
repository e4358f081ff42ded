"""The conditions page shows how conditions change accuracy: paired by task, beside the paper."""

from collections.abc import Mapping, Sequence
from math import ceil

from analysis.figures.layout.theme import Figure
from analysis.figures.lines import number_lines
from analysis.figures.tool_use import PointRow, panel_dots
from analysis.filters.factors import condition_titles
from analysis.filters.selection import Selection
from analysis.frames.outcomes import outcome_frame
from analysis.frames.tool_calls import remaining_parts
from analysis.pages.conditions.rows import NEARLY, ConditionsData, ConditionsResult, compute
from analysis.pages.conditions.tables import (
    accuracy_columns,
    agents_of,
    change_columns,
    contrast_columns,
    kind_columns,
    length_columns,
    longer_columns,
    published_columns,
)
from analysis.pages.declaration import DeclaredPage, FigureOf, NothingToShow, TableOf, UrlOf
from analysis.pages.empty import why_no_runs
from analysis.pages.leaderboard.rows import ACCURATE
from analysis.reports import figure_specs
from benchmarks.core.ports.published import Published
from benchmarks.core.registry import find_system, get_system


def load(selection: Selection) -> ConditionsData | NothingToShow:
    """Load what the trajectories under every condition came to."""
    system = find_system(selection.system)
    if not selection.runs or ACCURATE not in system.labels.measures:
        return why_no_runs(selection)
    contrasts = system.comparisons.contrasts
    published: tuple[Published, ...] = ()
    remaining: Mapping[int, float | None] = {}
    if contrasts is not None:
        wanted = [run for run in selection.runs if run.condition in contrasts.lengths]
        remaining = remaining_parts(wanted, contrasts) if wanted else {}
        if selection.filters.published != "hide":
            known = get_system(selection.system).published
            published = tuple(entry for entry in known if entry.metric in contrasts.published)
    frame = outcome_frame(selection.runs, [ACCURATE])
    return ConditionsData(
        selection.runs,
        frame,
        contrasts,
        remaining,
        published,
        system.labels.measures[ACCURATE],
        condition_titles(system, [run.condition for run in selection.runs]),
        selection.family,
    )


def draw_accuracy(result: ConditionsResult, _: UrlOf) -> Figure:
    """Draw the accuracy of the agents that were run under several conditions, each in a panel."""
    contrasts = result.data.contrasts
    lines = {}
    for entry in result.data.published:
        title = contrasts.published[entry.metric].title if contrasts is not None else ""
        lines[f"{entry.model}, {title}: {entry.printed} % (published)"] = entry.value / 100
    panels = {
        agent: [
            PointRow(
                result.title(name), result.accuracy[agent, name], agent, result.url(agent, name)
            )
            for name in result.conditions
        ]
        for agent in result.compared
    }
    return panel_dots(
        panels,
        unit="share",
        title=result.name_first,
        columns=2 if len(panels) in (1, 2, 4) else 3,
        span=(0, 1),
        lines=lines,
        styles=figure_specs.styles(list(result.agents)),
    )


def draw_kinds(result: ConditionsResult, _: UrlOf) -> Figure | None:
    """Draw what each kind of disturbance alone changes, a kind in each panel."""
    if not result.kinds or not result.baseline:
        return None
    panels = {
        result.title(kind): [
            PointRow(
                agent, result.change[agent, kind], agent, result.url(agent, kind, accurate="no")
            )
            for agent in result.agents
        ]
        for kind in result.kinds
    }
    return panel_dots(
        panels,
        unit="share",
        title=f"Change of {result.name}, in points",
        columns=3,
        span=_span(panels),
        styles=figure_specs.styles(list(result.agents)),
    )


def _span(panels: Mapping[str, Sequence[PointRow]]) -> tuple[float, float]:
    """Return an axis around 0 that holds every value and interval, in whole quarters."""
    reach = [0.25]
    for mark in (mark for marks in panels.values() for mark in marks):
        interval, value = mark.value.interval, mark.value.value
        reach += [abs(interval.low), abs(interval.high)] if interval is not None else []
        reach += [abs(value)] if value is not None else []
    widest = ceil(4 * max(reach) - NEARLY) / 4
    return -widest, widest


def draw_lengths(result: ConditionsResult, _: UrlOf) -> Figure | None:
    """Draw accuracy by the length of what remained."""
    lengths, contrasts = result.lengths, result.data.contrasts
    if lengths is None or contrasts is None or not lengths.bins:
        return None
    curves = {
        agent: [(size, lengths.accuracy[agent, size]) for size in lengths.bins]
        for agent in result.agents
    }
    urls = {agent: result.url(agent, contrasts.lengths[-1]) for agent in result.agents}
    return number_lines(
        curves,
        contrasts.remaining_title,
        result.name_first,
        styles=figure_specs.styles(list(result.agents)),
        urls=urls,
    )


def _lengths_title(result: ConditionsResult) -> str:
    contrasts = result.data.contrasts
    return contrasts.remaining_title if contrasts is not None else ""


def _compared_lengths(result: ConditionsResult) -> Sequence[str]:
    """Return the agents, where there are runs with short and with long paths."""
    contrasts = result.data.contrasts
    if result.lengths is None or contrasts is None:
        return ()
    ends = (contrasts.lengths[0], contrasts.lengths[-1])
    return result.agents if set(ends) <= set(result.conditions) else ()


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    answers=lambda result: bool(result.others and result.baseline and result.changed),
    figure=FigureOf(
        "accuracy",
        lambda result: f"{result.name_first} by condition, an agent in each panel",
        draw_accuracy,
    ),
    table=TableOf(
        "drop",
        lambda result: f"From “{result.baseline_title}” to “{result.contrast_title}”",
        rows=agents_of,
        columns=contrast_columns,
    ),
    folded=(
        TableOf(
            "accuracy",
            lambda result: f"{result.name_first} by condition",
            rows=lambda result: result.conditions,
            columns=accuracy_columns,
        ),
        TableOf(
            "change",
            lambda result: f"Change against “{result.baseline_title}”",
            rows=lambda result: result.others if result.baseline else (),
            columns=change_columns,
        ),
        FigureOf("kinds", "What each kind of disturbance alone changes", draw_kinds),
        TableOf(
            "kinds",
            lambda result: f"{result.name_first} by kind of disturbance",
            rows=lambda result: result.agents if result.kinds else (),
            columns=kind_columns,
        ),
        FigureOf(
            "lengths",
            lambda result: f"{result.name_first} by the length of what remained",
            draw_lengths,
        ),
        TableOf(
            "lengths",
            _lengths_title,
            rows=lambda result: result.lengths.bins if result.lengths is not None else (),
            columns=length_columns,
        ),
        TableOf(
            "longer",
            "The same tasks with a short and a long path",
            rows=_compared_lengths,
            columns=longer_columns,
        ),
        TableOf(
            "published",
            "Published",
            rows=lambda result: result.data.published,
            columns=published_columns,
            link=lambda _: None,
        ),
    ),
    compared=lambda result: (result.changes, "share"),
)
