"""People's records on trajectories: answers in studies, flags, adjudications and labels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from django.contrib.auth.models import User
from django.db.models import Count, Exists, Max, OuterRef, Q, Subquery

from analysis.frames.questions import YES, answered_question
from analysis.models import FailureClustering
from analysis.trajectory_index.columns import NONE, IndexColumns
from analysis.trajectory_index.facets import AnnotationColumns
from analysis.trajectory_index.table import TrajectoryIndex
from annotation.access import OVERSEERS
from annotation.blinding import blind_studies
from annotation.bulk_numbers import aggregate_numbers, parse_numbers
from annotation.models import (
    Adjudication,
    Annotator,
    Aspect,
    Assignment,
    FailureLabel,
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
from annotation.remarks.selectors import labels_version


class StudyVersion(NamedTuple):
    """Changes whenever the answers of a study that are read here may have changed."""

    pk: int
    name: str
    made: datetime
    questionnaire: str
    is_demo: bool
    submitted: int
    gone: int
    latest: datetime | None


class AnswerColumns(NamedTuple):
    """The answers to one question as columns: trajectory and score."""

    dimension: str
    turn: int | None
    trajectory: Any
    value: Any


@dataclass(frozen=True)
class StudyAnnotations:
    """The answers of one study: scores on rubric dimensions, and the ids of the trajectories that
    were rated, flagged and adjudicated.
    """

    answers: tuple[AnswerColumns, ...]
    judged: tuple[int, ...]
    flagged: tuple[int, ...]
    adjudicated: tuple[int, ...]


def open_studies(user: User | None) -> list[StudyVersion]:
    """Return the studies whose answers this person may read now, with versions, in two queries.

    These are studies that the person runs or observes, without those where they have open items
    that are blinded.
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
    annotations = rows.annotate(
        n=_of(submitted, Count("pk")), left=_of(gone, Count("pk")), latest=_of(events, Max("at"))
    ).filter(n__gt=0)
    return [
        StudyVersion(*row)
        for row in annotations.values_list(
            "pk", "name", "created_at", "questionnaire", "is_demo", "n", "left", "latest"
        )
    ]


def _of(rows: Any, aggregate: Any) -> Any:
    return Subquery(rows.order_by().values("study").annotate(found=aggregate).values("found"))


@lru_cache(maxsize=256)
def read_study_annotations(version: StudyVersion) -> StudyAnnotations:
    """Read the answers of a study that count: submitted main items of annotators who stayed.

    Answers of simulated annotators count only in demo studies.
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
        answers.append(AnswerColumns(dimensions[question], turn_of(subject), trajectory, value))
    flags = ratings.filter(aspect=Aspect.FLAG, value=1).values_list("assignment__trajectory")
    decided = Adjudication.objects.filter(item__study=version.pk, item__trajectory__isnull=False)
    return StudyAnnotations(
        tuple(answers),
        _ids(seats.values_list("trajectory").distinct()),
        _ids(flags.distinct()),
        _ids(decided.order_by().values_list("item__trajectory").distinct()),
    )


def _ids(rows: Iterable[tuple[Any, ...]]) -> tuple[int, ...]:
    return tuple(sorted(row[0] for row in rows))


@lru_cache(maxsize=2)
def labels_on(version: tuple[Any, ...]) -> tuple[tuple[int, int], ...]:
    """Return the labels now on trajectories, as pairs (trajectory, label)."""
    del version  # only the key of the cache
    off = LabelRemoval.objects.filter(put=OuterRef("pk"))
    rows = TrajectoryLabel.objects.exclude(Exists(off)).order_by()
    return tuple(rows.values_list("trajectory", "label").distinct())


def gaps(
    studies: Sequence[StudyAnnotations],
    ids: Any,
    turns: Any,
    judged: Any,
    dimensions: Sequence[str],
) -> Any:
    """Return people's mean score less the judges' by trajectory; NaN where either is missing.

    Means are taken by dimension first, over dimensions that both scored, so that they are
    comparable. Only scores of the last plan count (of the last of the ``turns``).
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
    # Judges' means are stored in single precision; further digits are noise.
    return np.round(np.where(number > 0, gap / np.maximum(number, 1), np.nan), 6)


