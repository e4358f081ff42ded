"""The results of every agent under every condition, by kind of task."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.filters.selection import ChosenRun
from analysis.pages.outcome_estimates import estimate_measure
from analysis.reports.content import exclusions, how_interval
from analysis.reports.formatting import Unit, unit_of, unit_of_differences
from analysis.stats.comparison.extremes import (
    Difference,
    Extreme,
    clear_differences,
    find_extreme,
    group_differences,
    pairs_of,
)
from analysis.stats.comparison.paired import pair_by_task, paired_difference
from analysis.stats.results import Estimate
from benchmarks.core.ports.comparisons import Grouping
from benchmarks.core.ports.labels import Measure, plain
from benchmarks.core.ports.published import Published

if TYPE_CHECKING:
    from pandas import DataFrame

Value = tuple[str, ...]
EVERY_KIND = "All kinds"
# Wilson’s interval of a share of fewer tasks can be wider than 57 points: it says little.
LEAST_TASKS = 8


@dataclass(frozen=True)
class PublishedShare:
    """A published figure about one kind of task."""

    title: str
    measure: Measure
    entry: Published


@dataclass(frozen=True)
class BreakdownData:
    """Outcomes with their kind of task; ``measures`` are what agents are ranked by and verdicts.

    ``curves`` has a number and the name of a curve for each trajectory, where kinds are counts.
    """

    runs: tuple[ChosenRun, ...]
    frame: "DataFrame"
    values: Mapping[int, Value]
    grouping: Grouping
    measures: Mapping[str, Measure]
    conditions: Mapping[str, str]
    published: tuple[PublishedShare, ...] = ()
    curves: Mapping[int, tuple[int, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class BreakdownRow:
    """One agent under one condition on one kind of task."""

    value: Value
    title: str
    agent: str
    condition: str
    run: ChosenRun
    shares: Mapping[str, Estimate]

    @property
    def first(self) -> Estimate:
        return next(iter(self.shares.values()))


@dataclass(frozen=True)
class PairedRow:
    """An agent and people on the tasks of one kind that both did.

    ``difference`` is the agent's value minus that of people; its ``n`` counts tasks. Where several
    people did a task, their mean counts.
    """

    title: str
    run: ChosenRun
    condition: str
    people: ChosenRun
    agent_value: Estimate
    people_value: Estimate
    difference: Estimate


class PooledKind(NamedTuple):
    """A kind of task with its mean over all agents, of so many trajectories on so many tasks."""

    title: str
    value: float
    trajectories: int
    tasks: int


@dataclass(frozen=True)
class BreakdownResult:
    """All rows, ordered by kind of task; ``left_out`` counts trajectories of no kind."""

    data: BreakdownData
    rows: tuple[BreakdownRow, ...]
    left_out: int

    @property
    def titles(self) -> list[str]:
        """The kinds of task, in their order."""
        return list(dict.fromkeys(row.title for row in self.rows))

    @property
    def conditions(self) -> list[str]:
        return list(dict.fromkeys(row.condition for row in self.rows))

    @cached_property
    def curves(self) -> Mapping[str, list[tuple[int, Estimate]]]:
        """The first measure over counts, all agents together, for each curve."""
        metric, measure = next(iter(self.data.measures.items()))
        at = self.data.frame["trajectory"].map(self.data.curves)
        found: dict[str, list[tuple[int, Estimate]]] = {}
        for point in sorted(set(self.data.curves.values())):
            rows = self.data.frame[at.isin([point])]
            number, name = point
            found.setdefault(name, []).append((number, estimate_measure(rows, metric, measure)))
        return dict(sorted(found.items()))

    @property
    def name(self) -> str:
        """The property that tasks are grouped by, in a sentence."""
        return self.data.grouping.title.lower()

    @property
    def cautions(self) -> list[tuple[str, str]]:
        """Remarks on kinds of task that are shown, each with its title."""
        found = ((title, self.data.grouping.caution(title)) for title in self.titles)
        return [(title, text) for title, text in found if text]

    @property
    def measure(self) -> Measure:
        """The measure that the figures show."""
        return next(iter(self.data.measures.values()))

    @property
    def unit(self) -> Unit:
        return unit_of(self.measure)

    @property
    def points(self) -> Unit:
        """The unit of differences of the measure."""
        return unit_of_differences(self.measure)

    @property
    def sign(self) -> str:
        """The sign after a value that is stored in percent."""
        return " %" if self.measure.kind == "percent" else ""

    @cached_property
    def pooled(self) -> "list[PooledKind]":
        """Each kind of task with its mean over all agents and conditions, the lowest first."""
        metric = next(iter(self.data.measures))
        known = self._scored
        found = []
        for title in self.titles:
            mine = known[known["title"] == title]
            if len(mine):
                tasks = int(mine["task"].nunique())
                found.append(PooledKind(title, float(mine[metric].mean()), len(mine), tasks))
        return sorted(found, key=lambda one: (one.value, one.title))

    @cached_property
    def _scored(self) -> "DataFrame":
        """The trajectories of a known kind that have the first measure, with the kind's title."""
        frame = self.data.frame
        kinds = {value: _title(value, self.data.grouping) for value in self.data.values.values()}
        frame = frame.assign(title=frame["trajectory"].map(self.data.values).map(kinds))
        return frame[frame["title"].notna() & frame[next(iter(self.data.measures))].notna()]

    @cached_property
    def _difference(self) -> Difference:
        """The differences between kinds of task, whose intervals hold for all pairs together."""
        known = self._scored
        return group_differences(
            known["title"].tolist(),
            known["task"].tolist(),
            known[next(iter(self.data.measures))].to_numpy(),
            comparisons=pairs_of(len(self.pooled)),
        )

    @property
    def hardest(self) -> Extreme:
        """What may be said of the kind with the lowest mean."""
        values = {kind.title: kind.value for kind in self.pooled}
        return find_extreme(values, self._difference, lowest=True)

    @property
    def easiest(self) -> Extreme:
        """What may be said of the kind with the highest mean."""
        return find_extreme({kind.title: kind.value for kind in self.pooled}, self._difference)

    @property
    def differences(self) -> list[Estimate]:
        """The differences of the hardest and the easiest kind from the next."""
        found = (one.difference for one in (self.hardest, self.easiest))
        return [one for one in found if one is not None]

    @property
    def apart(self) -> tuple[int, int]:
        """How many pairs of kinds clearly differ, and how many pairs there are."""
        titles = [kind.title for kind in self.pooled]
        return len(clear_differences(titles, self._difference)), pairs_of(len(titles))

    @cached_property
    def beside_people(self) -> list[PairedRow]:
        """Every agent with the people who took the agent's part under the same condition.

        All kinds of task come first, then each kind; kinds without a common task are left out.
        """
        data = self.data
        people = {run.condition: run for run in data.runs if run.agent_kind == "human"}
        agents = [one for one in data.runs if one.agent_kind != "human" and one.condition in people]
        if not agents:
            return []
        frame = data.frame.assign(group=data.frame["trajectory"].map(data.values))
        known = frame[frame["group"].notna()]
        titles = {row.value: row.title for row in self.rows}
        kinds = [(EVERY_KIND, known)]
        if len(titles) > 1:
            kinds += [(title, known[known["group"] == value]) for value, title in titles.items()]
        found = (
            _pair(data, title, here, run, people[run.condition])
            for title, here in kinds
            for run in agents
        )
        return [row for row in found if row is not None]

    @property
    def best_beside_people(self) -> PairedRow | None:
        """The agent with the highest value on all tasks that people did, too."""
        rows = [row for row in self.beside_people if row.title == EVERY_KIND]
        return max(rows, key=lambda row: row.agent_value.value or 0, default=None)

    @property
    def intervals(self) -> str:
        return how_interval([row.first for row in self.rows])

    @property
    def excluded(self) -> Mapping[str, int]:
        return exclusions([row.first for row in self.rows])


