"""Tags for templates of systems: views of their own, and suggested verdicts."""

from typing import Any

from django import template

from benchmarks.asks.suggestion_selectors import SuggestedVerdicts, suggested_verdicts_of
from benchmarks.core.ports.display import Subject
from benchmarks.core.registry import find_system
from benchmarks.mappers import core_task
from benchmarks.models import Task, Trajectory, Turn

register = template.Library()


@register.simple_tag
def display(name: str, *arguments: Any) -> Any:
    """Return the view SYSTEM.VIEW; a row among the arguments becomes its ``Subject``."""
    key, _, view = name.partition(".")
    return find_system(key).displays[view](*(_plain(argument) for argument in arguments))


def _plain(argument: Any) -> Any:
    if not isinstance(argument, Task | Trajectory):
        return argument
    made: Subject | None = argument.__dict__.get("_subject")
    if made is None:
        made = _of_task(argument) if isinstance(argument, Task) else _of_trajectory(argument)
        argument.__dict__["_subject"] = made
    return made


def _of_task(task: Task) -> Subject:
    return Subject(core_task(task, None))


def _of_trajectory(trajectory: Trajectory) -> Subject:
    run = trajectory.run

    def read_turns() -> list[tuple[int, Any]]:
        rows = Turn.objects.filter(trajectory=trajectory).order_by("index")
        return list(rows.values_list("index", "payload"))

    return Subject(core_task(trajectory.task, None), run.settings, run.roles, read_turns)


@register.simple_tag
def suggested_verdicts(trajectory: Trajectory) -> SuggestedVerdicts:
    """Return what scripts or models would have marked as violated where a person judged."""
    return suggested_verdicts_of(trajectory)
