"""Drawings of the state-dependency graph and of a subtree: places of nodes and lines, no colours.

The graph stands in three columns: skills that set states, the states, skills that need them. A
skill that does both stands on both sides, so that no line runs back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.core.types import Json
from benchmarks.systems.sda_planner.repair.graph import Graph
from benchmarks.systems.sda_planner.steps import SKILLS, Step

# Three columns are as wide as a phone shows without scrolling, at three quarters of their size.
WIDTH, HEIGHT, ROW = 100, 26, 34
COLUMNS = (54, 184, 328)
MARGIN = 18
EDGE = 4
TREE_NODES = 60
TREE_COLUMN, TREE_ROW, TREE_WIDTH = 188, 30, 164
TREE_NOTE = 14

_STATE_TITLES = {
    "agent.pos": "robot at", "agent.hold": "in the hand", "item.loc": "thing is in",
    "item.open": "thing is open", "item.on": "thing is on", "item.sliced": "thing is sliced",
}  # fmt: skip


class Box(NamedTuple):
    """A node: its middle, its words, and how it counts (``tone``: on the path, or not)."""

    x: float
    y: float
    text: str
    kind: str
    tone: str = ""
    note: str = ""


@dataclass(frozen=True)
class Line:
    """An edge from one node to another, with its value."""

    path: str
    kind: str
    text: str
    tone: str = ""


@dataclass(frozen=True)
class Drawing:
    """A drawing with its size; ``hidden`` nodes are left out, ``heads`` name its columns."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: float
    height: float
    hidden: int = 0
    heads: tuple[tuple[float, str], ...] = ()


def state_title(state: str) -> str:
    """Return a state in words, such as "thing is open"; those of a model by their own names."""
    owner, _, name = state.partition(".")
    words = {"agent": "robot: ", "item": "thing is "}.get(owner, "") + name.replace("_", " ")
    return _STATE_TITLES.get(state, words)


def draw_graph(graph: Graph, diagnosis: Json | None, failed: str, source: str) -> Drawing:
    """Draw a graph; the path of a diagnosis is marked: what set the state, and what needs it."""
    broken = diagnosis["state"][0] if diagnosis and diagnosis["state"] else ""
    setters = [skill for skill in SKILLS if graph.effects.get(skill)]
    needers = [skill for skill in SKILLS if graph.needs.get(skill)]
    rows = max(len(setters), len(graph.states), len(needers))
    height = 2 * MARGIN + 24 + ROW * rows
    places: dict[tuple[int, str], tuple[float, float]] = {}
    for column, names in enumerate((setters, graph.states, needers)):
        top = MARGIN + 24 + (rows - len(names)) * ROW / 2 + ROW / 2
        for number, name in enumerate(names):
            places[column, name] = (COLUMNS[column], top + number * ROW)
    boxes = [
        *(_box(places, 0, s, s, "skill", "source" if s == source else "") for s in setters),
        *(
            _box(places, 1, s, state_title(s), "state", "error" if s == broken else "")
            for s in graph.states
        ),
        *(_box(places, 2, s, s, "skill", "error" if s == failed else "") for s in needers),
    ]
    lines = [
        _line(places[0, skill], places[1, effect.state], "sets", f"{skill} sets "
              f"{state_title(effect.state)}",
              "source" if skill == source and effect.state == broken else "")
        for skill in setters for effect in graph.effects[skill]
    ]  # fmt: skip
    lines += [
        _line(places[1, need.state], places[2, skill], "needs", f"{skill} needs "
              f"{state_title(need.state)}",
              "error" if skill == failed and need.state == broken else "")
        for skill in needers for need in graph.needs[skill]
    ]  # fmt: skip
    lines.sort(key=lambda line: bool(line.tone))
    return Drawing(
        tuple(boxes),
        tuple(lines),
        COLUMNS[2] + WIDTH / 2 + EDGE,
        height,
        heads=tuple(zip(COLUMNS, ("sets", "state", "needs"), strict=True)),
    )


def _box(
    places: Mapping[tuple[int, str], tuple[float, float]], column: int, name: str, text: str,
    kind: str, tone: str,
) -> Box:  # fmt: skip
    x, y = places[column, name]
    return Box(x, y, text, kind, tone)


def _line(
    start: tuple[float, float], end: tuple[float, float], kind: str, text: str, tone: str
) -> Line:
    x1, x2 = start[0] + WIDTH / 2, end[0] - WIDTH / 2
    middle = (x1 + x2) / 2
    path = f"M{x1:g} {start[1]:g}C{middle:g} {start[1]:g} {middle:g} {end[1]:g} {x2:g} {end[1]:g}"
    return Line(path, kind, text, tone)


def draw_tree(tree: Json, chosen: int | None) -> Drawing:
    """Draw the nodes of kept paths and the first others, up to ``TREE_NODES``; the root is left."""
    paths = [path["nodes"] for path in tree["paths"]]
    best = set(paths[chosen]) if chosen is not None and chosen < len(paths) else set()
    rows = {number: (parent, Step.of(step)) for number, parent, step in tree["nodes"]}
    kept: set[int] = set()
    for path in sorted(paths, key=lambda nodes: not best.issuperset(nodes)):
        if len(kept | set(path)) <= TREE_NODES:
            kept |= set(path)
    for number in sorted(rows):
        if len(kept) >= TREE_NODES:
            break
        if rows[number][0] in kept or rows[number][0] == 0:
            kept.add(number)
    children: dict[int, list[int]] = {}
    for number in sorted(kept):
        children.setdefault(rows[number][0], []).append(number)
    spots: dict[int, tuple[float, float]] = {}
    leaf = 0

    def place(number: int, depth: int) -> float:
        nonlocal leaf
        below = [place(child, depth + 1) for child in children.get(number, ())]
        if below:
            y = (below[0] + below[-1]) / 2
        else:
            y, leaf = MARGIN + TREE_ROW / 2 + TREE_ROW * leaf, leaf + 1
        spots[number] = (MARGIN + TREE_WIDTH / 2 + TREE_COLUMN * depth, y)
        return y

    place(0, 0)
    ends = {path[-1]: number for number, path in enumerate(paths, 1) if path}
    on_path = {number for path in paths for number in path}
    boxes, lines = [], []
    for number, (x, y) in sorted(spots.items()):
        if number == 0:
            boxes.append(Box(x, y, "before the window", "root"))
            continue
        parent, step = rows[number]
        tone = "chosen" if number in best else "kept" if number in on_path else ""
        note = str(ends[number]) if number in ends else ""
        boxes.append(Box(x, y, step.text, "step", tone, note))
        px, py = spots[parent]
        x1, x2 = px + TREE_WIDTH / 2, x - TREE_WIDTH / 2
        middle = (x1 + x2) / 2
        path = f"M{x1:g} {py:g}C{middle:g} {py:g} {middle:g} {y:g} {x2:g} {y:g}"
        lines.append(Line(path, "step", "", tone))
    width = max(x for x, _ in spots.values()) + TREE_WIDTH / 2 + MARGIN + TREE_NOTE
    height = 2 * MARGIN + TREE_ROW * max(1, leaf)
    return Drawing(tuple(boxes), tuple(lines), width, height, tree["made"] - len(kept))
