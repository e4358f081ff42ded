"""The presence of players: who has the page of a session open now.

Every open page asks about once a second, so this is kept in the cache, and in the database only
every few seconds (`annotation.live.play.services.note_player`). A page that is closed says so.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache

# A page that has not asked for so long is closed or offline.
QUIET = timedelta(seconds=5)
# The same by the database, where the cache knows nothing: after a restart, say.
QUIET_STORED = timedelta(seconds=20)
_KEPT_SECONDS = 120


def _key(place: int) -> str:
    return f"live-here-{place}"


def note_here(place: int, at: datetime) -> None:
    """Remember that the player of a place is at their page."""
    cache.set(_key(place), at.timestamp(), _KEPT_SECONDS)


def note_gone(place: int) -> None:
    """Remember that the player of a place has closed their page."""
    cache.set(_key(place), 0.0, _KEPT_SECONDS)


def places_present(places: Sequence[Any], at: datetime) -> Collection[int]:
    """Return the places whose players are at their page, by id.

    ``places`` are `LivePlace`, or rows with its ``pk``, ``player_id`` and ``last_seen_at``.
    """
    filled = [place for place in places if place.player_id is not None]
    if not filled:
        return frozenset()
    known = cache.get_many([_key(place.pk) for place in filled])
    return frozenset(
        place.pk for place in filled if _is_present(place, known.get(_key(place.pk)), at)
    )


def _is_present(place: Any, seen: float | None, at: datetime) -> bool:
    if seen is not None:
        return at.timestamp() - seen < QUIET.total_seconds()
    return place.last_seen_at is not None and at - place.last_seen_at < QUIET_STORED
