"""The decline page shows mean scores by turn, and how many trajectories reach each turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.figures.decline import agent_multiples
from analysis.figures.layout.theme import ACCENT, Figure, Style
from analysis.figures.turn_slopes import slope_forest, two_sides
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.scores import turn_scores
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    TableOf,
    UrlOf,
    agent_of,
    count_of,
    estimate_of,
    text_of,
)
from analysis.pages.decline.pooled_fits import (
    ALL,
    PooledFits,
    PooledRow,
    kept_pooled,
    pooled_columns,
)
from analysis.pages.decline.slope_fits import kept_fits
from analysis.pages.decline.slopes import DEFERRED, chosen_dimensions, columns_of, shown_slopes
from analysis.pages.decline.turn_slopes import Slopes, TurnResult, verdict, verdict_badges
from analysis.pages.empty import why_no_runs
from analysis.reports import figure_specs, run_marks, system_facts
from analysis.reports.content import (
    Cell,
    Column,
    estimate_cell,
    estimate_column,
    number_column,
    rounded,
)
from analysis.reports.formatting import difference, plural
from analysis.stats.results import Estimate
from analysis.stats.trends.decline import Alignment, Curve, TurnPoint, score_by_turn
from analysis.stats.trends.slopes import SlopeModels
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_ROWS = 100
# A rubric has so many dimensions at most; each has a figure of its own.
MOST_DIMENSIONS = 12
POOLED = Style(ACCENT, "circle", "solid")


@dataclass(frozen=True)
class DeclineData:
    """Scores of turns, and the fits of their change where a job has computed these."""

    runs: tuple[ChosenRun, ...]
    dimensions: tuple[Dimension, ...]
    frame: "DataFrame"
    align: Alignment
    slopes: Slopes | None
    pooled: PooledFits | None


@dataclass(frozen=True)
class CurvePoint:
    """The mean of one agent and dimension at one turn."""

    run: ChosenRun
    curve: Curve
    point: TurnPoint

    @property
    def link(self) -> Link:
        """The trajectories that are long enough to have the point."""
        return Link(runs=(self.run.pk,), more={"min_turns": self.point.least_turns})


@dataclass(frozen=True)
class AgentSlopes:
    """An agent's own change per turn by dimension, shrunken towards that of all agents."""

    run: ChosenRun
    slopes: Mapping[str, Estimate | None]

    @property
    def link(self) -> Link:
        return Link(runs=(self.run.pk,), more={"min_turns": 2})

    def slope(self, title: str) -> Estimate:
        """Return the slope on a dimension, or that there is none."""
        return self.slopes[title] or Estimate.without_value("agents have no random effects here")


@dataclass(frozen=True)
class DeclineResult(TurnResult):
    """Mean scores by turn, and the change per turn as far as it is computed."""

    data: DeclineData
    curves: tuple[Curve, ...]

    @property
    def align(self) -> Alignment:
        return self.data.align

    @property
    def curve_names(self) -> list[str]:
        """The names of the figures of means by turn."""
        return [curve_name(place) for place in range(len(self.data.dimensions))]

    @property
    def overall(self) -> PooledRow | None:
        """The change per turn of all agents over all dimensions, once a job has fitted it."""
        return self.data.pooled.overall if self.data.pooled is not None else None

    @property
    def pooled(self) -> list[PooledRow]:
        """The change per turn of all agents, over all dimensions and on each that is shown."""
        if self.data.pooled is None:
            return []
        return self.data.pooled.rows({one.title: one.key for one in self.data.dimensions})

    @property
    def dimensions_tested(self) -> int:
        """The number of dimensions for which the pooled tests are corrected."""
        return self.data.pooled.family.size if self.data.pooled is not None else 0

    @property
    def tested(self) -> list[PooledRow]:
        """The dimensions that are shown and tested."""
        return [row for row in self.pooled[1:] if row.p is not None]

    @property
    def falling(self) -> list[PooledRow]:
        """The dimensions on which scores clearly decline."""
        return [row for row in self.tested if row.verdict == "declines"]

    @property
    def climbing(self) -> list[PooledRow]:
        """The dimensions on which scores clearly rise."""
        return [row for row in self.tested if row.verdict == "rises"]

    @property
    def clear_dimensions(self) -> list[str]:
        """The dimensions on which scores clearly change, with their slopes."""
        return [
            f"{row.title.lower()} ({difference(row.slope.value or 0.0, 'points', signed=True)})"
            for row in (*self.falling, *self.climbing)
        ]

    @property
    def agents(self) -> list[AgentSlopes]:
        """Each agent's own change per turn, shrunken towards that of all."""
        rows = self.pooled
        names = rows[0].fit.agents or {} if rows else {}
        runs = {run.label: run for run in self.data.runs}
        return [
            AgentSlopes(runs[name], {row.title: (row.fit.agents or {}).get(name) for row in rows})
            for name in names
            if name in runs
        ]

    @property
    def family_size(self) -> int:
        """The number of pairs of agent and dimension for which the tests are corrected."""
        return self.data.slopes.family.size if self.data.slopes is not None else 0

    @property
    def declining(self) -> list[SlopeModels]:
        return self.data.slopes.clear(-1) if self.data.slopes is not None else []

    @property
    def rising(self) -> list[SlopeModels]:
        return self.data.slopes.clear(1) if self.data.slopes is not None else []

    @property
    def running(self) -> list[int]:
        """The number of trajectories of all agents that have at least so many turns."""
        by_agent = {curve.agent: curve for curve in self.curves}
        longest = max((len(curve.points) for curve in self.curves), default=0)
        return [
            sum(c.points[i].running for c in by_agent.values() if i < len(c.points))
            for i in range(longest)
        ]

    @property
    def last_running(self) -> int:
        """The number of trajectories that have the last turn."""
        return self.running[-1] if self.running else 0

    @property
    def some_end(self) -> bool:
        """Return whether late turns rest on fewer trajectories."""
        return bool(self.running) and self.running[0] != self.running[-1]

    @property
    def missing(self) -> int:
        """The number of turns that have no score on a dimension."""
        return int(self.data.frame["score"].isna().sum())

    @property
    def turns(self) -> int:
        """The number of pairs of turn and dimension."""
        return len(self.data.frame)


