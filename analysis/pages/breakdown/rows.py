"""The results of every agent under every condition, by kind of task."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.filters.selection import ChosenRun
from analysis.pages.outcome_estimates import estimate_measure, pair_rows
from analysis.stats.comparison.extremes import Difference, group_differences, pairs_of
from analysis.stats.comparison.paired import paired_difference
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


class BreakdownRow(NamedTuple):
    """One agent under one condition on one kind of task; ``first`` is the measure of the figures.

    ``condition`` is in the words of the system.
    """

    title: str
    run: ChosenRun
    condition: str
    shares: Mapping[str, Estimate]
    first: Estimate


class PairedRow(NamedTuple):
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


class PublishedShare(NamedTuple):
    """A published figure about one kind of task."""

    title: str
    measure: Measure
    entry: Published


def with_kinds(
    frame: "DataFrame", values: Mapping[int, Value], grouping: Grouping
) -> tuple["DataFrame", list[str]]:
    """Return the trajectories of a known kind with its title as ``kind``, and titles in order."""
    order = sorted(set(values.values()), key=lambda value: _order(value, grouping))
    titles = {value: _title(value, grouping) for value in order}
    kinds = {trajectory: titles[value] for trajectory, value in values.items()}
    frame = frame.assign(kind=frame["trajectory"].map(kinds))
    known = frame[frame["kind"].notna()]
    there = set(known["kind"])
    return known, [title for title in dict.fromkeys(titles.values()) if title in there]


def break_down(
    known: "DataFrame",
    kinds: Sequence[str],
    runs: Sequence[ChosenRun],
    measures: Mapping[str, Measure],
    conditions: Mapping[str, str],
) -> list[BreakdownRow]:
    """Estimate every measure for each kind of task, agent and condition, in their orders."""
    agents = list(dict.fromkeys(run.label for run in runs))
    order = [*conditions, *sorted({run.condition for run in runs})]
    runs = sorted(runs, key=lambda run: (agents.index(run.label), order.index(run.condition)))
    main, rows = next(iter(measures)), []
    for kind in kinds:
        here = known[known["kind"] == kind]
        for run in runs:
            mine = here[here["run"] == run.pk]
            if len(mine):
                shares = {name: estimate_measure(mine, name, one) for name, one in measures.items()}
                condition = conditions.get(run.condition, run.condition)
                rows.append(BreakdownRow(kind, run, condition, shares, shares[main]))
    return rows


def pool(
    known: "DataFrame", kinds: Sequence[str], metric: str
) -> tuple[list[PooledKind], Difference]:
    """Return each kind of task with its mean over all agents and conditions, the lowest first.

    And the differences between kinds, whose intervals hold for all pairs together.
    """
    scored = known[known[metric].notna()]
    pooled = []
    for kind in kinds:
        mine = scored[scored["kind"] == kind]
        if len(mine):
            mean, tasks = float(mine[metric].mean()), int(mine["task"].nunique())
            pooled.append(PooledKind(kind, mean, len(mine), tasks))
    pooled.sort(key=lambda one: (one.value, one.title))
    difference = group_differences(
        scored["kind"].tolist(),
        scored["task"].tolist(),
        scored[metric].to_numpy(),
        comparisons=pairs_of(len(pooled)),
    )
    return pooled, difference


def beside_people(
    known: "DataFrame",
    kinds: Sequence[str],
    runs: Sequence[ChosenRun],
    metric: str,
    measure: Measure,
    conditions: Mapping[str, str],
) -> list[PairedRow]:
    """Pair every agent with the people who took the agent's part under the same condition.

    All kinds of task come first, then each kind; kinds without a common task are left out.
    """
    people = {run.condition: run for run in runs if run.agent_kind == "human"}
    agents = [run for run in runs if run.agent_kind != "human" and run.condition in people]
    if not agents:
        return []
    defined = known[known[metric].notna()]
    frames = [(EVERY_KIND, defined)]
    if len(kinds) > 1:
        frames += [(kind, defined[defined["kind"] == kind]) for kind in kinds]
    rows = []
    for title, here in frames:
        for run in agents:
            other = people[run.condition]
            own, others = (here[here["run"] == one.pk] for one in (run, other))
            paired = pair_rows(own, others, metric)
            if not paired.tasks:
                continue
            agent_value, people_value = (
                estimate_measure(side[side["task"].isin(paired.tasks)], metric, measure)
                for side in (own, others)
            )
            gap = paired_difference(paired, most=measure.most)
            condition = conditions.get(run.condition, run.condition)
            rows.append(PairedRow(title, run, condition, other, agent_value, people_value, gap))
    return rows


def curves_over(
    frame: "DataFrame", at: Mapping[int, tuple[int, str]], metric: str, measure: Measure
) -> dict[str, list[tuple[int, Estimate]]]:
    """Estimate the measure over counts, all agents together, for each curve.

    ``at`` has a count and the name of a curve for each trajectory.
    """
    placed = frame["trajectory"].map(at)
    curves: dict[str, list[tuple[int, Estimate]]] = {}
    for count, name in sorted(set(at.values())):
        rows = frame[placed.isin([(count, name)])]
        curves.setdefault(name, []).append((count, estimate_measure(rows, metric, measure)))
    return dict(sorted(curves.items()))


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
) -> list[PublishedShare]:
    """Return the figures of a paper by this grouping: their metric is ``NAME@GROUPING=VALUE``."""
    shares = []
    for entry in entries:
        name, _, where = entry.metric.partition("@")
        group, _, value = where.partition("=")
        if group == grouping and value:
            measure = measures.get(name) or Measure(plain(name), "")
            shares.append(PublishedShare(titles.values.get(value, value), measure, entry))
    return sorted(shares, key=lambda one: (one.title, one.measure.title))


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
