"""Loads the demo tasks that ship with the product, and checks that they are sound.

``python -m benchmarks.systems.adaplanbench.demo`` prints what is wrong with them, file by file.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.core.types import Constraint, Profile, Task
from benchmarks.core.yaml_files import read_yaml
from benchmarks.systems.adaplanbench.plans import pool_of
from benchmarks.systems.adaplanbench.rubric import DIMENSIONS

FOLDER = Path(__file__).parent / "demo_tasks"
LEVELS = ("low", "mid", "high")
FEWEST_PLANS = 10


@cache
def load_demo_tasks() -> tuple[tuple[Task, tuple[Profile, ...]], ...]:
    """Every demo task with its profiles from low to high, ordered by id."""
    rows = [row for path in sorted(FOLDER.glob("*.yaml")) for row in _rows(path)]
    return tuple(_task(row) for row in sorted(rows, key=lambda row: row["id"]))


def _rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_yaml(path)
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


def problems() -> Iterator[str]:
    """What is wrong with the shipped files, one line a problem."""
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
    found = list(problems())
    sys.stdout.write(("\n".join(found) or f"{len(load_demo_tasks())} tasks, all sound") + "\n")
    sys.exit(bool(found))
