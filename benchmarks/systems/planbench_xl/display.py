"""Views for pages of PlanBench-XL: walks, graphs of tools, blocking plans, failures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.core.ports.display import Subject, View
from benchmarks.core.ports.labels import plain
from benchmarks.core.types import Task
from benchmarks.systems.planbench_xl.environment.blockers import UNBLOCKED, Plan, plan_for
from benchmarks.systems.planbench_xl.environment.catalogue import ToolWorld, world_of
from benchmarks.systems.planbench_xl.environment.query import DETAILS
from benchmarks.systems.planbench_xl.graph import ToolGraph, draw
from benchmarks.systems.planbench_xl.labels import (
    CATEGORIES,
    CONDITION_WORDS,
    ENDINGS,
    FAILURES,
    GROUPS,
    INPUT_TYPES,
)
from benchmarks.systems.planbench_xl.settings import CONDITIONS, resolve
from benchmarks.systems.planbench_xl.walk import ToolWalk, WalkStep, read_walk


def _world(task: Task) -> ToolWorld:
    return world_of(task.shared)


def _plan(task: Task, settings: Mapping[str, Any]) -> Plan:
    """Return what is blocked for a task; plans are remembered by each process."""
    rules = resolve(settings).rules
    if rules is None:
        return UNBLOCKED
    paths = tuple(tuple(path) for path in task.payload["paths"])
    return plan_for(task.payload["task_id"], paths, rules)


def walk_of(subject: Subject) -> ToolWalk:
    """Return the steps of a trajectory."""
    payload = subject.task.payload
    return subject.once(
        "walk",
        lambda: read_walk(
            _world(subject.task),
            {name for path in payload["paths"] for name in path},
            subject.read_turns(),
            payload["input_datatypes"],
        ),
    )


def step_of(subject: Subject, index: int) -> WalkStep | None:
    """Return what the turn with this index was."""
    return walk_of(subject).at(index)


class WalkGraph(NamedTuple):
    """The graph as it was after a step, with the steps beside it; ``whole`` is the end."""

    graph: ToolGraph
    step: WalkStep | None
    previous: int | None
    next: int | None
    whole: bool
    blocked: tuple[str, ...]


def graph_of(subject: Subject, wanted: str = "") -> WalkGraph:
    """Return the graph of a trajectory after a step; without one (or past the last), all of it."""
    walk = walk_of(subject)
    last = len(walk.steps)
    number = int(wanted) if wanted.isdecimal() and len(wanted) < 6 else last
    whole = not 0 < number < last
    at = last if whole else number
    plan = _plan(subject.task, subject.settings)
    graph = draw(
        _world(subject.task),
        subject.task.payload,
        plan.tools,
        walk if whole else walk.until(at),
    )
    return WalkGraph(
        graph,
        walk.at(at),
        at - 1 if at > 1 else None,
        at + 1 if at < last else None,
        whole,
        plan.tools,
    )


@dataclass(frozen=True)
class Blocking:
    """The tools that a condition blocks for a task. ``left`` is how many catalogued paths
    remain.
    """

    condition: str
    help: str
    plan: Plan
    left: int
    tools: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types of blocking tools, where they are the same for every blocked one."""
        kinds_of_tools = {kinds for _, kinds in self.tools}
        return kinds_of_tools.pop() if len(kinds_of_tools) == 1 else ()


class TaskView(NamedTuple):
    """A task's paths, what each condition blocks, and the graph under the one that is chosen."""

    lengths: list[tuple[int, int]]
    blockings: list[Blocking]
    chosen: Blocking
    graph: ToolGraph


def task_view(subject: Subject, condition: str = "") -> TaskView:
    """Return what a task's page shows. An unknown condition counts as none."""
    task = subject.task
    paths = task.payload["paths"]
    sizes = [len(path) for path in paths]
    blockings = []
    for name in CONDITIONS:
        plan = _plan(task, {"condition": name})
        tools = tuple(zip(plan.tools, plan.noise, strict=True))
        left = len(paths) - len(plan.paths)
        blockings.append(Blocking(name, CONDITION_WORDS[name], plan, left, tools))
    chosen = next((one for one in blockings if one.condition == condition), blockings[0])
    lengths = [(size, sizes.count(size)) for size in sorted(set(sizes))]
    graph = draw(_world(task), task.payload, chosen.plan.tools)
    return TaskView(lengths, blockings, chosen, graph)


@dataclass(frozen=True)
class Count:
    """The number of times that something happened, in words."""

    title: str
    sentence: str
    n: int
    tone: str = ""


def failure_counts(metrics: Mapping[str, Any]) -> list[Count]:
    """Count successes and failure details of a run, the most frequent first."""
    failures = sorted(metrics.get("failures", {}).items(), key=lambda pair: -pair[1])
    return [Count(*failure_words(name), n, "ok" if name == "success" else "bad")
            for name, n in failures]  # fmt: skip


def category_counts(metrics: Mapping[str, Any]) -> list[Count]:
    """Count the failure categories of a run in their order."""
    categories = metrics.get("failure_categories", {})
    return [Count(*CATEGORIES[name], categories[name]) for name in CATEGORIES if name in categories]


def group_rows(metrics: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Return accuracy by group: (what tasks are grouped by, its values with their means)."""
    groups = metrics.get("accuracy_by_group", {})
    return [
        (
            GROUPS.get(name, plain(name)),
            [
                (INPUT_TYPES.get(value) or (plain(value) if "_" in value else value), mean)
                for value, mean in sorted(
                    values.items(),
                    key=lambda pair: (int(pair[0]) if pair[0].isdecimal() else 0, pair[0]),
                )
            ],
        )
        for name, values in groups.items()
    ]


def failure_words(detail: str | None) -> tuple[str, str]:
    """Return a failure detail as (title, sentence)."""
    if detail in (None, "", "success"):
        return "Success", "The answer is right and was found by reliable tools."
    if detail in FAILURES:
        return plain(str(detail)), FAILURES[str(detail)]
    ending = next((code for code, name in DETAILS.items() if name == detail), str(detail))
    known = ENDINGS.get(ending)
    return (plain(str(detail)), known.sentence) if known else (plain(str(detail)), "")


def category_words(name: str | None) -> tuple[str, str] | None:
    """Return a failure category as (title, sentence)."""
    return CATEGORIES.get(name or "")


DISPLAYS: Mapping[str, View] = {
    "step": step_of,
    "graph": graph_of,
    "task": task_view,
    "failure_counts": failure_counts,
    "category_counts": category_counts,
    "groups": group_rows,
    "failure": failure_words,
    "category": category_words,
}
