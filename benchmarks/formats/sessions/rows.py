"""Data sets of trajectories: a row for each, in lines, in a list, or as the one object."""

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions.lines import session_lines
from benchmarks.formats.shape import shape_of
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import ImportedTrajectory

# From a row, its place and the id that it has where it states none; None where it has a fault.
RowReader = Callable[[Spot, dict[str, Any], str], ImportedTrajectory | None]


def read_rows(
    source: FileSource, problems: Problems, header: dict[str, Any], read_row: RowReader
) -> Iterator[ImportedTrajectory]:
    """Yield a trajectory for each row; faults are noted, and what has one is left out."""
    for number, (spot, row) in enumerate(rows_of(source, problems, header), 1):
        before = problems.total
        trajectory = read_row(spot, row, f"{source.name.split('.json')[0]}#{number}")
        if trajectory is not None and problems.total == before:
            yield trajectory


def rows_of(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[tuple[Spot, dict[str, Any]]]:
    """Yield the rows of a data set: lines, the members of a list, or the one object."""
    top, kind = Spot(problems, source.name), shape_of(source).kind
    if kind == "lines":
        yield from session_lines(source, problems, header)
    elif kind == "object":
        yield top, source.document(MOST_MESSAGES)
    else:
        for _, index, item in source.entries():
            if isinstance(item, dict):
                yield top.at(index or 0), item
            else:
                top.at(index or 0).fault("a row: an object", item)
