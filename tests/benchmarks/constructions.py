"""Constructions that have ended, without anybody having constructed."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.construction.services import import_problems
from benchmarks.core.registry import get_system
from benchmarks.core.system import read_settings
from benchmarks.models import Dataset, Run, Trajectory
from benchmarks.roles.services import assign_script
from benchmarks.systems.adaplanbench_construction.problems import load_demo_problems
from tests.factories.benchmarks import (
    AgentFactory,
    DatasetFactory,
    RunFactory,
    TaskFactory,
    TrajectoryFactory,
)

PROBLEMS = "adaplanbench_construction"
REFERENCE = "1. Take the rake.\n2. Lift it down."


def candidate(key: str, kind: str, text: str, place: int = 1, **more: Any) -> dict[str, Any]:
    """A candidate as outcomes hold it, kept unless ``more`` says otherwise."""
    about = {"world": "tool:ladder", "user": "attribute:climbing up"}[kind]
    usual = {"planners": ["1"], "decision": "kept", "ground": "", "reason": "", "merged": []}
    return {"key": key, "kind": kind, "text": text, "about": about, "round": place, **usual, **more}


CANDIDATES = (
    candidate("w-a", "world", "There is no ladder.", planners=["1", "3"], merged=["No ladder."]),
    candidate("u-b", "user", "I will not climb.", place=2),
    candidate("w-c", "world", "No rake here.", decision="removed", reason="It is needed."),
)


def make_construction(*ended: str | None, rows: Sequence[dict[str, Any]] = CANDIDATES) -> Run:
    """A construction whose problems ended so; None for one that has not begun."""
    system = get_system(PROBLEMS)
    dataset = DatasetFactory(system=PROBLEMS, name="Riddles", licence="CC0")
    roles = {role.name: [assign_script(system, role.name, name) for name in role.default]
             for role in system.roles}  # fmt: skip
    run = RunFactory(
        kind=Run.Kind.CONSTRUCTION, dataset=dataset, level="", roles=roles,
        agent=AgentFactory(system=PROBLEMS, policy=system.roles[0].default[0]),
        settings=read_settings(system.settings, {}),
    )  # fmt: skip
    for number, termination in enumerate(ended or ["constructed"], 1):
        task = TaskFactory(
            dataset=dataset, external_id=f"kite-{number}", prompt="A kite hangs high.",
            payload={"solution": REFERENCE},
        )  # fmt: skip
        add_trajectory(run, task, termination, rows)
    return run


def add_trajectory(
    run: Run, task: Any, termination: str | None, rows: Sequence[dict[str, Any]], **more: Any
) -> Trajectory:
    """Add the trajectory of one problem, with its ending."""
    kept = [row for row in rows if row["decision"] == "kept"]
    levels = {
        level: [row["key"] for row in kept if row["round"] <= place]
        for place, level in enumerate(("low", "mid"), 1)
    }
    payload = {"query": f"How do I get {task.external_id} down?", "reference": REFERENCE,
               "candidates": list(rows), "levels": levels}  # fmt: skip
    done = termination is not None
    return TrajectoryFactory(
        run=run, task=task, profile=None, termination=termination or "", metrics={},
        status=Trajectory.Status.DONE if done else Trajectory.Status.PENDING,
        payload=payload if termination == "constructed" else {}, **more,
    )  # fmt: skip


def import_demo_problems(folder: Path, count: int = 2) -> Dataset:
    """The last of the demo's problems, brought in from a file as anybody's would be."""
    rows = [
        {"id": task.id, "problem": task.prompt, "solution": task.payload["solution"]}
        for task in load_demo_problems()[-count:]
    ]
    path = folder / "problems.json"
    path.write_text(json.dumps(rows))
    return import_problems(path=path, name="Problems").dataset
