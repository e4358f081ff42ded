"""Return or restore many assignments at once, in few statements.

`services.change_assignment_state` changes single assignments; this module keeps the same counters
and records the same events.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery

from annotation.assignments.selectors import CLOSED
from annotation.assignments.services import lock_study
from annotation.models import Assignment, Item, Participant, Study, StudyEvent

State, Part, Kind = Assignment.State, Assignment.Part, StudyEvent.Kind
CHUNK = 500
# id, item, annotator and part of an assignment
Row = tuple[int, int, int, str]


def return_assignments(
    *, study: Study, assignments: QuerySet[Assignment], by: User | None, reason: str
) -> int:
    """Return those of ``assignments`` that are open; say how many."""
    with transaction.atomic():
        rows = _locked(study, assignments.filter(study=study, state=State.OPEN))
        _move(study, rows, State.RETURNED, by, reason)
        return len(rows)


def restore_assignments(*, study: Study, by: User | None) -> int:
    """Reopen the assignments that closing the study returned; say how many.

    In a pool they come back when their annotator asks for the next item. Items that were assigned
    to somebody else meanwhile stay with them.
    """
    if study.dealing == Study.Dealing.POOL:
        return 0
    latest = StudyEvent.objects.filter(assignment=OuterRef("pk")).order_by("-pk")
    assignments = Assignment.objects.filter(study=study, state=State.RETURNED)
    assignments = assignments.annotate(why=Subquery(latest.values("reason")[:1])).filter(why=CLOSED)
    there = Participant.objects.filter(study=study, user=OuterRef("annotator"))
    assignments = assignments.filter(Exists(there.exclude(state__in=Participant.GONE)))
    with transaction.atomic():
        rows = _locked(study, assignments)
        items = Item.objects.filter(study=study, given__lt=F("wanted"))
        free = {pk: wanted - given for pk, wanted, given in items.values_list(
            "pk", "wanted", "given"
        )}  # fmt: skip
        kept = []
        for row in rows:
            if free.get(row[1], 0) > 0:
                free[row[1]] -= 1
                kept.append(row)
        _move(study, kept, State.OPEN, by, "the study was opened again")
        return len(kept)


def _locked(study: Study, assignments: QuerySet[Assignment]) -> list[Row]:
    """Lock the study, then its participants, and return the assignments as they are then."""
    lock_study(study)
    people = Participant.objects.filter(
        study=study, user__in=assignments.order_by().values("annotator")
    )
    list(people.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    return list(assignments.order_by("pk").values_list("pk", "item", "annotator", "part"))


def _move(
    study: Study, rows: Sequence[Row], state: Assignment.State, by: User | None, reason: str
) -> None:
    opened = state == State.OPEN
    step = 1 if opened else -1
    for start in range(0, len(rows), CHUNK):
        ids = [row[0] for row in rows[start : start + CHUNK]]
        Assignment.objects.filter(pk__in=ids).update(state=state, leased_until=None)
    for count, items in _by_count(Counter(row[1] for row in rows)).items():
        for start in range(0, len(items), CHUNK):
            given = F("given") + step * count
            Item.objects.filter(pk__in=items[start : start + CHUNK]).update(given=given)
    returned = Counter(row[2] for row in rows if row[3] == Part.MAIN)
    for count, people in _by_count(returned).items():
        participants = Participant.objects.filter(study=study, user__in=people)
        participants.update(returned=F("returned") - step * count)
    StudyEvent.objects.bulk_create(
        [
            StudyEvent(
                study=study,
                kind=Kind.REOPENED if opened else Kind.RETURNED,
                by=by,
                assignment_id=pk,
                about_id=annotator,
                reason=reason,
            )  # fmt: skip
            for pk, _, annotator, _ in rows
        ],
        batch_size=CHUNK,
    )


def _by_count(counts: Mapping[int, int]) -> dict[int, list[int]]:
    """Group ids by their count, in a fixed order so that locks cannot deadlock."""
    by_count: dict[int, list[int]] = defaultdict(list)
    for pk, count in sorted(counts.items()):
        by_count[count].append(pk)
    return by_count