def load(selection: Selection) -> DeclineData | NothingToShow:
    """Load the scores of turns, and the fits that a job has kept."""
    dimensions = chosen_dimensions(selection)
    if not selection.runs or not dimensions:
        return why_no_runs(selection)
    frame = turn_scores(selection.runs, [d.key for d in dimensions], final=False)
    if frame.empty:
        return why_no_runs(selection)
    fits = kept_fits(selection.system, selection.family)
    return DeclineData(
        selection.runs,
        dimensions,
        frame,
        "from_end" if selection.filters.align == "end" else "turn",
        shown_slopes(fits, selection) if fits is not None else None,
        kept_pooled(selection.system, selection.family),
    )


def compute(data: DeclineData) -> DeclineResult:
    """Compute the mean score at every turn."""
    columns = columns_of(data.frame, data.dimensions)
    curves = score_by_turn(*columns, align=data.align, scale=system_facts.RUBRIC_SCALE)
    return DeclineResult(data, tuple(curves))


def points(result: DeclineResult) -> list[CurvePoint]:
    """Return the points of all curves."""
    runs = {run.label: run for run in result.data.runs}
    return [
        CurvePoint(runs[curve.agent], curve, point)
        for curve in result.curves
        for point in curve.points
    ]


def draw_pooled(result: DeclineResult, url: UrlOf) -> Figure | None:
    """Draw the change per turn of all agents by dimension."""
    rows = result.pooled
    return two_sides(
        {row.title: [row.slope] for row in rows},
        {"All agents": POOLED},
        {row.title: url(row.link) for row in rows},
        clear=[row.title for row in rows if row.is_clear],
    )


def draw_agents(result: DeclineResult, url: UrlOf) -> Figure | None:
    """Draw every agent's own change per turn over all dimensions."""
    if not result.agents:
        return None
    return two_sides(
        {agent.run.label: [agent.slope(ALL)] for agent in result.agents},
        {ALL: POOLED},
        {agent.run.label: url(agent.link) for agent in result.agents},
    )


def agent_columns(result: DeclineResult) -> list[ColumnOf[AgentSlopes]]:
    """Give every dimension a column of the agents' own slopes."""

    def column(title: str) -> ColumnOf[AgentSlopes]:
        return estimate_of(title, lambda row: row.slope(title), "points", signed=True, show_n=True)

    return [agent_of(lambda row: row.run), *(column(row.title) for row in result.pooled)]


def draw_slopes(result: DeclineResult, url: UrlOf) -> Figure | None:
    """Draw every agent's change per turn by the mixed model, one panel a dimension."""
    slopes = result.slopes
    if slopes is None or not slopes.models:
        return None
    runs = {run.label: run.pk for run in result.data.runs}
    keys = {dimension.title: dimension.key for dimension in result.data.dimensions}
    links = {
        (one.agent, one.dimension): url(
            Link(runs=(runs[one.agent],), dimension=keys[one.dimension], more={"min_turns": 2})
        )
        for one in slopes.models
    }
    return slope_forest(slopes.models, links, clear=lambda one: bool(slopes.test(one).clear))


