"""The views that templates of SDA-Planner ask for: plans, diagnoses, drawings, the house."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.core.ports.display import Subject, View
from benchmarks.core.types import Json, Task
from benchmarks.systems.sda_planner.house.goals import TASK_TYPES
from benchmarks.systems.sda_planner.labels import CHOICES, GROUP_VALUES, GROUPS, REPAIRS
from benchmarks.systems.sda_planner.pages.drawing import Drawing, draw_graph, draw_tree
from benchmarks.systems.sda_planner.pages.view import (
    CarriedOutStep,
    HouseView,
    TurnPage,
    Walk,
    read_walk,
)
from benchmarks.systems.sda_planner.people import cost_words
from benchmarks.systems.sda_planner.repair.graph import Graph, builtin_graph
from benchmarks.systems.sda_planner.repair.graph_files import differences
from benchmarks.systems.sda_planner.steps import Step


def _scene(task: Task) -> Json:
    scene: Json = task.shared["scenes"][task.payload["scene"]["floor_plan"]]
    return scene


def _walk(subject: Subject) -> Walk:
    def read() -> Walk:
        return read_walk(subject.task.payload, _scene(subject.task), subject.read_turns())

    return subject.once("walk", read)


def plan_page(subject: Subject, index: int) -> TurnPage | None:
    """Return a version of the plan, with what became of it."""
    return _walk(subject).turns.get(index)


class HousePage(NamedTuple):
    """The house after a step, with the steps beside it; step 0 is the start."""

    house: HouseView
    number: int
    total: int
    did: CarriedOutStep | None
    previous: int | None
    next: int | None


def house_page(subject: Subject, wanted: str = "") -> HousePage | None:
    """Return the house after a step; without one (or past the last) at the end."""
    walk = _walk(subject)
    if not walk.total:
        return None
    asked = int(wanted) if wanted.isdecimal() and len(wanted) < 6 else walk.total
    number = min(asked, walk.total)
    return HousePage(
        walk.house_after(number),
        number,
        walk.total,
        walk.steps[number - 1] if number else None,
        number - 1 if number else None,
        number + 1 if number < walk.total else None,
    )


def graph_drawing(subject: Subject, page: TurnPage) -> Drawing | None:
    """Return the graph with the path of a diagnosis; None where nothing was diagnosed over it."""
    diagnosis = page.diagnosis
    if not page.error or not diagnosis or not diagnosis["state"]:
        return None
    own = _walk(subject).graph
    graph = Graph.of(own) if own else builtin_graph()
    source = ""
    if diagnosis["breaks"]:
        source = page.steps[diagnosis["t_source"] - 1].skill
    elif diagnosis["insert"]:
        source = Step.of(diagnosis["insert"]).skill
    return draw_graph(graph, diagnosis, Step.of(page.error["step"]).skill, source)


def tree_drawing(page: TurnPage) -> Drawing | None:
    """Return the subtree of a repair; None where none was searched, or nothing was found."""
    correction = page.correction or {}
    tree = correction.get("tree")
    return draw_tree(tree, correction.get("chosen")) if tree and tree["made"] else None


class PathRow(NamedTuple):
    """A way through the subtree, with its cost in words."""

    number: int
    steps: tuple[str, ...]
    cost: str
    chosen: bool


def tree_paths(page: TurnPage) -> list[PathRow]:
    """Return the best ways through a subtree."""
    correction = page.correction or {}
    paths = (correction.get("tree") or {}).get("paths", ())
    return [
        PathRow(
            number,
            tuple(Step.of(step).text for step in path["steps"]),
            cost_words(path["cost"]),
            correction.get("chosen") == number - 1,
        )
        for number, path in enumerate(paths, 1)
    ]


class TaskPage(NamedTuple):
    """A task's type and demonstration, and the house at its start."""

    type: str
    house: HouseView
    gold: tuple[str, ...]
    graph: "DatasetGraph | None"


class DatasetGraph(NamedTuple):
    """The state-dependency graph that a dataset has of its own."""

    version: str
    drawing: Drawing
    differences: Sequence[str]


def task_page(subject: Subject) -> TaskPage:
    """Return what the page of a task shows."""
    task = subject.task
    walk = read_walk(task.payload, _scene(task), ())
    gold = tuple(Step.of(step).text for step in task.payload["gold"])
    own = task.shared.get("graph")
    graph = None
    if own is not None:
        given = Graph.of(own)
        drawing = draw_graph(given, None, "", "")
        graph = DatasetGraph(given.version, drawing, differences(given, builtin_graph()))
    return TaskPage(task_type(task.payload["task_type"]), walk.house_after(0), gold, graph)


def graph_json(subject: Subject) -> str:
    """Return the graph of an episode as ``--graph`` takes it; empty for the shipped one."""
    own = _walk(subject).graph
    return json.dumps(own, indent=1) if own else ""


def planner(name: str) -> str:
    """Return the name of a planner."""
    return CHOICES["planner"].get(name, name).partition(":")[0]


def task_type(name: str) -> str:
    """Return a task type in words."""
    return TASK_TYPES.get(name, name)


def step(value: Sequence[Any]) -> str:
    """Return a stored step as text."""
    return Step.of(value).text


def group_rows(metrics: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Return the main metrics by group: (what groups are by, values with their means)."""
    return [
        (GROUPS[name], [(GROUP_VALUES.get(value, value), row) for value, row in values.items()])
        for name, values in metrics.get("by_group", {}).items()
        if values
    ]


def repair_counts(metrics: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return how often plans were repaired how."""
    counts = metrics.get("repairs", {})
    return [(words, counts[kind]) for kind, words in REPAIRS.items() if kind in counts]


DISPLAYS: Mapping[str, View] = {
    "plan": plan_page,
    "house": house_page,
    "graph": graph_drawing,
    "graph_json": graph_json,
    "tree": tree_drawing,
    "paths": tree_paths,
    "task": task_page,
    "planner": planner,
    "task_type": task_type,
    "step": step,
    "groups": group_rows,
    "repairs": repair_counts,
}
