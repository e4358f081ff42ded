"""Reading a whole file of trajectories."""

from pathlib import Path

from benchmarks.formats.registry import (
    CheckedFile,
    check_file,
    open_source,
    read_source,
    settle,
)
from benchmarks.formats.trajectory import ImportedTrajectory


def read_whole(path: Path, name: str = "", *others: Path) -> list[ImportedTrajectory]:
    """Check a file and return its trajectories, each with its attempt; ``name`` is the format's."""
    return read_checked(path, check_file(path, name, others), *others)


def read_checked(path: Path, checked: CheckedFile, *others: Path) -> list[ImportedTrajectory]:
    """Return the trajectories of a file that was checked; they must be as many as there."""
    _, source = settle(open_source(path, others), checked.format)
    found = list(read_source(source, checked.format, {}))
    assert len(found) == checked.trajectories
    return found
