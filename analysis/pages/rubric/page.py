"""The rubric page shows mean scores by agent and dimension, of final turns or of all turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from analysis.figures.layout.theme import Figure
from analysis.figures.rubric import rubric_dots, rubric_heatmap
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import unfinished
from analysis.frames.scores import Unscored, turn_scores, unscored
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    TableOf,
    UrlOf,
)
from analysis.pages.empty import why_no_runs
from analysis.reports import addresses, figure_specs, run_marks, system_facts
from analysis.reports.content import (
    Cell,
    Column,
    count_cell,
    estimate_cell,
    estimate_column,
    exclusions,
    how_interval,
    number_column,
)
from analysis.reports.extremes import beyond
from analysis.reports.formatting import listed, stated
from analysis.reports.published import published_estimate
from analysis.stats.comparison.extremes import (
    Difference,
    clear_differences,
    find_extreme,
    paired_groups,
    pairs_of,
)
from analysis.stats.descriptive.means import MeanTable, mean_by_cluster, mean_t
from analysis.stats.results import Estimate
from benchmarks.core.registry import get_system
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

# The largest difference of two scores from 1 to 5.
WIDEST = system_facts.RUBRIC_SCALE[1] - system_facts.RUBRIC_SCALE[0]
MISSING = "not every judge scored it"
AVERAGE, AVERAGE_HELP = "Average", "mean over these agents, each with the same weight"


@dataclass(frozen=True)
class RubricData:
    """Scores of final turns, or of all, the published means, and how many agents are compared."""

    runs: tuple[ChosenRun, ...]
    dimensions: tuple[Dimension, ...]
    final: bool
    frame: "DataFrame"
    lacking: Mapping[str, Unscored]
    published: "tuple[MeansRow, ...]"
    among: int


@dataclass(frozen=True)
class MeansRow:
    """The means of one agent here, of a published model, or their average, by dimension key."""

    label: str
    means: Mapping[str, Estimate]
    run: ChosenRun | None = None
    source: str = ""

    @property
    def is_average(self) -> bool:
        return self.run is None and not self.source

    @property
    def n(self) -> int:
        """The highest number of scored trajectories, or turns, of a dimension."""
        return max(estimate.n for estimate in self.means.values())

    def link(self, dimension: str = "") -> Link | None:
        """Return the trajectories of the agent; of an average those of all, of published rows
        none.
        """
        if self.source:
            return None
        return Link(runs=(self.run.pk,) if self.run is not None else (), dimension=dimension)


@dataclass(frozen=True)
class DimensionMean:
    """The mean of a dimension over all agents."""

    dimension: Dimension
    value: float


@dataclass(frozen=True)
class Gap:
    """The dimension on which agents lie furthest apart, with the highest and the lowest agent."""

    dimension: Dimension
    high: MeansRow
    low: MeansRow

    @property
    def highest(self) -> float:
        return self.high.means[self.dimension.key].value or 0.0

    @property
    def lowest(self) -> float:
        return self.low.means[self.dimension.key].value or 0.0


@dataclass(frozen=True)
class UnscoredDimension:
    """A dimension on which judges left turns unscored."""

    title: str
    unscored: Unscored

    @property
    def first_reason(self) -> str:
        return next(iter(self.unscored.reasons))


@dataclass(frozen=True)
class RubricResult:
    """Mean scores by agent and dimension, and where agents differ."""

    data: RubricData
    rows: tuple[MeansRow, ...]
    overall: tuple[DimensionMean, ...]
    gap: Gap | None

    @property
    def final(self) -> bool:
        return self.data.final

    @property
    def published(self) -> tuple[MeansRow, ...]:
        return self.data.published

    @property
    def every_row(self) -> list[MeansRow]:
        """The agents, their average where there are several, and the published models."""
        average = [average_row(self)] if len(self.rows) > 1 else []
        return [*self.rows, *average, *self.published]

    @cached_property
    def dimensions_in_words(self) -> str:
        """What may be said of the dimensions with the highest and the lowest mean."""
        frame = self.data.frame
        titles = {one.dimension.key: one.dimension.title.lower() for one in self.overall}
        known = frame[frame["dimension"].isin(list(titles))]
        difference = paired_groups(
            known["dimension"].map(titles).tolist(),
            known["task"].tolist(),
            known["score"].to_numpy(),
            comparisons=pairs_of(len(titles)),
            most=WIDEST,
        )
        values = {one.dimension.title.lower(): one.value for one in self.overall}
        best = find_extreme(values, difference)
        worst = find_extreme(values, difference, lowest=True)
        if best.verdict in ("alone", "equal"):
            return f"score {best.value:.2f} on {listed(best.names)}"
        if not (best.is_clear or worst.is_clear):
            low, high = min(values.values()), max(values.values())
            return (
                f"score {low:.2f} to {high:.2f} by dimension; none is clearly best or clearly worst"
            )
        parts = [
            f"{word} on {listed(one.names)} ({one.value:.2f}, {beyond(one, 'points')})"
            for word, one in (("best", best), ("worst", worst))
            if one.is_clear
        ]
        return f"score {' and '.join(parts)}"

    @cached_property
    def _between_agents(self) -> dict[str, Difference]:
        """The differences between agents by dimension.

        Their intervals hold together over all pairs of agents on all dimensions.
        """
        frame, found = self.data.frame, {}
        comparisons = pairs_of(self.data.among) * len(self.data.dimensions)
        for dimension in self.data.dimensions:
            known = frame[frame["dimension"] == dimension.key]
            found[dimension.title.lower()] = paired_groups(
                known["label"].tolist(),
                known["task"].tolist(),
                known["score"].to_numpy(),
                comparisons=comparisons,
                most=WIDEST,
            )
        return found

    @cached_property
    def clear_gaps(self) -> list[str]:
        """The dimensions on which two agents clearly differ, in words, the largest gap first."""
        found = []
        for title, difference in self._between_agents.items():
            clear = clear_differences([row.label for row in self.rows], difference)
            if clear:
                high, low, gap = clear[0]
                words = f"{title}, {high} above {low} by {stated(gap, 'points')}"
                found.append((gap.value or 0.0, words))
        return [words for _, words in sorted(found, key=lambda one: -one[0])]

    @property
    def differences(self) -> list[Estimate]:
        """The differences of all pairs of agents on all dimensions."""
        pairs = list(combinations([row.label for row in self.rows], 2))
        return [one(*pair) for one in self._between_agents.values() for pair in pairs]

    @property
    def lacking(self) -> list[UnscoredDimension]:
        titles = {dimension.key: dimension.title for dimension in self.data.dimensions}
        return [UnscoredDimension(titles[key], one) for key, one in self.data.lacking.items()]

    @property
    def wholly_unscored(self) -> list[str]:
        """The dimensions that have no mean, in lower case."""
        known = {one.dimension.title for one in self.overall}
        return [one.title.lower() for one in self.lacking if one.title not in known]

    @property
    def left_out(self) -> Mapping[str, int]:
        return exclusions(self._estimates)

    @property
    def intervals(self) -> str:
        return how_interval(self._estimates)

    @property
    def waiting(self) -> list[tuple[str, Mapping[str, int]]]:
        """Trajectories that are not finished, by agent."""
        found = ((run.label, unfinished(run)) for run in self.data.runs)
        return [(label, counts) for label, counts in found if counts]

    @property
    def task_by_task(self) -> str:
        """The address where the two agents furthest apart are compared task by task."""
        if self.gap is None or self.gap.low.run is None or self.gap.high.run is None:
            return ""
        key = self.gap.dimension.key
        return addresses.side_by_side(self.gap.low.run, self.gap.high.run, key, sort="-difference")

    @property
    def _estimates(self) -> list[Estimate]:
        return [estimate for row in self.rows for estimate in row.means.values()]


def load(selection: Selection) -> RubricData | NothingToShow:
    """Load the scores of final turns, or of all turns."""
    dimensions = system_facts.dimensions_of(selection.system)
    if not selection.runs or not dimensions:
        return why_no_runs(selection)
    final = selection.filters.turns != "all"
    keys = [dimension.key for dimension in dimensions]
    frame = turn_scores(selection.runs, keys, final=final)
    if frame.empty:
        return why_no_runs(selection)
    published = selection.filters.published != "hide"
    return RubricData(
        selection.runs,
        dimensions,
        final,
        frame,
        unscored(selection.runs, keys, final=final),
        published_rows(selection.system, dimensions) if published else (),
        selection.agents_here,
    )


def compute(data: RubricData) -> RubricResult:
    """Average scores by agent and dimension.

    Final turns are one per trajectory, so their intervals are Student's t; turns of one trajectory
    are not independent, so the intervals of all turns are by task.
    """
    groups = dict(list(data.frame.groupby(["label", "dimension"], sort=False)))
    rows = tuple(
        MeansRow(
            run.label,
            {
                dimension.key: _mean(
                    groups.get((run.label, dimension.key)),
                    data.final,
                    _why(dimension.key, data.lacking),
                )
                for dimension in data.dimensions
            },
            run,
        )
        for run in data.runs
    )
    overall = []
    for dimension in data.dimensions:
        known = [value for row in rows if (value := row.means[dimension.key].value) is not None]
        if known:
            overall.append(DimensionMean(dimension, sum(known) / len(known)))
    return RubricResult(data, rows, tuple(overall), widest_gap(rows, data.dimensions))


def _mean(rows: "DataFrame | None", final: bool, why: str) -> Estimate:
    if rows is None:
        return Estimate.without_value("no turn was judged on it")
    scores = rows["score"].to_numpy()
    there = scores == scores
    gone = len(scores) - int(there.sum())
    excluded = {MISSING: gone} if gone else {}
    if not there.any():
        return Estimate.without_value(why, excluded=excluded)
    if final:
        return mean_t(scores[there], excluded=excluded, scale=system_facts.RUBRIC_SCALE)
    tasks = rows["task"].to_numpy()[there].tolist()
    return mean_by_cluster(scores[there], tasks, excluded=excluded, scale=system_facts.RUBRIC_SCALE)


def _why(key: str, lacking: Mapping[str, Unscored]) -> str:
    """Return why nothing is scored, in the judges' own words."""
    if key not in lacking:
        return MISSING
    return f"{MISSING}: {next(iter(lacking[key].reasons))}"


