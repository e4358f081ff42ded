"""Loads the demo tasks that ship with the product, and checks that they are sound.

``python -m benchmarks.systems.adaplanbench.demo`` prints what is wrong with them, file by file.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.core.plans import PoolPlan, combine, pool_of, stages_of
from benchmarks.core.types import Constraint, Profile, Task
from benchmarks.core.yaml_files import read_yaml_file
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS
from benchmarks.systems.adaplanbench.scripted import mentions_name

FOLDER = Path(__file__).parent / "demo_tasks"
FULL_FOLDER = Path(__file__).parent / "full_tasks"
LEVELS = ("low", "mid", "high")
FEWEST_PLANS = 10
# How many constraints a full-size task may have, by kind and level, around the means of Table 2.
FULL_SIZES = {
    "world": ((8, 12), (17, 22), (34, 42)),
    "user": ((9, 13), (19, 24), (38, 46)),
}


@cache
def load_demo_tasks() -> tuple[tuple[Task, tuple[Profile, ...]], ...]:
    """Return every demo task with its profiles from low to high, ordered by id."""
    rows = [row for path in sorted(FOLDER.glob("*.yaml")) for row in _rows(path)]
    return tuple(_task(row) for row in sorted(rows, key=lambda row: row["id"]))


@cache
def load_full_tasks() -> tuple[tuple[Task, tuple[Profile, ...]], ...]:
    """Return the tasks with profiles of the size of Table 2, from low to high, ordered by id."""
    rows = [row for path in sorted(FULL_FOLDER.glob("*.yaml")) for row in _rows(path)]
    return tuple(_full_task(row) for row in sorted(rows, key=lambda row: row["id"]))


def _rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_yaml_file(path)
    return rows


def _task(row: dict[str, Any]) -> tuple[Task, tuple[Profile, ...]]:
    profiles = tuple(
        Profile(
            level,
            tuple(
                Constraint(c["key"], c["kind"], c["text"], c["about"])
                for c in row["constraints"]
                if LEVELS.index(c["level"]) <= rank
            ),
        )
        for rank, level in enumerate(LEVELS)
    )
    payload = {"plans": row["plans"], "reference": row["reference"]}
    return Task(row["id"], row["query"], row["category"], payload), profiles


def _full_task(row: dict[str, Any]) -> tuple[Task, tuple[Profile, ...]]:
    best = {dimension.key: 5 for dimension in DIMENSIONS}
    stages = [
        {
            "name": stage["name"],
            "ways": [
                {
                    "key": f"{letter}{number}",
                    "steps": [way["step"]],
                    "tools": way["tools"],
                    "attributes": way["attributes"],
                    "quality": {**best, **way.get("flaws", {})},
                }
                for number, way in enumerate(stage["ways"], 1)
            ],
        }
        for letter, stage in zip("abcdefgh", row["stages"], strict=False)
    ]
    profiles: list[Profile] = []
    constraints: list[Constraint] = []
    for level in LEVELS:
        for kind, about in (("world", "tool"), ("user", "attribute")):
            constraints += [
                Constraint(f"{kind[0]}-{name.lower().replace(' ', '-')}", kind, text,
                           f"{about}:{name}")
                for name, text in row[kind][level].items()
            ]  # fmt: skip
        profiles.append(Profile(level, tuple(constraints)))
    task = Task(row["id"], row["query"], row["category"], {"stages": stages})
    reference = combine([_allowed(ways, constraints)[0] for ways in stages_of(task)])
    payload = {"stages": stages, "plans": [asdict(reference)], "reference": reference.key}
    return replace(task, payload=payload), tuple(profiles)


def _allowed(ways: Sequence[PoolPlan], constraints: Sequence[Constraint]) -> list[PoolPlan]:
    """Return the ways that no constraint rules out, the best first."""
    allowed = [way for way in ways if not any(way.uses(c.about) for c in constraints)]
    return sorted(allowed, key=lambda way: -sum(way.quality.values()))


def full_problems() -> Iterator[str]:
    """Yield what is wrong with the full-size tasks, one line a problem."""
    for task, profiles in load_full_tasks():
        yield from (f"{task.id}: {text}" for text in _full_problems(task, profiles))


def _full_problems(task: Task, profiles: Sequence[Profile]) -> Iterator[str]:
    stages, high = stages_of(task), profiles[-1].constraints
    for kind, sizes in FULL_SIZES.items():
        for profile, (fewest, most) in zip(profiles, sizes, strict=True):
            if not fewest <= (size := len(profile.of_kind(kind))) <= most:
                yield f"{size} {kind} constraints at {profile.level}, {fewest} to {most} wanted"
    if len({c.key for c in high}) != len(high) or len({c.text for c in high}) != len(high):
        yield "constraints repeat"
    for place, ways in enumerate(stages, 1):
        allowed = _allowed(ways, high)
        if not allowed or min(allowed[0].quality.values()) < 4:
            yield f"stage {place}: no sound way is left at high"
        if not any(min(way.quality.values()) < 4 for way in allowed):
            yield f"stage {place}: no allowed way has a flaw"
        for way in ways:
            for tool in way.tools:
                if not mentions_name(way.text.lower(), tool):
                    yield f"way {way.key} does not name its tool {tool}"
    for c in high:
        name = c.about.partition(":")[2]
        if not any(way.uses(c.about) for ways in stages for way in ways):
            yield f"constraint {c.key}: no way violates it"
        if not mentions_name(c.text.lower(), name):
            yield f"constraint {c.key} does not name what it is about"
        if c.text.casefold() in task.prompt.casefold():
            yield f"constraint {c.key} stands in the query"


def problems() -> Iterator[str]:
    """Yield what is wrong with the shipped files, one line a problem."""
    seen: Counter[str] = Counter()
    for path in sorted(FOLDER.glob("*.yaml")):
        for row in _rows(path):
            seen[row["id"]] += 1
            for text in _task_problems(row):
                yield f"{path.name}: {row['id']}: {text}"
    yield from (f"id {name} occurs {n} times" for name, n in seen.items() if n > 1)


def _task_problems(row: dict[str, Any]) -> Iterator[str]:
    task, profiles = _task(row)
    plans = pool_of(task)
    keys = [plan.key for plan in plans]
    if len(plans) < FEWEST_PLANS or len(set(keys)) != len(keys):
        yield f"{len(plans)} plans, {len(set(keys))} different keys; at least {FEWEST_PLANS} wanted"
    dimensions = {dimension.key for dimension in DIMENSIONS}
    for plan in plans:
        if not 3 <= len(plan.steps) <= 7:
            yield f"plan {plan.key}: {len(plan.steps)} steps, 3 to 7 wanted"
        if set(plan.quality) != dimensions or not all(
            q in (1, 2, 3, 4, 5) for q in plan.quality.values()
        ):
            yield f"plan {plan.key}: quality must give 1 to 5 for {sorted(dimensions)}"
    yield from _constraint_problems(row, profiles)
    high = profiles[-1].constraints
    valid = [plan for plan in plans if not any(plan.uses(c.about) for c in high)]
    if row["reference"] not in [plan.key for plan in valid]:
        yield f"reference {row['reference']!r} is no plan without violations"
    if not 2 <= len(valid) <= 4:
        found = [plan.key for plan in valid]
        yield f"{len(valid)} plans violate nothing at high ({found}), 2 to 4 wanted"
    if all(min(plan.quality.values(), default=5) >= 3 for plan in valid):
        yield "no valid plan has a quality below 3"
    for constraint in high:
        if not any(plan.uses(constraint.about) for plan in plans):
            yield f"constraint {constraint.key}: no plan violates it"


def _constraint_problems(row: dict[str, Any], profiles: tuple[Profile, ...]) -> Iterator[str]:
    keys = [c["key"] for c in row["constraints"]]
    if len(set(keys)) != len(keys):
        yield "constraint keys repeat"
    for c in row["constraints"]:
        wanted = {"world": "tool:", "user": "attribute:"}.get(c["kind"])
        if wanted is None or not c["about"].startswith(wanted):
            yield f"constraint {c['key']}: kind {c['kind']!r} with about {c['about']!r}"
    before = {"world": 0, "user": 0}
    for profile, (fewest, most) in zip(profiles, ((3, 5), (2, 4), (2, 4)), strict=True):
        for kind, old in before.items():
            size = len(profile.of_kind(kind))
            if not fewest <= size - old <= most:
                yield f"{kind} at {profile.level}: {size - old} new, {fewest} to {most} wanted"
            before[kind] = size


if __name__ == "__main__":
    found = [*problems(), *full_problems()]
    count = len(load_demo_tasks()) + len(load_full_tasks())
    sys.stdout.write(("\n".join(found) or f"{count} tasks, all sound") + "\n")
    sys.exit(bool(found))
