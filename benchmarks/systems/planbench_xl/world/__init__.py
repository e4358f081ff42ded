"""A small world of our own: the demo of PlanBench-XL, and what its tests run on."""

from functools import cache
from pathlib import Path

from benchmarks.systems.planbench_xl.dataset import LoadedDataset, load_dataset

DATA = Path(__file__).parent / "data"
DOMAIN = "nursery"


@cache
def load_world() -> LoadedDataset:
    """Return the shipped dataset, loaded as any other."""
    return load_dataset(DATA, DOMAIN)
