"""The trajectory index in memory: the columns of all runs joined into one table per process.

A run is read again only when its version has changed. Few trajectories are read within the
request; many are read in the background, and until then a page shows what there is and says what is
missing. Of a run under way only the changes are read, at most every few seconds. Why not SQL:
docs/decisions/kept-for-speed.md.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import Any

import numpy as np
from django.db import OperationalError

from analysis.models import RunFacts
from analysis.trajectory_index.columns import NONE, STATES, IndexColumns, join, keep, unpack
from analysis.trajectory_index.runs import IndexedRunRow, RunVersion, run_rows
from analysis.trajectory_index.services import batches, read_each, store_columns
from analysis.trajectory_index.source_rows import read_columns
from annotation.bulk_numbers import aggregate_numbers, parse_numbers
from benchmarks.models import Trajectory

# At most this many trajectories are read within a request.
AT_ONCE = 2000
# A run under way is read again after this many seconds, or this many times the duration of the last
# reading, whichever is longer.
REST, TIMES = 10.0, 20.0
MOVING = [STATES.index(state) for state in ("running", "waiting")]


@dataclass(frozen=True)
class RunColumns:
    """The columns of a run in memory.

    ``read_at`` is the monotonic time of reading, ``took`` its duration in seconds. ``serial`` is
    different for every reading.
    """

    version: RunVersion
    columns: IndexColumns
    read_at: float
    took: float = 0.0
    serial: int = field(default_factory=count().__next__)


@dataclass(frozen=True)
class TrajectoryIndex:
    """All columns, their runs, and what is missing.

    ``run_index`` gives each row the position of its run in ``runs``. ``missing`` runs have not been
    read yet; runs ``behind`` have changed since they were read (seconds ago). ``unread`` are runs
    of both kinds that are too large to be read within a request.
    """

    columns: IndexColumns
    runs: tuple[IndexedRunRow, ...]
    run_index: Any
    missing: tuple[IndexedRunRow, ...] = ()
    behind: Mapping[IndexedRunRow, float] = field(default_factory=dict)
    unread: tuple[IndexedRunRow, ...] = ()


@dataclass(frozen=True)
class _JoinedColumns:
    key: tuple[int, ...]
    columns: IndexColumns
    runs: tuple[int, ...]
    place: Any


_lock = Lock()
_known: dict[int, RunColumns] = {}
_joined: _JoinedColumns | None = None


def current_index() -> TrajectoryIndex:
    """Return the index as it is now, after reading what a request may read."""
    rows = run_rows()
    with _lock:
        _recall(rows)
        _refresh([row for row in rows if not _fresh(row)])
        return _index(rows)


def _fresh(row: IndexedRunRow) -> bool:
    known = _known.get(row.pk)
    return known is not None and known.version == row.version


def _recall(rows: Sequence[IndexedRunRow]) -> None:
    """Load stored columns of runs of which this process has nothing newer."""
    there = {row.pk: row.version.run for row in rows}
    for pk in [pk for pk, known in _known.items() if there.get(pk) != known.version.run]:
        del _known[pk]
    wanted = {row.pk: row for row in rows if not _fresh(row)}
    if not wanted:
        return
    kept = RunFacts.objects.filter(run__in=list(wanted)).order_by()
    good = [
        pk
        for pk, version in kept.values_list("pk", "version")
        if version == str(wanted[pk].version)
        or (pk not in _known and RunVersion.parse(version).run == there[pk])
    ]
    if not good:
        return
    for pk, version, packed in kept.filter(pk__in=good).values_list("pk", "version", "columns"):
        _known[pk] = RunColumns(RunVersion.parse(version), unpack(packed), 0.0)


def _refresh(stale: Sequence[IndexedRunRow]) -> None:
    """Read what has changed, the smallest run first, up to `AT_ONCE` trajectories."""
    now, left = time.monotonic(), AT_ONCE
    whole: list[IndexedRunRow] = []
    done: list[IndexedRunRow] = []
    for row in stale:
        known = _known.get(row.pk)
        if known is None or known.version.kept != row.version.kept:
            whole.append(row)
        elif not row.under_way or now - known.read_at >= max(REST, TIMES * known.took):
            left -= _read_changes(row, known, left)
            done.append(row)
    whole.sort(key=lambda row: (row.trajectories, -row.pk))
    taken: dict[int, IndexedRunRow] = {}
    for row in whole:
        if row.trajectories > left:
            break
        left -= row.trajectories
        taken[row.pk] = row
    for part in batches(list(taken), {pk: row.trajectories for pk, row in taken.items()}):
        began = time.monotonic()
        columns_by_run = read_each(part)
        for pk, columns in columns_by_run.items():
            _known[pk] = RunColumns(taken[pk].version, columns, began, time.monotonic() - began)
    _keep([row for row in (*done, *taken.values()) if not row.under_way and _fresh(row)])


def _keep(rows: Sequence[IndexedRunRow]) -> None:
    if rows:
        # While the database is locked the columns stay in memory; they are stored another time.
        with suppress(OperationalError):
            store_columns(
                by_run={row.pk: _known[row.pk].columns for row in rows},
                versions={row.pk: row.version for row in rows},
            )


def _read_changes(row: IndexedRunRow, known: RunColumns, most: int) -> int:
    """Read at most ``most`` trajectories of a run that began, went on or ended since; count them.

    If some are left, the run stays behind.
    """
    began = time.monotonic()
    ids, state = _states(row.pk)
    old = known.columns
    place = np.minimum(np.searchsorted(old.id, ids), max(len(old) - 1, 0))
    same = old.id[place] == ids if len(old) else np.zeros(len(ids), dtype=bool)
    before = np.where(same, old.state[place] if len(old) else NONE, NONE)
    changed = ids[(before != state) | np.isin(state, MOVING)]
    read = changed[:most]
    staying = np.isin(old.id, np.setdiff1d(ids, read))
    columns = join([keep(old, staying), read_columns([row.pk], read.tolist())])
    version = row.version if len(read) == len(changed) else row.version._replace(states="")
    _known[row.pk] = RunColumns(version, columns, began, time.monotonic() - began)
    return len(read)


def _states(run: int) -> tuple[Any, Any]:
    """Return the ids of a run's trajectories, ascending, with the state of each."""
    rows = Trajectory.objects.filter(run=run).order_by().values_list("status")
    by_state = [
        (parse_numbers(text, 2)[:, 0], STATES.index(status))
        for status, text in rows.annotate(text=aggregate_numbers("pk", "pk"))
    ]
    ids = np.concatenate([ids for ids, _ in by_state])
    states = np.concatenate([np.full(len(ids), code) for ids, code in by_state])
    order = np.argsort(ids)
    return ids[order], states[order]


