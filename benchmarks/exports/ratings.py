"""People's ratings of trajectories for exports.

This app knows nothing of studies: another app registers a source of ratings.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from benchmarks.models import Run


@dataclass(frozen=True)
class PersonRating:
    """One rater's answer to one question about a trajectory or a part of it.

    ``turn`` is None where it is about the whole trajectory, ``question`` empty for a remark on all
    of it. ``chosen`` are marks: an empty tuple says that nothing is to be marked, None that the
    question is not answered by marks. ``rater`` is a pseudonym that is the same in every export of
    one study.
    """

    task_id: Annotated[str, Field(description="the task's id, as in trajectories.jsonl")]
    attempt: Annotated[int, Field(description="the attempt, as in trajectories.jsonl")]
    study: Annotated[str, Field(description="the study in which it was rated")]
    rater: Annotated[str, Field(description="pseudonym, the same in every export of the study")]
    simulated: Annotated[bool, Field(description="whether the rater is a program")]
    turn: Annotated[
        int | None, Field(description="number of the turn; null: about all of the trajectory")
    ]
    question: Annotated[
        str, Field(description="key of the question; empty for a remark on all of it")
    ]
    dimension: Annotated[
        str, Field(description="rubric dimension behind the question, where there is one")
    ]
    value: Annotated[int | None, Field(description="score or choice")]
    text: Annotated[str, Field(description="an answer in words")]
    subject: Annotated[
        str, Field(description="the part that was asked about; empty for all of it")
    ] = ""
    label: Annotated[str, Field(description="the choice in words")] = ""
    chosen: Annotated[
        tuple[str, ...] | None,
        Field(description="what was marked; an empty list: nothing is to be marked"),
    ] = None
    comment: Annotated[str, Field(description="remark beside the answer")] = ""


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
