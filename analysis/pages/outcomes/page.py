"""What trajectories made elsewhere came to: rewards, several trials, endings, length and cost."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.figures.outcomes import RewardRow, pass_lines, reward_dots, reward_spread
from analysis.filters.selection import Selection
from analysis.frames.outcomes import message_counts, outcome_frame
from analysis.pages.declaration import WrittenPage
from analysis.pages.leaderboard.rows import over_pairs, paired_difference
from analysis.pages.outcomes.rows import (
    METRICS,
    MOST_TRIALS,
    REWARD,
    STATED,
    Row,
    Scale,
    rows_of,
    scale_of,
)
from analysis.pages.outcomes.tables import (
    ending_table,
    outcome_table,
    pass_table,
    spread_table,
)
from analysis.reports import common
from analysis.reports.content import Empty, FigureSpec, Notice, Report, exclusions, how_interval
from analysis.reports.formatting import Unit, counted, ends, level, listed, number, plural
from analysis.stats.descriptive.spread import Histogram, spread
from analysis.stats.results import Estimate
from benchmarks.core.registry import EXTERNAL, find_system

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = "The outcomes page compares agents by the rewards that files made elsewhere state."


def outcomes_report(selection: Selection) -> Report:
    """Everything on the outcomes page."""
    if not selection.runs or REWARD not in find_system(selection.system).labels.measures:
        return Report(empty=_empty(selection), notices=tuple(map(Notice, selection.notes)))
    frame = outcome_frame(selection.runs, METRICS)
    frame["messages"] = frame["trajectory"].map(message_counts(selection.runs))
    scale = scale_of(frame)
    unit: Unit = "share" if scale.binary else "points"
    rows = rows_of(selection.runs, frame, scale)
    spreads = spread(frame["label"].tolist(), frame[REWARD].to_numpy())
    ordered = Histogram(
        spreads.cells,
        {row.label: spreads.counts[row.label] for row in rows if row.label in spreads.counts},
        spreads.missing,
    )
    tables = [outcome_table(rows, unit), *pass_table(rows), ending_table(rows)]
    if ordered.cells:
        tables.append(spread_table(rows, ordered))
    return Report(
        sentence=sentence(rows, frame, scale, unit, selection.agents_here),
        figures=tuple(_figures(rows, ordered, scale, unit)),
        tables=tuple(tables),
        notices=(*common.selection_notices(selection), *_notices(rows, scale)),
        how=(*common.how_runs(selection), *_how(rows, scale)),
        methods="Rewards are those that the imported files state; an agent's value is "
        + ("the share of trajectories with a reward of 1" if scale.binary else "their mean")
        + (
            ", pass^k the mean over tasks of the chance that k trials all succeed"
            if any(row.passes for row in rows)
            else ""
        )
        + ".",
    )


def _figures(rows: Sequence[Row], spreads: Histogram, scale: Scale, unit: Unit) -> list[FigureSpec]:
    found = []
    looks = common.styles([row.label for row in rows])
    if any(row.reward.value is not None for row in rows):
        marks = [
            RewardRow(row.label, row.reward, common.trajectories_of(row.run) or None)
            for row in rows
        ]
        title = "Share of trajectories with a reward of 1" if scale.binary else "Mean reward"
        drawn = reward_dots(marks, unit="share" if scale.binary else "points", styles=looks)
        found.append(
            common.figure_spec(
                "reward", f"{title}, by agent", "With 95 % intervals.", drawn, table="outcomes"
            )
        )
    curves = {row.label: row.passes for row in rows if row.passes}
    if curves:
        found.append(
            common.figure_spec(
                "pass",
                "How likely it is that k trials of a task all succeed (pass^k)",
                "Mean over tasks, with 95 % intervals by task. A steep fall means that an "
                "agent succeeds on a task at one time and fails at another.",
                pass_lines(curves, looks),
            )
        )
    if not scale.binary and spreads.cells:
        found.append(
            common.figure_spec(
                "spread",
                "How rewards are spread, by agent",
                "Number of trajectories; the colour is their share of the agent's.",
                reward_spread(spreads),
                least_width=560,
                table="rewards",
            )
        )
    return found


def sentence(rows: Sequence[Row], frame: "DataFrame", scale: Scale, unit: Unit, among: int) -> str:
    """Who got most, by how much, and how reliably; or why that cannot be said."""
    known = [row for row in rows if row.reward.value is not None]
    if not known:
        reasons = exclusions([row.reward for row in rows])
        why = max(reasons, key=lambda reason: reasons[reason], default="nothing has ended")
        return f"No mean reward can be given: {why}."
    first = known[0]
    said = _said(first, scale, unit)
    if len(known) == 1:
        return f"{first.label} {said}{_reliably(first)}."
    second = known[1]
    if second.reward.value == first.reward.value:
        leaders = [row.label for row in known if row.reward.value == first.reward.value]
        return f"{listed(leaders)} lead together: each {said}."
    return f"{first.label} {said}{_ahead(frame, first, second, scale, among)}{_reliably(first)}."


def _said(row: Row, scale: Scale, unit: Unit) -> str:
    n = plural(row.reward.n, "trajectory", "trajectories")
    value = number(row.reward.value or 0.0, unit)
    tasks = plural(row.tasks, "task")
    if scale.binary:
        return f"gets a reward of 1 in {value} of {n} on {tasks}{_inside(row.reward, unit)}"
    return f"gets a mean reward of {value} over {n} on {tasks}{_inside(row.reward, unit)}"


def _inside(estimate: Estimate, unit: Unit) -> str:
    if estimate.interval is None:
        return ""
    return f" ({level(estimate.interval)} interval {ends(estimate.interval, unit)})"


def _ahead(frame: "DataFrame", first: Row, second: Row, scale: Scale, among: int) -> str:
    """How far the first is ahead, on the tasks that both were tried on."""
    pairs = max(1, among * (among - 1) // 2)
    ahead = paired_difference(frame, first.run, second.run, REWARD, comparisons=pairs)
    if ahead.value is None:
        return f", ahead of {second.label}, with which it shares no task"
    factor, word = (100, " points") if scale.binary else (1, "")
    if ahead.value <= 0:
        return f"; on the tasks that it shares with {second.label} it is not ahead"
    text = f", {number(factor * ahead.value, 'number')}{word} ahead of {second.label}"
    if ahead.interval is None:
        return f"{text} on {plural(ahead.n, 'common task')}"
    low, high = factor * ahead.interval.low, factor * ahead.interval.high
    text += (
        f" ({level(ahead.interval)} interval {number(low, 'number')} to "
        f"{number(high, 'number')}, paired by task, n = {ahead.n} tasks{over_pairs(pairs)})"
    )
    return text if low > 0 else f"{text}: not a clear difference"


def _reliably(row: Row) -> str:
    """How often all trials of a task succeed, where there are several."""
    if len(row.passes) < 2 or row.passes[-1].value is None:
        return ""
    k = len(row.passes)
    return f"; {k} trials of a task all succeed with probability {number(row.passes[-1].value, 'share')} (pass^{k})"  # noqa: E501


def _notices(rows: Sequence[Row], scale: Scale) -> list[Notice]:
    found = []
    unstated = [row for row in rows if row.reward.excluded]
    if unstated:
        names = listed([f"{row.label} ({sum(row.reward.excluded.values()):,})" for row in unstated])
        found.append(
            Notice(f"Trajectories without a reward are left out, not counted as 0: {names}.")
        )
    if not scale.bounded:
        found.append(Notice(f"pass^k is not given: {rows[0].no_passes}.", "info"))
    uneven = [row.label for row in rows if row.tried[0] != row.tried[1]]
    if uneven:
        found.append(
            Notice(
                f"Tasks were not tried equally often by {listed(uneven)}: tasks with more trials "
                "weigh more in the mean reward, and pass^k leaves out tasks with fewer than k.",
                "info",
            )
        )
    if len({row.tasks for row in rows}) > 1:
        found.append(
            Notice(
                "Agents were tried on different numbers of tasks, so their means are about "
                "different tasks; the lead in the sentence is on common tasks alone.",
            )
        )
    return found


def _how(rows: Sequence[Row], scale: Scale) -> list[str]:
    rewards = [row.reward for row in rows]
    left = exclusions(rewards)
    stated = [row.stated[name] for row in rows for name in STATED]
    errors = sum(row.endings.get("error", 0) for row in rows)
    lines = [
        "Rewards are those that the files state; nothing was scored here. "
        + (
            "All are 0 or 1, so their mean is a share."
            if scale.binary
            else "Mean over trajectories."
        ),
        f"Intervals of rewards (95 %): {how_interval(rewards) or 'none'}. Where a task was tried "
        "several times, they are by task, because trials of a task are not independent.",
        f"Left out: {counted(left)}." if left else "No trajectory is left out.",
    ]
    passes = [estimate for row in rows for estimate in row.passes]
    if passes:
        lines.append(
            "pass^k: mean over tasks of C(c, k)/C(n, k) with c successes (reward 1) in n trials, "
            f"up to k = {MOST_TRIALS}; interval: {how_interval(passes) or 'none'} (τ-bench, arXiv "
            "2406.12045)."
        )
    lines.append(
        "Turns, messages and tool calls are counted: median, with the quartiles under it. Cost and "
        f"tokens are means of what is stated; {how_interval(stated) or 'no interval'}."
    )
    if errors:
        lines.append(
            f"{plural(errors, 'trajectory', 'trajectories')} ended with an error of its "
            "infrastructure; their rewards count as stated."
        )
    return lines


def _empty(selection: Selection) -> Empty:
    if selection.dataset is None or selection.system == EXTERNAL:
        if selection.dataset is not None and selection.runs:
            return Empty("No rewards here", f"{PURPOSE} The runs chosen here have none.")
        return _none(selection)
    text = (
        f"{PURPOSE} The trajectories of {common.dataset_name(selection)} were made here: they have "
        "no stated rewards. The leaderboard says how often they do what was asked."
    )
    known: Mapping[str, str] = {"dataset": selection.filters.dataset}
    return Empty(
        "Made here, without rewards", text, "See the leaderboard",
        common.address("analysis:leaderboard", known),
    )  # fmt: skip


def _none(selection: Selection) -> Empty:
    if selection.dataset is not None:
        return Empty("No runs here", f"{PURPOSE} No run fits these filters.", "Clear the filters",
                     "?")  # fmt: skip
    text = f"{PURPOSE} Import a file of trajectories to see something here."
    return Empty("Nothing was imported yet", text, "See the datasets",
                 common.address("benchmarks:dataset_list"))  # fmt: skip


CONTENT = WrittenPage(outcomes_report)
