"""A report on files without importing them: what each is, what it holds, what is left out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.core.errors import CoreError
from benchmarks.core.problems import Problems
from benchmarks.formats.counts import trajectory_counts
from benchmarks.formats.registry import numbered, open_source, settle
from benchmarks.formats.sessions.transcript import LEFT_OUT
from benchmarks.formats.source import FileSource


def describe_file(
    path: Path, others: Sequence[Path] = (), format: str = "", agent: str = ""
) -> dict[str, Any]:
    """Return format, trajectories with their counts, and what is left out of a file.

    A file that an import refuses has its faults under ``error`` and no trajectories.
    """
    try:
        return describe_source(open_source(path, others), str(path), format, agent)
    except CoreError as refusal:
        return _report(str(path), error=str(refusal))


def describe_source(source: FileSource, path: str, format: str, agent: str) -> dict[str, Any]:
    """Return the report on an opened file."""
    name = ""
    try:
        name, source = settle(source, format)
        header: dict[str, Any] = {}
        problems = Problems()
        counts = [
            trajectory_counts(trajectory)
            for trajectory in numbered(source, name, problems, header, agent or path)
        ]
        problems.check()
        left_out = {kind: count for kind, count in header.get(LEFT_OUT, {}).items() if count}
        error = None if counts else "no trajectory in it"
        return _report(path, name, counts, left_out, error)
    except CoreError as refusal:
        return _report(path, name or None, error=str(refusal))


def _report(
    path: str,
    format: str | None = None,
    trajectories: Sequence[dict[str, Any]] = (),
    left_out: dict[str, int] | None = None,
    error: str | None = None,
) -> dict[str, Any]:
    return {
        "path": path,
        "format": format,
        "trajectories": list(trajectories),
        "left_out": left_out or {},
        "error": error,
    }
