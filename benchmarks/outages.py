"""Outages of what the server needs: error pages, and a line in the log when one begins or ends.

The pages say what happened and what is safe. All other unexpected errors keep Django's own page.
"""

import errno
import logging
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from shutil import disk_usage
from typing import NamedTuple

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.backends.signals import connection_created
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views import defaults

logger = logging.getLogger(__name__)

# When a browser or a program may try again.
RETRY_SECONDS = 5
SAFE = "What was saved before is safe. What you have just sent may not be stored."
# With fewer bytes free, an input or output error of SQLite is a full disk.
LEAST_FREE = 1 << 20
# PostgreSQL's codes: disk full, lock not available, deadlock, statement timeout.
_FULL, _BUSY = {"53100"}, {"55P03", "40P01", "57014"}


class Outage(NamedTuple):
    """The reason why nothing can be stored now, as a clause for a line of state, and what helps."""

    code: str
    reason: str
    remedy: str
    title: str = "Saving is not possible right now"


FULL = Outage(
    "disk_full",
    "the disk of the server is full",
    "An administrator has to make room on it; then this works again by itself.",
)
LOCKED = Outage(
    "database_locked",
    "the database is locked by another program",
    "Try again in a few seconds. If it stays like this, tell the administrator.",
)
UNREACHABLE = Outage(
    "database_unavailable",
    "the server cannot reach its database",
    "Try again in a minute. If it stays like this, tell the administrator.",
    "PlanJury cannot reach its database right now",
)
CROWDED = Outage(
    "too_many_connections",
    "the database has no connection left for this server",
    "Try again in a few seconds. If it stays like this, tell the administrator.",
)
# By PostgreSQL, for a role or a database, and by PgBouncer; errors of connecting have no code.
_NO_CONNECTION = (
    "too many clients",
    "too many connections",
    "remaining connection slots",
    "no more connections allowed",
    "query_wait_timeout",
)


def outage_behind(error: BaseException | None) -> Outage | None:
    """Return the outage that raised ``error``, or led to it; None where it is something else."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return FULL
        if isinstance(error, OperationalError):
            return _outage_of(error)
        if isinstance(error, InterfaceError) and "closed" in str(error):
            return UNREACHABLE  # the connection broke while it was used
        error = error.__cause__ or error.__context__
    return None


def _outage_of(error: OperationalError) -> Outage | None:
    state = getattr(error.__cause__, "sqlstate", None)
    text = str(error).lower()
    if state in _FULL or "disk is full" in text or "no space left" in text:
        return FULL
    # SQLite says no more where its shared memory finds no room.
    if "disk i/o error" in text and disk_usage(settings.DATA_DIR).free < LEAST_FREE:
        return FULL
    if state in _BUSY or "is locked" in text:
        return LOCKED
    if any(words in text for words in _NO_CONNECTION):
        return CROWDED
    # A statement that is wrong is a fault of ours, and stays one.
    ours = ("no such table", "no such column", "syntax error", "too many sql variables")
    return None if any(words in text for words in ours) else UNREACHABLE


BROKER = "broker_unavailable"
CACHE = "cache_unavailable"
# After so many seconds without a failure an outage whose end nobody sees counts as over.
FORGET_SECONDS = 60.0


@dataclass
class _Ongoing:
    """An outage that was reported: when it began, when it last failed something, how often."""

    began: float
    last: float
    failures: int = 1


_ongoing: dict[str, _Ongoing] = {}
_lock = threading.Lock()


def note_outage(code: str, reason: str) -> None:
    """Log that an outage has begun, unless it is known already."""
    now = time.monotonic()
    with _lock:
        known = _ongoing.get(code)
        if known is not None and now - known.last < FORGET_SECONDS:
            known.last, known.failures = now, known.failures + 1
            return
        _ongoing[code] = _Ongoing(now, now)
    logger.error("Outage (%s): %s. Further failures are counted, not logged.", code, reason)


def note_recovery(code: str) -> None:
    """Log that an outage is over, if there was one."""
    if code not in _ongoing:  # the usual case takes no lock
        return
    with _lock:
        over = _ongoing.pop(code, None)
    if over is not None:
        logger.warning(
            "Recovered (%s) after %.0f s; %d operations failed meanwhile.",
            code,
            time.monotonic() - over.began,
            over.failures,
        )


# Between tries of a write that waits for the end of an outage.
PAUSE_SECONDS = 1.0


def keep_trying(write: Callable[[], object]) -> None:
    """Make a write, and make it again until the outage that prevents it is over.

    The connection may break after a commit, so ``write`` must notice that it has been made before.
    All other errors are raised.
    """
    while True:
        try:
            write()
            return
        except (OperationalError, InterfaceError) as error:
            outage = outage_behind(error)
            if outage is None:
                raise
            note_outage(outage.code, f"{outage.reason}; what workers have to store waits")
            connection.close()
            time.sleep(PAUSE_SECONDS)


def _database_is_back(**about: object) -> None:
    note_recovery(UNREACHABLE.code)
    note_recovery(CROWDED.code)


connection_created.connect(_database_is_back)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer unexpected errors (Django's handler), naming an outage where one is behind it."""
    outage = outage_behind(sys.exc_info()[1])
    if outage is None:
        return defaults.server_error(request)
    return outage_response(request, outage)


def outage_response(request: HttpRequest, outage: Outage) -> HttpResponse:
    """Return a 503 in the form that was asked for: JSON for scripts, a line for htmx, else a
    page.
    """
    response: HttpResponse
    reason = outage.reason[:1].upper() + outage.reason[1:]
    if "application/json" in (request.content_type or "", request.headers.get("Accept", "")):
        response = JsonResponse({"code": outage.code, "refused": outage.reason}, status=503)
    elif request.headers.get("HX-Request"):
        text = f"{reason}. {SAFE} {outage.remedy}"
        response = HttpResponse(text, status=503, content_type="text/plain; charset=utf-8")
    else:
        context = {"title": outage.title, "reason": reason, "safe": SAFE, "remedy": outage.remedy}
        response = HttpResponse(render_to_string("503.html", context), status=503)
    response["Retry-After"] = str(RETRY_SECONDS)
    response["Cache-Control"] = "no-store"
    return response
