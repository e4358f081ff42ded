"""A person's tasks as cards of the home page: what each is, how long it takes, how far it is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import ceil
from statistics import mean, median

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import Count, Q, Sum
from django.urls import reverse

from annotation.access import Role
from annotation.assignments.preconditions import standstill
from annotation.designs.pairs import pair_id
from annotation.live.lists import SessionRow
from annotation.models import Item, LivePlace, LivePlan, LiveSession, Participant, Study
from annotation.planning.outlook import SECONDS_AN_ANSWER, WORDS_A_MINUTE, mean_words
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.selectors import describe_questions
from annotation.studies.selectors import ItemCounts, StudyRow
from benchmarks.core.registry import find_system

ANNOTATOR, OPEN = Role.ANNOTATOR.label.lower(), Study.Status.OPEN
Training = Participant.Training
# A person's pace is known after so many of their own items, else after so many of all annotators.
OWN_ITEMS, EVERYBODYS_ITEMS = 3, 20
# An estimate from the texts reads so many items of a study, and is kept for so long.
SAMPLED, KEPT_SECONDS = 12, 6 * 60 * 60
# The length of sessions is the median of so many that have ended.
SESSIONS = 50


@dataclass(frozen=True)
class TaskCard:
    """One task: a study's items, or the next session of a study.

    ``first`` names steps that come before the first item. ``note`` says why nothing can be done
    now. ``total`` is zero where nobody knows how much there will be. ``rank`` orders cards: what
    other people wait for, what can be done, what waits for others, what is finished.
    """

    key: str
    icon: str
    title: str
    url: str
    what: str
    time: str = ""
    first: str = ""
    note: str = ""
    done: int = 0
    total: int = 0
    words: str = ""
    badge: str = ""
    live: bool = False
    button: str = ""
    button_url: str = ""
    rank: int = 1

    @property
    def over(self) -> bool:
        """Return whether nothing is left of it."""
        return self.rank == FINISHED


WAITING, READY, STANDING, FINISHED = 0, 1, 2, 3


def task_cards(
    user: User, rows: Sequence[StudyRow], sessions: Sequence[SessionRow]
) -> list[TaskCard]:
    """Return the cards: sessions in which people wait for this person come first."""
    playing = {row.session.study_id for row in sessions}
    mine = [row for row in annotating(rows) if row.own.open or row.study.pk not in playing]
    studies = [row.study for row in mine]
    people = {
        person.study_id: person
        for person in Participant.objects.filter(user=user, study__in=studies)
    }
    seconds = _seconds_each(studies, people)
    cards = [
        *_session_cards(user, sessions),
        *(_item_card(row, people.get(row.study.pk), seconds.get(row.study.pk)) for row in mine),
    ]
    return sorted(cards, key=lambda card: card.rank)


def annotating(rows: Iterable[StudyRow]) -> list[StudyRow]:
    """Return the studies in which this person has items of their own, or may take some, or will get
    some.
    """
    return [
        row
        for row in rows
        if row.own.total or (ANNOTATOR in row.roles and row.study.status == OPEN)
    ]


# --- Items ----------------------------------------------------------------------------------------


def _item_card(row: StudyRow, person: Participant | None, seconds: float | None) -> TaskCard:
    study, own = row.study, row.own
    place = {"pk": study.pk}
    pooled = study.dealing == Study.Dealing.POOL
    most = (person.most_items or 0) if person is not None else 0
    stop = standstill(study, person or Participant(study=study))
    note = stop.title if stop is not None else ""
    if not note and not own.total and not pooled:
        note = "You have no items yet. They appear here when they are assigned to you."
    finished = bool(own.total) and not own.open and not pooled
    can = not note and not finished
    return TaskCard(
        key=f"study-{study.pk}",
        icon="circle-check" if finished else "pause" if note else "list-checks",
        title=study.name,
        url=reverse("annotation:study", kwargs=place),
        what=_what(study, own),
        time=_time(seconds, own, pooled) if can else "",
        first=_first_steps(study, person) if can and not own.ended else "",
        note=note,
        done=own.submitted if pooled else own.ended,
        total=most if pooled else own.total,
        words=_progress(own, pooled, most),
        button=("Continue" if own.ended else "Begin") if can else "",
        button_url=reverse("annotation:next_item", kwargs=place),
        rank=FINISHED if finished else READY if can else STANDING,
    )


def _progress(own: ItemCounts, pooled: bool, most: int) -> str:
    if pooled and most:
        return f"{own.submitted} of {most} items"
    if pooled:
        return f"{own.submitted} submitted" if own.submitted else ""
    return own.words


def _what(study: Study, own: ItemCounts) -> str:
    if study.settings.get("live") and own.open:
        return "Rate the sessions you played"
    return describe_questions(load_questionnaire(study.questionnaire))


def _first_steps(study: Study, person: Participant | None) -> str:
    """Return which steps come before the first item."""
    agreed = person.consent_version if person else 0
    steps = [
        *(["consent"] if agreed < study.consent_version else []),
        *(
            ["questions about you"]
            if study.background and not (person and person.told_background)
            else []
        ),
        *(
            ["training"]
            if study.trains and not (person and person.training == Training.PASSED)
            else []
        ),
    ]
    return f"First: {', '.join(steps)}" if steps else ""


# --- Time -----------------------------------------------------------------------------------------


def _time(seconds: float | None, own: ItemCounts, pooled: bool) -> str:
    if seconds is None:
        return ""
    if pooled or not own.total:
        return f"{about_time(seconds)} for an item"
    return f"{about_time(seconds * own.open)}{' left' if own.ended else ''}"


def about_time(seconds: float) -> str:
    """Return a duration as people say it, such as "about 25 min"."""
    minutes = ceil(seconds / 60)
    if minutes <= 1:
        return "about a minute"
    if minutes > 10:
        minutes = 5 * round(minutes / 5)
    return f"about {minutes} min" if minutes < 90 else f"about {seconds / 3600:.1f} hours"


def _seconds_each(
    studies: Sequence[Study], people: Mapping[int, Participant]
) -> dict[int, float | None]:
    """Return the expected seconds for an item of each study.

    They are one's own mean so far, or that of all people in the study, or an estimate from what is
    to be read and answered; None where a study has no items.
    """
    humans = Participant.objects.filter(study__in=studies, active_ms__gt=0)
    humans = humans.exclude(user__annotator__is_simulated=True).order_by()
    everybody = {
        pk: (done, ms)
        for pk, done, ms in humans.values_list("study").annotate(
            done=Sum("submitted"), ms=Sum("active_ms")
        )
    }
    seconds: dict[int, float | None] = {}
    for study in studies:
        person = people.get(study.pk)
        done, ms = everybody.get(study.pk, (0, 0))
        if person is not None and person.submitted >= OWN_ITEMS and person.active_ms:
            seconds[study.pk] = person.active_ms / 1000 / person.submitted
        elif done >= EVERYBODYS_ITEMS:
            seconds[study.pk] = ms / 1000 / done
        else:
            key = f"item-seconds:{study.pk}:{study.questionnaire}"
            seconds[study.pk] = cache.get_or_set(key, partial(_estimate, study), KEPT_SECONDS)
    return seconds


def _estimate(study: Study) -> float | None:
    """Return the seconds to read and answer an item, from some of the study's items."""
    questionnaire = load_questionnaire(study.questionnaire)
    uses = (Item.Use.MAIN, Item.Use.PLAYED)
    items = list(Item.objects.filter(study=study, use__in=uses).order_by("rank")[:SAMPLED])
    if questionnaire.unit == "pair":
        ids = [pair_id(item.trajectory_id or 0, item.other_id or 0) for item in items]
    else:
        key = "task_id" if questionnaire.unit == "task" else "trajectory_id"
        ids = [pk for item in items if (pk := getattr(item, key)) is not None]
    if not items:
        return None
    answers = mean(len(list(questionnaire.slots(item.asked, item.subjects))) for item in items)
    words = mean_words(questionnaire, ids)
    return 60 * words / WORDS_A_MINUTE + SECONDS_AN_ANSWER * answers


