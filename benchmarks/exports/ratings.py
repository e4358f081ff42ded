"""What people said about trajectories, as files tell it.

This app knows nothing of studies: apps above it say by a source what was rated in a run.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.models import Run


@dataclass(frozen=True)
class PersonRating:
    """What one rater said to one question about a trajectory or a part of it.

    ``turn`` is None where it is about the whole trajectory, ``question`` empty for a remark on all
    of it. ``chosen`` are marks: an empty tuple says that nothing is to be marked, None that the
    question is not answered by marks. ``rater`` is a pseudonym that is the same in every export of
    one study.
    """

    task_id: str
    attempt: int
    study: str
    rater: str
    simulated: bool
    turn: int | None
    question: str
    dimension: str
    value: int | None
    text: str
    subject: str = ""
    label: str = ""
    chosen: tuple[str, ...] | None = None
    comment: str = ""


RatingSource = Callable[[Run], Iterator[PersonRating]]
_sources: list[RatingSource] = []


def rating_source(source: RatingSource) -> RatingSource:
    """Register a source: from a run to the ratings that people have given in it, one by one."""
    if source not in _sources:
        _sources.append(source)
    return source


def ratings_of(run: Run) -> Iterator[PersonRating]:
    """All ratings of a run."""
    for source in _sources:
        yield from source(run)
