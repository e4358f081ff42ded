"""The progress of a study, person by person, from counters, so it is quick at any size.

Only the median time reads items, and of each person only the latest ones.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, F, Min, QuerySet, Sum
from django.utils import timezone

from annotation.annotator_quality.checks import (
    awaits_code,
    is_finished,
    is_simulated,
    latest_work,
    person_signs,
    whole_work,
)
from annotation.annotator_quality.rule import gold_rule, least_seconds
from annotation.annotator_quality.signs import SubmittedWork, median_seconds
from annotation.annotator_quality.unanswered import unanswered_sessions
from annotation.assignments.gold import GoldCounts, gold_counts
from annotation.assignments.preconditions import step_before
from annotation.assignments.selectors import has_free_item
from annotation.models import Assignment, Item, Participant, Study
from annotation.studies.places import free_places
from annotation.studies.selectors import ItemCounts, study_sizes

State, Part, Use = Assignment.State, Assignment.Part, Item.Use
Standing, Training = Participant.State, Participant.Training
# What managers should look at.
AWAY = timedelta(days=3)
# The pace since the first submission of so many days tells when a study will be finished, from so
# many submissions on.
PACE_DAYS, ENOUGH_PACE = 7, 3
AN_HOUR, A_DAY = timedelta(hours=1), timedelta(days=1)
LONG_BREAK = timedelta(hours=2)
MANY_SKIPS = 0.25
ENOUGH = 8
# Where somebody stands, in the same words wherever a person is listed.
STAGES = {
    "consent": "consent",
    "background": "about themselves",
    "training": "training",
    "waiting": "training not passed",
    "none": "no items yet",
    "before": "not started",
    "items": "judging items",
    "sessions": "playing sessions",
    "done": "finished",
    Standing.PAUSED: "paused",
    Standing.WITHDRAWN: "withdrawn",
    Standing.ERASED: "erased",
}
TONES = {
    STAGES["done"]: "ok",
    STAGES["waiting"]: "warn",
    STAGES[Standing.PAUSED]: "warn",
    STAGES["items"]: "info",
    STAGES["sessions"]: "info",
}


@dataclass(frozen=True)
class AnnotatorProgress:
    """The progress of one annotator. ``stage`` is one of `STAGES`. ``counts`` are of judgements,
    with gold items apart. ``seconds`` is the median active time of their latest items, ``pace``
    items per hour of active time; None where nothing was submitted from the desk. ``warnings``
    say what hinders them, ``signs`` what is striking about their work. ``whole`` is how many items
    they are to judge in all, gold among them where a pool hands them out; None where nobody knows.
    ``awaits_code``: their work is done and a manager decides about the completion code.
    """

    number: int
    username: str
    is_simulated: bool
    state: str
    stage: str
    counts: ItemCounts
    pace: float | None
    last_seen: datetime | None
    break_since: datetime | None
    warnings: tuple[str, ...]
    signs: tuple[str, ...] = ()
    trained: bool = False
    active_seconds: float = 0
    seconds: float | None = None
    whole: int | None = None
    awaits_code: bool = False

    @property
    def done(self) -> int:
        """How many of ``whole`` items have ended."""
        return self.counts.ended + self.counts.gold

    @property
    def gone(self) -> bool:
        return self.state in Participant.GONE

    @property
    def tone(self) -> str:
        """The tone of the badge of their stage."""
        return TONES.get(self.stage, "idle")


@dataclass(frozen=True)
class StudyProgress:
    """A study as a whole, in judgements: ``submitted`` were made, ``open`` are in somebody's
    hands, ``free`` in nobody's. ``gone`` were submitted by people who have left since; they
    count no more and are in none of the other numbers. ``recent`` were submitted within
    ``recent_time``, `PACE_DAYS` at most. Gold items are counted apart: ``gold_items`` there are,
    ``gold`` were submitted. Nobody has ``free_lists``.
    """

    people: Sequence[AnnotatorProgress]
    items: int
    submitted: int
    open: int
    free: int
    skipped: int
    gone: int
    mark: str
    recent: int = 0
    recent_time: timedelta = timedelta(days=PACE_DAYS)
    gold: int = 0
    gold_items: int = 0
    free_lists: int = 0

    @property
    def wanted(self) -> int:
        return self.submitted + self.open + self.free

    @property
    def active_seconds(self) -> float:
        """The time at work on all submitted items."""
        return sum(row.active_seconds for row in self.people)

    @property
    def forecast(self) -> str:
        """When all is submitted at the recent pace, such as "about 10 minutes"; empty where too
        little was submitted, or nothing is left.
        """
        left = self.open + self.free
        if not left or self.recent < ENOUGH_PACE:
            return ""
        return about_duration(self.recent_time * left / self.recent)

    @property
    def simulated(self) -> int:
        return sum(row.is_simulated for row in self.people)

    @property
    def present(self) -> int:
        return sum(not row.gone for row in self.people)

    @property
    def simulated_present(self) -> int:
        return sum(row.is_simulated and not row.gone for row in self.people)

    @property
    def attention(self) -> list[AnnotatorProgress]:
        """The annotators that a manager should look at."""
        return [row for row in self.people if row.warnings or row.signs]


def study_mark(study: Study) -> str:
    """Return a mark that changes whenever something changes that the progress shows; one query."""
    rows = _participants(study).values_list(
        "number", "state", "training", "consent_version", "told_background", "assigned",
        "submitted", "skipped", "returned", "active_ms", "break_since", "last_seen_at",
        "gold_right", "gold_asked", "gold_since", "most_items", "unblinded_at", "held",
    )  # fmt: skip
    rated = (
        study.status, study.closes_at, study.consent_version, study.trains, gold_rule(study),
        least_seconds(study), list(rows),
    )  # fmt: skip
    return hashlib.sha256(repr(rated).encode()).hexdigest()[:16]


def study_progress(study: Study, *, blind: User | None = None) -> StudyProgress:
    """Return how far everybody is, people before simulated ones; nine queries at any size.

    A ``blind`` reader is not told about their own known answers, speed and equal answers. Gold is
    not told apart to them either: they could watch which of their items do not count.
    """
    now = timezone.now()
    # Read first: what changes after it is shown again by the next look, and never missed.
    mark = study_mark(study)
    people = list(_participants(study).select_related("user__annotator"))
    size = study_sizes([study])[study.pk]
    pool = study.dealing == Study.Dealing.POOL
    gold = gold_counts([study])[study.pk]
    taken = sum(p.assigned - p.returned - p.skipped for p in people)
    taken -= sum(counts.total - counts.skipped for counts in gold.values())
    free = max(0, size.wanted - taken) if pool else count_unassigned(study)
    work, begun = latest_work(study, people), _begun(study, people)
    told = gold if blind is None else {}
    unanswered = unanswered_sessions(study)
    rows = [
        _row(
            study, person, work.get(person.user_id, ()), pool and free > 0, begun, now,
            told.get(person.user_id), person.held, unanswered.get(person.user_id, ()),
        )
        for person in people
    ]  # fmt: skip
    if blind is not None:
        rows = [
            replace(row, signs=()) if row.username == blind.get_username() else row for row in rows
        ]
    counted = [row.counts for row in rows]
    recent, recent_time = _pace(study, now)
    return StudyProgress(
        people=sorted(rows, key=lambda row: (row.gone, row.is_simulated, row.number)),
        items=size.items + (size.gold if blind is not None else 0),
        free=free,
        submitted=sum(row.counts.submitted for row in rows if not row.gone),
        open=sum(counts.open for counts in counted),
        skipped=sum(counts.skipped for counts in counted),
        gone=sum(row.counts.submitted for row in rows if row.gone),
        mark=mark,
        recent=recent,
        recent_time=recent_time,
        gold=sum(row.counts.gold for row in rows if not row.gone),
        gold_items=size.gold if blind is None else 0,
        free_lists=0 if pool or not free else free_places(study).count(),
    )


def _pace(study: Study, now: datetime) -> tuple[int, timedelta]:
    """Return how many judgements people submitted lately, and since when.

    The pace of scripts says nothing about when people finish.
    """
    rows = Assignment.objects.filter(
        study=study, part=Part.MAIN, state=State.SUBMITTED, item__use=Use.MAIN,
        submitted_at__gte=now - timedelta(days=PACE_DAYS),
    ).exclude(annotator__annotator__is_simulated=True).order_by()  # fmt: skip
    totals = rows.aggregate(count=Count("pk"), first=Min("submitted_at"))
    if not totals["count"]:
        return 0, timedelta(days=PACE_DAYS)
    return totals["count"], now - totals["first"]


def about_duration(time: timedelta) -> str:
    """Return a time to wait in its own unit: about 10 minutes, 3 hours or 4 days."""
    if time < AN_HOUR:
        count, unit = ceil(time / timedelta(minutes=1)), "minute"
    elif time < A_DAY:
        count, unit = ceil(time / AN_HOUR), "hour"
    else:
        count, unit = ceil(time / A_DAY), "day"
    return f"about {count:,} {unit}{'s' * (count != 1)}"


def _participants(study: Study) -> QuerySet[Any]:
    """Return the annotators of a study, each with ``held``: whether they await their code."""
    return Participant.objects.filter(study=study).annotate(held=awaits_code()).order_by("number")


def annotator_progress(
    study: Study, person: Participant, *, blind: bool = False
) -> AnnotatorProgress:
    """Return how far one annotator is; a ``blind`` reader is not told gold items apart."""
    pool = study.dealing == Study.Dealing.POOL
    free = pool and has_free_item(study, person.user)
    work = latest_work(study, [person]).get(person.user_id, ())
    gold = None if blind else gold_counts([study])[study.pk].get(person.user_id)
    begun = _begun(study, [person])
    held = _participants(study).filter(pk=person.pk, held=True).exists()
    unanswered = unanswered_sessions(study).get(person.user_id, ())
    return _row(study, person, work, free, begun, timezone.now(), gold, held, unanswered)


def count_unassigned(study: Study) -> int:
    """Return how many judgements of a study nobody makes yet; by an index of what is free."""
    rows = Item.objects.filter(study=study, given__lt=F("wanted"), use=Use.MAIN).order_by()
    free: int = rows.aggregate(free=Sum(F("wanted") - F("given"), default=0))["free"]
    return free


def _row(
    study: Study,
    person: Participant,
    work: Sequence[SubmittedWork],
    free: bool,
    begun: set[int],
    now: datetime,
    gold: GoldCounts | None,
    held: bool,
    unanswered: Sequence[int],
) -> AnnotatorProgress:
    counts = ItemCounts(person.assigned - person.returned, person.submitted, person.skipped)
    hours = person.active_ms / 3_600_000
    simulated = is_simulated(person)
    return AnnotatorProgress(
        number=person.number,
        username=person.user.get_username(),
        is_simulated=simulated,
        state=person.state,
        stage=_stage(study, person, counts, free and not person.has_enough, begun),
        counts=counts.without(gold) if gold is not None else counts,
        pace=person.submitted / hours if hours else None,
        last_seen=person.last_seen_at,
        break_since=person.break_since,
        warnings=tuple(_warnings(study, person, counts, now, held)),
        signs=tuple(
            person_signs(
                study, person, work, simulated=simulated,
                finished=held or is_finished(study, person), unanswered=unanswered,
            )
        ),
        trained=study.trains and person.training == Training.PASSED,
        active_seconds=person.active_ms / 1000,
        seconds=median_seconds(work),
        whole=whole_work(study, person),
        awaits_code=held,
    )  # fmt: skip


def _begun(study: Study, people: Sequence[Participant]) -> set[int]:
    """Return the ids of those who opened an item that counts, among people who ended none."""
    waiting = [
        person.user_id
        for person in people
        if person.last_seen_at and not person.submitted + person.skipped
    ]
    if not waiting:
        return set()
    rows = Assignment.objects.filter(study=study, annotator__in=waiting, part=Part.MAIN)
    opened = rows.filter(opened_at__isnull=False).order_by()
    return set(opened.values_list("annotator", flat=True).distinct())


def _stage(
    study: Study, person: Participant, counts: ItemCounts, free: bool, begun: set[int]
) -> str:
    """Return where somebody stands on the way through the study: one of `STAGES`."""
    if person.state != Standing.ACTIVE:
        return STAGES[Standing(person.state)]
    step = step_before(study, person, Part.MAIN)
    if step is not None:
        return STAGES[step.name]
    if counts.open or free:
        return STAGES["items" if counts.ended or person.user_id in begun else "before"]
    if counts.total:
        return STAGES["done"]
    return STAGES["sessions" if study.is_live else "none"]


def _warnings(
    study: Study, person: Participant, counts: ItemCounts, now: datetime, held: bool
) -> list[str]:
    if held and person.state not in Participant.GONE:
        return ["finished, and waits for your decision about the completion code"]
    if person.state != Standing.ACTIVE or study.status not in (
        Study.Status.OPEN, Study.Status.PAUSED,
    ):  # fmt: skip
        return []
    warnings = []
    if study.trains and person.training == Training.FAILED:
        warnings.append("has not passed the training and waits for you")
    if counts.open and person.last_seen_at and now - person.last_seen_at > AWAY:
        warnings.append(f"has {counts.open} open and was not seen for {AWAY.days} days")
    if person.break_since and now - person.break_since > LONG_BREAK:
        warnings.append("has been on a break for more than two hours")
    if counts.ended >= ENOUGH and counts.skipped > MANY_SKIPS * counts.ended:
        warnings.append(f"skipped {counts.skipped} of {counts.ended} items")
    # Of a session it is asked once it has ended.
    if study.dealing == Study.Dealing.NAMED and not counts.total and not study.is_live:
        warnings.append("has no items yet")
    return warnings
