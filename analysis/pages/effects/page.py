"""The effects page shows what a factor, such as the level, changes on the same tasks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from analysis.figures.layout.theme import NEUTRAL, Figure, Style
from analysis.figures.tool_use import PointRow, panel_dots
from analysis.filters.page_filters import measures_here
from analysis.filters.selection import Selection
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    PagePart,
    TableOf,
    UrlOf,
)
from analysis.pages.effects.bracket import (
    BracketResult,
    bracket_columns,
    compute_bracket,
    sides_of,
)
from analysis.pages.effects.feedback import (
    Feedback,
    FeedbackRow,
    compute_feedback,
    feedback_columns,
    load_feedback,
)
from analysis.pages.effects.rows import (
    EffectsData,
    EffectsResult,
    compute_effects,
    factor_of,
    load_effects,
    title_of,
)
from analysis.pages.effects.tables import (
    AGENT,
    MissingRow,
    ProfileRow,
    agent_of,
    change_columns,
    missing_columns,
    missing_rows,
    odds_columns,
    odds_rows,
    overall_columns,
    overall_rows,
    paper_statement_columns,
    paper_statement_rows,
    profile_columns,
    profile_rows,
    published_columns,
    published_rows,
    published_values,
    range_columns,
    value_columns,
)
from analysis.pages.empty import why_no_runs
from analysis.reports import chosen_runs, figure_specs, system_facts
from analysis.reports.formatting import listed
from analysis.reports.published import published_estimate
from analysis.stats.results import Estimate
from benchmarks.core.registry import find_system

if TYPE_CHECKING:
    from pandas import DataFrame

OVERALL = "All agents"
NEARLY = 1e-9
MOST_ROWS = 60


@dataclass(frozen=True)
class PageData:
    """The runs that differ in a factor, people's ratings of feedback, and what else is shown."""

    effects: EffectsData
    feedback: Mapping[str, "DataFrame"]
    profiles: tuple[ProfileRow, ...]
    selection: Selection
    sides: Mapping[str, str]


@dataclass(frozen=True)
class PageResult:
    """The effects of the factor on the measure and on people's ratings of feedback.

    ``bracket`` has them by the sides of the system's bracket of scripts, where these were run.
    """

    effects: EffectsResult
    feedback: tuple[Feedback, ...]
    profiles: tuple[ProfileRow, ...]
    missing: tuple[MissingRow, ...]
    bracket: BracketResult | None


def load(selection: Selection) -> PageData | NothingToShow:
    """Load the runs that differ in one factor."""
    factor = factor_of(selection)
    if not selection.runs or selection.filters.measure not in measures_here(selection.system):
        return why_no_runs(selection)
    if factor is None:
        facts = {
            "dataset": selection.filters.dataset,
            "dataset_name": chosen_runs.dataset_name(selection),
        }
        return NothingToShow("no factor", facts)
    data = load_effects(selection, factor)
    profiles: tuple[ProfileRow, ...] = ()
    if factor.kind == "level" and selection.dataset is not None:
        profiles = profile_rows(selection.dataset, selection.closed_tasks, factor)
    sides = sides_of(selection, factor.name)
    return PageData(data, load_feedback(data, selection), profiles, selection, sides)


def compute(data: PageData) -> PageResult:
    """Compare the values of the factor, and list the runs that would be needed."""
    effects = compute_effects(data.effects)
    comparisons = find_system(data.selection.system).comparisons
    titles = [side.title for side in comparisons.bracket.sides] if comparisons.bracket else []
    return PageResult(
        effects,
        compute_feedback(data.effects, data.feedback, comparisons.feedback_ratings),
        data.profiles,
        missing_rows(effects, data.selection),
        compute_bracket(data.effects, data.sides, titles) if effects.varied else None,
    )


def _unit(result: EffectsResult) -> str:
    """Return the unit of a panel's axis."""
    return "" if result.is_rate else " (points)" if _is_rubric(result) else ""


