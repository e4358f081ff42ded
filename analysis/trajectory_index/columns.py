"""The columns of the trajectory index, and how those of one run are packed into one field.

A packed field is a line of JSON with the shapes of the columns, followed by their bytes. Unpacking
executes nothing. It is not compressed: a new process would spend more time on unpacking all runs
than on everything else that a page needs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from typing import Any

import numpy as np

from analysis.stats.columns import Codes, Floats
from benchmarks.models import Trajectory

# Part of every version: raise it when the same data give other columns.
FORMAT = 4
STATES: tuple[str, ...] = tuple(str(status) for status in Trajectory.Status)
# A number that does not exist.
NONE = -1
Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class IndexColumns:
    """One row for each trajectory, ascending by ``id``.

    Codes point into the names beside them: ``state`` into `STATES`, ``end`` into ``ends``,
    ``failure`` into ``failures`` (`NONE` where there is none). ``valid`` and ``accurate`` are 1, 0
    or `NONE`, which is undefined; measures are NaN where they are undefined, counts `NONE`.
    ``headline`` is the measure by which its system's trajectories are sorted, as a share of its
    largest value where it has one.

    ``mean`` is over all scores of the last turn, ``dimension`` the mean of each dimension there
    (a column for each of ``dimensions``), ``passes`` whether it reaches the run's threshold,
    ``spread`` the population SD over judges of their means. ``unscored`` counts scores that should
    be there and are not. ``broken`` has a row for each constraint that was violated: the place of
    the trajectory, and of the constraint in ``constraints`` (kind and key).
    """

    id: Codes
    run: Codes
    task: Codes
    state: Codes
    end: Codes
    failure: Codes
    turns: Codes
    tokens: Codes
    valid: Codes
    accurate: Codes
    reward: Floats
    headline: Floats
    mean: Floats
    spread: Floats
    unscored: Codes
    violations: Codes
    new: Codes
    repeated: Codes
    withheld: Codes
    dimension: Floats
    passes: Codes
    broken: Codes
    ends: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    constraints: tuple[tuple[str, str], ...] = ()

    def __len__(self) -> int:
        return len(self.id)


NAMES = ("ends", "failures", "dimensions", "constraints")
TYPES: Mapping[str, str] = {
    "id": "<i8", "run": "<i8", "task": "<i8", "state": "<i1", "end": "<i2", "failure": "<i2",
    "turns": "<i4", "tokens": "<i8", "valid": "<i1", "accurate": "<i1", "reward": "<f8",
    "headline": "<f8", "mean": "<f8", "spread": "<f8", "unscored": "<i4",
    "violations": "<i4", "new": "<i4", "repeated": "<i4", "withheld": "<i4", "dimension": "<f4",
    "passes": "<i1", "broken": "<i4",
}  # fmt: skip
# Bytes of one number of each.
SIZES: Mapping[str, int] = {name: np.dtype(kind).itemsize for name, kind in TYPES.items()}
# The columns with one number for each trajectory.
SIMPLE = tuple(name for name in TYPES if name not in ("dimension", "passes", "broken"))


def empty() -> IndexColumns:
    """Return the columns without rows."""
    parts: dict[str, Any] = {name: np.zeros(0, dtype=kind) for name, kind in TYPES.items()}
    for name in ("dimension", "passes"):
        parts[name] = parts[name].reshape(0, 0)
    parts["broken"] = parts["broken"].reshape(0, 2)
    return IndexColumns(**parts)


def pack(columns: IndexColumns) -> bytes:
    """Pack the columns into bytes."""
    arrays = {name: getattr(columns, name).astype(kind) for name, kind in TYPES.items()}
    head = {
        "shapes": {name: array.shape for name, array in arrays.items()},
        **{name: getattr(columns, name) for name in NAMES},
    }
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    return json.dumps(head).encode() + b"\n" + body


def unpack(packed: bytes | memoryview) -> IndexColumns:
    """Return the columns that `pack` packed."""
    body = bytes(packed)
    place = body.index(b"\n") + 1
    head = json.loads(body[:place])
    parts: dict[str, Any] = {
        "ends": tuple(head["ends"]),
        "failures": tuple(head["failures"]),
        "dimensions": tuple(head["dimensions"]),
        "constraints": tuple((kind, key) for kind, key in head["constraints"]),
    }
    for name, kind in TYPES.items():
        shape = head["shapes"][name]
        count = prod(shape)
        parts[name] = np.frombuffer(body, dtype=kind, count=count, offset=place).reshape(shape)
        place += count * SIZES[name]
    return IndexColumns(**parts)


def join(parts: Sequence[IndexColumns]) -> IndexColumns:
    """Join columns into one table, ascending by id; codes are renumbered over all of them."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return empty()
    names: dict[str, dict[Any, int]] = {name: {} for name in NAMES}
    maps: dict[str, list[Array]] = {name: [] for name in NAMES}
    for part in parts:
        for name, known in names.items():
            places = [known.setdefault(value, len(known)) for value in getattr(part, name)]
            maps[name].append(np.array([*places, NONE], dtype=np.int64))  # -1 stays -1
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in SIMPLE
    }
    for name, code in (("ends", "end"), ("failures", "failure")):
        joined[code] = np.concatenate(
            [to[getattr(part, code)] for part, to in zip(parts, maps[name], strict=True)]
        )
    order = np.argsort(joined["id"], kind="stable")
    joined = {name: column[order] for name, column in joined.items()}
    place_of = np.empty(len(order), dtype=np.int64)
    place_of[order] = np.arange(len(order))
    size = len(order), len(names["dimensions"])
    dimension = np.full(size, np.nan, dtype=np.float32)
    passes = np.full(size, NONE, dtype=np.int8)
    broken, before = [], 0
    for number, part in enumerate(parts):
        rows = slice(before, before + len(part))
        there = maps["dimensions"][number][:-1]
        dimension[rows, there] = part.dimension
        passes[rows, there] = part.passes
        constraints = maps["constraints"][number]
        hit = place_of[rows][part.broken[:, 0]]
        broken.append(np.column_stack([hit, constraints[part.broken[:, 1]]]))
        before += len(part)
    joined["dimension"], joined["passes"] = dimension[order], passes[order]
    joined["broken"] = np.concatenate(broken)
    return IndexColumns(**joined | {name: tuple(known) for name, known in names.items()})


def keep(columns: IndexColumns, there: Array) -> IndexColumns:
    """Return the rows where ``there`` is true."""
    place = np.cumsum(there) - 1
    broken = columns.broken[there[columns.broken[:, 0]]]
    return replace(
        columns,
        **{
            f.name: getattr(columns, f.name)[there]
            for f in fields(columns)
            if f.name not in (*NAMES, "broken")
        },
        broken=np.column_stack([place[broken[:, 0]], broken[:, 1]]),
    )