def merge_counts(counts: Mapping[int, int], tasks: Mapping[int, int]) -> dict[int, Value]:
    """Return the kind of each trajectory: neighbouring counts together, such as ``3 to 5``, until
    each kind has `LEAST_TASKS` tasks. What is left at the end joins the last kind.

    ``counts`` and ``tasks`` have a trajectory's count and its task.
    """
    seen: dict[int, set[int]] = {}
    for trajectory, count in counts.items():
        seen.setdefault(count, set()).add(tasks[trajectory])
    kinds: list[list[int]] = []
    open_kind: list[int] = []
    for count in sorted(seen):
        open_kind.append(count)
        if len(set[int]().union(*(seen[one] for one in open_kind))) >= LEAST_TASKS:
            kinds.append(open_kind)
            open_kind = []
    if open_kind and kinds:
        kinds[-1] += open_kind
    elif open_kind:
        kinds.append(open_kind)
    titles = {
        count: str(kind[0]) if len(kind) == 1 else f"{kind[0]} to {kind[-1]}"
        for kind in kinds
        for count in kind
    }
    return {trajectory: (titles[count],) for trajectory, count in counts.items()}


def published_here(
    entries: Iterable[Published], grouping: str, titles: Grouping, measures: Mapping[str, Measure]
) -> tuple[PublishedShare, ...]:
    """Return the figures of a paper by this grouping: their metric is ``NAME@GROUPING=VALUE``."""
    found = []
    for entry in entries:
        name, _, where = entry.metric.partition("@")
        group, _, value = where.partition("=")
        if group == grouping and value:
            measure = measures.get(name) or Measure(plain(name), "")
            found.append(PublishedShare(titles.values.get(value, value), measure, entry))
    return tuple(sorted(found, key=lambda one: (one.title, one.measure.title)))


