"""The columns of the outcomes page's tables, and where their numbers lead."""

from collections.abc import Sequence

from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.pages.outcomes.rows import COUNTED, STATED, AgentRewards
from analysis.reports import content as parts
from analysis.reports.content import (
    Cell,
    estimate_cell,
    estimate_column,
    number_column,
)
from analysis.reports.formatting import Unit, counted, number
from analysis.stats.descriptive.spread import Histogram, HistogramBin, Quartiles
from benchmarks.core.registry import EXTERNAL, find_system

WHOLE = {0.0: "zero", 1.0: "full"}


def link_of(row: AgentRewards, **more: str) -> Link:
    """Return the trajectories of an agent, filtered."""
    return Link(runs=(row.run.pk,), more=more)


def agent_column() -> Column[AgentRewards]:
    """Return a column of agents."""
    return columns.agent(lambda row: row.run)


def outcome_columns(rows: Sequence[AgentRewards], unit: Unit) -> list[Column[AgentRewards]]:
    """Say of every agent how much there is, its reward, its reliability, its length and cost."""
    help = find_system(EXTERNAL).labels.measures
    deepest = deepest_of(rows)
    stated = [name for name in STATED if any(row.stated[name].value is not None for row in rows)]
    shown: list[Column[AgentRewards]] = [
        agent_column(),
        columns.count("n", lambda row: row.done, "trajectories", "Trajectories that have ended"),
        columns.count("Tasks", lambda row: row.tasks),
        Column(
            parts.Column("Trials", ("trials least", "trials most"), help="Trials per task"), _trials
        ),
        columns.estimate(
            "Reward",
            lambda row: row.reward,
            unit,
            part="reward",
            help="Mean of the stated rewards",
            link=lambda row: _successes(row, unit),
        ),
    ]
    if deepest > 1:
        help_pass = f"Probability that {deepest} trials of a task all succeed"
        shown.append(_pass_column(deepest, help_pass))
    shown += [_middle_column(name, title) for name, title in COUNTED.items()]
    shown += [_stated_column(name, help[name].help) for name in stated]
    left = parts.Column("No reward", ("without reward",), help="Left out of the mean, by reason")
    return [*shown, Column(left, _left_out, lambda row: link_of(row, reward="undefined"))]


def deepest_of(rows: Sequence[AgentRewards]) -> int:
    """Return the largest k of which any agent has pass^k; 0 without any."""
    return max((len(row.passes) for row in rows), default=0)


def _trials(row: AgentRewards) -> Cell:
    least, most = row.tried
    return Cell(f"{least}" if least == most else f"{least} to {most}", (least, most))


def _successes(row: AgentRewards, unit: Unit) -> Link:
    """Return the trajectories that a share counts as successes; of a mean all."""
    return link_of(row, reward="full") if unit == "share" and row.reward.value else link_of(row)


def _middle_column(name: str, title: str) -> Column[AgentRewards]:
    low = title.lower()
    quarters = (f"{low} median", f"{low} q1", f"{low} q3")
    column = parts.Column(title, quarters, help=f"Median number of {low} per trajectory")
    return Column(column, lambda row: _middle_cell(row.counted[name]))


def _stated_column(name: str, help: str) -> Column[AgentRewards]:
    return columns.estimate(STATED[name], lambda row: row.stated[name], "amount", help=help)


def _middle_cell(quartiles: Quartiles) -> Cell:
    if quartiles.median is None or quartiles.low is None or quartiles.high is None:
        return Cell(data=(None, None, None), reason="not recorded")
    low, high = f"{quartiles.low:g}", f"{quartiles.high:g}"
    return Cell(
        f"{quartiles.median:g}",
        (quartiles.median, quartiles.low, quartiles.high),
        sub=f"{low} to {high}" if low != high else "",
        tip=f"{quartiles.missing:,} without a number" if quartiles.missing else "",
    )


def _left_out(row: AgentRewards) -> Cell:
    left = row.reward.excluded
    total = sum(left.values())
    words = counted(left)
    return Cell(f"{total:,}", (words,), tip=words)


def pass_columns(rows: Sequence[AgentRewards]) -> list[Column[AgentRewards]]:
    """Give pass^k a column for every k."""
    return [
        agent_column(),
        columns.count("Tasks", lambda row: len(row.trials.tasks)),
        *(_pass_column(k) for k in range(1, deepest_of(rows) + 1)),
    ]


def _pass_column(k: int, help: str = "") -> Column[AgentRewards]:
    def cell(row: AgentRewards) -> Cell:
        if len(row.passes) < k:
            why = row.no_passes or f"no task has {k} trials"
            return Cell(data=(None, None, None, 0, why), reason=why)
        return estimate_cell(row.passes[k - 1], "share")

    return Column(estimate_column(f"pass^{k}", help=help), cell)


def ending_columns(rows: Sequence[AgentRewards]) -> list[Column[AgentRewards]]:
    """Count how trajectories ended."""
    codes = dict.fromkeys(code for row in rows for code in sorted(row.endings))
    return [agent_column(), *(_ending_column(code) for code in codes)]


def _ending_column(code: str) -> Column[AgentRewards]:
    ending = find_system(EXTERNAL).labels.ending(code)
    return columns.count(
        ending.title,
        lambda row: row.endings.get(code, 0),
        f"ended {code}",
        ending.sentence,
        link=lambda row: link_of(row, end=code),
    )


def reward_columns(spreads: Histogram) -> list[Column[AgentRewards]]:
    """Count the trajectories with each reward."""
    return [
        agent_column(),
        *(_reward_column(spreads, place, cell) for place, cell in enumerate(spreads.cells)),
        columns.count(
            "Not stated",
            lambda row: spreads.missing[row.label],
            link=lambda row: link_of(row, reward="undefined"),
        ),
    ]


def _reward_column(
    spreads: Histogram, place: int, bin_of_column: HistogramBin
) -> Column[AgentRewards]:
    def cell(row: AgentRewards) -> Cell:
        count, share = spreads.counts[row.label][place], spreads.shares(row.label)[place]
        return Cell(f"{count:,}", (count,), sub="" if share is None else number(share, "share"))

    def link(row: AgentRewards) -> Link:
        # Only rewards of 0 and 1 are a filter of the list of trajectories.
        whole = WHOLE.get(bin_of_column.low) if bin_of_column.is_value else None
        return link_of(row, reward=whole) if whole is not None else link_of(row)

    column = number_column(f"Reward {bin_of_column.label}", f"reward {bin_of_column.label}")
    return Column(column, cell, link)
