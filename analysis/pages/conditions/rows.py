"""Accuracy of every agent under every condition, and how far it is from the baseline."""

from collections.abc import Mapping, Sequence
from math import floor
from typing import TYPE_CHECKING, NamedTuple

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import ACCURATE
from analysis.frames.tool_calls import remaining_parts
from analysis.pages.outcome_estimates import left_out, pair_rows
from analysis.reports import addresses
from analysis.reports.formatting import first_up
from analysis.stats.comparison.paired import paired_difference
from analysis.stats.descriptive.trials import success_rate
from analysis.stats.results import Estimate
from benchmarks.core.conditions import STANDARD
from benchmarks.core.ports.comparisons import Caption, Contrasts

if TYPE_CHECKING:
    from pandas import DataFrame

NO_RUN = Estimate.without_value("no run under this condition")
NO_BASELINE = Estimate.without_value("no run under the baseline")
NO_LENGTH = Estimate.without_value("no task with that length")
# An agent and a condition.
Key = tuple[str, str]


class ByCondition(NamedTuple):
    """The accuracy of each agent under each condition, and its change from the baseline.

    ``baseline`` is empty where no run has it. ``family_size`` counts the changes that the intervals
    hold together for: those of all agents and conditions of the data, whichever are shown.
    """

    agents: tuple[str, ...]
    conditions: tuple[str, ...]
    captions: Mapping[str, Caption]
    baseline: str
    runs: Mapping[Key, ChosenRun]
    accuracy: Mapping[Key, Estimate]
    change: Mapping[Key, Estimate]
    family_size: int

    def title(self, condition: str) -> str:
        """Return what a condition is called; nothing for none."""
        return self.captions[condition].title if condition else ""

    def runs_of(self, agent: str, conditions: Sequence[str]) -> tuple[int, ...]:
        """Return the ids of an agent's runs under these conditions."""
        keys = ((agent, one) for one in conditions)
        return tuple(self.runs[key].pk for key in keys if key in self.runs)

    def url(self, agent: str, condition: str, **more: str) -> str:
        """Return the address of the trajectories of an agent under a condition."""
        run = self.runs.get((agent, condition))
        return addresses.trajectories_of(run, **more) if run is not None else ""

    def flips(self, agent: str, condition: str, against: str = "") -> str:
        """Return the address of the same tasks under both conditions, one beside the other."""
        run, base = (self.runs.get((agent, one)) for one in (condition, against or self.baseline))
        return addresses.side_by_side(run, base, "accurate") if run and base else ""


class Lengths(NamedTuple):
    """The accuracy of each agent by the length of the remaining task, and between conditions.

    ``left_out`` are trajectories without such a length. ``longer`` is the paired difference of the
    last to the first of the conditions; ``means`` the mean length under each.
    """

    bins: tuple[int, ...]
    accuracy: Mapping[tuple[str, int], Estimate]
    longer: Mapping[str, Estimate]
    means: Mapping[Key, float | None]
    left_out: int


def by_condition(
    runs: Sequence[ChosenRun],
    family: Sequence[ChosenRun],
    frame: "DataFrame",
    contrasts: Contrasts | None,
    titles: Mapping[str, str],
) -> ByCondition:
    """Estimate accuracy under each condition, in the system's order, and the change from the
    baseline. ``family`` are the runs of all agents, whichever are shown.
    """
    there = sorted({run.condition for run in runs})
    known = contrasts.conditions if contrasts is not None else {}
    first = STANDARD if contrasts is None else contrasts.baseline
    order = [name for name in known or [first] if name in there]
    order += [name for name in there if name not in order]
    baseline = first if first in there else ""
    by_key = {(run.label, run.condition): run for run in runs}
    keys = {(run.label, run.condition) for run in (*family, *runs)}
    size = sum(name != baseline and (agent, baseline) in keys for agent, name in keys)
    agents = tuple(dict.fromkeys(run.label for run in runs))
    accuracy, change = {}, {}
    for agent in agents:
        base = by_key.get((agent, baseline))
        for condition in order:
            run = by_key.get((agent, condition))
            accuracy[agent, condition] = _accuracy(frame, run) if run is not None else NO_RUN
            if run is None or base is None:
                change[agent, condition] = NO_RUN if run is None else NO_BASELINE
            else:
                change[agent, condition] = _change(frame, run, base, comparisons=max(size, 1))
    captions = {
        name: known.get(name) or Caption(first_up(titles.get(name, name))) for name in order
    }
    return ByCondition(agents, tuple(order), captions, baseline, by_key, accuracy, change, size)


def _accuracy(frame: "DataFrame", run: ChosenRun) -> Estimate:
    mine = frame[frame["run"] == run.pk]
    known = mine[mine[ACCURATE].notna()]
    excluded = left_out(run, mine, ACCURATE)
    return success_rate(known[ACCURATE].to_numpy(), known["task"].tolist(), excluded=excluded)


def _change(
    frame: "DataFrame", run: ChosenRun, base: ChosenRun, *, comparisons: int = 1
) -> Estimate:
    """Return the change in accuracy from the base on the tasks that both have."""
    own, others = (frame[frame["run"] == one.pk] for one in (run, base))
    return paired_difference(pair_rows(own, others, ACCURATE), comparisons=comparisons)


def by_length(by: ByCondition, frame: "DataFrame", contrasts: Contrasts) -> Lengths | None:
    """Return accuracy by length; None where no run is about the length of what is left to do."""
    runs = {run.pk: key for key, run in by.runs.items() if key[1] in contrasts.lengths}
    if not runs:
        return None
    remaining = remaining_parts([by.runs[key] for key in runs.values()], contrasts)
    mine = frame[frame["run"].isin(list(runs))].copy()
    mine["length"] = mine["trajectory"].map(remaining).astype("float64")
    # Whole tools; halves count as the longer.
    mine["bin"] = mine["length"].map(lambda value: None if value != value else floor(value + 0.5))
    kept = mine[mine["bin"].notna() & mine[ACCURATE].notna()]
    bins = tuple(sorted({int(value) for value in kept["bin"]}))
    accuracy = {}
    for agent in by.agents:
        for size in bins:
            rows = kept[(kept["label"] == agent) & (kept["bin"] == size)]
            accuracy[agent, size] = (
                success_rate(rows[ACCURATE].to_numpy(), rows["task"].tolist())
                if len(rows)
                else NO_LENGTH
            )
    first, last = contrasts.lengths[0], contrasts.lengths[-1]
    longer = {
        agent: _change(frame, by.runs[agent, last], by.runs[agent, first])
        if (agent, first) in by.runs and (agent, last) in by.runs
        else NO_RUN
        for agent in by.agents
    }
    means: dict[Key, float | None] = {}
    for pk, key in runs.items():
        known = mine.loc[mine["run"] == pk, "length"].dropna()
        means[key] = float(known.mean()) if len(known) else None
    left_out = int((mine["length"].isna() & mine[ACCURATE].notna()).sum())
    return Lengths(bins, accuracy, longer, means, left_out)
