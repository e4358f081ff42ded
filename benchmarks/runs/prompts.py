"""Prompt files for pages: those of a version, and those that a run used."""

from dataclasses import dataclass

from benchmarks.core.digests import digest_text
from benchmarks.core.registry import find_system
from benchmarks.core.system import PROMPT_FILES, PROMPTS
from benchmarks.models import Run


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
