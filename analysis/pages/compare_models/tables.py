"""The tables of the page that compares agents."""

from dataclasses import replace

from analysis.pages.compare_models.rows import Compared, Standing, p_text
from analysis.pages.conditions.tables import points_cell
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Column,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    rounded,
    text_cell,
    text_column,
)
from analysis.reports.formatting import ends
from analysis.reports.leading import lead_row
from analysis.reports.references import published_estimate
from analysis.stats.comparison.model_comparisons import ModelPair
from benchmarks.core.registry import SYSTEMS, get_system

NOT_BINARY = "needs one attempt at each task that succeeds or fails"
NO_RANK = "no value: no rank"
NOT_TESTED = "no task in common: not tested"
MOST_ROWS = 60
P_COLUMN = Column("p", ("p adjusted", "p alone"), help="Score test, corrected over the family")


def p_pair_cell(corrected: float | None, alone: float | None) -> Cell:
    """The corrected p-value; the CSV has that of the comparison alone beside it."""
    if corrected is None or alone is None:
        return Cell(data=(None, None), reason=NOT_TESTED)
    return Cell(p_text(corrected), (float(f"{corrected:.6g}"), float(f"{alone:.6g}")))


def pairs_table(found: Compared) -> list[Table]:
    """Every pair with its counts, tests and verdict."""
    pairs = found.pairs
    if not pairs:
        return []
    binary = found.binary
    first, second = ("Won", "Lost") if found.is_rate else ("First higher", "Second higher")
    columns = [
        text_column("First"),
        text_column("Second"),
        number_column(f"{found.measure.title}, first", "first value", "On the common tasks"),
        number_column("second", "second value", "On the common tasks"),
        estimate_column("Difference", help="First minus second, simultaneous 95 % interval"),
        number_column(first, "wins", "Tasks on which the first is better: n10"),
        number_column(second, "losses", "Tasks on which the second is better: n01"),
    ]
    columns += (
        [
            number_column("Both", "both pass", "Tasks on which both succeed: n11"),
            number_column("Neither", "both fail", "Tasks on which none succeeds: n00"),
        ]
        if binary
        else [number_column("Equal", "ties")]
    )
    columns += [
        P_COLUMN,
        text_column("Clear", "clear", "Whether p is under 0.05, and the interval excludes 0"),
        number_column("Left out", "left out", "Values without a number, and unshared tasks"),
    ]
    note = (
        "Paired by task. Intervals and p-values are corrected over "
        f"{found.comparisons.family.statement} (Bonferroni). Counts lead to the tasks."
    )
    rows = (lead_row(_pair(found, pair, binary), columns, found.flips(pair)) for pair in pairs)
    return [Table("pairs", "Pairs", tuple(columns), tuple(rows), note=note, most=MOST_ROWS)]


def _pair(found: Compared, pair: ModelPair, binary: bool) -> tuple[Cell, ...]:
    comparison = pair.comparison
    table, difference = comparison.table, comparison.difference
    untested = comparison.p_value is None
    why = NOT_TESTED if untested else ""
    left = sum(difference.excluded.values())
    won = None if untested else comparison.wins
    lost = None if untested else comparison.losses
    cells = [
        text_cell(pair.first, url=common.trajectories_of(found.runs[pair.first])),
        text_cell(pair.second, url=common.trajectories_of(found.runs[pair.second])),
        number_cell(comparison.first, found.unit, reason=why),
        number_cell(comparison.second, found.unit, reason=why),
        points_cell(difference)
        if found.is_rate
        else estimate_cell(difference, "number", signed=True, show_n=True),
        count_cell(won, reason=why, url=found.flips(pair, "won") if won else ""),
        count_cell(lost, reason=why, url=found.flips(pair, "lost") if lost else ""),
    ]
    if binary:
        other = why or NOT_BINARY
        both = table.both if table else None
        neither = table.neither if table else None
        cells += [
            count_cell(both, reason=other, url=found.flips(pair, "both_pass") if both else ""),
            count_cell(
                neither, reason=other, url=found.flips(pair, "both_fail") if neither else ""
            ),
        ]
    else:
        cells.append(count_cell(None if untested else comparison.ties, reason=why))
    return (
        *cells,
        p_pair_cell(pair.p_adjusted, comparison.p_value),
        Cell("yes" if pair.clear else "no", ("yes" if pair.clear else "no",))
        if pair.clear is not None
        else Cell(data=(None,), reason=why),
        count_cell(
            left, tip=", ".join(f"{count} ({why})" for why, count in difference.excluded.items())
        ),
    )


