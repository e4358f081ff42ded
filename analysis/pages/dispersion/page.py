"""The dispersion page shows how far judges differ: spread of means, strict and lenient judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.figures.dispersion import dispersion_bars, severity_dots
from analysis.figures.layout.theme import Figure
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.scores import UnreadableScores, judge_cells, unread
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
from analysis.pages.dispersion.panels import DEFERRED
from analysis.pages.empty import why_no_runs
from analysis.reports import figure_specs, system_facts
from analysis.reports.content import Cell, count_cell, number_cell, number_column
from analysis.reports.formatting import plural
from analysis.stats.judges.dispersion import (
    DimensionSpread,
    Dispersion,
    JudgeMean,
    JudgeSeverity,
    ModelSpread,
    WithoutJudge,
    judge_dispersion,
    leave_one_judge_out,
)
from analysis.stats.results import Estimate
from benchmarks.core.ports.published import PaperStatements
from benchmarks.core.registry import find_system
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame


NOBODY = "no judge scored it"
NOTHING = Estimate.without_value(NOBODY)
MOST_ROWS = 100


ALL = "all dimensions"


@dataclass(frozen=True)
class SpreadRow:
    """The spread between judges on one dimension."""

    key: str
    spread: DimensionSpread

    @property
    def title(self) -> str:
        return self.spread.dimension


@dataclass(frozen=True)
class UnreadRow:
    """The turns of an agent that lack a judge's readable score."""

    run: ChosenRun
    scores: UnreadableScores


def spread_columns(result: Dispersion, runs: Mapping[str, int]) -> list[ColumnOf[SpreadRow]]:
    """Give the standard deviation between judges over all agents and of each."""
    return [
        text_of("Dimension", lambda row: row.title),
        estimate_of("Mean SD", lambda row: row.spread.mean_sd, "points", show_n=True),
        estimate_of(
            "By noise alone",
            lambda row: row.spread.floor,
            "points",
            part="noise",
            help="Mean SD that judges without any difference would show on so few tasks",
        ),
        estimate_of(
            "Beyond noise",
            lambda row: row.spread.beyond_noise,
            "points",
            help="SD without noise; 0 where noise explains it",
        ),
        *(_agent_column(place, model, runs[model]) for place, model in enumerate(result.models)),
    ]


def _agent_column(place: int, model: str, run: int) -> ColumnOf[SpreadRow]:
    def cell(row: SpreadRow) -> Cell:
        found = row.spread.models[place].sd
        return number_cell(found.value, "points", reason=found.undefined)

    return ColumnOf(number_column(model), cell, lambda row: Link(runs=(run,), dimension=row.key))


def severity_columns(result: Dispersion, keys: Mapping[str, str]) -> list[ColumnOf[str]]:
    """Give how much higher a judge scores than all; a row is the name of a judge."""
    found = {(row.judge, row.dimension): row.bias for row in result.severity}
    names = dict.fromkeys(row.dimension for row in result.severity)

    def column(name: str) -> ColumnOf[str]:
        return estimate_of(
            name[:1].upper() + name[1:],
            lambda judge: found[judge, name],
            "points",
            signed=True,
            link=lambda _: Link(dimension=keys.get(name, "")),
        )

    return [text_of("Judge", lambda judge: judge), *(column(name) for name in names)]


def without_columns(
    judges: Sequence[str], without: Sequence[WithoutJudge]
) -> list[ColumnOf[SpreadRow]]:
    """Give the spread and the agents' order if each judge were not on the panel."""
    spreads = {
        (one.judge, spread.dimension): spread.mean_sd
        for one in without
        for spread in one.dimensions
    }
    orders = {(one.judge, title): order for one in without for title, order in one.kendall.items()}

    def spread_without(judge: str) -> ColumnOf[SpreadRow]:
        return estimate_of(
            f"Without {judge}",
            lambda row: spreads.get((judge, row.title), NOTHING),
            "points",
            help="SD between the judges left",
        )

    def order_without(judge: str) -> ColumnOf[SpreadRow]:
        def cell(row: SpreadRow) -> Cell:
            order = orders.get((judge, row.title), NOTHING)
            return number_cell(order.value, "points", reason=order.undefined)

        column = number_column("τ_b", f"order without {judge}", help="With the order by all")
        return ColumnOf(column, cell)

    def everybody(row: SpreadRow) -> Cell:
        found = row.spread.mean_sd
        return number_cell(found.value, "points", reason=found.undefined)

    columns = [
        text_of("Dimension", lambda row: row.title),
        ColumnOf(number_column("All judges"), everybody),
    ]
    for judge in judges:
        columns += [spread_without(judge), order_without(judge)]
    return columns


def unread_columns() -> list[ColumnOf[UnreadRow]]:
    """Say where the panel is smaller than it should be."""

    def turns(row: UnreadRow) -> Cell:
        return count_cell(row.scores.turns, tip="The run's trajectories that lack a score")

    return [
        agent_of(lambda row: row.run),
        ColumnOf(
            number_column("Turns", help="With a missing score of some judge"),
            turns,
            lambda row: Link(runs=(row.run.pk,), more={"unscored": "yes"}),
        ),
        count_of("Of", lambda row: row.scores.of, help="Judged turns"),
        text_of(
            "Missing scores by judge",
            lambda row: "; ".join(f"{name}: {n:,}" for name, n in row.scores.judges.items()),
            "judges",
        ),
    ]


