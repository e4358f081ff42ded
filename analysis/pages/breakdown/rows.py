"""The results of every agent under every condition, by kind of task."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analysis.filters.selection import ChosenRun
from analysis.pages.declaration import few_tasks
from analysis.pages.outcome_estimates import estimate_measure
from analysis.reports.content import exclusions, how_interval
from analysis.reports.formatting import Unit
from analysis.stats.comparison.paired import pair_by_task, paired_difference
from analysis.stats.results import Estimate
from benchmarks.core.ports.comparisons import Grouping
from benchmarks.core.ports.labels import Measure, plain
from benchmarks.core.ports.published import Published

if TYPE_CHECKING:
    from pandas import DataFrame

Value = tuple[str, ...]
EVERY_KIND = "All kinds"


@dataclass(frozen=True)
class PublishedShare:
    """A published figure about one kind of task."""

    title: str
    measure: Measure
    entry: Published


@dataclass(frozen=True)
class BreakdownData:
    """Outcomes with their kind of task; ``measures`` are what agents are ranked by and verdicts."""

    runs: tuple[ChosenRun, ...]
    frame: "DataFrame"
    values: Mapping[int, Value]
    grouping: Grouping
    measures: Mapping[str, Measure]
    conditions: Mapping[str, str]
    published: tuple[PublishedShare, ...] = ()


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

    @property
    def name(self) -> str:
        """The property that tasks are grouped by, in a sentence."""
        return self.data.grouping.title.lower()

    @property
    def measure(self) -> Measure:
        """The measure that the figures show."""
        return next(iter(self.data.measures.values()))

    @property
    def unit(self) -> Unit:
        return "share" if self.measure.in_percent else "number"

    @property
    def sign(self) -> str:
        """The sign after a value that is stored in percent."""
        return " %" if self.measure.kind == "percent" else ""

    @property
    def pooled(self) -> list[tuple[str, float, int]]:
        """Each kind of task with its mean over all agents and conditions, the lowest first."""
        sums: dict[str, float] = {}
        seen: Counter[str] = Counter()
        for row in self.rows:
            if row.first.value is not None:
                sums[row.title] = sums.get(row.title, 0.0) + row.first.value * row.first.n
                seen[row.title] += row.first.n
        found = [(title, sums[title] / seen[title], seen[title]) for title in seen]
        return sorted(found, key=lambda one: (one[1], one[0]))

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
    def few_tasks(self) -> tuple[int, int] | None:
        return few_tasks([row.first for row in self.rows])

    @property
    def excluded(self) -> Mapping[str, int]:
        return exclusions([row.first for row in self.rows])


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
