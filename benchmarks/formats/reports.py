"""A report on files without importing them: what each is, what it holds, what is left out."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.core.errors import CoreError
from benchmarks.core.problems import Problems
from benchmarks.formats.counts import trajectory_counts
from benchmarks.formats.registry import is_one, numbered, open_source, settle, units_of
from benchmarks.formats.sessions.transcript import LEFT_OUT
from benchmarks.formats.source import FileSource


def describe_files(
    path: Path, others: Sequence[Path] = (), format: str = "", agent: str = ""
) -> Iterator[dict[str, Any]]:
    """Yield the report on a file, or on each file in a folder or an archive.

    It has format, trajectories with their counts, and how many lines of which kind are left out. A
    file that an import refuses, or whose format is not ``format``, has the reason under ``error``
    and no trajectories.
    """
    try:
        source = open_source(path, others)
        if not source.members or is_one(source):
            name, whole = settle(source, format)
            yield _describe(whole, str(path), name, agent)
            return
        for unit in units_of(source):
            place = f"{path}/{unit.name}"
            if unit.error:
                yield _report(place, error=unit.error)
            elif format and unit.format != format:
                yield _report(place, unit.format, error=f"of the format {unit.format}")
            else:
                yield _describe(unit.source, place, unit.format, agent)
    except CoreError as refusal:
        yield _report(str(path), error=str(refusal))


def _describe(source: FileSource, path: str, name: str, agent: str) -> dict[str, Any]:
    """Return the report on a file of a known format."""
    header: dict[str, Any] = {}
    problems = Problems()
    try:
        counts = [
            trajectory_counts(trajectory)
            for trajectory in numbered(source, name, problems, header, agent or path)
        ]
        problems.check()
    except CoreError as refusal:
        return _report(path, name, error=str(refusal))
    left_out = {kind: count for kind, count in header.get(LEFT_OUT, {}).items() if count}
    return _report(path, name, counts, left_out, None if counts else "no trajectory in it")


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
