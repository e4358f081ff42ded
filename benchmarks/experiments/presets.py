"""Experiment designs that systems ship: YAML files in a system's folder ``experiments``."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.core import plugins
from benchmarks.core.errors import CoreError
from benchmarks.core.registry import SYSTEMS, get_system, system_folders
from benchmarks.experiments.design import read_design


class ExperimentPreset(NamedTuple):
    """A shipped design with its system's title, key, name, one-line description and text."""

    system: str
    key: str
    title: str
    about: str
    text: str


@cache
def presets() -> tuple[ExperimentPreset, ...]:
    """Return all shipped designs, by system and file name."""
    folders = system_folders()
    return tuple(
        preset
        for key in SYSTEMS
        for path in sorted((folders[key] / "experiments").glob("*.yaml"))
        if (preset := _readable(key, path)) is not None
    )


def _readable(system: str, path: Path) -> ExperimentPreset | None:
    """Return a design; None for that of a plug-in that cannot be read."""
    try:
        return _read(get_system(system).title, path)
    except (CoreError, ValueError) as error:
        plug_in = plugins.find_plug_in("systems", system)
        if plug_in is None:
            raise
        plugins.note_failure(plug_in, error)
        return None


def _read(system: str, path: Path) -> ExperimentPreset:
    text = path.read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    about = first.removeprefix("#").strip() if first.startswith("#") else ""
    return ExperimentPreset(system, path.stem, read_design(text).name, about, text)
