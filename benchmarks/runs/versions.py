"""The versions that a run is pinned to, whether they are still available, and their prompts."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from benchmarks.calls.whole_log import branch_of
from benchmarks.core.digests import derive_seed, digest_text
from benchmarks.core.plugins import PLUG_IN, find_plug_in
from benchmarks.core.registry import find_system
from benchmarks.core.system import PROMPT_FILES, PROMPTS, SCORER, Rejudging, System
from benchmarks.core.types import Episode, Task
from benchmarks.mappers import stored_trajectory
from benchmarks.models import Run, Trajectory
from benchmarks.source_digest import sealed_plug_in

# What branch runs are pinned to besides, so that servers of releases without branches leave them.
BRANCHES = ("branches", "1")


def current_pins(system: System) -> dict[str, Any]:
    """Return the versions that a new run is pinned to, with the digests of its prompt files.

    If the system is a plug-in, its package is recorded, too. A run goes on under another version of
    the package as long as the system's own versions are the same.
    """
    plug_in = find_plug_in("systems", system.key)
    return {
        "protocol": system.protocol_version,
        PROMPTS: system.prompt_version,
        "parsers": system.parser_version,
        SCORER: system.scorer_version,
        PROMPT_FILES: _prompt_digests(system, system.prompt_version),
        **({PLUG_IN: sealed_plug_in(plug_in)} if plug_in is not None else {}),
    }


def missing_version(run: Run, system: System) -> str:
    """Name the first pinned version that is not available; return "" if all are.

    All versions of prompts are kept, so one is missing only if a file was changed or removed; of
    scorers those that the system names.
    """
    here = current_pins(system)
    for name, version in run.versions.items():
        if (name, version) == BRANCHES:
            continue
        if name == SCORER and version in system.earlier_scorers:
            continue
        if name != PROMPTS and here.get(name) != version:
            return f"{name} version {version} (available is {here.get(name, 'none')})"
    version = run.pins.get(PROMPTS, system.prompt_version)
    files = _prompt_digests(system, version)
    if not files and here[PROMPT_FILES]:
        return f"prompts version {version} (available is {here[PROMPTS]})"
    for name, digest in run.pins.get(PROMPT_FILES, {}).items():
        if files.get(name) != digest:
            what = "has changed" if name in files else "is gone"
            return f"prompts version {version} ({name} {what})"
    return ""


def episode_of(trajectory: Trajectory, system: System, task: Task) -> Episode:
    """Return a trajectory's episode from its beginning, in its run's pinned versions."""
    run = trajectory.run
    settings: Mapping[str, Any] = run.settings
    if PROMPTS in run.pins:
        settings = {**run.settings, PROMPTS: run.pins[PROMPTS]}
    if run.pins.get(SCORER) in system.earlier_scorers:
        settings = {**settings, SCORER: run.pins[SCORER]}
    rng = random.Random(trajectory.seed)
    if trajectory.judged_id is None:
        return system.episode(task, settings, rng)
    judged = Trajectory.objects.select_related("run__dataset").get(pk=trajectory.judged_id)
    return cast(Rejudging, system).rejudge(task, stored_trajectory(judged), settings, rng)


def seeds_of(trajectory: Trajectory, task: Task) -> Callable[[int, int], int]:
    """Return a function that gives the seed of each call, by step and slot.

    The steps that a branch shares have the seeds of its parent.
    """
    run = trajectory.run
    if run.kind == Run.Kind.BRANCH:
        branch = branch_of(trajectory)
        shared = seeds_of(branch.parent, task)

        def seed_in_branch(step: int, slot: int) -> int:
            if step < branch.steps:
                return shared(step, slot)
            named = ("branch", run.seed, task.id, run.level, trajectory.attempt)
            return derive_seed(*named, step, slot)

        return seed_in_branch

    def seed_for(step: int, slot: int) -> int:
        return derive_seed(run.seed, task.id, run.level, trajectory.attempt, step, slot)

    return seed_for


def _prompt_digests(system: System, version: str) -> dict[str, str]:
    """Return the digest of each prompt file of a version; empty for systems without prompts."""
    return system.prompts.digests(version) if system.prompts else {}


@dataclass(frozen=True)
class PromptFile:
    """A prompt file with its digest; ``text`` is empty if the file is missing."""

    name: str
    digest: str
    text: str = ""


@dataclass(frozen=True)
class RunPrompts:
    """The prompt files of a run: those it recorded, otherwise those of its version.

    ``changed`` names recorded files that have changed since, or are gone.
    """

    system: str
    version: str
    files: list[PromptFile]
    recorded: bool
    changed: list[str]


def prompt_files(system: str, version: str) -> list[PromptFile]:
    """Return every prompt of a version; empty if there is no such version."""
    prompts = find_system(system).prompts
    texts = prompts.texts(version) if prompts else {}
    return [PromptFile(name, digest_text(text), text) for name, text in texts.items()]


def run_prompts(run: Run) -> RunPrompts | None:
    """Return the prompts of a run; None if it is pinned to no prompts."""
    system, version = run.dataset.system, run.pins.get(PROMPTS, "")
    here = {file.name: file for file in prompt_files(system, version)} if version else {}
    stored = run.pins.get(PROMPT_FILES)
    if stored is None:
        return RunPrompts(system, version, list(here.values()), False, []) if here else None
    files = [PromptFile(name, digest) for name, digest in stored.items()]
    changed = [f.name for f in files if f.name not in here or here[f.name].digest != f.digest]
    return RunPrompts(system, version, files, True, changed) if files else None