def _index(rows: Sequence[IndexedRunRow]) -> TrajectoryIndex:
    now = time.monotonic()
    table = _together([_known[row.pk] for row in rows if row.pk in _known])
    places = {row.pk: place for place, row in enumerate(rows)}
    run_index = np.array([places.get(run, NONE) for run in table.runs], dtype=np.int64)
    missing = [row for row in rows if row.pk not in _known]
    behind = [row for row in rows if row.pk in _known and not _fresh(row)]
    waiting = [
        row for row in behind if _known[row.pk].version.kept != row.version.kept
    ]  # what has merely begun or ended since is read by the next page
    return TrajectoryIndex(
        table.columns,
        tuple(rows),
        run_index[table.place],
        tuple(missing),
        {row: now - _known[row.pk].read_at for row in behind},
        (*missing, *waiting),
    )


def _together(parts: Sequence[RunColumns]) -> _JoinedColumns:
    """Return one table of all runs, joined again when one of them has changed."""
    global _joined
    key = tuple(part.serial for part in parts)
    if _joined is None or _joined.key != key:
        columns = join([part.columns for part in parts])
        runs = sorted({int(run) for part in parts for run in part.columns.run[:1]})
        place = np.searchsorted(np.array(runs, dtype=np.int64), columns.run)
        _joined = _JoinedColumns(key, columns, tuple(runs), place)
    return _joined
