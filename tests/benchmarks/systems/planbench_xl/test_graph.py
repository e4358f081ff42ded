"""Walks read from payloads, and graphs of tools: what they hold and where it stands."""

import re
from itertools import combinations
from typing import Any

import pytest

from benchmarks.systems.planbench_xl.environment.blockers import plan_for
from benchmarks.systems.planbench_xl.environment.catalogue import CatalogueTool, ToolWorld, world_of
from benchmarks.systems.planbench_xl.environment.similarity import DataType
from benchmarks.systems.planbench_xl.graph import HEIGHT, WIDTH, ToolGraph, draw
from benchmarks.systems.planbench_xl.settings import resolve
from benchmarks.systems.planbench_xl.walk import ToolWalk, read_walk
from benchmarks.systems.planbench_xl.world import load_world

TASKS = load_world().tasks


def small_world(*tools: tuple[str, str, str], kinds: str = "") -> ToolWorld:
    """A world of tools as (name, inputs apart by spaces, output); noisy ones end on ``~``."""
    made = {}
    for name, inputs, output in tools:
        noisy = name.endswith("~")
        made[name] = CatalogueTool(
            name, "noisy" if noisy else "baseline", tuple(inputs.split()), output, {}, "", {},
            source=name.rstrip("~"), noise="stale" if noisy else "",
        )  # fmt: skip
    names = {word for _, inputs, output in tools for word in (*inputs.split(), output)}
    return ToolWorld("d", tuple(DataType(name, (), "") for name in names), (), made)


def payload(given: str, target: str, *paths: str) -> dict[str, Any]:
    return {
        "input_datatypes": given.split(),
        "target_datatype": target,
        "paths": [path.split() for path in paths],
    }


def call(tool: str, **facts: Any) -> dict[str, Any]:
    request = {"name": tool, "arguments": {}}
    return {"action": "tool_call", "category": "tool_ok", "tool": tool, "request": request, **facts}


def layers(graph: ToolGraph) -> dict[str, int]:
    return {node.name: node.layer for node in graph.nodes}


def points(line: str) -> list[tuple[float, float]]:
    """Points along a path of M, C and L."""
    found: list[tuple[float, float]] = []
    for kind, numbers in re.findall(r"([MCL])([^MCL]*)", line):
        given = [float(number) for number in numbers.split()]
        pairs = list(zip(given[::2], given[1::2], strict=True))
        if kind == "C":
            a, (b, c, d) = found[-1], pairs
            for step in range(1, 21):
                t = step / 20
                w = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t * t, t**3)
                found.append(
                    tuple(sum(n * p[i] for n, p in zip(w, (a, b, c, d), strict=True))  # type: ignore[arg-type]
                          for i in (0, 1))
                )  # fmt: skip
        else:
            found += pairs
    return found