def widest_gap(rows: Sequence[MeansRow], dimensions: Sequence[Dimension]) -> Gap | None:
    """Return the dimension on which agents lie furthest apart; None where none differ."""
    found: list[tuple[float, str, Gap]] = []
    for dimension in dimensions:
        known = [
            (value, row.label, row)
            for row in rows
            if (value := row.means[dimension.key].value) is not None
        ]
        if len(known) > 1:
            low, high = min(known, key=lambda one: one[:2]), max(known, key=lambda one: one[:2])
            found.append((high[0] - low[0], dimension.title, Gap(dimension, high[2], low[2])))
    widest = max(found, key=lambda one: one[:2], default=None)
    return widest[2] if widest is not None and widest[0] > 0 else None


def published_rows(system: str, dimensions: Sequence[Dimension]) -> tuple[MeansRow, ...]:
    """Return the means of the paper's models."""
    keys = [dimension.key for dimension in dimensions]
    means: dict[str, dict[str, Estimate]] = {}
    sources: dict[str, str] = {}
    for entry in get_system(system).published:
        if entry.metric in keys:
            missing = {key: Estimate.without_value("not published") for key in keys}
            own = means.setdefault(entry.model, missing)
            own[entry.metric] = published_estimate(entry, is_rate=False)
            sources.setdefault(entry.model, f"{entry.source}; {entry.note}")
    return tuple(MeansRow(model, own, source=sources[model]) for model, own in means.items())


