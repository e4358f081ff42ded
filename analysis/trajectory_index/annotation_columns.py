"""What people said of the trajectories in the table: answers in studies, labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.contrib.auth.models import User

from analysis.trajectory_index.annotations import (
    StudySaid,
    gaps,
    labels_on,
    labels_version,
    open_studies,
    study_said,
)
from analysis.trajectory_index.columns import NONE, Columns
from analysis.trajectory_index.facets import Said
from analysis.trajectory_index.table import Facts
from annotation.models import FailureLabel


def what_was_said(facts: Facts, user: User | None) -> Said:
    """What people said of all trajectories, as far as this reader may know it."""
    columns = facts.columns
    versions = tuple(open_studies(user))
    studies = [study_said(version) for version in versions]

    def among(ids: Sequence[tuple[int, ...]]) -> Any:
        found = np.zeros(len(columns), dtype=bool)
        found[_rows_of(columns, [pk for part in ids for pk in part])[0]] = True
        return found

    pairs = np.array(labels_on(labels_version()), dtype=np.int64).reshape(-1, 2)
    names = FailureLabel.objects.filter(pk__in=np.unique(pairs[:, 1]).tolist()).order_by("title")
    words = list(names.values_list("pk", "key", "title")) if len(pairs) else []
    code = {pk: number for number, (pk, _, _) in enumerate(words)}
    rows, there = _rows_of(columns, pairs[:, 0])
    codes = np.array([code.get(pk, NONE) for pk in pairs[there, 1].tolist()], dtype=np.int64)
    return Said(
        _gaps(facts, versions, studies),
        among([study.flagged for study in studies]),
        among([study.adjudicated for study in studies]),
        (rows[codes >= 0], codes[codes >= 0]),
        tuple((key, title) for _, key, title in words),
        _judged(columns, studies),
        tuple((str(version.pk), version.name) for version in versions),
    )


def _judged(columns: Columns, studies: Sequence[StudySaid]) -> tuple[Any, Any]:
    """The rows that somebody judged in each study, as rows and studies."""
    ids = np.array([pk for study in studies for pk in study.judged], dtype=np.int64)
    codes = np.repeat(np.arange(len(studies)), [len(study.judged) for study in studies])
    rows, there = _rows_of(columns, ids)
    return rows, codes[there]


def _rows_of(columns: Columns, ids: Any) -> tuple[Any, Any]:
    """The rows of those trajectories that are in the table, and which of ``ids`` these are.

    Rows ascend by id, so this takes less than `numpy.isin`, which looks at all of them.
    """
    wanted = np.asarray(ids, dtype=np.int64)
    rows = np.searchsorted(columns.id, wanted)
    there = rows < len(columns)
    there[there] = columns.id[rows[there]] == wanted[there]
    return rows[there], there


# Of whom and of what the gaps were worked out last; most readers see the same.
_last: list[tuple[Any, Any, Any]] = []


def _gaps(facts: Facts, versions: Any, studies: Sequence[StudySaid]) -> Any:
    columns = facts.columns
    for known, of, found in list(_last):
        if known is columns and of == versions:
            return found
    found = gaps(studies, columns.id, columns.turns, columns.dimension, columns.dimensions)
    _last[:] = [(columns, versions, found), *_last[:3]]
    return found
