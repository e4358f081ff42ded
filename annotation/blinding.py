"""The runs and tasks that are hidden from people who annotate a blinded study."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.template.defaultfilters import pluralize
from django.urls import reverse

from annotation.models import Assignment, Item, LivePlace, LiveSession, Participant, Study
from annotation.models.studies import LIVE
from benchmarks.datasets.selectors import counted
from benchmarks.models import Run
from benchmarks.visibility import (
    ClosedRows,
    OpenDuty,
    blinding_duties,
    blinding_rule,
    role_changes_in,
)


def blind_studies(user: User) -> frozenset[int]:
    """Return the blinded studies, by id, in which this person has open items, or may take some of a
    pool.

    Between two items of a pool nobody has an open one, but what they looked up would serve for the
    next. The same holds for who plays in sessions. Whoever was unblinded is not blind any more:
    their later answers are marked.
    """
    return frozenset(_blind(user.pk).values_list("pk", flat=True))


def _blind(user: int) -> QuerySet[Study]:
    here = Participant.objects.filter(study=OuterRef("pk"), user=user)
    assignments = Assignment.objects.filter(study=OuterRef("pk"), annotator=user)
    pool = Q(status=Study.Status.OPEN, dealing=Study.Dealing.POOL)
    pool &= Q(Exists(here.filter(state=Participant.State.ACTIVE)))
    pool &= Q(Exists(_free(user).filter(study=OuterRef("pk"))))
    plays = Exists(_own_places(user).filter(session__study=OuterRef("pk")))
    may_play = Q(status=Study.Status.OPEN) & Q(Exists(here.filter(state=Participant.State.ACTIVE)))
    may_play &= Q(Exists(_free_places().filter(session__study=OuterRef("pk"))))
    rows = Study.objects.filter(blinded=True).order_by()
    rows = rows.filter(
        Q(Exists(assignments.filter(state=Assignment.State.OPEN))) | pool | Q(plays) | may_play
    )
    return rows.exclude(Exists(here.filter(unblinded_at__isnull=False)))


def _free(user: int) -> QuerySet[Item]:
    """Return the items with a free assignment that this person has not had."""
    had = Assignment.objects.filter(item=OuterRef("pk"), annotator=user)
    return Item.objects.filter(given__lt=F("wanted")).exclude(Exists(had)).order_by()


def _own_places(user: int) -> QuerySet[LivePlace]:
    """Return their places in sessions that are not over."""
    rows = LivePlace.objects.filter(player=user).order_by()
    return rows.exclude(session__state__in=LiveSession.OVER)


def _free_places() -> QuerySet[LivePlace]:
    """Return the places that somebody may still take."""
    rows = LivePlace.objects.filter(player=None, stand_in="").order_by()
    return rows.exclude(session__state__in=LiveSession.OVER)


@blinding_rule
def closed_by_open_items(user: User) -> ClosedRows:
    """Return all runs of these studies, and the tasks about whose candidates they ask.

    Not only the runs of the items that are open: agents of one study are told apart by comparison.
    And all other runs of the same agents on the same dataset: an agent begins a task alike at every
    level, so the plan that is on the desk could be found there again beside a name. The same holds
    for agents that took over in a session.
    """
    live_by_study = dict(_blind(user.pk).values_list("pk", f"settings__{LIVE}"))
    if not live_by_study:
        return ClosedRows()
    studies = list(live_by_study)
    items = Item.objects.filter(study__in=studies).order_by()
    judged = items.filter(trajectory__isnull=False).values("trajectory__run")
    played = LiveSession.objects.filter(study__in=studies).order_by().values("trajectory__run")
    same = Run.objects.filter(dataset=OuterRef("dataset"), agent=OuterRef("agent"))
    same = same.filter(Q(pk__in=judged) | Q(pk__in=played))
    asked = items.filter(trajectory=None, task__isnull=False)
    alike = Q(Exists(same.order_by()))
    if any(live_by_study.values()):
        alike |= _took_over(played)
    return ClosedRows(
        Run.objects.filter(alike).order_by().values_list("pk", flat=True),
        asked.values_list("task", flat=True).distinct(),
    )


def _took_over(played: QuerySet[Any, Any]) -> Q:
    """Return the runs of agents that went on in sessions of these runs, on the same datasets."""
    agents = [
        row for role_changes in role_changes_in(played) for row in role_changes.get("agent", ())
    ]
    endpoints = {row["endpoint"] for row in agents if "endpoint" in row}
    policies = {row["policy"] for row in agents if "policy" in row}
    if not endpoints and not policies:
        return Q(pk__in=())
    by = Q(agent__endpoint__name__in=endpoints) | Q(agent__policy__in=policies)
    datasets = Run.objects.filter(pk__in=played).order_by().values("dataset")
    return by & Q(dataset__in=datasets)


@blinding_duties
def items_left(user: User) -> Iterable[OpenDuty]:
    """Return what has to be submitted, skipped or played first, study by study."""
    places = counted(_own_places(user.pk), "session__study")
    blind = Study.objects.filter(pk__in=blind_studies(user))
    for study in blind.annotate(live_places=places).order_by("pk"):
        own = study.assignments.filter(annotator=user, state=Assignment.State.OPEN)
        left = own.count()
        if study.dealing == Study.Dealing.POOL and study.status == Study.Status.OPEN:
            left += _free(user.pk).filter(study=study).count()
        counts = (("item", left), ("session", study.live_places))
        words = " and ".join(f"{n} {what}{pluralize(n)}" for what, n in counts if n)
        word = study.get_status_display().lower()
        title = study.name if study.status == Study.Status.OPEN else f"{study.name} ({word})"
        yield OpenDuty(title, words, reverse("annotation:study", args=[study.pk]))
