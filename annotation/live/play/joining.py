"""Taking free places of a study: a whole row of its plan, or a place that somebody left."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.live.next_session import free_seat
from annotation.live.play.services import take_place
from annotation.models import LivePlace, LivePlan, LiveSession, Membership, Study
from annotation.studies.setup import add_member


def take_seat(*, study: Study, user: User) -> list[LivePlace]:
    """Take what is free for this person; nothing where somebody was quicker or nothing is left.

    Where players are not named, that is the same place in all sessions of a row of the plan.
    """
    with transaction.atomic():
        # One after the other, so that two people do not take half a row each.
        plan = LivePlan.objects.select_for_update(no_key=True).get(study=study)
        first = free_seat(plan, user)
        if first is None:
            return []
        return [take_place(place=place, user=user) for place in _row_of(plan, first)]


def _row_of(plan: LivePlan, first: LivePlace) -> list[LivePlace]:
    """The free places that go with this one, in the order in which they are played."""
    rows: list[list[int]] = plan.settings.get("rows", [])
    numbers = next((row for row in rows if first.session.number in row), [first.session.number])
    found = LivePlace.objects.filter(
        session__study=plan.study_id,
        session__number__in=numbers,
        number=first.number,
        player=None,
        stand_in="",
    )
    return list(found.exclude(session__state__in=LiveSession.OVER).order_by("session__number"))


def take_own_place(*, place: LivePlace, user: User) -> LivePlace:
    """Sit down at a place of a study that one runs, as its player."""
    with transaction.atomic():
        taken = take_place(place=place, user=user)
        study = Study.objects.get(pk=place.session.study_id)
        add_member(study=study, user=user, role=Membership.Role.ANNOTATOR, by=user)
    return taken
