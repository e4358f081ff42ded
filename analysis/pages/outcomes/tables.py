"""The tables of the outcomes page."""

from collections.abc import Sequence

from analysis.pages.outcomes.rows import COUNTED, STATED, Row
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Column,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
)
from analysis.reports.formatting import Unit, counted, number
from analysis.stats.descriptive.spread import Histogram, Middle
from benchmarks.core.registry import EXTERNAL, find_system

AGENT = Column("Agent", ("agent", "kind", "run"), num=False)


def outcome_table(rows: Sequence[Row], unit: Unit) -> Table:
    """One line per agent: how much there is, its reward, its reliability, its length and cost."""
    help = find_system(EXTERNAL).labels.measures
    deepest = max((len(row.passes) for row in rows), default=0)
    stated = [name for name in STATED if any(row.stated[name].value is not None for row in rows)]
    columns = [
        AGENT,
        number_column("n", "trajectories", "Trajectories that have ended"),
        number_column("Tasks"),
        Column("Trials", ("trials least", "trials most"), help="Trials per task"),
        estimate_column("Reward", "reward", "Mean of the stated rewards"),
    ]
    if deepest > 1:
        columns.append(
            estimate_column(
                f"pass^{deepest}", help=f"Probability that {deepest} trials of a task all succeed"
            )
        )
    columns += [
        Column(
            title,
            (f"{title.lower()} median", f"{title.lower()} q1", f"{title.lower()} q3"),
            help=f"Median number of {title.lower()} per trajectory",
        )
        for title in COUNTED.values()
    ]
    columns += [estimate_column(STATED[name], help=help[name].help) for name in stated]
    columns.append(Column("No reward", ("without reward",), help="Left out of the mean, by reason"))
    lines = []
    for row in rows:
        least, most = row.tried
        full = {"reward": "full"} if row.reward.value else {}
        link = common.trajectories_of(row.run, **full) if unit == "share" else ""
        cells = [
            common.agent_cell(row.run),
            count_cell(row.done, url=common.trajectories_of(row.run)),
            count_cell(row.tasks),
            Cell(f"{least}" if least == most else f"{least} to {most}", (least, most)),
            estimate_cell(row.reward, unit, url=link),
        ]
        if deepest > 1:
            cells.append(_pass_cell(row, deepest))
        cells += [_middle_cell(row.counted[name]) for name in COUNTED]
        cells += [estimate_cell(row.stated[name], "amount") for name in stated]
        lines.append((*cells, _left_out(row)))
    return Table(
        "outcomes",
        "Outcomes by agent",
        tuple(columns),
        tuple(lines),
        note="Under each value its 95 % interval; under medians the quartiles.",
    )


def _pass_cell(row: Row, k: int) -> Cell:
    if len(row.passes) < k:
        why = row.no_passes or f"no task has {k} trials"
        return Cell(data=(None, None, None, 0, why), reason=why)
    return estimate_cell(row.passes[k - 1], "share")


def _middle_cell(found: Middle) -> Cell:
    if found.median is None or found.low is None or found.high is None:
        return Cell(data=(None, None, None), reason="not recorded")
    low, high = f"{found.low:g}", f"{found.high:g}"
    return Cell(
        f"{found.median:g}",
        (found.median, found.low, found.high),
        sub=f"{low} to {high}" if low != high else "",
        tip=f"{found.missing:,} without a number" if found.missing else "",
    )


def _left_out(row: Row) -> Cell:
    left = row.reward.excluded
    total = sum(left.values())
    if not total:
        return Cell("0", ("",))
    words = counted(left)
    url = common.trajectories_of(row.run, reward="undefined")
    return Cell(f"{total:,}", (words,), tip=words, url=url)


def pass_table(rows: Sequence[Row]) -> list[Table]:
    """pass^k of every agent, for every k."""
    deepest = max((len(row.passes) for row in rows), default=0)
    if not deepest:
        return []
    return [
        Table(
            "pass",
            "Reliability over several trials (pass^k)",
            (
                AGENT,
                number_column("Tasks"),
                *(estimate_column(f"pass^{k}") for k in range(1, deepest + 1)),
            ),
            tuple(
                (
                    common.agent_cell(row.run),
                    count_cell(len(row.trials.tasks)),
                    *(_pass_cell(row, k) for k in range(1, deepest + 1)),
                )
                for row in rows
            ),
            note="The mean over tasks of the share of all sets of k trials in which every trial "
            "has a reward of 1. pass^1 is the mean success rate of tasks.",
        )
    ]


def ending_table(rows: Sequence[Row]) -> Table:
    """How trajectories ended, with links to them."""
    codes = list(dict.fromkeys(code for row in rows for code in sorted(row.endings)))
    endings = {code: find_system(EXTERNAL).labels.ending(code) for code in codes}
    return Table(
        "endings",
        "How they ended",
        (
            AGENT,
            *(
                number_column(endings[code].title, f"ended {code}", endings[code].sentence)
                for code in codes
            ),
        ),
        tuple(
            (
                common.agent_cell(row.run),
                *(
                    count_cell(
                        row.endings.get(code, 0),
                        url=common.trajectories_of(row.run, end=code)
                        if row.endings.get(code)
                        else "",
                    )
                    for code in codes
                ),
            )
            for row in rows
        ),
        note="As the file states it, or as its last message shows.",
    )


def spread_table(rows: Sequence[Row], spreads: Histogram) -> Table:
    """How many trajectories got which reward."""
    whole = {0.0: "zero", 1.0: "full"}
    return Table(
        "rewards",
        "Rewards",
        (
            AGENT,
            *(
                number_column(f"Reward {cell.label}", f"reward {cell.label}")
                for cell in spreads.cells
            ),
            number_column("Not stated"),
        ),
        tuple(
            (
                common.agent_cell(row.run),
                *(
                    Cell(
                        f"{count:,}",
                        (count,),
                        sub="" if share is None else number(share, "share"),
                        url=common.trajectories_of(row.run, reward=whole[cell.low])
                        if count and cell.is_value and cell.low in whole
                        else "",
                    )
                    for cell, count, share in zip(
                        spreads.cells,
                        spreads.counts[row.label],
                        spreads.shares(row.label),
                        strict=True,
                    )
                ),
                count_cell(
                    spreads.missing[row.label],
                    url=common.trajectories_of(row.run, reward="undefined")
                    if spreads.missing[row.label]
                    else "",
                ),
            )
            for row in rows
            if row.label in spreads.counts
        ),
        note="Trajectories by their reward, with their share of the agent's.",
        open=False,
    )
