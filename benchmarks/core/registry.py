"""The systems that can be run. Adding one is a folder beside its neighbours and one line here."""

from functools import cache
from importlib import import_module
from pathlib import Path

from benchmarks.core.errors import CoreError, MadeElsewhere, UnknownName
from benchmarks.core.system import Rejudging, System

SYSTEMS: dict[str, tuple[str, str]] = {
    "adaplanbench": ("AdaPlanBench", "benchmarks.systems.adaplanbench.system"),
    "adaplanbench_construction": (
        "AdaPlanBench construction",
        "benchmarks.systems.adaplanbench_construction.system",
    ),
    "planbench_xl": ("PlanBench-XL", "benchmarks.systems.planbench_xl.system"),
    "adapt": ("ADAPT", "benchmarks.systems.adapt.system"),
    "adapt_reflection": ("ADAPT Reflection-DPO", "benchmarks.systems.adapt_reflection.system"),
    "acpbench_hard": ("ACPBench Hard", "benchmarks.systems.acpbench_hard.system"),
    "sda_planner": ("SDA-Planner", "benchmarks.systems.sda_planner.system"),
}
# Imported trajectories: their datasets have this in place of a system's key. Nothing can run it,
# but it has labels, templates and judges as a system has.
EXTERNAL = "external"
# The metric of imported trajectories that counts their tool calls.
TOOL_CALLS = "tool_calls"
_EXTERNAL_MODULE = "benchmarks.systems.external.system"
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


def system_of(key: str) -> System | None:
    """Return the system that can be run under ``key``, or None if there is none (imports)."""
    return get_system(key) if key in SYSTEMS else None


def find_system(key: str) -> System:
    """Return the system under ``key`` for the ports that it fills.

    It may be that of imported trajectories, which cannot be run. One that is not known, such as
    that of a dataset which a newer version stored, fills no port.
    """
    if key == EXTERNAL:
        return _load(_EXTERNAL_MODULE)
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


@cache
def _load(path: str) -> System:
    system: System = import_module(path).SYSTEM
    return system
