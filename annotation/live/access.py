"""Decide who may do what in a live session. Every view of a session begins with `fetch_session`."""

from dataclasses import dataclass
from functools import cached_property

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest

from annotation.access import LARGEST, StudyAccess, person, roles_in
from annotation.live.duels.selectors import find_duel, other_side
from annotation.models import Duel, LivePlace, LiveSession

# What pages of sessions do not need of a trajectory.
_LONG = ("metrics", "undefined", "payload")
# What polls and replies of players need, by relation; composing SQL for all columns of five tables
# takes more time than any of their queries. What else is asked for is read then.
_PLAYED = tuple(
    f"{relation}{name}"
    for relation, names in {
        "": "number title roles player order stand_in notes joined_at ready_at seen_at "
        "last_seen_at",
        "session__": "number practice state created_at started_at paused_at ends_by ended_at "
        "created_by study trajectory",
        "session__study__": "name blinded settings",
        "session__study__live__": "system mode leaving away_seconds reply_seconds settings "
        "shows_suggestions",
        "session__trajectory__": "status termination problem reserved started_at turn_count",
    }.items()
    for name in names.split()
)


@dataclass(frozen=True)
class SessionAccess:
    """A session together with what this person may do in it.

    ``places`` are all its places by number; ``place`` is the one that they fill, if any.
    """

    session: LiveSession
    user: User
    places: tuple[LivePlace, ...]
    place: LivePlace | None

    @cached_property
    def study(self) -> StudyAccess:
        """The access to its study, read when first asked for: polls of players never do."""
        roles = roles_in(self.session.study_id, self.user.pk)
        return StudyAccess(self.session.study, self.user, roles)

    @cached_property
    def duel(self) -> Duel | None:
        """The duel of which the session is a side, if it is one."""
        return find_duel(self.session.pk) if self.session.study.has_duels else None

    @property
    def oversees(self) -> bool:
        """Return whether they may see all of the session; players may not before it is over, both
        sides of a duel.
        """
        if self.place is not None:
            beside = [other_side(self.duel, self.session.pk)] if self.duel else []
            if any(row.state not in LiveSession.OVER for row in (self.session, *beside)):
                return False
        return self.study.oversees and not self.study.blind

    @property
    def manages(self) -> bool:
        """Return whether they may change players, hand over and end the session.

        Managers of the study may, and so may the researcher who made the session.
        """
        created = self.session.created_by_id == self.user.pk and self.study.oversees
        return self.study.manages or created


def fetch_session(request: HttpRequest, pk: int, *, played: bool = False) -> SessionAccess:
    """Return a session for whoever plays in it or oversees its study; for others it does not
    exist.

    ``played``: only what polls and replies need is read at once.
    """
    user = person(request)
    # One query for all of it, since every open page asks about once a second.
    rows = LivePlace.objects.select_related("session__study__live", "session__trajectory")
    if played:
        rows = rows.only("session", *_PLAYED)
    else:
        rows = rows.defer(*(f"session__trajectory__{name}" for name in _LONG))
    rows = rows.filter(session=pk)
    places = tuple(rows.order_by("number")) if pk <= LARGEST else ()
    if not places:
        raise Http404
    session = places[0].session
    for each in places:
        each.session = session
    place = next((place for place in places if place.player_id == user.pk), None)
    access = SessionAccess(session, user, places, place)
    if place is None and not access.study.oversees:
        raise Http404
    return access
