"""The facts of all trajectories in one table, kept in memory by every process.

What is kept of a run is read again only where its version has changed. A few trajectories are read
while somebody waits; many are read in the background, and until then a page shows what there is and
says what is missing. Of a run that is under way only what has changed since is read, and not more
often than every few seconds.
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
from analysis.trajectory_index.columns import NONE, STATES, Columns, join, keep, unpack
from analysis.trajectory_index.runs import RunRow, Version, run_rows
from analysis.trajectory_index.services import batches, keep_facts, read_each
from analysis.trajectory_index.source_rows import read_facts
from annotation.bulk_numbers import aggregate_numbers, parse_numbers
from benchmarks.models import Trajectory

# As many trajectories are read while somebody waits.
AT_ONCE = 2000
# A run that is under way is looked at again after so many seconds, or so many times what the last
# look took.
REST, TIMES = 10.0, 20.0
MOVING = [STATES.index(state) for state in ("running", "waiting")]


@dataclass(frozen=True)
class Known:
    """Facts of a run in memory, when they were read (by a clock that only goes on) and how long
    that took, in seconds. ``serial`` tells them from what was known before.
    """

    version: Version
    columns: Columns
    read_at: float
    took: float = 0.0
    serial: int = field(default_factory=count().__next__)


@dataclass(frozen=True)
class Facts:
    """The table, the runs that it is about, and what it lacks.

    ``run_index`` has the place of every trajectory's run in ``runs``. Of ``missing`` runs nothing
    is known yet; those ``behind`` have changed since their facts were read, so many seconds ago.
    ``unread`` are runs of both kinds that no page will read by itself.
    """

    columns: Columns
    runs: tuple[RunRow, ...]
    run_index: Any
    missing: tuple[RunRow, ...] = ()
    behind: Mapping[RunRow, float] = field(default_factory=dict)
    unread: tuple[RunRow, ...] = ()


@dataclass(frozen=True)
class _Joined:
    key: tuple[int, ...]
    columns: Columns
    runs: tuple[int, ...]
    place: Any


_lock = Lock()
_known: dict[int, Known] = {}
_joined: _Joined | None = None


def current_facts() -> Facts:
    """What is known now, after reading as much as a page may."""
    rows = run_rows()
    with _lock:
        _recall(rows)
        _refresh([row for row in rows if not _fresh(row)])
        return _facts(rows)


def _fresh(row: RunRow) -> bool:
    known = _known.get(row.pk)
    return known is not None and known.version == row.version


def _recall(rows: Sequence[RunRow]) -> None:
    """Take what was kept of runs that this process knows nothing newer of."""
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
        or (pk not in _known and Version.parse(version).run == there[pk])
    ]
    if not good:
        return
    for pk, version, packed in kept.filter(pk__in=good).values_list("pk", "version", "columns"):
        _known[pk] = Known(Version.parse(version), unpack(packed), 0.0)


def _refresh(stale: Sequence[RunRow]) -> None:
    """Read what has changed, the smallest part first, as long as it is not too much."""
    now, left = time.monotonic(), AT_ONCE
    whole: list[RunRow] = []
    done: list[RunRow] = []
    for row in stale:
        known = _known.get(row.pk)
        if known is None or known.version.kept != row.version.kept:
            whole.append(row)
        elif not row.under_way or now - known.read_at >= max(REST, TIMES * known.took):
            left -= _read_changes(row, known, left)
            done.append(row)
    whole.sort(key=lambda row: (row.trajectories, -row.pk))
    taken: dict[int, RunRow] = {}
    for row in whole:
        if row.trajectories > left:
            break
        left -= row.trajectories
        taken[row.pk] = row
    for part in batches(list(taken), {pk: row.trajectories for pk, row in taken.items()}):
        began = time.monotonic()
        found = read_each(part)
        for pk, columns in found.items():
            _known[pk] = Known(taken[pk].version, columns, began, time.monotonic() - began)
    _keep([row for row in (*done, *taken.values()) if not row.under_way and _fresh(row)])


def _keep(rows: Sequence[RunRow]) -> None:
    if rows:
        # Where somebody else writes for long, they are known here and kept another time.
        with suppress(OperationalError):
            keep_facts(
                facts={row.pk: _known[row.pk].columns for row in rows},
                versions={row.pk: row.version for row in rows},
            )


def _read_changes(row: RunRow, known: Known, most: int) -> int:
    """Read the trajectories of a run that began, went on or ended since, at most so many.

    Returns how many were read. Where some are left, the run stays behind.
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
    columns = join([keep(old, staying), read_facts([row.pk], read.tolist())])
    version = row.version if len(read) == len(changed) else row.version._replace(states="")
    _known[row.pk] = Known(version, columns, began, time.monotonic() - began)
    return len(read)


def _states(run: int) -> tuple[Any, Any]:
    """The ids of a run's trajectories, ascending, and where each stands."""
    rows = Trajectory.objects.filter(run=run).order_by().values_list("status")
    found = [
        (parse_numbers(text, 2)[:, 0], STATES.index(status))
        for status, text in rows.annotate(text=aggregate_numbers("pk", "pk"))
    ]
    ids = np.concatenate([ids for ids, _ in found])
    states = np.concatenate([np.full(len(ids), code) for ids, code in found])
    order = np.argsort(ids)
    return ids[order], states[order]


def _facts(rows: Sequence[RunRow]) -> Facts:
    now = time.monotonic()
    table = _together([_known[row.pk] for row in rows if row.pk in _known])
    places = {row.pk: place for place, row in enumerate(rows)}
    index = np.array([places.get(run, NONE) for run in table.runs], dtype=np.int64)
    missing = [row for row in rows if row.pk not in _known]
    behind = [row for row in rows if row.pk in _known and not _fresh(row)]
    waiting = [
        row for row in behind if _known[row.pk].version.kept != row.version.kept
    ]  # what has merely begun or ended since is read by the next page
    return Facts(
        table.columns,
        tuple(rows),
        index[table.place],
        tuple(missing),
        {row: now - _known[row.pk].read_at for row in behind},
        (*missing, *waiting),
    )


def _together(parts: Sequence[Known]) -> _Joined:
    """One table of all parts, each of one run, made anew where one of them has changed."""
    global _joined
    key = tuple(part.serial for part in parts)
    if _joined is None or _joined.key != key:
        columns = join([part.columns for part in parts])
        runs = sorted({int(run) for part in parts for run in part.columns.run[:1]})
        place = np.searchsorted(np.array(runs, dtype=np.int64), columns.run)
        _joined = _Joined(key, columns, tuple(runs), place)
    return _joined
