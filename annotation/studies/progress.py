"""The progress of a study, person by person, from counters, so it is quick at any size.

Only the median time reads items, and of each person only the latest ones.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import reduce
from math import ceil
from operator import or_

from django.contrib.auth.models import User
from django.db.models import Count, F, Min, Q, QuerySet, Sum
from django.utils import timezone

from annotation.assignments.gold import GoldCounts, gold_counts
from annotation.assignments.selectors import has_free_item
from annotation.live.next_session import is_live
from annotation.models import Assignment, Item, Participant, Study
from annotation.quality.rule import gold_rule, least_seconds
from annotation.quality.signs import SubmittedWork, median_seconds, work_signs
from annotation.steps.selectors import step_before
from annotation.studies.selectors import ItemCounts, study_sizes

State, Part, Use = Assignment.State, Assignment.Part, Item.Use
Standing, Training = Participant.State, Participant.Training
# Of how many of their latest items somebody's median time is told.
LATEST = 100
# So many people are asked for in one query.
PEOPLE = 100
# What managers should look at.
AWAY = timedelta(days=3)
# The pace of so many days tells when a study will be finished.
PACE_DAYS = 7
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
    say what hinders them, ``signs`` what is striking about their work.
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
    count no more and are in none of the other numbers. ``recent`` were submitted in the last
    ``recent_days``, `PACE_DAYS` at most. Gold items are counted apart: ``gold_items`` there are,
    ``gold`` were submitted.
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
    recent_days: int = PACE_DAYS
    gold: int = 0
    gold_items: int = 0

    @property
    def wanted(self) -> int:
        return self.submitted + self.open + self.free

    @property
    def active_seconds(self) -> float:
        """The time at work on all submitted items."""
        return sum(row.active_seconds for row in self.people)

    @property
    def days_left(self) -> int | None:
        """The number of days until all is submitted at the recent pace; None without one, or at
        the end.
        """
        left = self.open + self.free
        return ceil(left * self.recent_days / self.recent) if left and self.recent else None

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
        "gold_right", "gold_asked",
        "unblinded_at",
    )  # fmt: skip
    rated = (
        study.status, study.closes_at, study.consent_version, study.trains, gold_rule(study),
        least_seconds(study), list(rows),
    )  # fmt: skip
    return hashlib.sha256(repr(rated).encode()).hexdigest()[:16]


def study_progress(study: Study, *, blind: User | None = None) -> StudyProgress:
    """Return how far everybody is, people before simulated ones; eight queries at any size.

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
    work, begun = _latest_work(study, people), _begun(study, people)
    told = gold if blind is None else {}
    rows = [
        _row(
            study, person, work.get(person.user_id, ()), pool and free > 0, begun, now,
            told.get(person.user_id),
        )
        for person in people
    ]  # fmt: skip
    if blind is not None:
        rows = [
            replace(row, signs=()) if row.username == blind.get_username() else row for row in rows
        ]
    counted = [row.counts for row in rows]
    recent, recent_days = _pace(study, now)
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
        recent_days=recent_days,
        gold=sum(row.counts.gold for row in rows if not row.gone),
        gold_items=size.gold if blind is None else 0,
    )


def _pace(study: Study, now: datetime) -> tuple[int, int]:
    """Return how many judgements were submitted lately, and in how many days, which are begun ones:
    a study that began this morning has one.
    """
    rows = Assignment.objects.filter(
        study=study, part=Part.MAIN, state=State.SUBMITTED, item__use=Use.MAIN,
        submitted_at__gte=now - timedelta(days=PACE_DAYS),
    ).order_by()  # fmt: skip
    found = rows.aggregate(count=Count("pk"), first=Min("submitted_at"))
    if not found["count"]:
        return 0, PACE_DAYS
    return found["count"], max(1, ceil((now - found["first"]) / timedelta(days=1)))


def _participants(study: Study) -> QuerySet[Participant]:
    return Participant.objects.filter(study=study).order_by("number")


def annotator_progress(
    study: Study, person: Participant, *, blind: bool = False
) -> AnnotatorProgress:
    """Return how far one annotator is; a ``blind`` reader is not told gold items apart."""
    pool = study.dealing == Study.Dealing.POOL
    free = pool and has_free_item(study, person.user)
    work = _latest_work(study, [person]).get(person.user_id, ())
    gold = None if blind else gold_counts([study])[study.pk].get(person.user_id)
    return _row(study, person, work, free, _begun(study, [person]), timezone.now(), gold)


