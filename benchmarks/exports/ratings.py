"""People's ratings of trajectories for exports.

This app knows nothing of studies: another app registers a source of ratings.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.models import Run


@dataclass(frozen=True)
class PersonRating:
    """One rater's answer to one question about a trajectory or a part of it.

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
    """Register a source: a function from a run to the ratings of its trajectories."""
    if source not in _sources:
        _sources.append(source)
    return source


def ratings_of(run: Run) -> Iterator[PersonRating]:
    """Yield all ratings of a run."""
    for source in _sources:
        yield from source(run)
