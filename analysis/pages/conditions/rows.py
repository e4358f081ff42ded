"""Accuracy of every agent under every condition, and how far it is from the baseline."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import unfinished, why_undefined
from analysis.pages.leaderboard.rows import ACCURATE, paired_difference
from analysis.reports import addresses
from analysis.reports.content import exclusions, how_interval
from analysis.reports.extremes import clear_changes
from analysis.stats.descriptive.trials import success_rate
from analysis.stats.results import Estimate
from benchmarks.core.conditions import STANDARD
from benchmarks.core.ports.comparisons import Caption, Contrasts
from benchmarks.core.ports.labels import Measure
from benchmarks.core.ports.published import Published

if TYPE_CHECKING:
    from pandas import DataFrame

NO_RUN = "no run under this condition"
NEARLY = 1e-9
# An agent and a condition.
Key = tuple[str, str]


@dataclass(frozen=True)
class ConditionsData:
    """The outcomes of trajectories, how much was left to do in each, and what is published.

    ``measure`` is accuracy as the system calls it, ``titles`` are its words for the conditions.
    ``family`` are the runs of all agents, whichever are shown: intervals of changes hold together
    over all changes that they allow.
    """

    runs: tuple[ChosenRun, ...]
    frame: "DataFrame"
    contrasts: Contrasts | None
    remaining: Mapping[int, float | None]
    published: tuple[Published, ...]
    measure: Measure
    titles: Mapping[str, str]
    family: tuple[ChosenRun, ...] = ()


@dataclass(frozen=True)
class Lengths:
    """The accuracy of each agent by the length of the remaining task, and between conditions.

    ``left_out`` are trajectories without such a length. ``longer`` is the paired difference of the
    last to the first of the conditions; ``means`` the mean length under each.
    """

    bins: tuple[int, ...]
    accuracy: Mapping[tuple[str, int], Estimate]
    longer: Mapping[str, Estimate]
    means: Mapping[Key, float | None]
    left_out: int


@dataclass(frozen=True)
class AccuracyChange:
    """The change of an agent's accuracy from the baseline to a condition."""

    agent: str
    condition: str
    title: str
    change: Estimate


@dataclass(frozen=True)
class ConditionsResult:
    """The accuracy of each run by agent and condition, and its difference from the baseline.

    ``baseline`` is empty where no run has it. ``lengths`` is None where no run is about the length
    of what was left to do.
    """

    data: ConditionsData
    agents: tuple[str, ...]
    conditions: tuple[str, ...]
    words: Mapping[str, Caption]
    baseline: str
    runs: Mapping[Key, ChosenRun]
    accuracy: Mapping[Key, Estimate]
    change: Mapping[Key, Estimate]
    lengths: Lengths | None

    @property
    def name(self) -> str:
        """The measure's name in a sentence, such as "accuracy"."""
        return self.data.measure.name

    @property
    def name_first(self) -> str:
        """The same at the beginning of a sentence."""
        return self.name[:1].upper() + self.name[1:]

    def title(self, condition: str) -> str:
        """Return what a condition is called."""
        return self.words[condition].title

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

    @property
    def compared(self) -> list[str]:
        """The agents that were run under several conditions; all where none was."""
        several = [a for a in self.agents if len(self.runs_of(a, self.conditions)) > 1]
        return several or list(self.agents)

    @property
    def first_title(self) -> str:
        return self.title(self.conditions[0])

    @property
    def baseline_title(self) -> str:
        return self.title(self.baseline)

    @property
    def others(self) -> tuple[str, ...]:
        """Every condition but the baseline."""
        return tuple(name for name in self.conditions if name != self.baseline)

    @property
    def contrast(self) -> str:
        """The condition that the system sets against its baseline, where runs have both."""
        contrasts = self.data.contrasts
        known = contrasts is not None and contrasts.contrast in self.others and self.baseline
        return contrasts.contrast if contrasts is not None and known else ""

    @property
    def contrast_title(self) -> str:
        return self.title(self.contrast) if self.contrast else ""

    @property
    def kinds(self) -> list[str]:
        """The conditions here with one kind of disturbance alone."""
        contrasts = self.data.contrasts
        known = contrasts.kinds if contrasts is not None else ()
        return [kind for kind in known if kind in self.conditions]

    @property
    def changed(self) -> str:
        """Which changes are clear, under the contrast or else under any condition."""
        changes, several = self._changes, len({one.condition for one in self._changes}) > 1
        named = [
            (f"{one.agent} (“{one.title}”)" if several else one.agent, one.change)
            for one in changes
        ]
        return clear_changes(named, "share")

    @property
    def changed_condition(self) -> str:
        """The title of the condition of all these changes; empty where there are several."""
        titles = list(dict.fromkeys(one.title for one in self._changes))
        return titles[0] if len(titles) == 1 else ""

    @property
    def changes(self) -> list[Estimate]:
        """The changes against the baseline of all agents and conditions."""
        return [one for (_, condition), one in self.change.items() if condition in self.others]

    @property
    def _changes(self) -> list["AccuracyChange"]:
        wanted = (self.contrast,) if self.contrast else self.others
        return [
            AccuracyChange(
                agent,
                condition,
                self.title(condition),
                change,
            )
            for (agent, condition), change in self.change.items()
            if condition in wanted and change.value is not None
        ]

    @property
    def missing(self) -> list[str]:
        """The agents that lack conditions, with how many."""
        counts = {
            agent: sum((agent, name) not in self.runs for name in self.conditions)
            for agent in self.agents
        }
        return [f"{agent} ({count})" for agent, count in counts.items() if count]

    @property
    def intervals_of_accuracy(self) -> str:
        return how_interval(list(self.accuracy.values()))

    @property
    def intervals_of_changes(self) -> str:
        return how_interval([self.change[a, name] for a in self.agents for name in self.others])

    @property
    def family_size(self) -> int:
        """The number of changes that their intervals hold together for."""
        return _family_size(self.data, self.baseline)

    @property
    def left_out(self) -> Mapping[str, int]:
        return exclusions(list(self.accuracy.values()))


