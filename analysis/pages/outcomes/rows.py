"""The rows of the outcomes page: what the files state of every agent, and what can be counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import why_undefined
from analysis.pages.outcome_estimates import left_out
from analysis.stats.descriptive.means import OPEN_SCALE, Scale
from analysis.stats.descriptive.spread import Quartiles, quartiles
from analysis.stats.descriptive.trials import TrialCounts, count_trials, measure_mean, pass_power
from analysis.stats.results import Estimate

if TYPE_CHECKING:
    from pandas import DataFrame

REWARD, FULL = "reward", "full_reward"
# What is counted in every trajectory (pages show the median), and what some files state (the mean).
COUNTED: Mapping[str, str] = {"turns": "Turns", "messages": "Messages", "tool_calls": "Tool calls"}
STATED: Mapping[str, str] = {"cost": "Cost", "user_cost": "User cost", "tokens": "Tokens"}
METRICS = (REWARD, FULL, "turns", "tool_calls", *STATED)
MOST_TRIALS = 8
NEARLY = 1e-6
NO_SCALE = "rewards do not lie between 0 and 1, so no reward stands for success"
ONE_TRIAL = "each task has one trial"


class RewardScale(NamedTuple):
    """The range of rewards over all agents of the page."""

    binary: bool
    bounded: bool


class AgentRewards(NamedTuple):
    """One agent.

    ``passes`` is pass^k for k = 1, 2, …; empty where it is not defined, for the reason
    ``no_passes``. ``tried`` are the fewest and the most trials of a task.
    """

    run: ChosenRun
    label: str
    done: int
    tasks: int
    trials: TrialCounts
    tried: tuple[int, int]
    reward: Estimate
    passes: tuple[Estimate, ...]
    no_passes: str
    counted: Mapping[str, Quartiles]
    stated: Mapping[str, Estimate]
    endings: Mapping[str, int]


def scale_of(frame: "DataFrame") -> RewardScale:
    """Return whether all stated rewards are 0 or 1, and whether they lie between."""
    known = frame[REWARD].dropna()
    return RewardScale(
        bool(known.isin([0.0, 1.0]).all()),
        bool(known.between(-NEARLY, 1 + NEARLY).all()),
    )


def rows_of(
    runs: Sequence[ChosenRun], frame: "DataFrame", scale: RewardScale
) -> list[AgentRewards]:
    """Return a row for each run, the highest mean reward first."""
    rows = [_row(run, frame[frame["run"] == run.pk], scale) for run in runs]
    return sorted(
        rows, key=lambda row: (row.reward.value is None, -(row.reward.value or 0), row.label)
    )


def _row(run: ChosenRun, mine: "DataFrame", scale: RewardScale) -> AgentRewards:
    tasks = mine["task"].tolist()
    tried = Counter(tasks)
    # A reward that misses 1 by a rounding error is a success.
    success = mine[REWARD].map(lambda value: None if value != value else float(value >= 1 - NEARLY))
    trials = count_trials(success.astype("float64").to_numpy(), tasks)
    why = "" if scale.bounded else NO_SCALE
    if not why and trials.most < 2:
        why = ONE_TRIAL if trials.most else "no reward is stated"
    return AgentRewards(
        run=run,
        label=run.label,
        done=len(mine),
        tasks=len(tried),
        trials=trials,
        tried=(min(tried.values(), default=0), max(tried.values(), default=0)),
        reward=_mean(
            mine,
            REWARD,
            left_out(run, mine, REWARD),
            rate=scale.binary,
            scale=(0, 1) if scale.bounded else OPEN_SCALE,
        ),
        passes=()
        if why
        else tuple(pass_power(trials, k) for k in range(1, min(trials.most, MOST_TRIALS) + 1)),
        no_passes=why,
        counted={name: quartiles(mine[name].to_numpy()) for name in COUNTED},
        stated={name: _mean(mine, name, why_undefined(mine, name)) for name in STATED},
        endings=dict(Counter(str(code) for code in mine["termination"])),
    )


def _mean(
    mine: "DataFrame",
    name: str,
    excluded: Mapping[str, int],
    *,
    rate: bool = False,
    scale: Scale = (0, None),
) -> Estimate:
    """Return the mean of what files state; where they do not, a trajectory is left out.

    Several trials of a task are not independent, so then it is by task; with one trial each the
    interval is Wilson's for values of 0 and 1, else t.
    """
    known = mine[mine[name].notna()]
    if known.empty:
        why = next(iter(excluded), "no trajectory has ended")
        return Estimate.without_value(why, excluded=excluded)
    return measure_mean(
        known[name].to_numpy(), known["task"].tolist(), rate=rate, scale=scale, excluded=excluded
    )
