"""The columns of the page that compares agents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.kit.links import Link
from analysis.pages.compare_models.rows import AgentValue, ComparisonResult, RunPair
from analysis.pages.declaration import ColumnOf, count_of, estimate_of, text_of
from analysis.reports import addresses, run_marks
from analysis.reports.content import (
    Cell,
    Column,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    points_cell,
    rounded,
    text_cell,
    text_column,
)
from analysis.reports.formatting import counted, ends, p_text
from analysis.reports.published import published_estimate
from analysis.stats.results import Estimate
from benchmarks.core.ports.published import Published
from benchmarks.core.registry import SYSTEMS, get_system

if TYPE_CHECKING:
    from analysis.stats.comparison.model_comparisons import PairwiseRank

NOT_BINARY = "needs one attempt at each task that succeeds or fails"
NO_RANK = "no value: no rank"
NOT_TESTED = "no task in common: not tested"
P_COLUMN = Column("p", ("p adjusted", "p alone"), help="Score test, corrected over the family")


def p_pair_cell(corrected: float | None, alone: float | None) -> Cell:
    """Return the corrected p-value; the CSV has that of the comparison alone beside it."""
    if corrected is None or alone is None:
        return Cell(data=(None, None), reason=NOT_TESTED)
    return Cell(p_text(corrected), (float(f"{corrected:.6g}"), float(f"{alone:.6g}")))


def pair_columns(result: ComparisonResult) -> Sequence[ColumnOf[RunPair]]:
    """Give each pair its values, its counts, its test and its verdict."""
    data = result.data
    first, second = ("Won", "Lost") if data.is_rate else ("First higher", "Second higher")
    counts: list[ColumnOf[RunPair]] = [
        ColumnOf(
            number_column(first, "wins", "Tasks on which the first is better: n10"),
            lambda one: _tasks(one, one.pair.comparison.wins, one.flips("won")),
        ),
        ColumnOf(
            number_column(second, "losses", "Tasks on which the second is better: n01"),
            lambda one: _tasks(one, one.pair.comparison.losses, one.flips("lost")),
        ),
    ]
    if result.binary:
        counts += [
            ColumnOf(
                number_column("Both", "both pass", "Tasks on which both succeed: n11"), _both_pass
            ),
            ColumnOf(
                number_column("Neither", "both fail", "Tasks on which none succeeds: n00"),
                _both_fail,
            ),
        ]
    else:
        counts.append(
            ColumnOf(
                number_column("Equal", "ties"),
                lambda one: _tasks(one, one.pair.comparison.ties, ""),
            )
        )
    return (
        ColumnOf(text_column("First"), lambda one: _agent(one, 0)),
        ColumnOf(text_column("Second"), lambda one: _agent(one, 1)),
        ColumnOf(
            number_column(f"{data.measure.title}, first", "first value", "On the common tasks"),
            lambda one: _value(one, one.pair.comparison.first),
        ),
        ColumnOf(
            number_column("Second", "second value", "On the common tasks"),
            lambda one: _value(one, one.pair.comparison.second),
        ),
        ColumnOf(
            estimate_column("Difference", help="First minus second, simultaneous 95 % interval"),
            lambda one: (
                points_cell(one.difference)
                if one.data.is_rate
                else estimate_cell(one.difference, "number", signed=True, show_n=True)
            ),
        ),
        *counts,
        ColumnOf(
            P_COLUMN, lambda one: p_pair_cell(one.pair.p_adjusted, one.pair.comparison.p_value)
        ),
        ColumnOf(
            text_column("Clear", "clear", "Whether p is under 0.05, and the interval excludes 0"),
            _clear,
        ),
        ColumnOf(
            number_column("Left out", "left out", "Values without a number, and unshared tasks"),
            _left_out,
        ),
    )


def _agent(one: RunPair, place: int) -> Cell:
    run = (one.first, one.second)[place]
    return text_cell(run.label, url=addresses.trajectories_of(run))


def _value(one: RunPair, value: float | None) -> Cell:
    return number_cell(value, one.data.unit, reason="" if one.tested else NOT_TESTED)


def _tasks(one: RunPair, count: int, url: str) -> Cell:
    if not one.tested:
        return count_cell(None, reason=NOT_TESTED)
    return count_cell(count, url=url if count else "")


def _both_pass(one: RunPair) -> Cell:
    table = one.pair.comparison.table
    if not one.tested or table is None:
        return count_cell(None, reason=NOT_BINARY if one.tested else NOT_TESTED)
    return _tasks(one, table.both, one.flips("both_pass"))


def _both_fail(one: RunPair) -> Cell:
    table = one.pair.comparison.table
    if not one.tested or table is None:
        return count_cell(None, reason=NOT_BINARY if one.tested else NOT_TESTED)
    return _tasks(one, table.neither, one.flips("both_fail"))


def _clear(one: RunPair) -> Cell:
    if one.pair.clear is None:
        return Cell(data=(None,), reason="" if one.tested else NOT_TESTED)
    word = "yes" if one.pair.clear else "no"
    return Cell(word, (word,))


def _left_out(one: RunPair) -> Cell:
    excluded = one.difference.excluded
    return count_cell(sum(excluded.values()), tip=counted(excluded))


AGENT = Column("Agent", ("agent", "kind", "run"), num=False)
Ranked = tuple[AgentValue, "PairwiseRank | None"]


def rank_columns(_: ComparisonResult) -> Sequence[ColumnOf[Ranked]]:
    """Give each agent its rank, and the ranks that the clear pairs leave to it."""
    return (
        ColumnOf(AGENT, lambda row: run_marks.agent_cell(row[0].run)),
        ColumnOf(
            number_column("Rank", help="1 for the highest value; equal ones share the better rank"),
            lambda row: count_cell(row[1].rank if row[1] is not None else None, reason=NO_RANK),
        ),
        ColumnOf(Column("95 % simultaneous interval", ("rank low", "rank high")), _ranks),
        count_of(
            "Tasks", lambda row: row[1].n if row[1] is not None and row[1].rank is not None else 0
        ),
    )


def _ranks(row: Ranked) -> Cell:
    rank = row[1]
    if rank is None or rank.rank is None:
        return Cell(data=(None, None), reason=NO_RANK)
    return Cell(f"{rank.low} to {rank.high}", (rank.low, rank.high))


def value_columns(result: ComparisonResult) -> Sequence[ColumnOf[AgentValue]]:
    """Give each agent's value with its interval; shares also with Wald's."""
    data = result.data

    def value(row: AgentValue) -> Cell:
        url = ""
        if data.metric in ("accurate", "valid"):
            url = addresses.successes(row.run, row.value, data.metric)
        return estimate_cell(row.value, data.unit, url=url, show_n=True)

    wald = Column(
        "Wald", ("wald low", "wald high"), help="p ± 1.96·sqrt(p(1−p)/n), cut off at 0 and 100 %"
    )
    return (
        ColumnOf(AGENT, lambda row: run_marks.agent_cell(row.run)),
        ColumnOf(
            estimate_column(data.measure.title, "value", data.measure.help),
            value,
            link=lambda row: Link(runs=(row.run.pk,), dimension=data.dimension),
        ),
        *([ColumnOf(wald, _wald)] if data.measure.kind == "rate" else []),
        ColumnOf(
            text_column("Left out", help="By reason"),
            lambda row: text_cell(counted(row.value.excluded) or "none"),
        ),
    )


def _wald(row: AgentValue) -> Cell:
    interval = row.wald.within(0, 1).interval
    if interval is None:
        return Cell(data=(None, None), reason=row.wald.undefined or row.wald.no_interval)
    return Cell(
        ends(interval, "share").removesuffix(" %"),
        (rounded(interval.low), rounded(interval.high)),
        tip="; ".join(row.wald.warnings),
    )


@dataclass(frozen=True)
class PublishedInterval:
    """A published share with its printed interval, and what the formulas make of the share."""

    entry: Published
    printed: Published

    @property
    def half_width(self) -> float:
        """Half of Wald's interval of the published share."""
        interval = published_estimate(self.entry, is_rate=True, method="wald").interval
        assert interval is not None
        return interval.half_width

    @property
    def wilson(self) -> Estimate:
        return published_estimate(self.entry, is_rate=True)