def compute(data: ConditionsData) -> ConditionsResult:
    """Estimate accuracy under each condition, in the system's order, and the change from the
    baseline.
    """
    contrasts = data.contrasts
    there = sorted({run.condition for run in data.runs})
    known = contrasts.conditions if contrasts is not None else {}
    first = STANDARD if contrasts is None else contrasts.baseline
    order = [name for name in known or [first] if name in there]
    order += [name for name in there if name not in order]
    baseline = first if first in there else ""
    runs = {(run.label, run.condition): run for run in data.runs}
    agents = tuple(dict.fromkeys(run.label for run in data.runs))
    family = _family_size(data, baseline)
    accuracy, change = {}, {}
    for agent in agents:
        base = runs.get((agent, baseline))
        for condition in order:
            run = runs.get((agent, condition))
            accuracy[agent, condition] = _accuracy(data.frame, run)
            change[agent, condition] = _change(data.frame, run, base, family)
    words = {name: known.get(name) or Caption(_title(name, data.titles)) for name in order}
    lengths = _lengths(data, agents, runs, contrasts) if contrasts is not None else None
    return ConditionsResult(
        data, agents, tuple(order), words, baseline, runs, accuracy, change, lengths
    )


def _title(condition: str, titles: Mapping[str, str]) -> str:
    """Name a condition by its title, which begins a sentence or a head of a table."""
    words = titles.get(condition, condition)
    return words[:1].upper() + words[1:]


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


def _family_size(data: ConditionsData, baseline: str) -> int:
    """Count the conditions of every agent in the chosen data that also has the baseline."""
    keys = {(run.label, run.condition) for run in (*data.family, *data.runs)}
    return sum(name != baseline and (agent, baseline) in keys for agent, name in keys)


def _change(
    frame: "DataFrame", run: ChosenRun | None, base: ChosenRun | None, family: int
) -> Estimate:
    if run is None:
        return Estimate.without_value(NO_RUN)
    if base is None:
        return Estimate.without_value("no run under the baseline")
    return paired_difference(frame, run, base, comparisons=max(family, 1))


def _lengths(
    data: ConditionsData,
    agents: Sequence[str],
    by_key: Mapping[Key, ChosenRun],
    contrasts: Contrasts,
) -> Lengths | None:
    """Return accuracy by length; None where no run is about the length of what is left to do."""
    pairs = [(a, c) for a in agents for c in contrasts.lengths if (a, c) in by_key]
    if not pairs:
        return None
    runs = {by_key[pair].pk: pair for pair in pairs}
    mine = data.frame[data.frame["run"].isin(list(runs))].copy()
    mine["length"] = mine["trajectory"].map(data.remaining).astype("float64")
    # Whole tools; halves count as the longer.
    mine["bin"] = mine["length"].map(lambda value: None if value != value else floor(value + 0.5))
    kept = mine[mine["bin"].notna() & mine[ACCURATE].notna()]
    bins = tuple(sorted({int(value) for value in kept["bin"]}))
    accuracy = {}
    for agent in agents:
        for size in bins:
            those = kept[(kept["label"] == agent) & (kept["bin"] == size)]
            accuracy[agent, size] = (
                success_rate(those[ACCURATE].to_numpy(), those["task"].tolist())
                if len(those)
                else Estimate.without_value("no task with that length")
            )
    first, last = contrasts.lengths[0], contrasts.lengths[-1]
    longer = {
        agent: paired_difference(data.frame, by_key[agent, last], by_key[agent, first])
        if (agent, first) in by_key and (agent, last) in by_key
        else Estimate.without_value(NO_RUN)
        for agent in agents
    }
    means: dict[Key, float | None] = {}
    for pk, pair in runs.items():
        found = mine.loc[mine["run"] == pk, "length"].dropna()
        means[pair] = float(found.mean()) if len(found) else None
    left_out = int((mine["length"].isna() & mine[ACCURATE].notna()).sum())
    return Lengths(bins, accuracy, longer, means, left_out)
