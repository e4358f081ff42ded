"""The efficiency page sets the ranking measure of agents against what it cost them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.costs import CostPanel, CostRow, cost_dots
from analysis.figures.layout.theme import Figure
from analysis.filters.factors import condition_titles
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import outcome_frame
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
from analysis.pages.outcome_estimates import estimate_measure
from analysis.reports import figure_specs, run_marks
from analysis.reports.content import Column, exclusions
from analysis.reports.extremes import standing
from analysis.reports.formatting import Unit, number, unit_of, unit_of_differences
from analysis.stats.comparison.extremes import (
    Difference,
    Extreme,
    find_extreme,
    paired_groups,
    pairs_of,
)
from analysis.stats.results import Estimate
from benchmarks.core.ports.labels import Measure
from benchmarks.core.registry import find_system

if TYPE_CHECKING:
    from pandas import DataFrame

# More rows than these make a figure that no page holds; the table has them all.
MOST_ROWS = 40


@dataclass(frozen=True)
class EfficiencyData:
    """Outcomes of runs; ``costs`` are measures by metric, less of which is better.

    ``among`` counts the rows that the chosen data have, whichever agents are shown.
    """

    runs: tuple[ChosenRun, ...]
    frame: "DataFrame"
    metric: str
    main: Measure
    costs: Mapping[str, Measure]
    conditions: Mapping[str, str]
    among: int


@dataclass(frozen=True)
class EfficiencyRow:
    """An agent under a condition: its result, and what it took."""

    name: str
    run: ChosenRun
    condition: str
    result: Estimate
    costs: Mapping[str, Estimate]

    @property
    def cost(self) -> Estimate:
        """The first of the costs."""
        return next(iter(self.costs.values()))

    @property
    def link(self) -> Link:
        return Link(runs=(self.run.pk,))


@dataclass(frozen=True)
class EfficiencyResult:
    """All rows, those with the best result first."""

    data: EfficiencyData
    rows: tuple[EfficiencyRow, ...]

    @property
    def known(self) -> list[EfficiencyRow]:
        """The rows whose result and first cost are defined."""
        return [
            row for row in self.rows if row.result.value is not None and row.cost.value is not None
        ]

    @property
    def best(self) -> Extreme:
        """What may be said of the highest result."""
        values = {row.name: row.result.value for row in self.known}
        return find_extreme(values, self._difference(self.data.metric, self.data.main.most))

    @property
    def cheapest(self) -> Extreme:
        """What may be said of the lowest cost."""
        values = {row.name: row.cost.value for row in self.known}
        metric = next(iter(self.data.costs))
        return find_extreme(values, self._difference(metric, self.first_cost.most), lowest=True)

    @property
    def result_of_cheapest(self) -> Estimate | None:
        """The result of the one row with the lowest cost, where its cost is clearly the lowest."""
        cheapest = self.cheapest
        if not cheapest.is_clear or len(cheapest.names) > 1 or cheapest.names == self.best.names:
            return None
        return next(row.result for row in self.known if row.name == cheapest.name)

    def _difference(self, metric: str, most: float | None) -> Difference:
        """Return paired differences of a measure; the family is all pairs on result and cost."""
        frame, names = self.data.frame, {row.run.pk: row.name for row in self.known}
        mine = frame[frame["run"].isin(list(names))]
        return paired_groups(
            mine["run"].map(names).tolist(),
            mine["task"].tolist(),
            mine[metric].to_numpy(),
            comparisons=2 * pairs_of(self.data.among),
            most=most,
        )

    @property
    def standings(self) -> str:
        """The sentence on results and costs."""
        cost, main = self.first_cost, self.data.main
        words = [
            f"{main.name[:1].upper()}{main.name[1:]}: {standing(self.best, self.points)}",
            f"{cost.title}: {standing(self.cheapest, unit_of(cost), lowest=True)}",
        ]
        if self.result_of_cheapest is not None and self.result_of_cheapest.value is not None:
            result = number(self.result_of_cheapest.value, self.unit)
            words[1] += f", with {main.name} {result}{self.sign}"
        return ". ".join(words) + "."

    @property
    def points(self) -> Unit:
        """The unit of differences between results."""
        return unit_of_differences(self.data.main)

    @property
    def first_cost(self) -> Measure:
        return next(iter(self.data.costs.values()))

    @property
    def unit(self) -> Unit:
        return unit_of(self.data.main)

    @property
    def sign(self) -> str:
        """The sign after a result that is stored in percent."""
        return " %" if self.data.main.kind == "percent" else ""

    @property
    def several_conditions(self) -> bool:
        return len({row.condition for row in self.rows}) > 1

    @property
    def several_agents(self) -> bool:
        return len({row.run.label for row in self.rows}) > 1

    @property
    def cost_titles(self) -> list[str]:
        return [measure.title for measure in self.data.costs.values()]

    @property
    def left_out(self) -> Mapping[str, int]:
        return exclusions([row.result for row in self.rows])


def load(selection: Selection) -> EfficiencyData | NothingToShow:
    """Load results and costs of all runs."""
    system = find_system(selection.system) if selection.system else None
    if system is None or not selection.runs:
        return why_no_runs(selection)
    labels = system.labels
    if not labels.headlines or not labels.costs:
        return why_no_runs(selection)
    main = labels.headlines[0]
    return EfficiencyData(
        selection.runs,
        outcome_frame(selection.runs, [main, *labels.costs]),
        main,
        labels.measures[main],
        {name: labels.measures[name] for name in labels.costs},
        condition_titles(system, [run.condition for run in selection.runs]),
        max(len(selection.runs), len(selection.family)),
    )


def compute(data: EfficiencyData) -> EfficiencyResult:
    """Estimate result and costs of every run."""
    several = len({run.condition for run in data.runs}) > 1
    rows = []
    for run in data.runs:
        mine = data.frame[data.frame["run"] == run.pk]
        condition = data.conditions.get(run.condition, run.condition)
        rows.append(
            EfficiencyRow(
                f"{run.label} ({condition})" if several else run.label,
                run,
                condition,
                estimate_measure(mine, data.metric, data.main),
                {
                    name: estimate_measure(mine, name, measure)
                    for name, measure in data.costs.items()
                },
            )
        )
    rows.sort(key=lambda row: (row.result.value is None, -(row.result.value or 0), row.name))
    return EfficiencyResult(data, tuple(rows))


def draw(result: EfficiencyResult, url: UrlOf) -> Figure | None:
    """Draw a panel for the result and for each cost, with a row for each agent and condition."""
    if not result.known or len(result.rows) > MOST_ROWS:
        return None
    main = result.data.main
    return cost_dots(
        [
            CostPanel(main.title, "share" if main.in_percent else "points", main.most),
            *(CostPanel(measure.title) for measure in result.data.costs.values()),
        ],
        [
            CostRow(row.run.label, row.condition, [row.result, *row.costs.values()], url(row.link))
            for row in result.rows
        ],
        styles=figure_specs.styles([row.run.label for row in result.rows]),
    )


def columns(result: EfficiencyResult) -> Sequence[ColumnOf[EfficiencyRow]]:
    """Give each row its agent, condition, result and costs."""
    data = result.data
    condition: ColumnOf[EfficiencyRow] = text_of(
        "Condition", lambda row: row.condition, "condition"
    )
    return (
        ColumnOf(
            Column("Agent", ("agent", "kind", "run"), num=False),
            lambda row: run_marks.agent_cell(row.run),
        ),
        *((condition,) if result.several_conditions else ()),
        estimate_of(
            data.main.title, lambda row: row.result, unit_of(data.main), help=data.main.help,
            show_n=True,
        ),
        *(
            estimate_of(
                measure.title,
                lambda row, name=name: row.costs[name],  # type: ignore[misc]
                unit_of(measure),
                help=measure.help,
                show_n=True,
            )
            for name, measure in data.costs.items()
        ),
    )  # fmt: skip


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    compared=lambda result: (
        [result.best.difference] if result.best.difference is not None else [],
        result.points,
    ),
    figure=FigureOf(
        "efficiency",
        lambda result: f"{result.data.main.title} beside what it took",
        draw,
        table="efficiency",
    ),
    table=TableOf(
        "efficiency",
        "Results and costs",
        rows=lambda result: result.rows,
        columns=columns,
        link=lambda row: row.link,
    ),
)