def _is_rubric(result: EffectsResult) -> bool:
    return result.data.scale == system_facts.RUBRIC_SCALE


def draw_changes(page: PageResult, url: UrlOf) -> Figure | None:
    """Draw what changes on the same tasks, agent by agent and on average."""
    result = page.effects
    if result.effects is None or not result.varied:
        return None
    moved: dict[str, list[PointRow]] = {}
    if len(result.agents) > 1:
        for move in overall_rows(result):
            mark = PointRow(OVERALL, move.estimate, OVERALL, url(Link()))
            moved.setdefault(f"{move.base} → {move.condition}", []).append(mark)
    for one in result.changes:
        name = f"{one.change.base} → {one.change.condition}"
        mark = PointRow(one.change.model, one.difference, one.change.model, url(one.link))
        moved.setdefault(name, []).append(mark)
    title = "change (points)" if result.is_rate else f"change{_unit(result)}"
    return panel_dots(
        moved,
        unit="share" if result.is_rate else "points",
        title=title,
        columns=min(3, len(moved)),
        span=_around_zero(moved, result.is_rate),
        styles={
            **figure_specs.styles(list(result.agents)),
            OVERALL: Style(NEUTRAL, "diamond", "solid"),
        },
    )


def draw_values(page: PageResult, url: UrlOf) -> Figure | None:
    """Draw the measure under every value, one panel each."""
    result = page.effects
    if result.effects is None:
        return None
    runs = result.runs
    panels = {
        title: [
            PointRow(
                agent,
                result.effects.cells[agent, title],
                agent,
                url(Link(runs=(runs[agent, title].pk,))) if (agent, title) in runs else "",
            )
            for agent in result.agents
        ]
        for title in result.effects.conditions
    }
    return panel_dots(
        panels,
        unit="share" if result.is_rate else "points",
        title=f"{result.measure.title}{_unit(result)}",
        columns=min(3, len(panels)),
        span=_full_scale(result, panels),
        styles=figure_specs.styles([*result.agents]),
    )


def draw_published(page: PageResult, _: UrlOf) -> Figure | None:
    """Draw the published figures, one panel a value."""
    result = page.effects
    published = result.data.published
    if not published:
        return None
    panels = {
        title_of(result.factor, value): [
            PointRow(model, published_estimate(by[value], is_rate=result.is_rate), model)
            for model, by in published.items()
            if value in by
        ]
        for value in published_values(result)
    }
    return panel_dots(
        panels,
        unit="share" if result.is_rate else "points",
        title=f"{result.measure.title}{_unit(result)}",
        columns=min(3, len(panels)),
        span=_full_scale(result, panels),
        styles=figure_specs.styles(list(published)),
    )


def _ends(estimates: Iterable[Estimate]) -> list[float]:
    reach = [0.0]
    for one in estimates:
        reach += [one.interval.low, one.interval.high] if one.interval is not None else []
        reach += [one.value] if one.value is not None else []
    return reach


def _values(panels: Mapping[str, Sequence[PointRow]]) -> list[Estimate]:
    return [mark.value for marks in panels.values() for mark in marks]


def _full_scale(
    result: EffectsResult, panels: Mapping[str, Sequence[PointRow]]
) -> tuple[float, float]:
    """Return one axis for all panels: the whole scale, or from 0 on where it has no end."""
    if result.is_rate:
        return 0.0, 1.0
    if _is_rubric(result):
        return system_facts.RUBRIC_SCALE
    return 0.0, 1.05 * max(_ends(_values(panels))) or 1.0


def _around_zero(panels: Mapping[str, Sequence[PointRow]], is_rate: bool) -> tuple[float, float]:
    """Return an axis around 0 that holds every interval; for shares in whole quarters."""
    widest = max(abs(end) for end in _ends(_values(panels)))
    widest = ceil(4 * widest - NEARLY) / 4 if is_rate else 1.05 * widest
    widest = widest or (0.25 if is_rate else 1.0)
    return -widest, widest


