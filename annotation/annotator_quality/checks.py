"""The signs of careless work of a study's annotators, read from what they submitted."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import reduce
from operator import or_

from django.db.models import Exists, OuterRef, Q

from annotation.annotator_quality.rule import work_rules
from annotation.annotator_quality.signs import (
    SubmittedWork,
    elapsed_seconds,
    unknown_times,
    work_signs,
)
from annotation.annotator_quality.unanswered import unanswered_sessions, unanswered_words
from annotation.models import Assignment, Participant, Recruit, Study

State, Part = Assignment.State, Assignment.Part
# Of how many of their latest items somebody's signs and median time are told.
LATEST = 100
# So many people are asked for in one query.
PEOPLE = 100


def latest_work(study: Study, people: Sequence[Participant]) -> dict[int, list[SubmittedWork]]:
    """Return each person's latest submitted items by their positions."""
    by_person: dict[int, list[SubmittedWork]] = {}
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
        fields = (
            "annotator", "position", "state", "active_ms", "pattern", "submitted_at", "opened_at",
        )  # fmt: skip
        for user, _, state, active_ms, pattern, at, opened in sorted(
            rows.values_list(*fields), key=lambda row: row[:2]
        ):
            if state == State.SUBMITTED:
                work = SubmittedWork(active_ms, pattern, at, opened)
                by_person.setdefault(user, []).append(work)
    return by_person


def whole_work(study: Study, person: Participant) -> int | None:
    """Return how many items somebody is to judge in all; None where a pool sets no number."""
    if person.most_items is not None:
        return person.most_items
    if study.dealing == Study.Dealing.POOL:
        return None
    return person.assigned - person.returned


def is_finished(study: Study, person: Participant) -> bool:
    """Return whether somebody has submitted all of their items, as counted."""
    if person.has_enough:
        return True
    return (
        study.dealing == Study.Dealing.NAMED
        and not person.has_open_item
        and whole_work(study, person) == person.submitted > 0
    )


def person_signs(
    study: Study,
    person: Participant,
    work: Sequence[SubmittedWork],
    *,
    simulated: bool = False,
    finished: bool | None = None,
    unanswered: Sequence[int] = (),
) -> list[str]:
    """Return the signs of one person's work since a manager last acted on it.

    Nobody who has left has any. Of simulated people the clock of the server says nothing.
    ``unanswered`` are the numbers of the sessions in which they sent no reply.
    """
    if person.state in Participant.GONE:
        return []
    rules = work_rules(
        study,
        whole=whole_work(study, person),
        finished=is_finished(study, person) if finished is None else finished,
    )
    since = person.gold_since
    if since is not None:  # somebody has acted on what was before
        work = [item for item in work if item.at is not None and item.at > since]
    if simulated:
        work = [SubmittedWork(item.active_ms, item.pattern, item.at) for item in work]
    signs = work_signs(work, right=person.gold_right, asked=person.gold_asked, rules=rules)
    return [*unanswered_words(unanswered), *signs]


def study_signs(study: Study) -> dict[int, list[str]]:
    """Return the signs of each annotator of a study who shows any, by account."""
    people = list(
        Participant.objects.filter(study=study)
        .exclude(state__in=Participant.GONE)
        .annotate(held=awaits_code())
        .select_related("user__annotator")
        .order_by("number")
    )
    work = latest_work(study, people)
    unanswered = unanswered_sessions(study)
    signs = {
        person.user_id: person_signs(
            study,
            person,
            work.get(person.user_id, ()),
            simulated=is_simulated(person),
            finished=is_finished(study, person) or person.held,
            unanswered=unanswered.get(person.user_id, ()),
        )
        for person in people
    }
    return {user: words for user, words in signs.items() if words}


def reasons_for_check(study: Study, person: Participant) -> list[str]:
    """Return why a manager looks at finished work before it is paid; none where nothing is
    striking.

    A time at work that nobody knows is such a reason: it is no sign of care.
    """
    work = latest_work(study, [person]).get(person.user_id, [])
    unknown = unknown_times(work)
    unanswered = unanswered_sessions(study).get(person.user_id, ())
    signs = person_signs(study, person, work, finished=True, unanswered=unanswered)
    return [*signs, *([unknown] if unknown else [])]


def is_simulated(person: Participant) -> bool:
    """Return whether a script answers for this person."""
    annotator = getattr(person.user, "annotator", None)
    return annotator is not None and annotator.is_simulated


def awaits_code() -> Exists:
    """Say of a participant whether their work is done and a manager decides about the code."""
    return Exists(
        Recruit.objects.filter(
            study=OuterRef("study"), user=OuterRef("user"), held_at__isnull=False,
            finished_at=None, rejected_at=None,
        )
    )  # fmt: skip


def elapsed_by_person(study: Study) -> Mapping[int, float | None]:
    """Return how long each annotator had submitted items open, in seconds by the server's clock."""
    rows = Assignment.objects.filter(study=study, part=Part.MAIN, state=State.SUBMITTED)
    moments: dict[int, list[tuple[datetime | None, datetime | None]]] = {}
    for user, opened, at in rows.order_by().values_list("annotator", "opened_at", "submitted_at"):
        moments.setdefault(user, []).append((opened, at))
    return {user: elapsed_seconds(times) for user, times in moments.items()}