def average_row(result: RubricResult) -> MeansRow:
    """Return the mean over agents of their means, as the paper's row "Average" has it.

    It speaks of these agents alone, so there is no interval. Undefined where an agent has no mean.
    """

    def average(key: str) -> Estimate:
        values = [row.means[key].value for row in result.rows]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return Estimate.without_value("not every agent has a mean")
        return Estimate(sum(known) / len(known), len(known), no_interval=AVERAGE_HELP)

    return MeansRow(AVERAGE, {one.key: average(one.key) for one in result.data.dimensions})


def _table_of(rows: Mapping[str, MeansRow], dimensions: Sequence[Dimension]) -> MeanTable:
    """Return rows, by the names that they have in a figure, as the figures take them."""
    cells = {
        (name, one.title): row.means[one.key] for name, row in rows.items() for one in dimensions
    }
    return MeanTable(tuple(rows), tuple(one.title for one in dimensions), cells)


def _links(result: RubricResult, url: UrlOf) -> dict[tuple[str, str], str]:
    return {
        (row.label, one.title): url(link)
        for row in result.rows
        for one in result.data.dimensions
        if (link := row.link(one.key)) is not None
    }


def draw_heatmap(result: RubricResult, url: UrlOf) -> Figure:
    """Draw the means of agents and published models as a table of colours."""
    named = {row.label: row for row in result.rows}
    named |= {f"{row.label} (published)": row for row in result.published}
    return rubric_heatmap(_table_of(named, result.data.dimensions), links=_links(result, url))