def published_intervals(result: ComparisonResult) -> list[PublishedInterval]:
    """Return the published intervals of the measure; none where they are hidden."""
    data = result.data
    if not data.with_published or data.system not in SYSTEMS:
        return []
    entries = get_system(data.system).published
    half = {e.model: e for e in entries if e.metric == f"{data.metric}_half_width"}
    return [
        PublishedInterval(entry, half[entry.model])
        for entry in entries
        if entry.metric == data.metric and entry.model in half and entry.n
    ]


def published_columns(result: ComparisonResult) -> Sequence[ColumnOf[PublishedInterval]]:
    """Give the printed interval of each published share beside Wald's and Wilson's."""
    return (
        ColumnOf(
            text_column("Model"),
            lambda row: text_cell(
                row.entry.model,
                badges=(replace(run_marks.PUBLISHED_BADGE, why=row.printed.note),),
            ),
        ),
        ColumnOf(
            number_column(result.data.measure.title, "published"),
            lambda row: Cell(
                f"{row.entry.printed} %",
                (rounded(row.entry.value / 100),),
                source=row.entry.source,
            ),
        ),
        ColumnOf(
            number_column("Printed", "half width printed", "Half of the printed Wald interval"),
            lambda row: Cell(f"± {row.printed.printed}", (rounded(row.printed.value / 100),)),
        ),
        ColumnOf(
            number_column("Wald", "half width", "The same from share and n, in points"),
            lambda row: Cell(f"± {100 * row.half_width:.2f}", (rounded(row.half_width),)),
        ),
        estimate_of("Wilson", lambda row: row.wilson, "share", show_n=True),
        text_of("Source", lambda row: row.printed.source),
    )