def means_columns(runs: Mapping[str, int], keys: Mapping[str, str]) -> list[ColumnOf[JudgeMean]]:
    """Give the mean of each judge by agent and dimension, from which all else follows."""

    def link(cell: JudgeMean) -> Link:
        return Link(runs=(runs[cell.model],), dimension=keys[cell.dimension])

    def mean(cell: JudgeMean) -> Cell:
        return number_cell(cell.mean, "points", reason="this judge scored nothing here")

    return [
        text_of("Agent", lambda cell: cell.model),
        text_of("Dimension", lambda cell: cell.dimension),
        text_of("Judge", lambda cell: cell.judge),
        ColumnOf(number_column("Mean"), mean, link),
        ColumnOf(number_column("Scores"), lambda cell: count_cell(cell.n), link),
    ]


@dataclass(frozen=True)
class DispersionData:
    """Every judge's mean by agent and dimension, and the turns that lack a judge's score."""

    runs: tuple[ChosenRun, ...]
    dimensions: tuple[Dimension, ...]
    final: bool
    frame: "DataFrame"
    unread: Mapping[str, UnreadableScores]
    reference: PaperStatements


@dataclass(frozen=True)
class DispersionResult:
    """The spread between judges, each judge's severity, and both without each judge."""

    data: DispersionData
    dispersion: Dispersion
    without: tuple[WithoutJudge, ...]

    @property
    def reference(self) -> PaperStatements:
        return self.data.reference

    @property
    def final(self) -> bool:
        return self.data.final

    @property
    def judges(self) -> tuple[str, ...]:
        return self.dispersion.judges

    @property
    def keys(self) -> dict[str, str]:
        """The keys of the dimensions by title."""
        return {dimension.title: dimension.key for dimension in self.data.dimensions}

    @property
    def runs(self) -> dict[str, int]:
        """The runs by the labels of their agents."""
        return {run.label: run.pk for run in self.data.runs}

    @property
    def spreads(self) -> list[SpreadRow]:
        return [SpreadRow(self.keys[row.dimension], row) for row in self.dispersion.dimensions]

    @property
    def known(self) -> list[DimensionSpread]:
        """The dimensions whose spread is defined."""
        return [row for row in self.dispersion.dimensions if row.mean_sd.value is not None]

    @property
    def widest(self) -> DimensionSpread:
        return max(self.known, key=lambda row: row.mean_sd.value or 0)

    @property
    def comparable(self) -> list[DimensionSpread]:
        """The dimensions whose spread beyond noise is known: only that is held against a paper."""
        return [row for row in self.known if row.beyond_noise.value is not None]

    @property
    def above(self) -> list[str]:
        """The dimensions that reach the bound of the paper beyond noise, in lower case."""
        bound = self.reference.dispersion
        if bound is None:
            return []
        return [
            row.dimension.lower()
            for row in self.comparable
            if (row.beyond_noise.value or 0) >= bound
        ]

    @property
    def lacking(self) -> list[str]:
        """The dimensions whose spread is undefined, in lower case."""
        rows = self.dispersion.dimensions
        return [row.dimension.lower() for row in rows if row.mean_sd.value is None]

    @property
    def unscored(self) -> list[str]:
        """The dimensions that no judge scored, in lower case."""
        rows = self.dispersion.dimensions
        return [row.dimension.lower() for row in rows if row.mean_sd.undefined == NOBODY]

    @property
    def why_unknown(self) -> list[str]:
        """The reason why no spread is defined."""
        return list(dict.fromkeys(row.mean_sd.undefined for row in self.dispersion.dimensions))

    @property
    def strictest(self) -> JudgeSeverity | None:
        """The judge with the lowest scores over all dimensions, where there are several."""
        rows = self._overall
        return min(rows, key=lambda row: row.bias.value or 0) if len(rows) > 1 else None

    @property
    def most_lenient(self) -> JudgeSeverity | None:
        rows = self._overall
        return max(rows, key=lambda row: row.bias.value or 0) if len(rows) > 1 else None

    @property
    def unread(self) -> list[UnreadRow]:
        """The agents of which a judge's reply could not be read."""
        runs = {run.label: run for run in self.data.runs}
        return [UnreadRow(runs[label], one) for label, one in self.data.unread.items()]

    @property
    def shrunk(self) -> int:
        """The number of turns on which the panel is smaller."""
        return sum(row.scores.turns for row in self.unread)

    @property
    def judged(self) -> int:
        """The number of turns of the agents with such replies."""
        return sum(row.scores.of for row in self.unread)

    @property
    def warnings(self) -> list[str]:
        return [f"{warning[:1].upper()}{warning[1:]}" for warning in self.dispersion.warnings]

    @property
    def scores(self) -> int:
        return sum(cell.n for cell in self.dispersion.means)

    @property
    def _overall(self) -> list[JudgeSeverity]:
        rows = (row for row in self.dispersion.severity if row.dimension == ALL)
        return [row for row in rows if row.bias.value is not None]


