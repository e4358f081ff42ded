"""A task's data types and the tools between them, and where a page draws them.

The graph is made first: data types as nodes, tools as edges. Then both get their places: nodes in
layers, and an edge that spans several layers passes through places of its own, so that it runs
beside data types and not through them. Sweeps order each layer by the middle of its neighbours.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.core.types import Json
from benchmarks.systems.planbench_xl.environment.catalogue import CatalogueTool, ToolWorld
from benchmarks.systems.planbench_xl.walk import MISLEADING, NOTHING, REFUSED, RELIABLE, ToolWalk

# --- Parts ----------------------------------------------------------------------------------------

_LINE = 20  # characters of a name in a line
OPEN, BLOCKED = "open", "blocked"
_WORDS = {
    OPEN: "on a catalogued path",
    BLOCKED: "blocked",
    RELIABLE: "called, reliable",
    MISLEADING: "called, unreliable",
    NOTHING: "called, nothing found",
    REFUSED: "call refused",
}


@dataclass
class TypeNode:
    """A data type. ``found`` is the step that found it, ``misled`` those with a false value."""

    name: str
    given: bool
    target: bool
    layer: int = 0
    x: float = 0
    y: float = 0
    found: int | None = None
    misled: list[int] = field(default_factory=list)
    catalogued: bool = True

    @property
    def lines(self) -> list[str]:
        """The name in one line or two, cut at an underscore."""
        if len(self.name) <= _LINE:
            return [self.name]
        cut = self.name.rfind("_", 1, _LINE) + 1 or _LINE
        rest = self.name[cut:]
        return [self.name[:cut], rest if len(rest) <= _LINE else rest[: _LINE - 1] + "…"]

    @property
    def state(self) -> str:
        if self.given:
            return "given"
        if self.found is not None:
            return "found"
        return "misled" if self.misled else "unknown"

    @property
    def note(self) -> str:
        """The note under the name."""
        parts = ["asked for"] if self.target else []
        if self.given:
            parts.append("given")
        elif self.found is not None:
            parts.append(f"✓ step {self.found}")
        elif self.misled:
            parts.append(f"? step {self.misled[0]}")
        return ", ".join(parts)


@dataclass
class Edge:
    """A tool. ``key`` is the letter that stands at its lines; ``steps`` are its calls.

    ``drawn_with`` counts the tools that share its lines.
    """

    key: str
    tool: str
    inputs: tuple[str, ...]
    output: str
    state: str
    blocked: bool = False
    steps: tuple[int, ...] = ()
    stands_for: str = ""
    noise: str = ""
    lines: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    x: float = 0
    y: float = 0
    drawn_with: int = 0

    @property
    def words(self) -> str:
        """The result of the call in words."""
        text = _WORDS[self.state]
        if self.blocked and self.state != BLOCKED:
            text += ", blocked"
        if self.noise:
            text += f" ({self.noise})"
        return text

    @property
    def label(self) -> str:
        marks = {BLOCKED: " ✕", MISLEADING: " ▲", NOTHING: " ∅", REFUSED: " ⊘"}
        steps = "·" + ",".join(map(str, self.steps[:2])) if self.steps else ""
        more = "…" if len(self.steps) > 2 else ""
        if self.drawn_with:
            return f"{self.key} +{self.drawn_with}{marks.get(self.state, '')}"
        return f"{self.key}{steps}{more}{marks.get(self.state, '')}"

    @property
    def label_width(self) -> float:
        return 10 + 7 * len(self.label)

    @property
    def half(self) -> float:
        return self.label_width / 2


# What tells of a tool that was called several times: the strongest of what became of the calls.
_STRONGEST = (RELIABLE, MISLEADING, NOTHING, REFUSED)


class ToolGraph(NamedTuple):
    """Everything with its place; ``width`` and ``height`` are the size of the drawing."""

    nodes: tuple[TypeNode, ...]
    edges: tuple[Edge, ...]
    width: float
    height: float

    @property
    def states(self) -> set[str]:
        return {edge.state for edge in self.edges}


def draw(
    world: ToolWorld, payload: Json, blocked: Collection[str] = (), walk: ToolWalk | None = None
) -> ToolGraph:
    """Return the catalogued tools of a task, and those that a walk called, with what became of
    them.
    """
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
    return ToolGraph(tuple(nodes.values()), tuple(edges), width, height)


def _nodes(
    tools: Sequence[CatalogueTool], names: Collection[str], given: Sequence[str], target: str,
    walk: ToolWalk | None,
) -> dict[str, TypeNode]:  # fmt: skip
    catalogued = set(given) | {target}
    for tool in tools:
        if tool.name in names:
            catalogued.update((*tool.inputs, tool.output))
    every = dict.fromkeys([*given, target, *(n for t in tools for n in (*t.inputs, t.output))])
    nodes = {
        name: TypeNode(name, name in given, name == target, catalogued=name in catalogued)
        for name in every
    }
    for step in walk.steps if walk else ():
        for name in step.gained:
            if name in nodes and nodes[name].found is None:
                nodes[name].found = step.index
        if step.became == MISLEADING and step.made_by and step.made_by.output in nodes:
            nodes[step.made_by.output].misled.append(step.index)
    return nodes


def _layers(
    nodes: Mapping[str, TypeNode], tools: Sequence[CatalogueTool], given: Iterable[str]
) -> None:
    """Return the least number of tools to each data type; what is out of reach stands before its
    use.
    """
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


def _edge(
    number: int, tool: CatalogueTool, calls: Mapping[int, str], blocked: Collection[str]
) -> Edge:
    key = chr(65 + number) if number < 26 else f"{chr(64 + number // 26)}{chr(65 + number % 26)}"
    is_blocked = tool.name in blocked
    state = next((s for s in _STRONGEST if s in calls.values()), BLOCKED if is_blocked else OPEN)
    stands_for = tool.source if tool.source != tool.name else ""
    noise = tool.noise.replace("_", " ")
    return Edge(
        key, tool.name, tool.inputs, tool.output, state, is_blocked, tuple(calls), stands_for, noise
    )


def _drawn(edges: Iterable[Edge]) -> list[Edge]:
    """Return the edges that get lines: noisy and blocking tools alike in all that shows share
    one.
    """
    alike: dict[tuple[object, ...], Edge] = {}
    drawn = []
    for edge in edges:
        first = alike.setdefault((edge.inputs, edge.output, edge.state), edge)
        if edge.stands_for and first.stands_for and first is not edge:
            first.drawn_with += 1
        else:
            drawn.append(edge)
    return drawn


# --- Places ---------------------------------------------------------------------------------------

WIDTH, HEIGHT, GAP, ROW, EDGE = 158.0, 50.0, 26.0, 140.0, 20.0
_NARROW = 28.0  # what a passing edge takes of a layer
_SWEEPS = 6
_Spot = tuple[str, ...]  # (data type) or (tool, input, layer) of a passing edge


def place(
    nodes: Sequence[TypeNode], edges: Sequence[Edge], by_name: Mapping[str, TypeNode]
) -> tuple[float, float]:
    """Give every node its place and every edge its lines; the size of the whole."""
    layers: dict[int, list[_Spot]] = defaultdict(list)
    for node in nodes:
        layers[node.layer].append((node.name,))
    chains: dict[tuple[str, str], list[_Spot]] = {}
    near: dict[_Spot, list[_Spot]] = defaultdict(list)
    for edge in edges:
        for name in edge.inputs:
            chain: list[_Spot] = [(name,)]
            for layer in range(by_name[name].layer + 1, by_name[edge.output].layer):
                spot = (edge.tool, name, str(layer))
                layers[layer].append(spot)
                chain.append(spot)
            chain.append((edge.output,))
            chains[edge.tool, name] = chain
            for above, below in zip(chain, chain[1:], strict=False):
                near[above].append(below)
                near[below].append(above)
    ordered = [layers[layer] for layer in sorted(layers)]
    _order(ordered, near)
    centres = _centres(ordered)
    width = max((x + _wide(spot) / 2 for spot, x in centres.items()), default=0) + EDGE
    for node in nodes:
        node.x, node.y = centres[node.name,], EDGE + HEIGHT / 2 + ROW * node.layer
    bows = _lines(edges, chains, centres, by_name)
    last = max((node.layer for node in nodes), default=0)
    height = 2 * EDGE + HEIGHT + ROW * last
    hangs = any(
        by_name[edge.output].layer == by_name[name].layer == last
        for edge in edges
        for name in edge.inputs
    )
    return round(width + bows, 1), round(height + 44 * hangs, 1)


def _wide(spot: _Spot) -> float:
    return WIDTH if len(spot) == 1 else _NARROW


def _order(layers: Sequence[list[_Spot]], near: Mapping[_Spot, Sequence[_Spot]]) -> None:
    """Sort each layer by the mean place of its neighbours in the one before, then after."""
    for sweep in range(_SWEEPS):
        order = layers if sweep % 2 == 0 else list(reversed(layers))
        for fixed, loose in zip(order, order[1:], strict=False):
            at = {spot: place / max(1, len(fixed) - 1) for place, spot in enumerate(fixed)}
            places = {spot: place / max(1, len(loose) - 1) for place, spot in enumerate(loose)}

            def middle(
                spot: _Spot,
                at: Mapping[_Spot, float] = at,
                places: Mapping[_Spot, float] = places,
            ) -> float:
                known = [at[other] for other in near.get(spot, ()) if other in at]
                return sum(known) / len(known) if known else places[spot]

            loose.sort(key=middle)


def _centres(layers: Sequence[Sequence[_Spot]]) -> dict[_Spot, float]:
    """Return each layer side by side, in the middle of the widest."""
    sizes = [sum(map(_wide, layer)) + GAP * (len(layer) - 1) for layer in layers]
    widest = max(sizes, default=0)
    centres = {}
    for layer, size in zip(layers, sizes, strict=True):
        x = EDGE + (widest - size) / 2
        for spot in layer:
            centres[spot] = round(x + _wide(spot) / 2, 1)
            x += _wide(spot) + GAP
    return centres


def _lines(
    edges: Sequence[Edge],
    chains: Mapping[tuple[str, str], Sequence[_Spot]],
    centres: Mapping[_Spot, float],
    by_name: Mapping[str, TypeNode],
) -> float:
    """Draw the edges; how much room those need that lead back, at the right."""
    shifts: dict[tuple[str, str], int] = defaultdict(int)
    tagged: list[Edge] = []
    room = 0.0
    for edge in edges:
        end = by_name[edge.output]
        spots = []
        for name in edge.inputs:
            start = by_name[name]
            shift = 22.0 * shifts[name, edge.output]
            shifts[name, edge.output] += 1
            if end.layer > start.layer:
                xs = [centres[spot] for spot in chains[edge.tool, name]]
                spots += _down(edge, start, end, xs, shift)
            elif end.layer == start.layer:
                spots += _beneath(edge, start, end, shift)
            elif end.layer == start.layer - 1:
                spots += _up(edge, start, end, shift)
            else:
                room = max(room, 70.0 + shift)
                spots += _back(edge, start, end, max(centres.values()) + 60 + WIDTH / 2 + shift)
        edge.x, edge.y = min(spots, key=lambda spot: _covered(edge, spot, tagged))
        tagged.append(edge)
    return room


_Point = tuple[float, float]


def _covered(edge: Edge, spot: _Point, tagged: Sequence[Edge]) -> int:
    """Return how many labels the label of an edge would touch."""
    return sum(
        abs(spot[0] - other.x) < edge.half + other.half + 3 and abs(spot[1] - other.y) < 20
        for other in tagged
    )


def _curve(a: _Point, b: _Point, c: _Point, d: _Point, t: float) -> _Point:
    u = 1 - t
    parts = [(u**3, a), (3 * u * u * t, b), (3 * u * t * t, c), (t**3, d)]
    return round(sum(w * p[0] for w, p in parts), 1), round(sum(w * p[1] for w, p in parts), 1)


def _down(
    edge: Edge, start: TypeNode, end: TypeNode, xs: Sequence[float], shift: float
) -> list[_Point]:
    """Draw from the lower side of a node to the upper side of one below; return where a label
    may stand.
    """
    spots, text = [], ""
    at: _Point = (start.x + shift, start.y + HEIGHT / 2)
    for number, x in enumerate(xs[1:], 1):
        last = number == len(xs) - 1
        y = start.y + ROW * number - HEIGHT / 2
        to: _Point = (x + shift, y - 7 if last else y)
        half = (to[1] - at[1]) / 2
        b, c = (at[0], at[1] + half), (to[0], to[1] - half)
        text += "" if text else f"M{at[0]:g} {at[1]:g}"
        text += f"C{b[0]:g} {b[1]:g} {c[0]:g} {c[1]:g} {to[0]:g} {to[1]:g}"
        spots += [_curve(at, b, c, to, t) for t in (0.5, 0.2, 0.8, 0.35, 0.65)]
        at = to
        if not last:  # straight past the nodes of this layer
            at = (to[0], to[1] + HEIGHT)
            text += f"L{at[0]:g} {at[1]:g}"
    edge.lines.append(text)
    x, y = at
    edge.heads.append(f"{x - 4.5:g},{y:g} {x + 4.5:g},{y:g} {x:g},{y + 7:g}")
    return spots


def _beneath(edge: Edge, start: TypeNode, end: TypeNode, shift: float) -> list[_Point]:
    """Draw between two nodes of a layer, in a bow beneath both."""
    side = 30 if end.x > start.x else -30
    y = start.y + HEIGHT / 2
    a, d = (start.x + side + shift, y), (end.x - side + shift, y + 7)
    b, c = (a[0], y + 46), (d[0], y + 46)
    edge.lines.append(f"M{a[0]:g} {a[1]:g}C{b[0]:g} {b[1]:g} {c[0]:g} {c[1]:g} {d[0]:g} {d[1]:g}")
    edge.heads.append(f"{d[0] - 4.5:g},{d[1]:g} {d[0] + 4.5:g},{d[1]:g} {d[0]:g},{y:g}")
    return [_curve(a, b, c, d, t) for t in (0.5, 0.3, 0.7, 0.15, 0.85)]


def _up(edge: Edge, start: TypeNode, end: TypeNode, shift: float) -> list[_Point]:
    """Draw back to the layer above, between the two."""
    a = (start.x + 40 + shift, start.y - HEIGHT / 2)
    d = (end.x + 40 + shift, end.y + HEIGHT / 2 + 7)
    half = (a[1] - d[1]) / 2
    b, c = (a[0], a[1] - half), (d[0], d[1] + half)
    edge.lines.append(f"M{a[0]:g} {a[1]:g}C{b[0]:g} {b[1]:g} {c[0]:g} {c[1]:g} {d[0]:g} {d[1]:g}")
    edge.heads.append(f"{d[0] - 4.5:g},{d[1]:g} {d[0] + 4.5:g},{d[1]:g} {d[0]:g},{d[1] - 7:g}")
    return [_curve(a, b, c, d, t) for t in (0.5, 0.2, 0.8, 0.35, 0.65)]


def _back(edge: Edge, start: TypeNode, end: TypeNode, x: float) -> list[_Point]:
    """Draw back to an earlier layer, round the right side."""
    a = (start.x + WIDTH / 2, start.y)
    d = (end.x + WIDTH / 2 + 7, end.y)
    b, c = (x, a[1]), (x, d[1])
    edge.lines.append(f"M{a[0]:g} {a[1]:g}C{b[0]:g} {b[1]:g} {c[0]:g} {c[1]:g} {d[0]:g} {d[1]:g}")
    edge.heads.append(f"{d[0]:g},{d[1] - 4.5:g} {d[0]:g},{d[1] + 4.5:g} {d[0] - 7:g},{d[1]:g}")
    return [_curve(a, b, c, d, t) for t in (0.5, 0.3, 0.7, 0.15, 0.85)]
