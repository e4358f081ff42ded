"""Hand-made runs with tool use on the tasks of the small world: small enough to count by hand."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.datasets.files import import_dataset
from benchmarks.models import Agent, Dataset, Run, Trajectory, Turn
from benchmarks.systems.planbench_xl import world

DATA = Path(world.__file__).parent / "data"


def make_world(name: str = "Nursery") -> Dataset:
    """The dataset of the small world."""
    return import_dataset(
        system="planbench_xl", paths=[DATA], name=name, options={"domain": "nursery"}
    ).saved.dataset


def make_tool_run(
    dataset: Dataset, agent: str, condition: str = "standard", *, finished: int = 1
) -> Run:
    """A finished run without trajectories; ``finished`` is a day of January."""
    row, _ = Agent.objects.get_or_create(
        name=agent, defaults={"title": agent.title(), "kind": "scripted", "system": dataset.system}
    )
    return Run.objects.create(
        dataset=dataset, agent=row, condition=condition, status=Run.Status.DONE,
        pins={"scorer": "1", "protocol": "1", "prompts": "1"},
        roles={"agent": [{"kind": "scripted", "policy": agent, "label": "scripted"}]},
        finished_at=datetime(2026, 1, finished, tzinfo=UTC),
    )  # fmt: skip


def make_query(
    run: Run,
    number: int,
    *,
    right: bool | None = True,
    category: str = "",
    finds: Sequence[tuple[int, str]] = (),
    steps: int = 2,
    blocked: Sequence[str] = (),
    **metrics: Any,
) -> Trajectory:
    """The run's trajectory on the n-th task, from 0; without ``right`` it is left out.

    ``finds`` are (step, data type) pairs that reliable tools returned.
    """
    scored = right is not None
    counts = {"search_turns": 1.0, "call_turns": 1.0, "invalid_calls": 0.0,
              "untrusted_rejections": 0.0, "noisy_calls": 0.0, **metrics}  # fmt: skip
    values = {"accurate": float(right) if right is not None else None, **counts}
    trajectory = Trajectory.objects.create(
        run=run, task=run.dataset.tasks.order_by("pk")[number], status=Trajectory.Status.DONE,
        termination="answered" if scored else "ambiguous_record", turn_count=steps,
        metrics=values if scored else dict.fromkeys(values),
        undefined={} if scored else dict.fromkeys(values, "a lookup fitted several records"),
        payload={"failure_category": category or None, "blocked": {"tools": list(blocked)}},
    )  # fmt: skip
    found = dict(finds)
    for index in range(1, steps + 1):
        payload = {"action": "call"}
        if index in found:
            payload |= {"provenance": "trusted", "datatype": found[index]}
        Turn.objects.create(trajectory=trajectory, index=index, text="…", payload=payload)
    return trajectory
