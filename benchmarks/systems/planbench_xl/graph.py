"""A task's data types and the tools between them; no drawing here.

The layer of a data type is the least number of tools from what the query gives to it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.core.types import Json
from benchmarks.systems.planbench_xl.catalogue import Tool, World
from benchmarks.systems.planbench_xl.layout import place
from benchmarks.systems.planbench_xl.parts import BLOCKED, OPEN, Edge, Node
from benchmarks.systems.planbench_xl.walk import MISLEADING, NOTHING, REFUSED, RELIABLE, Walk

# What tells of a tool that was called several times: the strongest of what became of the calls.
_STRONGEST = (RELIABLE, MISLEADING, NOTHING, REFUSED)


@dataclass(frozen=True)
class Graph:
    """Everything with its place; ``width`` and ``height`` are the size of the drawing."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    width: float
    height: float

    @property
    def states(self) -> set[str]:
        return {edge.state for edge in self.edges}


def draw(
    world: World, payload: Json, blocked: Collection[str] = (), walk: Walk | None = None
) -> Graph:
    """The catalogued tools of a task, and those that a walk called, with what became of them."""
    given, target = list(payload["input_datatypes"]), payload["target_datatype"]
    names = sorted({name for path in payload["paths"] for name in path if name in world.tools})
    became: dict[str, dict[int, str]] = defaultdict(dict)
    for step in walk.steps if walk else ():
        if step.tool in world.tools:
            became[step.tool][step.index] = step.became
    tools = [world.tools[name] for name in [*names, *(n for n in became if n not in set(names))]]
    nodes = _nodes(tools, set(names), given, target, walk)
    _layers(nodes, tools, given)
    tools.sort(key=lambda tool: (nodes[tool.output].layer, tool.output, tool.name))
    edges = [
        _edge(number, tool, became.get(tool.name, {}), blocked) for number, tool in enumerate(tools)
    ]
    width, height = place(list(nodes.values()), _drawn(edges), nodes)
    return Graph(tuple(nodes.values()), tuple(edges), width, height)


def _nodes(
    tools: Sequence[Tool], names: Collection[str], given: Sequence[str], target: str,
    walk: Walk | None,
) -> dict[str, Node]:  # fmt: skip
    catalogued = set(given) | {target}
    for tool in tools:
        if tool.name in names:
            catalogued.update((*tool.inputs, tool.output))
    every = dict.fromkeys([*given, target, *(n for t in tools for n in (*t.inputs, t.output))])
    nodes = {
        name: Node(name, name in given, name == target, catalogued=name in catalogued)
        for name in every
    }
    for step in walk.steps if walk else ():
        for name in step.gained:
            if name in nodes and nodes[name].found is None:
                nodes[name].found = step.index
        if step.became == MISLEADING and step.made_by and step.made_by.output in nodes:
            nodes[step.made_by.output].misled.append(step.index)
    return nodes


def _layers(nodes: Mapping[str, Node], tools: Sequence[Tool], given: Iterable[str]) -> None:
    """The least number of tools to each data type; what is out of reach stands before its use."""
    distance = dict.fromkeys(given, 0)
    changed = True
    while changed:
        changed = False
        for tool in tools:
            if all(name in distance for name in tool.inputs):
                way = 1 + max((distance[name] for name in tool.inputs), default=0)
                if way < distance.get(tool.output, way + 1):
                    distance[tool.output], changed = way, True
    for name, node in nodes.items():
        node.layer = distance.get(name, 1)


def _edge(number: int, tool: Tool, calls: Mapping[int, str], blocked: Collection[str]) -> Edge:
    key = chr(65 + number) if number < 26 else f"{chr(64 + number // 26)}{chr(65 + number % 26)}"
    is_blocked = tool.name in blocked
    state = next((s for s in _STRONGEST if s in calls.values()), BLOCKED if is_blocked else OPEN)
    stands_for = tool.source if tool.source != tool.name else ""
    noise = tool.noise.replace("_", " ")
    return Edge(
        key, tool.name, tool.inputs, tool.output, state, is_blocked, tuple(calls), stands_for, noise
    )


def _drawn(edges: Iterable[Edge]) -> list[Edge]:
    """The edges that get lines: noisy and blocking tools alike in all that shows share one."""
    alike: dict[tuple[object, ...], Edge] = {}
    drawn = []
    for edge in edges:
        first = alike.setdefault((edge.inputs, edge.output, edge.state), edge)
        if edge.stands_for and first.stands_for and first is not edge:
            first.drawn_with += 1
        else:
            drawn.append(edge)
    return drawn