class TestLayers:
    def test_least_number_of_tools_from_what_is_given(self) -> None:
        world = small_world(("ab", "a", "b"), ("bc", "b", "c"), ("cd", "c", "d"), ("ad", "a", "d"),
                            ("bd_e", "b d", "e"))  # fmt: skip
        graph = draw(world, payload("a", "e", "ab bc cd bd_e", "ab ad bd_e"))
        # d is one tool away although a path takes three; e needs b and d, both one away
        assert layers(graph) == {"a": 0, "b": 1, "c": 2, "d": 1, "e": 2}
        (two,) = [edge for edge in graph.edges if edge.tool == "bd_e"]
        assert (two.inputs, len(two.lines), len(two.heads)) == (("b", "d"), 2, 2)

    def test_a_task_without_paths_has_its_ends_alone(self) -> None:
        graph = draw(small_world(("ab", "a", "b")), payload("a", "z"))
        assert [(n.name, n.given, n.target) for n in graph.nodes] == [
            ("a", True, False), ("z", False, True),
        ]  # fmt: skip
        assert graph.edges == ()

    def test_what_is_out_of_reach_has_a_place(self) -> None:
        world = small_world(("ab", "a", "b"), ("xy", "x", "y"))
        walk = read_walk(world, [], [(1, call("xy", category="err_call_inputs"))], ["a"])
        graph = draw(world, payload("a", "b", "ab"), walk=walk)
        assert {"x", "y"} <= layers(graph).keys()
        assert [e.state for e in graph.edges if e.tool == "xy"] == ["refused"]

    def test_unreliable_tools_alike_share_a_line(self) -> None:
        world = small_world(
            ("ab", "a", "b"), ("ab~", "a", "b"), ("a2~", "a", "b"), ("a3~", "a", "b")
        )
        calls = [(n, call(t, provenance="untrusted", value="?"))
                 for n, t in enumerate(("ab~", "a2~", "a3~"), 1)]  # fmt: skip
        walk = read_walk(world, ["ab"], calls, ["a"])
        graph = draw(world, payload("a", "b", "ab"), walk=walk)
        lines = {edge.tool: len(edge.lines) for edge in graph.edges}
        assert sorted(lines.values()) == [0, 0, 1, 1]
        assert lines["ab"] == 1
        assert [edge.label for edge in graph.edges if edge.drawn_with] == ["A +2 ▲"]

    def test_back_to_earlier_layers(self) -> None:
        world = small_world(("ab", "a", "b"), ("bc", "b", "c"), ("cd", "c", "d"), ("db", "d", "b"),
                            ("cb", "c", "b"))  # fmt: skip
        graph = draw(world, payload("a", "d", "ab bc cd", "db cb"))
        for edge in graph.edges:
            for x, y in points(edge.lines[0]):
                assert 0 <= x <= graph.width, edge.tool
                assert 0 <= y <= graph.height, edge.tool


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_nothing_lies_on_anything_else(task: Any) -> None:
    graph = draw(world_of(task.shared), task.payload)
    for one, other in combinations(graph.nodes, 2):
        assert abs(one.x - other.x) >= WIDTH or abs(one.y - other.y) >= HEIGHT, (one, other)
    by_name = {node.name: node for node in graph.nodes}
    for edge in graph.edges:
        for name, line in zip(edge.inputs, edge.lines, strict=True):
            if by_name[name].layer >= by_name[edge.output].layer:
                continue
            inside = [
                node.name
                for x, y in points(line)
                for node in graph.nodes
                if abs(x - node.x) < WIDTH / 2 - 1 and abs(y - node.y) < HEIGHT / 2 - 1
            ]
            assert inside == [], edge.tool
    for node in graph.nodes:
        assert WIDTH / 2 <= node.x <= graph.width - WIDTH / 2
        assert HEIGHT / 2 <= node.y <= graph.height - HEIGHT / 2
    tags = [(edge.x, edge.y) for edge in graph.edges]
    assert len(set(tags)) == len(tags)
    assert len({edge.key for edge in graph.edges}) == len(graph.edges)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_what_is_blocked_is_marked(task: Any) -> None:
    rules = resolve({"condition": "blocker"}).rules
    assert rules is not None
    plan = plan_for(task.payload["task_id"], tuple(map(tuple, task.payload["paths"])), rules)
    graph = draw(world_of(task.shared), task.payload, plan.tools)
    assert {edge.tool for edge in graph.edges if edge.state == "blocked"} == set(plan.tools)


class TestWalk:
    world = small_world(("ab", "a", "b"), ("ab~", "a", "b"), ("bc", "b", "c"))
    turns = (
        (1, {"action": "retrieve_tools", "category": "retrieve_ok", "tools":
             ["ab~", "ab", "gone"]}),
        (2, call("ab~", provenance="untrusted", value="?", gained=[])),
        (3, call("ab", provenance="trusted", value="!", gained=["b"])),
        (4, {"action": "retrieve_tools", "category": "retrieve_ok", "tools": ["ab", "bc"]}),
        (5, call("bc", category="tool_no_result", provenance="none")),
        (6, call("no such", category="err_call_unavailable")),
        (7, {"action": "final_answer", "category": "answer_end", "request": "!", "correct": True,
             "reached": False, "datatype_check": False, "untrusted_sources": ["noisy"]}),
    )  # fmt: skip

    def walk(self) -> ToolWalk:
        return read_walk(self.world, ["ab", "bc"], self.turns, ["a"])

    def test_steps_and_counters(self) -> None:
        steps = self.walk().steps
        assert [step.became for step in steps] == [
            "", "misleading", "reliable", "", "nothing", "refused", "",
        ]  # fmt: skip
        first, fourth = steps[0], steps[3]
        assert [(t.name, t.kind, t.on_path, t.fresh) for t in first.tools] == [
            ("ab~", "noisy", False, True), ("ab", "baseline", True, True),
            ("gone", "", False, True),
        ]  # fmt: skip
        assert [(t.name, t.fresh) for t in fourth.tools] == [("ab", False), ("bc", True)]
        counters = steps[-1].counters
        assert (counters.searches, counters.calls, counters.refused) == (2, 4, 1)
        assert (counters.tools, counters.known) == (4, 2)
        assert steps[-1].badge == "not right"
        assert "noisy tools returned" in steps[-1].sentence

    def test_the_graph_grows_with_the_steps(self) -> None:
        task = payload("a", "c", "ab bc")
        states = []
        for step in range(1, 8):
            graph = draw(self.world, task, (), self.walk().until(step))
            node = next(node for node in graph.nodes if node.name == "b")
            states.append(node.state)
        assert states == ["unknown", "misled", *["found"] * 5]
        graph = draw(self.world, task, ("bc",), self.walk())
        found = {edge.tool: (edge.state, edge.blocked, edge.steps) for edge in graph.edges}
        assert found == {
            "ab": ("reliable", False, (3,)),
            "ab~": ("misleading", False, (2,)),
            "bc": ("nothing", True, (5,)),
        }