def draw_dots(result: RubricResult, url: UrlOf) -> Figure:
    """Draw the means with their intervals, one panel a dimension."""
    named = {row.label: row for row in result.rows}
    return rubric_dots(
        _table_of(named, result.data.dimensions),
        styles=figure_specs.styles(list(named)),
        links=_links(result, url),
    )


def turns_in_words(result: RubricResult) -> str:
    """Name the turns that are averaged."""
    return "final turns" if result.final else "all turns"


def mean_columns(result: RubricResult) -> list[ColumnOf[MeansRow]]:
    """Give agent, n and every dimension a column."""
    unit = "trajectories" if result.final else "turns"
    help = f"Scored {unit}; said in a cell where it is another number"
    return [
        ColumnOf(Column("Agent", ("agent", "kind", "run"), num=False), _name),
        ColumnOf(number_column("n", unit, help), _count),
        *(_dimension_column(dimension) for dimension in result.data.dimensions),
    ]


def _name(row: MeansRow) -> Cell:
    if row.run is not None:
        return run_marks.agent_cell(row.run)
    if row.is_average:
        return Cell(AVERAGE, (AVERAGE, "", None), tip=AVERAGE_HELP)
    badge = replace(run_marks.PUBLISHED_BADGE, why=row.source)
    return Cell(row.label, (row.label, "published", row.source), badges=(badge,))


def _count(row: MeansRow) -> Cell:
    return Cell(data=(None,), reason="a mean over agents") if row.is_average else count_cell(row.n)


def _dimension_column(dimension: Dimension) -> ColumnOf[MeansRow]:
    def cell(row: MeansRow) -> Cell:
        estimate = row.means[dimension.key]
        show_n = not row.is_average and estimate.n != row.n
        return estimate_cell(estimate, "points", show_n=show_n)

    column = estimate_column(dimension.title, help=dimension.definition)
    return ColumnOf(column, cell, link=lambda row: row.link(dimension.key))


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    answers=lambda result: bool(result.overall),
    compared=lambda result: (result.differences, "points"),
    figure=FigureOf(
        "heatmap",
        lambda result: f"Mean score by agent and dimension, {turns_in_words(result)}",
        draw_heatmap,
        table="means",
        least_width=640,
    ),
    table=TableOf(
        "means",
        "Mean scores",
        rows=lambda result: result.every_row,
        columns=mean_columns,
        link=lambda row: row.link(),
    ),
    folded=(
        FigureOf(
            "dots",
            lambda result: f"The same with 95 % intervals, {turns_in_words(result)}",
            draw_dots,
            table="means",
        ),
    ),
)
