"""What items are about, by their contents: the same on every installation."""

import json
from collections.abc import Iterable
from hashlib import sha256

from annotation.models import Item
from benchmarks.models import Candidate, Task, Turn


def fingerprints(items: Iterable[Item]) -> dict[int, str]:
    """What each item (by id) is about, by its contents, whatever its ids are."""
    talks = trajectory_fingerprints([i.trajectory_id for i in items if i.trajectory_id])
    tasks = task_fingerprints([i.task_id for i in items if i.task_id and not i.trajectory_id])
    return {
        item.pk: talks[item.trajectory_id] if item.trajectory_id else tasks[item.task_id]
        for item in items
        if item.task_id
    }


def trajectory_fingerprints(trajectories: Iterable[int]) -> dict[int, str]:
    """Of each trajectory a digest of what was said in each turn."""
    found = {pk: sha256() for pk in trajectories}
    rows = Turn.objects.filter(trajectory__in=found).order_by("trajectory", "index")
    for pk, *said in rows.values_list("trajectory", "index", "text", "feedback"):
        found[pk].update(json.dumps(said).encode())
    return {pk: made.hexdigest()[:32] for pk, made in found.items()}


def task_fingerprints(tasks: Iterable[int]) -> dict[int, str]:
    """Of each task a digest of its words and of its candidate constraints."""
    prompts = Task.objects.filter(pk__in=list(tasks)).values_list("pk", "prompt")
    found = {pk: sha256(json.dumps(prompt).encode()) for pk, prompt in prompts}
    rows = Candidate.objects.filter(task__in=found).order_by("task", "key")
    for pk, *said in rows.values_list("task", "key", "kind", "text"):
        found[pk].update(json.dumps(said).encode())
    return {pk: made.hexdigest()[:32] for pk, made in found.items()}
