"""The systems that can be run: the product's own, and those of plug-ins.

Adding one of our own is a folder beside its neighbours and one line here. Each is named by its
title and by where its object is.
"""

from pathlib import Path

from benchmarks.core import plugins
from benchmarks.core.errors import CoreError, MadeElsewhere, UnknownName
from benchmarks.core.plugins import PlugIn, PlugInFault
from benchmarks.core.system import Rejudging, System

SYSTEMS: dict[str, tuple[str, str]] = {
    "adaplanbench": ("AdaPlanBench", "benchmarks.systems.adaplanbench.system:SYSTEM"),
    "adaplanbench_construction": (
        "AdaPlanBench construction",
        "benchmarks.systems.adaplanbench_construction.system:SYSTEM",
    ),
    "planbench_xl": ("PlanBench-XL", "benchmarks.systems.planbench_xl.system:SYSTEM"),
    "adapt": ("ADAPT", "benchmarks.systems.adapt.system:SYSTEM"),
    "adapt_reflection": (
        "ADAPT Reflection-DPO",
        "benchmarks.systems.adapt_reflection.system:SYSTEM",
    ),
    "acpbench_hard": ("ACPBench Hard", "benchmarks.systems.acpbench_hard.system:SYSTEM"),
    "sda_planner": ("SDA-Planner", "benchmarks.systems.sda_planner.system:SYSTEM"),
}
# Imported trajectories: their datasets have this in place of a system's key. Nothing can run it,
# but it has labels, templates and judges as a system has.
EXTERNAL = "external"
# The metric of imported trajectories that counts their tool calls.
TOOL_CALLS = "tool_calls"
_EXTERNAL_SYSTEM = "benchmarks.systems.external.system:SYSTEM"
_UNKNOWN = System()


class NotRejudgeable(CoreError):
    """A system of which nobody can judge stored trajectories; the text says why."""


def get_system(key: str) -> System:
    """Return the system that can be run under ``key``; its module is imported on first use."""
    try:
        _, path = SYSTEMS[key]
    except KeyError:
        if key == EXTERNAL:
            raise MadeElsewhere(key) from None
        raise UnknownName("system", key, sorted(SYSTEMS)) from None
    return _load(path)


def system_folders() -> dict[str, Path]:
    """Return the folder of each system that has templates or designs, by key; none is imported."""
    targets = {key: target for key, (_, target) in SYSTEMS.items()} | {EXTERNAL: _EXTERNAL_SYSTEM}
    return {key: plugins.folder_of(target) for key, target in targets.items()}


def system_of(key: str) -> System | None:
    """Return the system that can be run under ``key``, or None if there is none (imports)."""
    return get_system(key) if key in SYSTEMS else None


def find_system(key: str) -> System:
    """Return the system under ``key`` for the ports that it fills.

    It may be that of imported trajectories, which cannot be run. One that is not known, such as
    that of a dataset which a newer version stored, fills no port.
    """
    if key == EXTERNAL:
        return _load(_EXTERNAL_SYSTEM)
    return _load(SYSTEMS[key][1]) if key in SYSTEMS else _UNKNOWN


def get_rejudging(key: str) -> Rejudging:
    """Return how stored trajectories of a system are judged again, or raise ``NotRejudgeable``."""
    rejudging = find_system(key).rejudging
    if rejudging is None:
        title = "what was made elsewhere" if key == EXTERNAL else get_system(key).title
        raise NotRejudgeable(
            f"trajectories of {title} cannot be re-judged: no judge scores their turns"
        )
    return rejudging


def check_dataset_files(system: str, format: str, *paths: str) -> None:
    """Refuse files of a dataset that have faults (for ``benchmarks.core.limited_process``)."""
    importer = get_system(system).importer
    if importer is not None:
        files = [Path(path) for path in paths]
        importer.find_format(files, format).read_files(files, {})


def _load(target: str) -> System:
    system: System = plugins.resolve(target)
    return system


def _add(plug_in: PlugIn, system: object) -> None:
    """Register the system of a plug-in."""
    if not isinstance(system, System):
        raise PlugInFault(
            f"{plug_in.target} is of type {type(system).__name__}, not a System.",
            "Let it name an instance of benchmarks.core.system.System.",
        )
    plugins.check_name(plug_in, "[a-z][a-z0-9_]{0,29}", plug_in.name in (*SYSTEMS, EXTERNAL))
    if system.key != plug_in.name or not system.title:
        raise PlugInFault(
            f"Its key is {system.key!r} and its title {system.title!r}.",
            f"Give it the key {plug_in.name!r}, as it is registered, and a title.",
        )
    roles = [role.name for role in system.roles]
    strangers = sorted({one.role for one in system.scripted.values()} - set(roles))
    if "agent" not in roles or strangers:
        lacking = strangers or ["agent"]
        raise PlugInFault(
            f"It has no role {' or '.join(lacking)}.", "Add the role to `roles` of the system."
        )
    SYSTEMS[plug_in.name] = (system.title, plug_in.target)


# The last line: a plug-in may import what stands above.
plugins.load("systems", _add)
