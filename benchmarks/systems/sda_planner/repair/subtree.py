"""Adaptive action subtree (section 4.4 of the paper): every order of the window's steps and of
corrective ones that the graph allows, searched breadth first within a limit of nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.systems.sda_planner.repair.diagnosis import Diagnosis
from benchmarks.systems.sda_planner.repair.graph import Belief, Graph, Key, Value
from benchmarks.systems.sda_planner.steps import Step

MAX_NODES = 20_000
KEPT_PATHS = 5
KEPT_NODES = 500
PLAN, CORRECTIVE = "plan", "corrective"


class RepairCandidate(NamedTuple):
    """A step that may be chosen, and the steps that must follow it (an unsplit run)."""

    step: Step
    source: str
    forced: tuple[Step, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        return (self.step, *self.forced)

    def to_json(self) -> dict[str, Any]:
        return {"steps": [step.to_json() for step in self.steps], "source": self.source}


@dataclass(frozen=True)
class Cost:
    """The cost by which paths are ranked, smaller first: our choice, where the paper lets a
    model choose.

    ``misses``: the failed step is not on it; ``uncovered``: distinct steps of the window that it
    leaves out, preparations aside; ``conflicts``: unmet needs of the rest of the plan, positions
    aside; then the number of steps, of corrective steps, and the original order.
    """

    misses: int
    uncovered: int
    conflicts: int
    steps: int
    corrective: int
    order: tuple[int, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        return (
            self.misses,
            self.uncovered,
            self.conflicts,
            self.steps,
            self.corrective,
            self.order,
        )

    def to_json(self) -> dict[str, int]:
        return {
            "misses": self.misses, "uncovered": self.uncovered, "conflicts": self.conflicts,
            "steps": self.steps, "corrective": self.corrective,
        }  # fmt: skip


@dataclass(frozen=True)
class Path:
    """A way through the tree: its steps, its cost, and the nodes that it passes."""

    steps: tuple[Step, ...]
    cost: Cost
    nodes: tuple[int, ...]


@dataclass
class _Node:
    parent: int
    step: Step | None
    belief: Belief
    used: int
    depth: int
    order: tuple[int, ...]
    keys: frozenset[Key] = frozenset()
    end: bool = True


@dataclass
class Tree:
    """The result of a search.

    ``nodes`` count without the root; ``ends`` are the nodes at which a path may end, the root
    included. ``limited``: the limit of nodes cut the search short.
    """

    candidates: tuple[RepairCandidate, ...]
    paths: list[Path]
    nodes: int
    ends: int
    limited: bool
    pruned: dict[str, int]
    rows: list[list[Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the tree as it is stored: at most ``KEPT_NODES`` nodes of it."""
        return {
            "candidates": [one.to_json() for one in self.candidates],
            "nodes": self.rows, "made": self.nodes, "ends": self.ends, "limited": self.limited,
            "cut": self.nodes > len(self.rows), "pruned": self.pruned,
            "paths": [
                {"steps": [s.to_json() for s in p.steps], "cost": p.cost.to_json(),
                 "nodes": list(p.nodes)}
                for p in self.paths
            ],
        }  # fmt: skip


def make_candidates(
    window: Sequence[Step], correctives: Sequence[Step], items: frozenset[str]
) -> tuple[RepairCandidate, ...]:
    """Return what may be chosen: the window's steps, with unsplit runs as one, and the others.

    Neighbouring steps about one item that the error does not concern belong together.
    """
    candidates, at = [], 0
    while at < len(window):
        end = at + 1
        if window[at].item not in items:
            while end < len(window) and window[end].item == window[at].item:
                end += 1
        candidates.append(RepairCandidate(window[at], PLAN, tuple(window[at + 1 : end])))
        at = end
    candidates += [RepairCandidate(step, CORRECTIVE) for step in correctives]
    return tuple(candidates)


def search(
    graph: Graph,
    belief: Belief,
    window: Sequence[Step],
    failed: Step,
    diagnosis: Diagnosis,
    correctives: Sequence[Step],
    rest: Sequence[Step],
    max_nodes: int = MAX_NODES,
) -> Tree:
    """Search the subtree of a grounded window; ``belief`` is the one before the window.

    A child must have its needs met, change something, and leave something of what its parent did.
    The paths are those that hold the failed step, best first; there is none where no path does.
    """
    candidates = make_candidates(window, correctives, diagnosis.items)
    pruned = {"needs": 0, "change": 0, "covered": 0}
    nodes = [_Node(-1, None, belief, 0, 0, ())]
    limited, at = False, 0
    deepest = sum(len(one.steps) for one in candidates)
    while at < len(nodes) and not limited:
        node = nodes[at]
        if node.end and node.depth < deepest:
            seen: set[tuple[str, str]] = set()
            for number, candidate in enumerate(candidates):
                known = (candidate.step.skill, candidate.step.item)
                if node.used >> number & 1 or known in seen:
                    continue
                seen.add(known)
                if len(nodes) + len(candidate.forced) > max_nodes:
                    limited = True
                    break
                _grow(graph, nodes, at, number, candidate, pruned)
        at += 1
    return _ranked(graph, candidates, nodes, window, failed, rest, limited, pruned)


