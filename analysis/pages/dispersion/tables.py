"""The columns of the dispersion page's tables, and what their rows are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.filters.selection import ChosenRun
from analysis.frames.scores import UnreadableScores
from analysis.pages.declaration import ColumnOf, agent_of, count_of, estimate_of, text_of
from analysis.pages.links import Link
from analysis.reports.content import Cell, count_cell, number_cell, number_column
from analysis.stats.judges.dispersion import DimensionSpread, Dispersion, JudgeMean, WithoutJudge
from analysis.stats.results import Estimate

NOBODY = "no judge scored it"
NOTHING = Estimate.without_value(NOBODY)
MOST_ROWS = 100


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