def compute(data: BreakdownData) -> BreakdownResult:
    """Estimate every share for each kind of task, agent and condition."""
    frame = data.frame.assign(group=data.frame["trajectory"].map(data.values))
    known = frame[frame["group"].notna()]
    order = sorted(set(data.values.values()), key=lambda value: _order(value, data.grouping))
    agents = list(dict.fromkeys(run.label for run in data.runs))
    conditions = [*data.conditions, *sorted({run.condition for run in data.runs})]
    runs = sorted(
        data.runs, key=lambda run: (agents.index(run.label), conditions.index(run.condition))
    )
    rows = []
    for value in order:
        here = known[known["group"] == value]
        for run in runs:
            mine = here[here["run"] == run.pk]
            if len(mine):
                shares = {
                    name: estimate_measure(mine, name, one) for name, one in data.measures.items()
                }
                title = _title(value, data.grouping)
                condition = data.conditions.get(run.condition, run.condition)
                rows.append(BreakdownRow(value, title, run.label, condition, run, shares))
    return BreakdownResult(data, tuple(rows), len(frame) - len(known))


def _title(value: Value, grouping: Grouping) -> str:
    """Return a value by its titles; a code without a title, such as all_both, as words."""
    return " · ".join(
        grouping.values.get(part) or (plain(part) if "_" in part else part) for part in value
    )


def _order(value: Value, grouping: Grouping) -> list[tuple[int, Any]]:
    """Return named values in their order, then the rest by name, numbers in it by size."""
    names = list(grouping.values)
    return [
        (0, names.index(part))
        if part in names
        else (1, [int(word) if word.isdecimal() else word for word in re.split(r"([0-9]+)", part)])
        for part in value
    ]


def _pair(
    data: BreakdownData, title: str, here: "DataFrame", run: ChosenRun, people: ChosenRun
) -> PairedRow | None:
    name, measure = next(iter(data.measures.items()))
    defined = here[here[name].notna()]
    own, others = (defined[defined["run"] == one.pk] for one in (run, people))
    paired = pair_by_task(own["task"].tolist(), own[name], others["task"].tolist(), others[name])
    if not paired.tasks:
        return None
    own, others = (rows[rows["task"].isin(paired.tasks)] for rows in (own, others))
    return PairedRow(
        title,
        run,
        data.conditions.get(run.condition, run.condition),
        people,
        estimate_measure(own, name, measure),
        estimate_measure(others, name, measure),
        paired_difference(paired, most=measure.most),
    )