def _grow(
    graph: Graph, nodes: list[_Node], at: int, number: int, candidate: RepairCandidate,
    pruned: dict[str, int],
) -> None:  # fmt: skip
    """Add a candidate as a child, with the steps that must follow it."""
    node, step = nodes[at], candidate.step
    belief = node.belief
    if not belief.meets(graph, step):
        pruned["needs"] += 1
        return
    effects = belief.effects(graph, step)
    if not any(belief.get(key) != value for key, value in effects):
        pruned["change"] += 1
        return
    keys = frozenset(key for key, _ in effects)
    if node.step is not None and node.keys <= keys:
        pruned["covered"] += 1
        return
    made, parent = [], at
    order = (*node.order, number)
    depth, used = node.depth, node.used | 1 << number
    for place, one in enumerate(candidate.steps):
        if place:
            if not belief.meets(graph, one):
                pruned["needs"] += 1
                return
            effects = belief.effects(graph, one)
            keys = frozenset(key for key, _ in effects)
        belief = _after(belief, effects)
        depth += 1
        last = place == len(candidate.forced)
        made.append(_Node(parent, one, belief, used, depth, order, keys, last))
        parent = len(nodes) + len(made) - 1
    nodes += made


def _after(belief: Belief, effects: Sequence[tuple[Key, Value]]) -> Belief:
    after = belief.copy()
    for key, value in effects:
        after.own[key] = value
    return after


def _ranked(
    graph: Graph, candidates: tuple[RepairCandidate, ...], nodes: list[_Node],
    window: Sequence[Step], failed: Step, rest: Sequence[Step], limited: bool,
    pruned: dict[str, int],
) -> Tree:  # fmt: skip
    """Rank the ends that hold the failed step; only the best covered ones are simulated."""
    wanted = {(s.skill, s.item) for s in window if s.skill not in graph.preparations}
    target = (failed.skill, failed.item)
    covered: list[frozenset[tuple[str, str]]] = []
    by_cover: dict[int, list[int]] = {}
    for number, node in enumerate(nodes):
        mine = covered[node.parent] if node.parent >= 0 else frozenset()
        if node.step is not None:
            mine = mine | {(node.step.skill, node.step.item)}
        covered.append(mine)
        if node.end and target in mine:
            by_cover.setdefault(len(wanted - mine), []).append(number)
    simulated: dict[frozenset[tuple[Key, Value]], int] = {}
    paths: list[Path] = []
    for uncovered in sorted(by_cover):
        for number in by_cover[uncovered]:
            node = nodes[number]
            state = frozenset(node.belief.own.items())
            if state not in simulated:
                simulated[state] = len(node.belief.conflicts(graph, rest))
            steps = node.depth
            corrective = sum(candidates[n].source == CORRECTIVE for n in node.order)
            cost = Cost(0, uncovered, simulated[state], steps, corrective, node.order)
            paths.append(Path((), cost, (number,)))
        if len(paths) >= KEPT_PATHS:
            break
    paths.sort(key=lambda path: path.cost.key)
    ends = sum(node.end for node in nodes)
    tree = Tree(candidates, [], len(nodes) - 1, ends, limited, pruned)
    for path in paths[:KEPT_PATHS]:
        tree.paths.append(_spelt(nodes, path))
    tree.rows = _rows(nodes, tree.paths)
    return tree


def _spelt(nodes: Sequence[_Node], path: Path) -> Path:
    """Return a path with its steps and the numbers of its nodes."""
    at, numbers = path.nodes[0], []
    while at > 0:
        numbers.append(at)
        at = nodes[at].parent
    numbers.reverse()
    steps = tuple(step for n in numbers if (step := nodes[n].step) is not None)
    return Path(steps, path.cost, tuple(numbers))


def _rows(nodes: Sequence[_Node], paths: Sequence[Path]) -> list[list[Any]]:
    """Return [number, parent, step] of the first nodes and of those on kept paths."""
    kept = {number for path in paths for number in path.nodes}
    for number in range(1, len(nodes)):
        if len(kept) >= KEPT_NODES:
            break
        kept.add(number)
    return [
        [n, nodes[n].parent, step.to_json()]
        for n in sorted(kept) if (step := nodes[n].step) is not None
    ]  # fmt: skip
