"""A reply that a model is writing, sent to the pages of players piece by piece.

Each page that waits for a model holds one connection, and so one thread of the web server, for as
long as it waits: `STREAM_THREADS` are there for that, beside those that answer requests. Where all
are taken a page says that somebody writes, and shows the text when it is complete.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache

from django.conf import settings

from annotation.models import LivePlace
from benchmarks.markdown import draw_markdown
from benchmarks.runs.growing import read_growing

# How often a text is looked at, after how many seconds a page is asked to connect again, and after
# how many without news something is sent, so that a page that was closed is noticed.
LOOK_SECONDS, LONGEST_SECONDS, QUIET_SECONDS = 0.15, 20.0, 2.0


@cache
def _free() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(settings.STREAM_THREADS)


def watch_writing(session: int, user: int) -> Callable[[], str] | None:
    """Return what reads as much as this user may see of a reply being written; '' is nothing.

    None where they have no place in the session. In a duel replies appear when both are there. In a
    blinded study whoever fills a place looks like a person, whose text is seen when it is sent.
    """
    rows = LivePlace.objects.filter(session=session).values_list(
        "player", "roles", "session__trajectory", "session__study__blinded",
        "session__study__settings__duels", named=True
    )  # fmt: skip
    places = list(rows)
    if all(place.player != user for place in places):
        return None
    if places[0].session__study__settings__duels:
        return lambda: ""
    trajectory, blinded = places[0].session__trajectory, places[0].session__study__blinded
    hidden = {role for place in places if blinded for role in place.roles}

    def read() -> str:
        reply = read_growing(trajectory)
        return "" if reply is None or reply.role in hidden else reply.text

    return read


def stream_writing(read: Callable[[], str]) -> Iterator[bytes] | None:
    """Return server-sent events with the text so far as HTML, whenever there is more of it.

    ``end`` says that it is complete or given up. None where too many pages watch already.
    """
    free = _free()
    if not free.acquire(blocking=False):
        return None
    events = _events(read, free)
    next(events)  # a generator that never began would not give its place back when it is closed
    return events


def _events(read: Callable[[], str], free: threading.BoundedSemaphore) -> Iterator[bytes]:
    try:
        yield b""
        until, shown, sent = time.monotonic() + LONGEST_SECONDS, "", 0.0
        while time.monotonic() < until:
            text = read()
            if shown and not text:
                yield b"event: end\ndata:\n\n"
                return
            if text != shown or time.monotonic() - sent > QUIET_SECONDS:
                shown, sent = text, time.monotonic()
                yield f"data: {json.dumps(draw_markdown(text))}\n\n".encode()
            time.sleep(LOOK_SECONDS)
    finally:
        free.release()
