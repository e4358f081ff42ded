"""What rewards did agents get elsewhere, and how reliably? With endings and cost as files state."""

from collections.abc import Sequence
from typing import Literal

from analysis.figures.layout.theme import Figure
from analysis.figures.outcomes import RewardRow, pass_lines, reward_dots, reward_spread
from analysis.frames.outcomes import message_counts, outcome_frame
from analysis.kit.page import Content, Page
from analysis.pages.outcomes.rows import (
    METRICS,
    MOST_TRIALS,
    REWARD,
    STATED,
    AgentRewards,
    RewardScale,
    rows_of,
    scale_of,
)
from analysis.pages.outcomes.tables import (
    deepest_of,
    ending_columns,
    link_of,
    outcome_columns,
    pass_columns,
    reward_columns,
)
from analysis.reports import addresses, chosen_runs, figure_specs
from analysis.reports.content import exclusions, how_interval
from analysis.reports.extremes import beyond
from analysis.reports.formatting import (
    Unit,
    ends,
    left_out_sentence,
    level,
    listed,
    number,
    plural,
)
from analysis.stats.comparison.extremes import Extreme, find_extreme, paired_groups, pairs_of
from analysis.stats.descriptive.spread import Histogram, spread
from benchmarks.access import START
from benchmarks.core.registry import EXTERNAL

PURPOSE = "The outcomes page compares agents by the rewards that files made elsewhere state."


def content(page: Page) -> Content:
    """Compare the rewards that files state of trajectories made elsewhere."""
    if not page.runs or REWARD not in page.system.labels.measures:
        _nothing(page)
        return
    frame = outcome_frame(page.runs, METRICS)
    frame["messages"] = frame["trajectory"].map(message_counts(page.runs))
    scale = scale_of(frame)
    unit: Literal["share", "points"] = "share" if scale.binary else "points"
    rows = rows_of(page.runs, frame, scale)
    labels, rewards = frame["label"].tolist(), frame[REWARD].to_numpy()
    difference = paired_groups(
        labels,
        frame["task"].tolist(),
        rewards,
        comparisons=pairs_of(page.selection.agents_here),
        most=1.0 if scale.bounded else None,
    )
    extreme = find_extreme({row.label: row.reward.value for row in rows}, difference)

    page.answer(_answer(rows, scale, extreme, unit))
    unstated = [
        f"{row.label} ({sum(row.reward.excluded.values()):,})"
        for row in rows
        if row.reward.excluded
    ]
    if unstated:
        page.warning(
            f"Trajectories without a reward are left out, not counted as 0: {listed(unstated)}."
        )
    if not scale.bounded:
        page.info(f"pass^k is not given: {rows[0].no_passes}.")
    uneven = [row.label for row in rows if row.tried[0] != row.tried[1]]
    if uneven:
        page.info(
            f"Tasks were not tried equally often by {listed(uneven)}: tasks with more trials weigh "
            "more in the mean reward, and pass^k leaves out tasks with fewer than k."
        )
    if len({row.tasks for row in rows}) > 1:
        page.warning(
            "Agents were tried on different numbers of tasks, so their means are about different "
            "tasks; the difference in the sentence is on common tasks alone."
        )
    styles = figure_specs.styles([row.label for row in rows])
    urls = {row.label: page.url(runs=(row.run.pk,)) for row in rows}

    def draw_rewards() -> Figure | None:
        if all(row.reward.value is None for row in rows):
            return None
        marks = [RewardRow(row.label, row.reward, urls[row.label]) for row in rows]
        return reward_dots(marks, unit=unit, styles=styles)

    page.figure(
        "reward",
        "Share of trajectories with a reward of 1, by agent"
        if scale.binary
        else "Mean reward, by agent",
        draw_rewards,
        subtitle="With 95 % intervals.",
        table="outcomes",
    )
    page.table(
        "outcomes",
        "Outcomes by agent",
        rows,
        outcome_columns(rows, unit),
        link=link_of,
        note="With 95 % intervals; medians with quartiles.",
    )
    yield

    spreads = spread(labels, rewards)
    by_label = {row.label: spreads.counts[row.label] for row in rows if row.label in spreads.counts}
    histogram = Histogram(spreads.cells, by_label, spreads.missing)
    has_passes = any(row.passes for row in rows)
    page.figure(
        "pass",
        "How likely it is that k trials of a task all succeed (pass^k)",
        lambda: (
            pass_lines({row.label: row.passes for row in rows if row.passes}, styles, urls)
            if has_passes
            else None
        ),
        subtitle="Mean over tasks, with 95 % intervals by task. A steep fall means that an agent "
        "succeeds on a task at one time and fails at another.",
    )
    # Rewards of 0 and 1 have no spread beside their mean.
    page.figure(
        "spread",
        "How rewards are spread, by agent",
        lambda: reward_spread(histogram, urls) if not scale.binary and spreads.cells else None,
        subtitle="Number of trajectories; the colour is their share of the agent's.",
        table="rewards",
        least_width=560,
    )
    page.table(
        "pass",
        "Reliability over several trials (pass^k)",
        rows if deepest_of(rows) else (),
        pass_columns(rows),
        link=link_of,
        note="The mean over tasks of the share of all sets of k trials in which every trial has a "
        "reward of 1. pass^1 is the mean success rate of tasks.",
    )
    page.table(
        "endings",
        "How they ended",
        rows,
        ending_columns(rows),
        link=link_of,
        note="As the file states it, or as its last message shows.",
    )
    page.table(
        "rewards",
        "Rewards",
        [row for row in rows if row.label in by_label] if spreads.cells else (),
        reward_columns(histogram),
        link=link_of,
        note="Trajectories by their reward, with their share of the agent's.",
        folded=True,
    )
    _how(page, rows, scale, has_passes=has_passes)


