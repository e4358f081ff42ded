"""The shipped experiments of all systems, and which pages report on an experiment."""

import re

from benchmarks.core.errors import UnknownName
from benchmarks.core.ports.published import PaperPreset, ReportPart, effect_parts
from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.experiments.design import Design, read_design
from benchmarks.experiments.presets import presets as shipped_designs


def known_presets() -> dict[str, PaperPreset]:
    """Return the shipped experiments of all systems, by name."""
    return {preset.name: preset for key in SYSTEMS for preset in get_system(key).presets}


def preset_design(preset: PaperPreset) -> Design:
    """Return the matrix of a shipped experiment's runs, as its file has it."""
    text = next(shipped.text for shipped in shipped_designs() if shipped.key == preset.name)
    return read_design(text)


def find_preset(name: str) -> PaperPreset:
    """Return a preset by name; hyphens, spaces and case do not matter."""
    presets = known_presets()
    plain = {_plain(known): preset for known, preset in presets.items()}
    if _plain(name) not in plain:
        raise UnknownName("preset", name, list(presets))
    return plain[_plain(name)]


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()


def parts_of(preset: str, design: Design) -> tuple[ReportPart, ...]:
    """Return the pages of a report: those of its preset, else those of the factors it varies."""
    presets = known_presets()
    if preset in presets:
        return presets[preset].parts
    settings = {name for condition in design.conditions for name in condition}
    varied = [("level", len(design.levels) > 1), ("temperature", len(design.temperatures) > 1)]
    varied += [(name, name in settings) for name in ("constraints", "tracking")]
    parts = [part for factor, so in varied if so for part in effect_parts(factor)]
    if "refinement" in settings:
        parts += presets["refinement"].parts
    return (*parts,) or presets["main-table"].parts