def load(selection: Selection) -> DispersionData | NothingToShow:
    """Load every judge's means."""
    dimensions = system_facts.dimensions_of(selection.system)
    if not selection.runs or not dimensions:
        return why_no_runs(selection)
    final = selection.filters.turns != "all"
    keys = [dimension.key for dimension in dimensions]
    frame = judge_cells(selection.runs, keys, final=final)
    if frame.empty:
        return why_no_runs(selection)
    return DispersionData(
        selection.runs,
        dimensions,
        final,
        frame,
        unread(selection.runs, keys, final=final),
        find_system(selection.system).paper,
    )


def compute(data: DispersionData) -> DispersionResult:
    """Compute the spread between judges, with all of them and without each."""
    titles = {dimension.key: dimension.title for dimension in data.dimensions}
    result = spread_of(
        [
            JudgeMean(
                row["label"],
                titles[row["dimension"]],
                row["judge"],
                _number(row["mean"]),
                int(row["n"]),
                row["by_task"],
            )
            for row in data.frame.to_dict("records")
        ]
    )
    scored = [cell for cell in result.means if cell.n]
    without: tuple[WithoutJudge, ...] = ()
    if len(result.judges) > 1:
        without = leave_one_judge_out(scored, scale=system_facts.RUBRIC_SCALE)
    return DispersionResult(data, result, without)


def spread_of(means: Sequence[JudgeMean]) -> Dispersion:
    """Return the dispersion over the dimensions that somebody scored; the others are undefined.

    A dimension that no judge scored says nothing about any judge, so it must not take a judge's
    overall severity away.
    """
    names = list(dict.fromkeys(cell.dimension for cell in means))
    scored = {cell.dimension for cell in means if cell.n}
    result = judge_dispersion(
        [cell for cell in means if cell.dimension in scored], scale=system_facts.RUBRIC_SCALE
    )
    models = list(dict.fromkeys(cell.model for cell in means))
    empty = Estimate.without_value(NOBODY, excluded={NOBODY: len(models)})
    found = {row.dimension: row for row in result.dimensions}
    for name in names:
        if name not in scored:
            spreads = tuple(ModelSpread(m, name, Estimate.without_value(NOBODY)) for m in models)
            found[name] = DimensionSpread(name, empty, spreads, empty, empty)
    ordered = tuple(found[name] for name in names)
    return replace(result, models=tuple(models), dimensions=ordered, means=tuple(means))


def _number(value: float) -> float | None:
    # The frame's missing value is not equal to itself.
    return None if value != value else float(value)


def draw_spread(result: DispersionResult, url: UrlOf) -> Figure:
    """Draw the spread between judges by dimension."""
    links = {
        (agent, title): url(Link(runs=(run,), dimension=key))
        for agent, run in result.runs.items()
        for title, key in result.keys.items()
    }
    wholes = {title: url(Link(dimension=key)) for title, key in result.keys.items()}
    return dispersion_bars(result.dispersion, result.reference.dispersion, links, wholes)


def draw_severity(result: DispersionResult, url: UrlOf) -> Figure:
    """Draw how much higher each judge scores than all judges together."""
    marks = {title: url(Link(dimension=key)) for title, key in result.keys.items()}
    return figure_specs.linked(severity_dots(result.dispersion), {**marks, ALL: url(Link())})


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf(
        "spread",
        lambda result: (
            "Standard deviation between judges' means, "
            f"{'final turns' if result.final else 'all turns'}"
        ),
        draw_spread,
    ),
    table=TableOf(
        "spread",
        "Spread between judges",
        rows=lambda result: result.spreads,
        columns=lambda result: spread_columns(result.dispersion, result.runs),
        link=lambda row: Link(dimension=row.key),
    ),
    folded=(
        FigureOf(
            "severity", "How much higher each judge scores than all judges together", draw_severity
        ),
        TableOf(
            "severity",
            "Strict and lenient judges",
            rows=lambda result: result.judges,
            columns=lambda result: severity_columns(result.dispersion, result.keys),
        ),
        TableOf(
            "without",
            "The spread of means without each judge",
            rows=lambda result: result.spreads if result.without else (),
            columns=lambda result: without_columns(result.judges, result.without),
            link=lambda row: Link(dimension=row.key),
        ),
        TableOf(
            "unread",
            "Replies that could not be read",
            rows=lambda result: result.unread,
            columns=lambda _: unread_columns(),
            link=lambda row: Link(runs=(row.run.pk,)),
        ),
        TableOf(
            "means",
            lambda result: f"Each judge's means ({plural(len(result.dispersion.means), 'row')})",
            rows=lambda result: result.dispersion.means,
            columns=lambda result: means_columns(result.runs, result.keys),
            folded=True,
            most=MOST_ROWS,
        ),
    ),
    deferred=DEFERRED,
)