@lru_cache(maxsize=64)
def _answers(question: int, state: str, latest_check: int | None) -> tuple[tuple[int, bool], ...]:
    """Return (trajectory, yes) of the answers to a question; none before they may be counted."""
    del state, latest_check  # only keys of the cache
    answered = answered_question(FailureClustering.objects.get(pk=question))
    if not answered.usable:
        return ()
    return tuple((pk, answer == YES) for pk, answer in answered.answers.items() if answer)


def _asked(columns: IndexColumns) -> tuple[tuple[Any, Any], tuple[tuple[str, str], ...]]:
    """Return the pairs (row, answer) of questions to a model, and the names of the answers."""
    questions = FailureClustering.objects.exclude(question="").order_by("pk")
    ids: list[int] = []
    codes: list[int] = []
    names: list[tuple[str, str]] = []
    latest = questions.annotate(latest=Max("checks__pk"))
    for pk, text, state, check in latest.values_list("pk", "question", "state", "latest"):
        answers = _answers(pk, state, check)
        ids += [trajectory for trajectory, _ in answers]
        codes += [len(names) + (not yes) for _, yes in answers]
        if answers:
            names += [(f"{pk}-yes", f"{text}: yes"), (f"{pk}-no", f"{text}: no")]
    rows, there = _rows_of(columns, ids)
    return (rows, np.array(codes, dtype=np.int64)[there]), tuple(names)


def annotation_columns(
    index: TrajectoryIndex, user: User | None, *, blind: bool = False
) -> AnnotationColumns:
    """Return what people recorded about all trajectories, as far as this reader may know it.

    ``blind``: some runs or tasks are closed to the reader, so no answers of models are offered.
    """
    columns = index.columns
    versions = tuple(open_studies(user))
    studies = [read_study_annotations(version) for version in versions]

    def among(ids: Sequence[tuple[int, ...]]) -> Any:
        mask = np.zeros(len(columns), dtype=bool)
        mask[_rows_of(columns, [pk for part in ids for pk in part])[0]] = True
        return mask

    pairs = np.array(labels_on(labels_version()), dtype=np.int64).reshape(-1, 2)
    names = FailureLabel.objects.filter(pk__in=np.unique(pairs[:, 1]).tolist()).order_by("title")
    words = list(names.values_list("pk", "key", "title")) if len(pairs) else []
    code = {pk: number for number, (pk, _, _) in enumerate(words)}
    rows, there = _rows_of(columns, pairs[:, 0])
    codes = np.array([code.get(pk, NONE) for pk in pairs[there, 1].tolist()], dtype=np.int64)
    return AnnotationColumns(
        _gaps(index, versions, studies),
        among([study.flagged for study in studies]),
        among([study.adjudicated for study in studies]),
        (rows[codes >= 0], codes[codes >= 0]),
        tuple((key, title) for _, key, title in words),
        _judged(columns, studies),
        tuple((str(version.pk), version.name) for version in versions),
        *(_asked(columns) if not blind else ((_NO_ROWS, _NO_ROWS), ())),
    )


def _judged(columns: IndexColumns, studies: Sequence[StudyAnnotations]) -> tuple[Any, Any]:
    """Return pairs (row, study) of the trajectories rated in each study."""
    ids = np.array([pk for study in studies for pk in study.judged], dtype=np.int64)
    codes = np.repeat(np.arange(len(studies)), [len(study.judged) for study in studies])
    rows, there = _rows_of(columns, ids)
    return rows, codes[there]


def _rows_of(columns: IndexColumns, ids: Any) -> tuple[Any, Any]:
    """Return the rows of those trajectories that are in the index, and a mask of their ``ids``.

    Rows ascend by id, so this is quicker than `numpy.isin`, which looks at all rows.
    """
    wanted = np.asarray(ids, dtype=np.int64)
    rows = np.searchsorted(columns.id, wanted)
    there = rows < len(columns)
    there[there] = columns.id[rows[there]] == wanted[there]
    return rows[there], there


_NO_ROWS = np.zeros(0, dtype=np.int64)
# The last computed gaps with what they were computed from; most readers see the same.
_last: list[tuple[Any, Any, Any]] = []


def _gaps(index: TrajectoryIndex, versions: Any, studies: Sequence[StudyAnnotations]) -> Any:
    columns = index.columns
    for known, of, differences in list(_last):
        if known is columns and of == versions:
            return differences
    differences = gaps(studies, columns.id, columns.turns, columns.dimension, columns.dimensions)
    _last[:] = [(columns, versions, differences), *_last[:3]]
    return differences
