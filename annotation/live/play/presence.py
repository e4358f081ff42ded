"""The presence of players: who has the page of a session open now, and who is typing.

Every open page asks about once a second, so this is kept in the cache, and in the database only
every few seconds (`annotation.live.play.services.note_player`). A page that is closed says so. On a
slow server its last question is answered after that; so each page has a name, and one that is
closed counts no more, in whatever order its requests are handled.
"""

import re
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache

# A page that has not asked for so long is closed or offline.
QUIET = timedelta(seconds=5)
# The same by the database, where the cache knows nothing: after a restart, say.
QUIET_STORED = timedelta(seconds=20)
_KEPT_SECONDS = 120
# A page stores a draft every two seconds while somebody types.
_TYPING_SECONDS = 5


@dataclass(frozen=True)
class Presence:
    """The places, by id, whose players are at their page, and those whose players are typing."""

    here: Collection[int] = frozenset()
    typing: Collection[int] = frozenset()


def name_page() -> str:
    """Return the name of a page that is opened now."""
    return secrets.token_hex(6)


def read_page(text: str) -> str:
    """Return the name of a page as a request gives it, empty where that is none."""
    return text if re.fullmatch(r"[0-9a-f]{12}", text) else ""


def _here(place: int) -> str:
    return f"live-here-{place}"


def _gone(place: int) -> str:
    return f"live-gone-{place}"


def _typing(place: int) -> str:
    return f"live-typing-{place}"


def note_here(place: int, at: datetime, page: str) -> None:
    """Remember that the player of a place is at a page of theirs."""
    cache.set(_here(place), (at.timestamp(), page), _KEPT_SECONDS)


def note_gone(place: int, page: str) -> None:
    """Remember that the player of a place has closed a page."""
    cache.set(_gone(place), page, _KEPT_SECONDS)


def note_typing(place: int, *, typing: bool) -> None:
    """Remember for some seconds that the player of a place is typing, or forget it."""
    if typing:
        cache.set(_typing(place), True, _TYPING_SECONDS)
    else:
        cache.delete(_typing(place))


def read_presence(places: Sequence[Any], at: datetime) -> Presence:
    """Return who is at their page and who is typing.

    ``places`` are `LivePlace`, or rows with its ``pk``, ``player_id`` and ``last_seen_at``.
    """
    filled = [place for place in places if place.player_id is not None]
    if not filled:
        return Presence()
    keys = (_here, _gone, _typing)
    known = cache.get_many([key(place.pk) for place in filled for key in keys])
    here = frozenset(
        place.pk
        for place in filled
        if _is_present(place, known.get(_here(place.pk)), known.get(_gone(place.pk)), at)
    )
    return Presence(here, frozenset(p.pk for p in filled if known.get(_typing(p.pk))))


def _is_present(place: Any, here: tuple[float, str] | None, gone: str | None, at: datetime) -> bool:
    if here is not None:
        seen, page = here
        return page != gone and at.timestamp() - seen < QUIET.total_seconds()
    return (
        gone is None and place.last_seen_at is not None and at - place.last_seen_at < QUIET_STORED
    )