def ranks_table(found: Compared) -> Table:
    """Ranks with those that the clear pairs leave to each agent."""
    ranks = {rank.model: rank for rank in found.comparisons.ranks}
    rows = []
    for one in found.standings:
        rank = ranks.get(one.run.label)
        if rank is None or rank.rank is None:
            dash = Cell(data=(None,), reason=NO_RANK)
            ends_cell = Cell(data=(None, None), reason=NO_RANK)
            rows.append((common.agent_cell(one.run), dash, ends_cell, count_cell(0)))
            continue
        rows.append(
            (
                common.agent_cell(one.run),
                count_cell(rank.rank),
                Cell(f"{rank.low} to {rank.high}", (rank.low, rank.high)),
                count_cell(rank.n),
            )
        )
    columns = (
        Column("Agent", ("agent", "kind", "run"), num=False),
        number_column("Rank", help="1 for the highest value; equal ones share the better rank"),
        Column("95 % simultaneous interval", ("rank low", "rank high")),
        number_column("Tasks", "tasks"),
    )
    note = (
        "An interval leaves out the ranks of agents that are clearly better or worse in the table "
        "of pairs. All of them hold together at 95 %."
    )
    return Table("ranks", "Ranks", columns, tuple(rows), note=note)


def values_table(found: Compared) -> Table:
    """Each agent's value with its interval; shares also with Wald's."""
    columns = [
        Column("Agent", ("agent", "kind", "run"), num=False),
        estimate_column(found.measure.title, "value", found.measure.help),
    ]
    if found.is_rate:
        columns.append(
            Column(
                "Wald",
                ("wald low", "wald high"),
                help="p ± 1.96·sqrt(p(1−p)/n), cut off at 0 and 100 %",
            )
        )
    columns.append(text_column("Left out", help="By reason"))
    rows = []
    for one in found.standings:
        url = ""
        if found.metric in ("accurate", "valid"):
            url = common.successes(one.run, one.value, found.metric)
        cells = [
            common.agent_cell(one.run),
            estimate_cell(one.value, found.unit, url=url, show_n=True),
        ]
        if found.is_rate:
            cells.append(_wald_cell(one))
        left = ", ".join(f"{count:,} ({why})" for why, count in one.value.excluded.items())
        cells.append(text_cell(left or "none"))
        rows.append(tuple(cells))
    note = (
        "Each agent alone, on all its tasks: such intervals do not say whether two agents differ."
    )
    return Table(
        "values", f"{found.measure.title} of each agent", tuple(columns), tuple(rows), note
    )


def _wald_cell(one: Standing) -> Cell:
    interval = one.wald.within(0, 1).interval
    if interval is None:
        return Cell(data=(None, None), reason=one.wald.undefined or one.wald.no_interval)
    return Cell(
        ends(interval, "share").removesuffix(" %"),
        (rounded(interval.low), rounded(interval.high)),
        tip="; ".join(one.wald.warnings),
    )


def published_table(found: Compared, system: str) -> list[Table]:
    """The published intervals of accuracy beside what the formulas make of the published shares."""
    entries = get_system(system).published if system in SYSTEMS else ()
    half = {e.model: e for e in entries if e.metric == f"{found.metric}_half_width"}
    rows = []
    for entry in entries:
        if entry.metric != found.metric or entry.model not in half or not entry.n:
            continue
        printed = half[entry.model]
        wald = published_estimate(entry, is_rate=True, method="wald")
        wilson = published_estimate(entry, is_rate=True)
        assert wald.interval is not None
        width = wald.interval.half_width
        rows.append(
            (
                text_cell(entry.model, badges=(replace(common.PUBLISHED_BADGE, why=printed.note),)),
                Cell(f"{entry.printed} %", (rounded(entry.value / 100),)),
                Cell(f"± {printed.printed}", (rounded(printed.value / 100),)),
                Cell(f"± {100 * width:.2f}", (rounded(width),)),
                estimate_cell(wilson, "share", show_n=True),
                text_cell(printed.source),
            )
        )
    if not rows:
        return []
    columns = (
        text_column("Model"),
        number_column(found.measure.title, "published"),
        number_column("Printed", "half width printed", "Half of the printed Wald interval"),
        number_column("Wald", "half width", "The same from share and n, in points"),
        estimate_column("Wilson", "wilson"),
        text_column("Source"),
    )
    note = "Figures of the paper, not from runs here; n inferred from the printed percentages."
    return [Table("published", "Published intervals", columns, tuple(rows), note=note, open=False)]
