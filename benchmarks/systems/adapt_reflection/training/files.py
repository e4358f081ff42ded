"""Reading exported preference rows, and splitting them by trajectory."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.core.digests import derive_seed, digest
from benchmarks.core.errors import CoreError
from benchmarks.systems.adapt_reflection.exports import ABOUT

SIDE = ".meta.jsonl"
MOST_ROWS = 1_000_000
LONGEST_LINE = 4_000_000
_PARTS = ("prompt", "chosen", "rejected")
_FIELDS = {"role", "content"}


class RowsRefused(CoreError):
    """Raised for a file of rows that cannot be trained on; the message names file and line."""


@dataclass(frozen=True)
class TrainingRow:
    """A preference row with the trajectory that it comes from. ``fold`` is its persona's."""

    row: dict[str, Any]
    trajectory: str
    fold: int | None


@dataclass(frozen=True)
class RowFile:
    """The rows of an export. ``about`` is its ``about.json``; empty where there is none."""

    path: Path
    rows: Sequence[TrainingRow]
    digest: str
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Split:
    """Rows to train on and rows to evaluate; no trajectory is in both."""

    train: Sequence[TrainingRow]
    held_out: Sequence[TrainingRow]


def read_rows(path: Path) -> RowFile:
    """Return the rows of ``preference.jsonl`` with their side file ``preference.meta.jsonl``.

    ``path`` may also be the folder of the export. Raises ``RowsRefused`` with file and line.
    """
    path = path / "preference.jsonl" if path.is_dir() else path
    side = path.with_name(path.name.removesuffix(".jsonl") + SIDE)
    rows = list(_read_lines(path))
    metas = list(_read_lines(side))
    if not rows:
        raise RowsRefused(f"{path} holds no row")
    if len(rows) != len(metas):
        raise RowsRefused(
            f"{side} has {len(metas)} lines for {len(rows)} rows of {path.name}; expected one each"
        )
    read = [
        _read_row(path, side, number, row, meta)
        for number, (row, meta) in enumerate(zip(rows, metas, strict=True), 1)
    ]
    return RowFile(path, read, digest(rows), _read_about(path.with_name(ABOUT)))


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), ""), 1):
                if number > MOST_ROWS:
                    raise RowsRefused(f"{path} has more than {MOST_ROWS:,} lines")
                if len(line) > LONGEST_LINE:
                    raise RowsRefused(f"{path}, line {number}: longer than {LONGEST_LINE:,}")
                yield _read_object(path, number, line)
    except (OSError, UnicodeDecodeError) as error:
        raise RowsRefused(f"{path}: {getattr(error, 'strerror', 0) or 'not UTF-8'}") from None


def _read_object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise RowsRefused(f"{path}, line {number}: expected a JSON object")
    return row


def _read_row(
    path: Path, side: Path, number: int, row: dict[str, Any], meta: dict[str, Any]
) -> TrainingRow:
    for part in _PARTS:
        messages = row.get(part)
        if not isinstance(messages, list) or not messages or not all(map(_is_message, messages)):
            raise RowsRefused(
                f"{path}, line {number}, {part}: expected a list of messages with role and content"
            )
    trajectory, fold = meta.get("trajectory"), meta.get("fold")
    if not isinstance(trajectory, str) or not trajectory:
        raise RowsRefused(f"{side}, line {number}, trajectory: expected a name")
    if fold is not None and (not isinstance(fold, int) or isinstance(fold, bool)):
        raise RowsRefused(f"{side}, line {number}, fold: expected a whole number")
    return TrainingRow({part: row[part] for part in _PARTS}, trajectory, fold)


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == _FIELDS
        and all(isinstance(text, str) for text in value.values())
    )


def _read_about(path: Path) -> dict[str, Any]:
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return about if isinstance(about, dict) else {}


def split_rows(rows: Sequence[TrainingRow], share: float, seed: int) -> Split:
    """Hold out the rows of a share of the trajectories, drawn with ``seed``.

    The number of trajectories is rounded; with a share above 0 and two trajectories or more, at
    least one is held out and at least one is trained on.
    """
    names = sorted({row.trajectory for row in rows})
    random.Random(derive_seed("held out", seed)).shuffle(names)
    many = min(max(1, round(share * len(names))), len(names) - 1) if share > 0 else 0
    apart = frozenset(names[:many])
    return Split(
        [row for row in rows if row.trajectory not in apart],
        [row for row in rows if row.trajectory in apart],
    )
