"""Accuracy of every agent under every condition, and how far it is from the baseline."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

from analysis.filters.factors import STANDARD
from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import unfinished, why_undefined
from analysis.frames.tool_calls import remaining_parts
from analysis.pages.leaderboard.rows import ACCURATE, paired_difference
from analysis.stats.descriptive.trials import success_rate
from analysis.stats.results import Estimate
from benchmarks.core.comparisons import Contrasts, Named

if TYPE_CHECKING:
    from pandas import DataFrame

NO_RUN = "no run under this condition"
NOTHING_LEFT_OVER = "nothing was blocked, so no path was left over"
Key = tuple[str, str]


@dataclass(frozen=True)
class Grid:
    """By (agent, condition): the run, its accuracy, and its accuracy minus the baseline's."""

    agents: tuple[str, ...]
    conditions: tuple[str, ...]
    words: Mapping[str, Named]
    baseline: str
    runs: Mapping[Key, ChosenRun]
    accuracy: Mapping[Key, Estimate]
    change: Mapping[Key, Estimate]

    def title(self, condition: str) -> str:
        return self.words[condition].title

    @property
    def others(self) -> tuple[str, ...]:
        """Every condition but the baseline."""
        return tuple(name for name in self.conditions if name != self.baseline)


def grid_of(runs: Sequence[ChosenRun], frame: "DataFrame", contrasts: Contrasts | None) -> Grid:
    """Conditions in the order that the system gives them, others after them by name."""
    there = sorted({run.condition for run in runs})
    known = contrasts.conditions if contrasts is not None else {}
    first = STANDARD if contrasts is None else contrasts.baseline
    order = [name for name in known or [first] if name in there]
    order += [name for name in there if name not in order]
    baseline = first if first in there else ""
    by_key = {(run.label, run.condition): run for run in runs}
    agents = tuple(dict.fromkeys(run.label for run in runs))
    accuracy, change = {}, {}
    for agent in agents:
        base = by_key.get((agent, baseline))
        for condition in order:
            run = by_key.get((agent, condition))
            accuracy[agent, condition] = _accuracy(frame, run)
            change[agent, condition] = _change(frame, run, base)
    words = {name: known.get(name) or Named(_plain(name)) for name in order}
    return Grid(agents, tuple(order), words, baseline, by_key, accuracy, change)


def _plain(condition: str) -> str:
    return "Standard" if condition == STANDARD else condition


def _accuracy(frame: "DataFrame", run: ChosenRun | None) -> Estimate:
    if run is None:
        return Estimate.without_value(NO_RUN)
    mine = frame[frame["run"] == run.pk]
    left = Counter(unfinished(run))
    left.update(why_undefined(mine, ACCURATE))
    known = mine[mine[ACCURATE].notna()]
    return success_rate(
        known[ACCURATE].to_numpy(),
        known["task"].tolist(),
        excluded=dict(left.most_common()),
    )


def _change(frame: "DataFrame", run: ChosenRun | None, base: ChosenRun | None) -> Estimate:
    if run is None:
        return Estimate.without_value(NO_RUN)
    if base is None:
        return Estimate.without_value("no run under the baseline")
    return paired_difference(frame, run, base)


@dataclass(frozen=True)
class Lengths:
    """By agent: accuracy by the length of what was left to do, and between two conditions.

    ``left_out`` are trajectories without such a length. ``longer`` is the paired difference of the
    last to the first of the conditions; ``means`` the mean length under each.
    """

    bins: tuple[int, ...]
    accuracy: Mapping[tuple[str, int], Estimate]
    longer: Mapping[str, Estimate]
    means: Mapping[Key, float | None]
    left_out: int


def lengths_of(frame: "DataFrame", grid: Grid, contrasts: Contrasts) -> Lengths | None:
    """None where no run is about the length of what is left to do."""
    pairs = [(a, c) for a in grid.agents for c in contrasts.lengths if (a, c) in grid.runs]
    if not pairs:
        return None
    runs = {grid.runs[pair].pk: pair for pair in pairs}
    known = remaining_parts([grid.runs[pair] for pair in pairs], contrasts)
    mine = frame[frame["run"].isin(list(runs))].copy()
    mine["length"] = mine["trajectory"].map(known).astype("float64")
    # Whole tools; halves count as the longer.
    mine["bin"] = mine["length"].map(lambda value: None if value != value else floor(value + 0.5))
    kept = mine[mine["bin"].notna() & mine[ACCURATE].notna()]
    bins = tuple(sorted({int(value) for value in kept["bin"]}))
    accuracy = {}
    for agent in grid.agents:
        for size in bins:
            those = kept[(kept["label"] == agent) & (kept["bin"] == size)]
            accuracy[agent, size] = (
                success_rate(those[ACCURATE].to_numpy(), those["task"].tolist())
                if len(those)
                else Estimate.without_value("no task with that length")
            )
    first, last = contrasts.lengths[0], contrasts.lengths[-1]
    longer = {
        agent: paired_difference(frame, grid.runs.get((agent, last)), grid.runs.get((agent, first)))
        if (agent, first) in grid.runs and (agent, last) in grid.runs
        else Estimate.without_value(NO_RUN)
        for agent in grid.agents
    }
    means: dict[Key, float | None] = {}
    for pk, pair in runs.items():
        found = mine.loc[mine["run"] == pk, "length"].dropna()
        means[pair] = float(found.mean()) if len(found) else None
    left_out = int((mine["length"].isna() & mine[ACCURATE].notna()).sum())
    return Lengths(bins, accuracy, longer, means, left_out)