def count_unassigned(study: Study) -> int:
    """Return how many judgements of a study nobody makes yet; by an index of what is free."""
    rows = Item.objects.filter(study=study, given__lt=F("wanted"), use=Use.MAIN).order_by()
    free: int = rows.aggregate(free=Sum(F("wanted") - F("given"), default=0))["free"]
    return free


def _latest_work(study: Study, people: Sequence[Participant]) -> dict[int, list[SubmittedWork]]:
    """Return each person's latest submitted items by their positions."""
    found: dict[int, list[SubmittedWork]] = {}
    for start in range(0, len(people), PEOPLE):
        # Person by person and by position alone: so the index of a person's assignments finds the
        # few. By state the database would look at every submitted assignment of the study.
        latest = [
            Q(
                study=study, annotator=person.user_id, part=Part.MAIN,
                position__gt=max(0, person.assigned - LATEST),
            )
            for person in people[start : start + PEOPLE]
        ]  # fmt: skip
        rows = Assignment.objects.filter(reduce(or_, latest)).order_by()
        fields = ("annotator", "position", "state", "active_ms", "pattern", "submitted_at")
        for user, _, state, active_ms, pattern, at in sorted(rows.values_list(*fields)):
            if state == State.SUBMITTED:
                found.setdefault(user, []).append(SubmittedWork(active_ms, pattern, at))
    return found


def _row(
    study: Study,
    person: Participant,
    work: Sequence[SubmittedWork],
    free: bool,
    begun: set[int],
    now: datetime,
    gold: GoldCounts | None,
) -> AnnotatorProgress:
    counts = ItemCounts(person.assigned - person.returned, person.submitted, person.skipped)
    hours = person.active_ms / 3_600_000
    simulated = getattr(person.user, "annotator", None)
    return AnnotatorProgress(
        number=person.number,
        username=person.user.get_username(),
        is_simulated=simulated is not None and simulated.is_simulated,
        state=person.state,
        stage=_stage(study, person, counts, free and not person.has_enough, begun),
        counts=counts.without(gold) if gold is not None else counts,
        pace=person.submitted / hours if hours else None,
        last_seen=person.last_seen_at,
        break_since=person.break_since,
        warnings=tuple(_warnings(study, person, counts, now)),
        signs=tuple(_signs(study, person, work)),
        trained=study.trains and person.training == Training.PASSED,
        active_seconds=person.active_ms / 1000,
        seconds=median_seconds(work),
    )


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
    return STAGES["sessions" if is_live(study) else "none"]


def _signs(study: Study, person: Participant, work: Sequence[SubmittedWork]) -> list[str]:
    if person.state in Participant.GONE:
        return []
    since = person.gold_since
    if since is not None:  # somebody has acted on what was before
        work = [one for one in work if one.at is not None and one.at > since]
    return work_signs(
        work, right=person.gold_right, asked=person.gold_asked, rule=gold_rule(study),
        least_seconds=least_seconds(study),
    )  # fmt: skip


def _warnings(study: Study, person: Participant, counts: ItemCounts, now: datetime) -> list[str]:
    if person.state != Standing.ACTIVE or study.status not in (
        Study.Status.OPEN, Study.Status.PAUSED,
    ):  # fmt: skip
        return []
    found = []
    if study.trains and person.training == Training.FAILED:
        found.append("has not passed the training and waits for you")
    if counts.open and person.last_seen_at and now - person.last_seen_at > AWAY:
        found.append(f"has {counts.open} open and was not seen for {AWAY.days} days")
    if person.break_since and now - person.break_since > LONG_BREAK:
        found.append("has been on a break for more than two hours")
    if counts.ended >= ENOUGH and counts.skipped > MANY_SKIPS * counts.ended:
        found.append(f"skipped {counts.skipped} of {counts.ended} items")
    # Of a session it is asked once it has ended.
    if study.dealing == Study.Dealing.NAMED and not counts.total and not is_live(study):
        found.append("has no items yet")
    return found
