"""The tools that are blocked for a task: one plan per task, drawn before its episode."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from hashlib import sha256
from itertools import combinations, islice
from operator import or_
from random import Random
from typing import Any

from benchmarks.systems.planbench_xl.environment.catalogue import (
    BLOCKER_TYPES,
    CatalogueTool,
    ToolWorld,
)

EXACT, REMAINING, RATIO = (
    "exact_blocked_paths", "target_remaining_paths", "target_remaining_ratio",
)  # fmt: skip
SELECTIONS = (RATIO, REMAINING, EXACT)
LENGTHS = ("none", "maximize", "minimize", "random", "random_middle")
EDGES = ("none", "minimize")
FIXED, RANDOM, FIXED_MULTI, RANDOM_MULTI = "fixed", "random", "fixed_multi", "random_multi"
NOISE_MODES = (FIXED_MULTI, FIXED, RANDOM, RANDOM_MULTI)
# Plans that a process remembers; a run has one for each of its tasks.
_REMEMBERED = 4096


@dataclass(frozen=True)
class Rules:
    """The rules by which plans are drawn. Names are those of the settings."""

    selection: str
    block_paths: int
    remaining_paths: int
    remaining_ratio: float
    tolerance: int
    min_remaining: int
    length_objective: str
    tools_objective: str
    seed: int
    noise_mode: str
    noise_types: tuple[str, ...]
    noise_count: int
    max_candidates: int
    max_tools: int


@dataclass(frozen=True)
class Plan:
    """The blocked tools of a task in order, with the types of noise that stand in for each.

    ``tools`` is empty where nothing fits the rules (``resolved`` false) or nothing has to be
    blocked. ``paths`` numbers the paths that are blocked, ``pool`` counts the plans from which the
    draw was made.
    """

    resolved: bool
    tools: tuple[str, ...] = ()
    noise: tuple[tuple[str, ...], ...] = ()
    paths: tuple[int, ...] = ()
    candidates: int = 0
    truncated: bool = False
    pool: int = 0
    pick: int | None = None
    remaining_mean: float | None = None

    def standing_in(self, world: ToolWorld) -> dict[str, tuple[CatalogueTool, ...]]:
        """Return by blocked tool the tools that are shown in its place."""
        return {
            name: tuple(world.blockers[name, kind] for kind in kinds)
            for name, kinds in zip(self.tools, self.noise, strict=True)
        }


UNBLOCKED = Plan(True)
_Candidate = tuple[tuple[int, ...], int]


@lru_cache(_REMEMBERED)
def plan_for(task_id: str, paths: tuple[tuple[str, ...], ...], rules: Rules) -> Plan:
    """Return the plan of a task: a function of its id, its paths and the rules."""
    seed = rules.seed + int.from_bytes(sha256(task_id.encode()).digest()[:8], "big")
    rng = Random(seed)
    sets = [frozenset(path) for path in paths]
    tools = sorted(frozenset().union(*sets))
    covers = [sum(1 << n for n, path in enumerate(sets) if tool in path) for tool in tools]
    drawn = list(islice(_candidates(covers, rules.max_tools), rules.max_candidates + 1))
    truncated = len(drawn) > rules.max_candidates
    del drawn[rules.max_candidates :]
    pool = _fitting(drawn, len(sets), rules)
    if not pool:
        return Plan(False, candidates=len(drawn), truncated=truncated)
    lengths = [len(path) for path in sets]
    pool = _by_length(pool, lengths, rules.length_objective, rng)
    if rules.tools_objective == "minimize":
        fewest = min(len(chosen) for chosen, _ in pool)
        pool = [candidate for candidate in pool if len(candidate[0]) == fewest]
    pick = rng.randrange(len(pool))
    chosen, blocked = pool[pick]
    mean = _mean_length(blocked, lengths)
    return Plan(
        True,
        tuple(tools[number] for number in chosen),
        tuple(_noise(rules, rng) for _ in chosen),
        tuple(number for number in range(len(sets)) if blocked >> number & 1),
        len(drawn),
        truncated,
        len(pool),
        pick,
        None if mean is None else float(mean),
    )


def _candidates(covers: Sequence[int], most: int) -> Iterator[_Candidate]:
    """Yield nothing, then every combination of 1, 2, … tools in order, with the paths it blocks
    as bits.

    The sizes that plans have are spelt out: this loop is what a plan costs.
    """
    yield (), 0
    numbers = range(len(covers))
    for size in range(1, min(most, len(covers)) + 1):
        blocked: Iterable[int]
        if size == 1:
            blocked = covers
        elif size == 2:
            blocked = (a | b for a, b in combinations(covers, 2))
        elif size == 3:
            blocked = (a | b | c for a, b, c in combinations(covers, 3))
        elif size == 4:
            blocked = (a | b | c | d for a, b, c, d in combinations(covers, 4))
        else:
            blocked = (reduce(or_, masks) for masks in combinations(covers, size))
        yield from zip(combinations(numbers, size), blocked, strict=True)


def _fitting(drawn: Sequence[_Candidate], paths: int, rules: Rules) -> list[_Candidate]:
    """Return the candidates that the selection keeps, in their order."""
    counts = [blocked.bit_count() for _, blocked in drawn]
    possible = {count for count in counts if paths - count >= rules.min_remaining}
    if rules.selection == EXACT:
        wanted = possible & {min(rules.block_paths, paths)}
    else:
        share = round(paths * rules.remaining_ratio)
        target = rules.remaining_paths if rules.selection == REMAINING else share
        goal = max(rules.min_remaining, min(paths, target))
        distances = {count: abs(paths - count - goal) for count in possible}
        nearest = min(distances.values(), default=0)
        near = nearest <= rules.tolerance
        wanted = {c for c, distance in distances.items() if near and distance == nearest}
    return [kept for kept, count in zip(drawn, counts, strict=True) if count in wanted]


def _by_length(
    pool: list[_Candidate], lengths: Sequence[int], objective: str, rng: Random
) -> list[_Candidate]:
    """Return the candidates whose remaining paths have the mean length that the objective wants."""
    if objective == "none":
        return pool
    by_mask = {blocked: _mean_length(blocked, lengths) for blocked in {mask for _, mask in pool}}
    means = sorted({mean for mean in by_mask.values() if mean is not None})
    if not means:
        return pool
    if objective in ("maximize", "minimize"):
        wanted = means[-1] if objective == "maximize" else means[0]
    else:
        wanted = means[rng.randrange(len(means))]
    return [candidate for candidate in pool if by_mask[candidate[1]] == wanted]


def _mean_length(blocked: int, lengths: Sequence[int]) -> Fraction | None:
    """Return the exact mean length of the paths that are left, None where none is."""
    left = ~blocked & (1 << len(lengths)) - 1
    total, count = 0, left.bit_count()
    while left:
        total += lengths[(left & -left).bit_length() - 1]
        left &= left - 1
    return _fraction(total, count) if count else None


@lru_cache(_REMEMBERED)
def _fraction(total: int, count: int) -> Fraction:
    return Fraction(total, count)


def _noise(rules: Rules, rng: Random) -> tuple[str, ...]:
    """Return the types of noise for one blocked tool."""
    match rules.noise_mode:
        case "fixed":
            return rules.noise_types[:1]
        case "random":
            return (BLOCKER_TYPES[rng.randrange(len(BLOCKER_TYPES))],)
        case "random_multi":
            return tuple(rng.sample(BLOCKER_TYPES, rules.noise_count))
        case _:
            return tuple(dict.fromkeys(rules.noise_types))


def plan_record(plan: Plan) -> Mapping[str, Any]:
    """Return what is kept of a plan with an outcome."""
    return {
        "resolved": plan.resolved,
        "tools": list(plan.tools),
        "noise": [list(kinds) for kinds in plan.noise],
        "paths_blocked": len(plan.paths),
    }
