"""With which versions a run is made, and whether they are still here."""

import random
from collections.abc import Callable, Mapping
from typing import Any, cast

from benchmarks.core.seeds import derive_seed
from benchmarks.core.system import PROMPT_FILES, PROMPTS, Rejudging, System
from benchmarks.core.types import Episode, Task
from benchmarks.mappers import stored_trajectory
from benchmarks.models import Run, Trajectory


def current_pins(system: System) -> dict[str, Any]:
    """The versions that a run made now is made with, and the digests of its prompt files."""
    return {
        "protocol": system.protocol_version,
        PROMPTS: system.prompt_version,
        "parsers": system.parser_version,
        "scorer": system.scorer_version,
        PROMPT_FILES: _prompt_digests(system, system.prompt_version),
    }


def missing_version(run: Run, system: System) -> str:
    """Which version that a run is pinned to is not here, in words; empty where all are.

    Of prompts all versions stay here, so they are missing only where a file is another one now.
    """
    here = current_pins(system)
    for name, version in run.versions.items():
        if name != PROMPTS and here.get(name) != version:
            return f"{name} version {version} (available is {here.get(name, 'none')})"
    version = run.pins.get(PROMPTS, system.prompt_version)
    files = _prompt_digests(system, version)
    if not files and here[PROMPT_FILES]:
        return f"prompts version {version} (available is {here[PROMPTS]})"
    for name, digest in run.pins.get(PROMPT_FILES, {}).items():
        if files.get(name) != digest:
            what = "is another file now" if name in files else "is gone"
            return f"prompts version {version} ({name} {what})"
    return ""


def episode_of(trajectory: Trajectory, system: System, task: Task) -> Episode:
    """The protocol of a trajectory from its beginning, in the versions of its run."""
    run = trajectory.run
    settings: Mapping[str, Any] = run.settings
    if PROMPTS in run.pins:
        settings = {**run.settings, PROMPTS: run.pins[PROMPTS]}
    rng = random.Random(trajectory.seed)
    if trajectory.judged_id is None:
        return system.episode(task, settings, rng)
    judged = Trajectory.objects.select_related("run__dataset").get(pk=trajectory.judged_id)
    return cast(Rejudging, system).rejudge(task, stored_trajectory(judged), settings, rng)


def seeds_of(trajectory: Trajectory, task: Task) -> Callable[[int, int], int]:
    """The seed of each call of a trajectory, by step and slot."""
    run = trajectory.run

    def seed_for(step: int, slot: int) -> int:
        return derive_seed(run.seed, task.id, run.level, trajectory.attempt, step, slot)

    return seed_for


def _prompt_digests(system: System, version: str) -> dict[str, str]:
    """Return the digest of each prompt file of a version; empty for systems without prompts."""
    return system.prompts.digests(version) if system.prompts else {}
