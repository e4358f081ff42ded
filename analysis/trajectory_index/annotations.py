"""What annotators, adjudicators and readers said of trajectories, study by study."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from django.contrib.auth.models import User
from django.db.models import Count, Exists, Max, OuterRef, Q, Subquery

from annotation.access import OVERSEERS
from annotation.blinding import blind_studies
from annotation.bulk_numbers import aggregate_numbers, parse_numbers
from annotation.models import (
    Adjudication,
    Annotator,
    Aspect,
    Assignment,
    Item,
    LabelRemoval,
    Membership,
    Participant,
    Rating,
    Study,
    StudyEvent,
    TrajectoryLabel,
)
from annotation.questionnaires import load_questionnaire
from annotation.ratings.selectors import turn_of


class StudyVersion(NamedTuple):
    """Changes whenever what is read of a study's answers may have changed."""

    pk: int
    name: str
    made: datetime
    questionnaire: str
    is_demo: bool
    submitted: int
    gone: int
    latest: datetime | None


class Answer(NamedTuple):
    """Answers to one question, as columns: of which trajectory, and the score."""

    dimension: str
    turn: int | None
    trajectory: Any
    value: Any


@dataclass(frozen=True)
class StudySaid:
    """What was said in one study: scores on rubric dimensions, and ids of trajectories: of all that
    somebody judged, and of some.
    """

    answers: tuple[Answer, ...]
    judged: tuple[int, ...]
    flagged: tuple[int, ...]
    adjudicated: tuple[int, ...]


def open_studies(user: User | None) -> list[StudyVersion]:
    """The studies whose answers this person may read now, with their versions, in two queries.

    They run or observe them, and have no open items there while these are blinded.
    """
    rows = Study.objects.order_by("pk")
    if user is not None and not user.is_superuser:
        mine = Membership.objects.filter(user=user, role__in=OVERSEERS)
        rows = rows.filter(pk__in=mine.values("study"))
    if user is not None:
        rows = rows.exclude(pk__in=blind_studies(user))
    own = {"study": OuterRef("pk")}
    submitted = Assignment.objects.filter(**own, state=Assignment.State.SUBMITTED)
    gone = Participant.objects.filter(**own, state__in=Participant.GONE)
    events = StudyEvent.objects.filter(**own)
    said = rows.annotate(
        n=_of(submitted, Count("pk")), left=_of(gone, Count("pk")), latest=_of(events, Max("at"))
    ).filter(n__gt=0)
    return [
        StudyVersion(*row)
        for row in said.values_list(
            "pk", "name", "created_at", "questionnaire", "is_demo", "n", "left", "latest"
        )
    ]


def _of(rows: Any, aggregate: Any) -> Any:
    return Subquery(rows.order_by().values("study").annotate(found=aggregate).values("found"))


@lru_cache(maxsize=256)
def study_said(version: StudyVersion) -> StudySaid:
    """What counts of a study: submitted main items of those who stay.

    Answers of simulated annotators count in demos alone.
    """
    dimensions = {
        question.key: question.dimension
        for question in load_questionnaire(version.questionnaire).questions
        if question.dimension and question.scale.kind == "points"
    }
    seats = Assignment.objects.filter(
        study=version.pk,
        state=Assignment.State.SUBMITTED,
        item__use=Item.Use.MAIN,
        trajectory__isnull=False,
    )
    gone = Participant.objects.filter(study=version.pk, state__in=Participant.GONE)
    left_out = Q(annotator__in=gone.values("user"))
    if not version.is_demo:
        left_out |= Q(annotator__in=Annotator.objects.filter(is_simulated=True).values("user"))
    seats = seats.exclude(left_out).order_by()
    ratings = Rating.objects.filter(assignment__in=seats.values("pk")).order_by()
    scores = (
        ratings.filter(aspect=Aspect.ANSWER, value__isnull=False, question__in=list(dimensions))
        .values_list("question", "subject")
        .annotate(text=aggregate_numbers("assignment__trajectory", "value"))
    )
    answers = []
    for question, subject, text in scores:
        trajectory, value = parse_numbers(text, 2).T
        answers.append(Answer(dimensions[question], turn_of(subject), trajectory, value))
    flags = ratings.filter(aspect=Aspect.FLAG, value=1).values_list("assignment__trajectory")
    decided = Adjudication.objects.filter(item__study=version.pk, item__trajectory__isnull=False)
    return StudySaid(
        tuple(answers),
        _ids(seats.values_list("trajectory").distinct()),
        _ids(flags.distinct()),
        _ids(decided.order_by().values_list("item__trajectory").distinct()),
    )


def _ids(rows: Iterable[tuple[Any, ...]]) -> tuple[int, ...]:
    return tuple(sorted(row[0] for row in rows))


def labels_version() -> tuple[Any, ...]:
    """Changes whenever a label is put on or taken off."""
    put = TrajectoryLabel.objects.aggregate(last=Max("pk"), at=Max("at"))
    off = LabelRemoval.objects.aggregate(last=Max("pk"), at=Max("at"))
    return *put.values(), *off.values()


@lru_cache(maxsize=2)
def labels_on(version: tuple[Any, ...]) -> tuple[tuple[int, int], ...]:
    """Which labels are on which trajectories now, as pairs of ids."""
    del version  # what it is kept under
    off = LabelRemoval.objects.filter(put=OuterRef("pk"))
    rows = TrajectoryLabel.objects.exclude(Exists(off)).order_by()
    return tuple(rows.values_list("trajectory", "label").distinct())


def gaps(
    studies: Sequence[StudySaid], ids: Any, turns: Any, judged: Any, dimensions: Sequence[str]
) -> Any:
    """The mean of people's scores less the judges', of every trajectory; NaN where one is missing.

    By dimension first, over those that both scored, so that both means are about the same. People's
    scores of the last plan count, and of the last of the ``turns`` where turns were scored.
    """
    size = len(ids), len(dimensions)
    sums, counts = np.zeros((2, *size))
    for answer in (answer for study in studies for answer in study.answers):
        if answer.dimension not in dimensions or not len(ids):
            continue
        place = np.minimum(np.searchsorted(ids, answer.trajectory), len(ids) - 1)
        there = ids[place] == answer.trajectory
        if answer.turn is not None:
            there &= turns[place] == answer.turn
        column = dimensions.index(answer.dimension)
        rows, values = place[there], answer.value[there]
        sums[:, column] += np.bincount(rows, weights=values, minlength=len(ids))
        counts[:, column] += np.bincount(rows, minlength=len(ids))
    both = (counts > 0) & ~np.isnan(judged)
    gap = np.where(both, sums / np.maximum(counts, 1) - judged, 0.0).sum(axis=1)
    number = both.sum(axis=1)
    # Judges' means are kept as single-precision numbers: what is beyond these is noise.
    return np.round(np.where(number > 0, gap / np.maximum(number, 1), np.nan), 6)
