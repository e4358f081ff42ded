"""Fingerprints of tasks and trajectories by content, the same on every installation."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from benchmarks.models import Candidate, Task, Turn


def fingerprints(items: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """Return the fingerprint of each item's trajectory or task, by the id of the item.

    ``items`` are rows with pk, task and trajectory.
    """
    trajectories = trajectory_fingerprints([i["trajectory"] for i in items if i["trajectory"]])
    tasks = task_fingerprints([i["task"] for i in items if i["task"] and not i["trajectory"]])
    return {
        item["pk"]: trajectories[item["trajectory"]] if item["trajectory"] else tasks[item["task"]]
        for item in items
        if item["task"]
    }


def trajectory_fingerprints(trajectories: Iterable[int]) -> dict[int, str]:
    """Return for each trajectory a digest of the text of each turn."""
    digests = {pk: sha256() for pk in trajectories}
    rows = Turn.objects.filter(trajectory__in=digests).order_by("trajectory", "index")
    for pk, *texts in rows.values_list("trajectory", "index", "text", "feedback"):
        digests[pk].update(json.dumps(texts).encode())
    return {pk: digest.hexdigest()[:32] for pk, digest in digests.items()}


def task_fingerprints(tasks: Iterable[int]) -> dict[int, str]:
    """Return for each task a digest of its words and of its candidate constraints."""
    prompts = Task.objects.filter(pk__in=list(tasks)).values_list("pk", "prompt")
    digests = {pk: sha256(json.dumps(prompt).encode()) for pk, prompt in prompts}
    rows = Candidate.objects.filter(task__in=digests).order_by()
    # Sorted here: databases sort texts by the rules of different languages.
    for pk, *texts in sorted(rows.values_list("task", "key", "kind", "text")):
        digests[pk].update(json.dumps(texts).encode())
    return {pk: digest.hexdigest()[:32] for pk, digest in digests.items()}