def _nothing(page: Page) -> None:
    """Say why no reward is stated here, and what to do."""
    selection = page.selection
    if selection.dataset is None:
        text = f"{PURPOSE} Import a file of trajectories to see something here."
        url = addresses.address("benchmarks:trajectory_import")
        page.nothing("Nothing was imported yet", text, "Import trajectories", url, START)
    elif selection.system == EXTERNAL and page.runs:
        page.nothing("No rewards here", f"{PURPOSE} The runs chosen here have none.")
    elif selection.system == EXTERNAL:
        text = f"{PURPOSE} No run fits these filters."
        page.nothing("No runs here", text, "Clear the filters", "?")
    else:
        query = {"dataset": selection.filters.dataset} if selection.filters.dataset else {}
        page.nothing(
            "Made here, without rewards",
            f"{PURPOSE} The trajectories of {chosen_runs.dataset_name(selection)} were made here: "
            "they have no stated rewards. The leaderboard says how often they do what was asked.",
            "See the leaderboard",
            addresses.address("analysis:leaderboard", query),
        )


def _answer(rows: Sequence[AgentRewards], scale: RewardScale, extreme: Extreme, unit: Unit) -> str:
    """Say who got the highest rewards, and how reliably."""
    first = next((row for row in rows if row.reward.value is not None), None)
    if first is None:
        reasons = exclusions([row.reward for row in rows])
        why = max(reasons, key=lambda reason: reasons[reason], default="nothing has ended")
        return f"No mean reward can be given: {why}."
    reward, several = first.reward, len(extreme.names) > 1
    value, n = number(reward.value or 0.0, unit), plural(reward.n, "trajectory", "trajectories")
    what = (
        f"a reward of 1 in {value} of {n}" if scale.binary else f"a mean reward of {value} over {n}"
    )
    interval = reward.interval
    inside = f" ({level(interval)} interval {ends(interval, unit)})" if interval else ""
    gets = f"{'get' if several else 'gets'} {what} on {plural(first.tasks, 'task')}{inside}"
    leaders = listed(extreme.names)
    if extreme.verdict == "equal":
        return f"No agent leads: {leaders} each {gets}."
    unclear = extreme.verdict == "unclear"
    lead = (
        f", {beyond(extreme, unit)}{': not a clear difference' * unclear}" if extreme.next else ""
    )
    passes = first.passes
    reliable = ""
    if len(passes) > 1 and passes[-1].value is not None:
        k, chance = len(passes), number(passes[-1].value, "share")
        reliable = f"; {k} trials of a task all succeed with probability {chance} (pass^{k})"
    return (
        f"{'No agent clearly leads. ' * unclear}{leaders} {'each ' * several}{gets}{lead}"
        f"{reliable}."
    )


def _how(page: Page, rows: Sequence[AgentRewards], scale: RewardScale, *, has_passes: bool) -> None:
    """Say how rewards, reliability, lengths and cost were computed."""
    mean = (
        "All are 0 or 1, so their mean is a share." if scale.binary else "Mean over trajectories."
    )
    rewards = how_interval([row.reward for row in rows])
    left_out = exclusions([row.reward for row in rows])
    page.how(
        f"Rewards are those that the files state; nothing was scored here. {mean}",
        f"Intervals of rewards (95 %): {rewards or 'none'}. Where a task was tried several times, "
        "they are by task, because trials of a task are not independent.",
        left_out_sentence(left_out, nothing="No trajectory"),
    )
    if has_passes:
        passes = how_interval([estimate for row in rows for estimate in row.passes])
        page.how(
            "pass^k: mean over tasks of C(c, k)/C(n, k) with c successes (reward 1) in n trials, "
            f"up to k = {MOST_TRIALS}; interval: {passes or 'none'} (τ-bench, arXiv 2406.12045)."
        )
    stated = how_interval([row.stated[name] for row in rows for name in STATED])
    page.how(
        "Turns, messages and tool calls are counted: median, with the quartiles under it. Cost and "
        f"tokens are means of what is stated; {stated or 'no interval'}."
    )
    errors = sum(row.endings.get("error", 0) for row in rows)
    if errors:
        page.how(
            f"{plural(errors, 'trajectory', 'trajectories')} ended with an error of the "
            "infrastructure; the rewards that the files state count."
        )
    value = "the share of trajectories with a reward of 1" if scale.binary else "their mean"
    reliability = ", pass^k the mean over tasks of the chance that k trials all succeed"
    page.methods(
        f"Rewards are those that the imported files state; an agent's value is {value}"
        f"{reliability * has_passes}."
    )
