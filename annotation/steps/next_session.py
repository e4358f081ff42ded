"""The choice of the session that a player plays next."""

from typing import NamedTuple

from django.contrib.auth.models import User

from annotation.models import Assignment, Item, LivePlace, LivePlan, LiveSession

OVER = LiveSession.OVER


class NextSession(NamedTuple):
    """The session that comes next for a player, and what has to be shown before it.

    ``instructs``: the instructions come first. ``practises``: so does a practice round, which has
    not been begun.
    """

    place: LivePlace
    instructs: bool
    practises: bool


def next_session(plan: LivePlan, user: User) -> NextSession | None:
    """Return the practice round under way, else the first session of theirs that is not over."""
    places = LivePlace.objects.filter(session__study=plan.study_id, player=user)
    places = places.select_related("session").order_by("-session__practice", "order", "session")
    mine = list(places)
    waiting = [place for place in mine if place.session.state not in OVER]
    if not waiting:
        return None
    first = waiting[0]
    if first.session.practice:
        return NextSession(first, instructs=False, practises=False)
    begun = any(place.ready_at is not None for place in mine)
    practised = any(place.session.practice for place in mine)
    practises = plan.practises and not practised and first.ready_at is None
    return NextSession(first, instructs=not begun or practises, practises=practises)


def is_asked_about(session: LiveSession, user: User) -> bool:
    """Return whether questions about a session wait for this player."""
    open_items = Assignment.objects.filter(
        study=session.study_id,
        annotator=user,
        item__trajectory=session.trajectory_id,
        item__use=Item.Use.PLAYED,
        state=Assignment.State.OPEN,
    )
    return open_items.exists()


def has_played(plan: LivePlan, user: User) -> bool:
    """Return whether one of the person's sessions, practice apart, is over."""
    rows = LivePlace.objects.filter(session__study=plan.study_id, player=user)
    return rows.filter(session__practice=False, session__state__in=OVER).exists()


def find_free_place(plan: LivePlan, user: User) -> LivePlace | None:
    """Return a place of a study that this person may take, the first by number; None where none is.

    In a study whose players are not named, whoever has none takes a whole row of the plan; where
    places are handed over, whoever has nothing left takes one that somebody left.
    """
    rows = LivePlace.objects.filter(session__study=plan.study_id, session__practice=False)
    free = rows.filter(player=None, stand_in="").exclude(session__state__in=OVER)
    own = rows.filter(player=user)
    free = free.exclude(session__in=own.values("session")).order_by("session__number", "number")
    if plan.settings.get("players") == "pool" and not own.exists():
        fresh = free.filter(session__state=LiveSession.State.GATHERING, joined_at=None)
        return fresh.select_related("session").first()
    if plan.leaving == LivePlan.Leaving.HAND_OVER:
        left = free.exclude(session__state=LiveSession.State.GATHERING)
        return left.select_related("session").first()
    return None