def _folded(page: PageResult) -> Sequence[PagePart[PageResult]]:
    """Return the details: values, averages, ratings of feedback, and published figures."""
    parts: list[PagePart[PageResult]] = [
        FigureOf(
            "values",
            lambda page: f"{page.effects.measure.title} by {page.effects.factor.title.lower()}",
            draw_values,
            fits=lambda page: page.effects.effects is not None,
        ),
        TableOf(
            "values",
            lambda page: f"{page.effects.measure.title} by {page.effects.factor.title.lower()}",
            rows=lambda page: page.effects.agents,
            columns=lambda page: value_columns(page.effects),
        ),
        TableOf(
            "overall",
            "All agents together",
            rows=lambda page: overall_rows(page.effects),
            columns=lambda page: overall_columns(page.effects),
        ),
        *_bracket_tables(page),
        TableOf(
            "odds",
            "Odds of success, all agents together",
            rows=lambda page: odds_rows(page.effects),
            columns=lambda page: odds_columns(page.effects),
            folded=True,
        ),
        TableOf(
            "ranges",
            "Ranges",
            rows=lambda page: page.effects.agents if page.effects.varied else (),
            columns=lambda page: range_columns(page.effects),
        ),
    ]
    parts += [_feedback_table(page, one) for one in page.feedback]
    return [
        *parts,
        TableOf(
            "profiles",
            "Sizes of profiles",
            rows=lambda page: page.profiles,
            columns=lambda page: profile_columns(page.profiles),
            link=lambda row: row.link,
        ),
        FigureOf(
            "published",
            lambda page: (
                f"Published: {page.effects.measure.title} by {page.effects.factor.title.lower()}"
            ),
            draw_published,
            fits=lambda page: bool(page.effects.data.published),
        ),
        TableOf(
            "published",
            lambda page: (
                f"Published: {page.effects.measure.title} by {page.effects.factor.title.lower()}"
            ),
            rows=lambda page: published_rows(page.effects),
            columns=lambda page: published_columns(page.effects),
            link=lambda _: None,
        ),
        TableOf(
            "said",
            "Published: in words",
            rows=lambda page: paper_statement_rows(page.effects),
            columns=lambda page: paper_statement_columns(page.effects),
        ),
        TableOf(
            "missing",
            "Runs that would be needed",
            rows=lambda page: page.missing,
            columns=lambda page: missing_columns(page.effects),
        ),
    ]


def _bracket_tables(page: PageResult) -> list[PagePart[PageResult]]:
    """Return the changes by the sides of the bracket, where scripts of a bracket were run."""
    bracket = page.bracket
    if bracket is None:
        return []
    return [
        TableOf(
            "bracket",
            f"{listed(bracket.sides).capitalize()} scripts",
            rows=lambda _: bracket.rows,
            columns=lambda page: bracket_columns(page.effects, bracket),
        )
    ]


def _feedback_table(page: PageResult, one: Feedback) -> PagePart[PageResult]:
    agent: ColumnOf[FeedbackRow] = ColumnOf(AGENT, lambda row: agent_of(page.effects, row.agent))
    return TableOf(
        one.question,
        one.measure.title,
        rows=lambda _: one.rows,
        columns=lambda _: feedback_columns(agent),
        link=lambda row: row.link,
    )


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    answers=lambda page: bool(page.effects.tested),
    compared=lambda result: (
        [one.difference for one in result.effects.tested],
        result.effects.unit,
    ),
    figure=FigureOf(
        "changes",
        lambda page: f"Change in {page.effects.measure.title} on the same tasks",
        draw_changes,
        fits=lambda page: page.effects.varied,
    ),
    table=TableOf(
        "changes",
        "Changes on the same tasks",
        rows=lambda page: page.effects.changes,
        columns=lambda page: change_columns(page.effects),
        link=lambda one: one.link,
        most=MOST_ROWS,
    ),
    folded=_folded,
)