# --- Sessions -------------------------------------------------------------------------------------


def _session_cards(user: User, rows: Sequence[SessionRow]) -> list[TaskCard]:
    """Return a card for each session at hand, with how many of its study are over."""
    if not rows:
        return []
    studies = {row.session.study_id for row in rows}
    mine = LivePlace.objects.filter(
        player=user, session__study__in=studies, session__practice=False
    ).order_by()
    over = Count("pk", filter=Q(session__state__in=LiveSession.OVER))
    counts = {
        pk: (done, total)
        for pk, done, total in mine.values_list("session__study").annotate(
            over=over, all=Count("pk")
        )
    }
    lengths = _session_lengths(studies)
    return [
        _session_card(
            row,
            row.place,
            *counts.get(row.session.study_id, (0, 0)),
            lengths.get(row.session.study_id, ""),
        )
        for row in rows
        if row.place is not None
    ]


def _session_card(
    row: SessionRow, place: LivePlace, done: int, total: int, length: str
) -> TaskCard:
    session = row.session
    if place.ready_at is None:
        url = reverse("annotation:next_item", args=[session.study_id])
    else:
        url = reverse("annotation:session", args=[session.pk])
    what = f"You play: {place.title.lower()}"
    if session.practice:
        what += ". Practice only: not counted"
    return TaskCard(
        key=f"session-{session.pk}",
        icon="messages-square",
        title=f"{session.study.name}: practice round" if session.practice else session.study.name,
        url=reverse("annotation:study", args=[session.study_id]),
        what=what,
        time=length,
        done=done,
        total=total if total > 1 else 0,
        words=f"{done} of {total} sessions",
        badge=row.words if not row.asked else "Ready to start" if row.untouched else "Your turn",
        live=row.asked,
        button="Begin" if row.untouched else "Continue" if row.asked else "Open",
        button_url=url,
        rank=WAITING if row.asked else STANDING,
    )


def _session_lengths(studies: Iterable[int]) -> dict[int, str]:
    """Return how long sessions of these studies take.

    It is the median of those that have ended, else the estimate of their mode, but never more than
    their time limit; nothing where none of these is known.
    """
    rows = LiveSession.objects.filter(
        study__in=studies, state=LiveSession.State.ENDED, practice=False,
        started_at__isnull=False, ended_at__isnull=False,
    ).order_by("-pk")  # fmt: skip
    played: dict[int, list[timedelta]] = {}
    for pk, started, ended in rows.values_list("study", "started_at", "ended_at")[:SESSIONS]:
        if started is not None and ended is not None:
            played.setdefault(pk, []).append(ended - started)
    lengths = {}
    for plan in LivePlan.objects.filter(study__in=studies):
        if times := played.get(plan.study_id):
            length = about_time(median(time.total_seconds() for time in times))
            lengths[plan.study_id] = f"{length} a session"
            continue
        modes = find_system(plan.system).modes()
        minutes = next((mode.minutes for mode in modes if mode.key == plan.mode), 0)
        limit = plan.session_minutes
        if limit and not 0 < minutes < limit:
            lengths[plan.study_id] = f"at most {limit} min a session"
        elif minutes:
            lengths[plan.study_id] = f"{about_time(60 * minutes)} a session"
    return lengths
