"""The sessions that ended without a reply of somebody who played in them."""

from collections.abc import Iterable, Sequence

from annotation.models import LivePlace, LiveSession, Study
from benchmarks.asks.players import player_name
from benchmarks.models import Exchange


def unanswered_places(trajectories: Iterable[int]) -> dict[int, list[LivePlace]]:
    """Return the places whose player sent no reply, by trajectory, of sessions that are over.

    A player may have had nothing to say: a first plan that nobody objects to ends a session. What
    such a session shows is no work of theirs, so that pay and analyses say it.
    """
    wanted = list(trajectories)
    places = LivePlace.objects.filter(
        session__trajectory__in=wanted, session__state__in=LiveSession.OVER, player__isnull=False
    )
    played = list(places.select_related("session", "player").order_by("session", "number"))
    if not played:
        return {}
    replies = Exchange.objects.filter(
        trajectory__in={place.session.trajectory_id for place in played},
        answerer__kind="human",
        state=Exchange.State.ANSWERED,
    )
    spoke = set(replies.order_by().values_list("trajectory", "answerer__name", "role").distinct())
    unanswered: dict[int, list[LivePlace]] = {}
    for place in played:
        assert place.player is not None
        trajectory, name = place.session.trajectory_id, player_name(place.player)
        if not any((trajectory, name, role) in spoke for role in place.roles):
            unanswered.setdefault(trajectory, []).append(place)
    return unanswered


def unanswered_sessions(study: Study) -> dict[int, list[int]]:
    """Return the numbers of the sessions in which somebody sent no reply, by account.

    Practice rounds count nowhere.
    """
    if not study.is_live:
        return {}
    over = LiveSession.objects.filter(study=study, practice=False, state__in=LiveSession.OVER)
    numbers: dict[int, list[int]] = {}
    for places in unanswered_places(over.values_list("trajectory", flat=True)).values():
        for place in places:
            assert place.player_id is not None
            numbers.setdefault(place.player_id, []).append(place.session.number)
    return numbers


def unanswered_words(numbers: Sequence[int]) -> list[str]:
    """Return the sign that somebody sent no reply in these sessions; none where there are none."""
    if not numbers:
        return []
    listed = ", ".join(map(str, sorted(numbers)))
    return [f"no reply in session{'' if len(numbers) == 1 else 's'} {listed}"]