def curve_name(place: int) -> str:
    """Return the name of the figure of a dimension."""
    return f"curves-{place + 1}" if place else "curves"


def curves_of(place: int) -> FigureOf[DeclineResult]:
    """Return the means by turn on one of the dimensions, one panel an agent."""

    def draw(result: DeclineResult, url: UrlOf) -> Figure | None:
        if place >= len(result.data.dimensions):
            return None
        title = result.data.dimensions[place].title
        shown = [one for one in points(result) if one.curve.dimension == title]
        links = {(one.curve.agent, one.point.position): url(one.link) for one in shown}
        curves = [curve for curve in result.curves if curve.dimension == title]
        looks = figure_specs.styles([run.label for run in result.data.runs])
        return agent_multiples(curves, system_facts.RUBRIC_SCALE, looks, links) if curves else None

    def title(result: DeclineResult) -> str:
        return f"{result.data.dimensions[place].title}: mean score by {result.where}"

    return FigureOf(curve_name(place), title, draw, table="points")


def slope_rows(result: DeclineResult) -> list[ChosenRun]:
    """Return the agents of which the change per turn is computed."""
    fitted = {one.agent for one in result.slopes.models} if result.slopes is not None else set()
    return [run for run in result.data.runs if run.label in fitted]


def slope_columns(result: DeclineResult) -> list[ColumnOf[ChosenRun]]:
    """Give every dimension a column; what is clear in the family is marked."""
    slopes = result.slopes
    assert slopes is not None
    titles = dict.fromkeys(one.dimension for one in slopes.models)
    return [
        ColumnOf(Column("Agent", ("agent", "kind", "run"), num=False), run_marks.agent_cell),
        *(_slope_column(slopes, title) for title in titles),
    ]


def _slope_column(slopes: Slopes, title: str) -> ColumnOf[ChosenRun]:
    found = {one.agent: one for one in slopes.models if one.dimension == title}
    column, name = estimate_column(title), title.lower()

    def cell(run: ChosenRun) -> Cell:
        one = found[run.label]
        shown = estimate_cell(one.mixed.slope, "points", signed=True, show_n=True)
        more = (rounded(slopes.test(one).adjusted), verdict(slopes, one))
        return replace(shown, data=(*shown.data, *more), badges=verdict_badges(slopes, one))

    return ColumnOf(replace(column, parts=(*column.parts, f"{name} p", f"{name} verdict")), cell)


def point_columns(result: DeclineResult) -> Sequence[ColumnOf[CurvePoint]]:
    """Give the numbers of the figure."""
    word = "Turn" if result.align == "turn" else "Turns from the last"
    return (
        text_of("Agent", lambda one: one.curve.agent),
        text_of("Dimension", lambda one: one.curve.dimension),
        ColumnOf(number_column(word, "position"), _position),
        count_of("Running", lambda one: one.point.running),
        count_of("Scored", lambda one: one.point.mean.n),
        estimate_of("Mean", lambda one: one.point.mean, "points"),
    )


def _position(one: CurvePoint) -> Cell:
    return Cell(f"{one.point.position:d}".replace("-", "−"), (one.point.position,))


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf(
        "slopes",
        "Change per turn over all agents, by mixed models",
        draw_pooled,
        fits=lambda result: result.overall is not None,
    ),
    table=TableOf(
        "slopes",
        "Change per turn over all agents",
        rows=lambda result: result.pooled,
        columns=lambda result: pooled_columns(result.dimensions_tested),
        link=lambda row: row.link,
    ),
    folded=(
        FigureOf("agents", "Change per turn by agent, over all dimensions", draw_agents),
        TableOf(
            "agents",
            "Change per turn by agent",
            rows=lambda result: result.agents,
            columns=agent_columns,
            link=lambda row: row.link,
        ),
        FigureOf(
            "pairs",
            "Change per turn of every agent and dimension, fitted one by one",
            draw_slopes,
            fits=lambda result: result.slopes is not None,
        ),
        TableOf(
            "pairs",
            "Change per turn of every agent and dimension",
            rows=slope_rows,
            columns=slope_columns,
            link=lambda run: Link(runs=(run.pk,), more={"min_turns": 2}),
        ),
        *(curves_of(place) for place in range(MOST_DIMENSIONS)),
        TableOf(
            "points",
            lambda result: f"The numbers of the figure ({plural(len(points(result)), 'row')})",
            rows=points,
            columns=point_columns,
            link=lambda one: one.link,
            folded=True,
            most=MOST_ROWS,
        ),
    ),
    deferred=DEFERRED,
    waits=lambda result: result.slopes is None or result.overall is None,
)
