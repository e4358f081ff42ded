"""Studies as their pages show them: whose they are and how far they are."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Avg, Count, Max, Q

from annotation.models import Assignment, Membership, Participant, Study

State = Assignment.State


@dataclass(frozen=True)
class Counts:
    """How many items are in which state."""

    total: int = 0
    submitted: int = 0
    skipped: int = 0

    @property
    def open(self) -> int:
        return self.total - self.ended

    @property
    def ended(self) -> int:
        return self.submitted + self.skipped

    @property
    def percent(self) -> int:
        """Rounded down, so that 100 means that nothing is left."""
        return 100 * self.ended // self.total if self.total else 0


@dataclass(frozen=True)
class StudyRow:
    """A study in a list: this person's roles, their own items, and, where they may know, all."""

    study: Study
    roles: Sequence[str]
    own: Counts
    everybody: Counts | None

    @property
    def shown(self) -> Counts:
        """What the progress bar shows: one's own items first."""
        return self.own if self.own.total else self.everybody or Counts()


@dataclass(frozen=True)
class AnnotatorRow:
    """How far one annotator is. ``mean_seconds`` is active time per submitted item."""

    username: str
    is_simulated: bool
    counts: Counts
    mean_seconds: float | None
    latest: datetime | None


_COUNTS = {
    "total": Count("pk"),
    "submitted": Count("pk", filter=Q(state=State.SUBMITTED)),
    "skipped": Count("pk", filter=Q(state=State.SKIPPED)),
}


def _counts(rows: Iterable[Any], key: str) -> dict[int, Counts]:
    return {row[key]: Counts(row["total"], row["submitted"], row["skipped"]) for row in rows}


def studies_of(user: User, *, limit: int | None = None) -> list[StudyRow]:
    """The studies that this person takes part in, newest first; all for administrators."""
    roles: dict[int, list[str]] = {}
    memberships = Membership.objects.filter(user=user).order_by("pk")
    for study, role in memberships.values_list("study", "role"):
        roles.setdefault(study, []).append(Membership.Role(role).label.lower())
    studies = Study.objects.all() if user.is_superuser else Study.objects.filter(pk__in=roles)
    found = list(studies.order_by("-pk")[:limit])
    items = Assignment.objects.filter(study__in=found).values("study").order_by("study")
    own = _counts(items.filter(annotator=user).annotate(**_COUNTS), "study")
    overseen = [s.pk for s in found if user.is_superuser or set(roles[s.pk]) - {"annotator"}]
    everybody = _counts(items.filter(study__in=overseen).annotate(**_COUNTS), "study")
    return [
        StudyRow(
            study,
            roles.get(study.pk, ["administrator"]),
            own.get(study.pk, Counts()),
            everybody.get(study.pk, Counts()) if study.pk in overseen else None,
        )
        for study in found
    ]


def counts_of(states: Iterable[str]) -> Counts:
    """How many items are in which state, of items that are at hand."""
    found = Counter(states)
    return Counts(found.total(), found[State.SUBMITTED], found[State.SKIPPED])


def own_counts(participant: Participant | None) -> Counts:
    """How far this person is in a study, as counted; seats that they gave back are not theirs."""
    if participant is None:
        return Counts()
    held = participant.assigned - participant.returned
    return Counts(held, participant.submitted, participant.skipped)


def annotator_rows(study: Study) -> list[AnnotatorRow]:
    """Progress by annotator, in one query; people before simulated ones."""
    rows: Iterable[Any] = (
        study.assignments.values("annotator__username", "annotator__annotator__is_simulated")
        .annotate(
            **_COUNTS,
            mean_ms=Avg("active_ms", filter=Q(state=State.SUBMITTED, active_ms__gt=0)),
            latest=Max("submitted_at"),
        )
        .order_by("annotator__annotator__is_simulated", "annotator__username")
    )
    found = [
        AnnotatorRow(
            row["annotator__username"],
            bool(row["annotator__annotator__is_simulated"]),
            Counts(row["total"], row["submitted"], row["skipped"]),
            None if row["mean_ms"] is None else row["mean_ms"] / 1000,
            row["latest"],
        )
        for row in rows
    ]
    return sorted(found, key=lambda row: (row.is_simulated, row.username))


def next_open_position(study: Study, user: User, *, after: int = 0) -> int | None:
    """The next open item after ``after``, else the first open one; None when all are done."""
    positions = list(
        study.assignments.filter(annotator=user, state=State.OPEN)
        .order_by("position")
        .values_list("position", flat=True)
    )
    return next((p for p in positions if p > after), positions[0] if positions else None)


def has_simulated_annotators(study: Study) -> bool:
    """Whether some of its annotators are simulated, for the banner."""
    return study.assignments.filter(annotator__annotator__is_simulated=True).exists()
