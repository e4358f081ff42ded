"""The systems that can be run. Adding one is a folder beside its neighbours and one line here."""

from functools import cache
from importlib import import_module

from benchmarks.core.errors import MadeElsewhere, UnknownName
from benchmarks.core.system import System

SYSTEMS: dict[str, tuple[str, str]] = {
    "adaplanbench": ("AdaPlanBench", "benchmarks.systems.adaplanbench.system"),
    "adaplanbench_construction": (
        "AdaPlanBench construction",
        "benchmarks.systems.adaplanbench_construction.system",
    ),
    "planbench_xl": ("PlanBench-XL", "benchmarks.systems.planbench_xl.system"),
}
# What was made elsewhere: datasets have this in place of a system's key, and nothing can run it.
EXTERNAL = "external"


@cache
def get_system(key: str) -> System:
    """The system registered under ``key``; its module is imported on first use."""
    try:
        _, path = SYSTEMS[key]
    except KeyError:
        if key == EXTERNAL:
            raise MadeElsewhere(key) from None
        raise UnknownName("system", key, sorted(SYSTEMS)) from None
    system: System = import_module(path).SYSTEM
    return system
