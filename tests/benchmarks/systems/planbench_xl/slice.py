"""The public conformance material, where it is at hand: part of the data, recordings, values."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.systems.planbench_xl.dataset import LoadedDataset, load_dataset
from benchmarks.systems.planbench_xl.environment.catalogue import ToolWorld, world_of
from tests.shared_data import shared_data

FOLDER = "planbench_xl"


def folder() -> Path:
    return shared_data(FOLDER, "queries.json.gz").parent


@cache
def _dataset(path: Path) -> LoadedDataset:
    return load_dataset(path)


def dataset() -> LoadedDataset:
    return _dataset(folder())


def world() -> ToolWorld:
    return world_of(dataset().shared)


@cache
def _units(path: Path) -> dict[str, Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def units(name: str) -> Any:
    """Values that the reference gave for single functions."""
    return _units(shared_data(FOLDER, "units_public.json.gz"))[name]
