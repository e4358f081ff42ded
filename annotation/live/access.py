"""Decide who may do what in a live session. Every view of a session begins with `fetch_session`."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest

from annotation.access import LARGEST, StudyAccess, person, roles_in
from annotation.models import LivePlace, LiveSession


@dataclass(frozen=True)
class SessionAccess:
    """A session together with what this person may do in it.

    ``places`` are all its places by number; ``place`` is the one that they fill, if any.
    """

    session: LiveSession
    study: StudyAccess
    places: tuple[LivePlace, ...]
    place: LivePlace | None

    @property
    def user(self) -> User:
        return self.study.user

    @property
    def oversees(self) -> bool:
        """Whether they may see all of the session; who plays in it may not before it is over."""
        if self.place is not None and self.session.state not in LiveSession.OVER:
            return False
        return self.study.oversees and not self.study.blind

    @property
    def manages(self) -> bool:
        """Whether they may change who plays, hand over and end."""
        return self.study.manages


def fetch_session(request: HttpRequest, pk: int) -> SessionAccess:
    """Return a session for whoever plays in it or oversees its study;
    for others it does not exist.
    """
    user = person(request)
    sessions = LiveSession.objects.select_related("study__live")
    session = sessions.filter(pk=pk).first() if pk <= LARGEST else None
    if session is None:
        raise Http404
    places = tuple(LivePlace.objects.filter(session=pk).order_by("number"))
    place = next((place for place in places if place.player_id == user.pk), None)
    study = StudyAccess(session.study, user, roles_in(session.study_id, user.pk))
    if place is None and not study.oversees:
        raise Http404
    for each in places:
        each.session = session
    return SessionAccess(session, study, places, place)
