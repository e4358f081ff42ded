"""Experiment designs that systems ship: YAML files in a system's folder ``experiments``."""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.experiments.design import read_design


@dataclass(frozen=True)
class ExperimentPreset:
    """A shipped design with its system's title, key, name, one-line description and text."""

    system: str
    key: str
    title: str
    about: str
    text: str


@cache
def presets() -> tuple[ExperimentPreset, ...]:
    """Return all shipped designs, by system and file name."""
    return tuple(
        _read(get_system(key).title, path)
        for key in SYSTEMS
        for path in sorted(_folder(key).glob("*.yaml"))
    )


def _folder(system: str) -> Path:
    spec = find_spec(SYSTEMS[system][1])
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "experiments"


def _read(system: str, path: Path) -> ExperimentPreset:
    text = path.read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    about = first.removeprefix("#").strip() if first.startswith("#") else ""
    return ExperimentPreset(system, path.stem, read_design(text).name, about, text)
