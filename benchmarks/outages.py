"""Error pages for a full disk or a locked database: what happened, and what is safe.

All other unexpected errors keep Django's own page.
"""

import errno
import sys
from dataclasses import dataclass

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views import defaults

# When a browser or a program may try again.
RETRY_SECONDS = 5
SAFE = "What was saved before is safe. What you have just sent may not be stored."
# PostgreSQL's codes: disk full, lock not available, deadlock, statement timeout.
_FULL, _BUSY = {"53100"}, {"55P03", "40P01", "57014"}


@dataclass(frozen=True)
class Outage:
    """Why nothing can be stored now, as a clause for a line of state, and what helps."""

    code: str
    reason: str
    remedy: str


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
)


def outage_behind(error: BaseException | None) -> Outage | None:
    """The outage that raised ``error``, or led to it; None where it is something else."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return FULL
        if isinstance(error, OperationalError):
            return _outage_of(error)
        error = error.__cause__ or error.__context__
    return None


def _outage_of(error: OperationalError) -> Outage | None:
    state = getattr(error.__cause__, "sqlstate", None)
    text = str(error).lower()
    if state in _FULL or "disk is full" in text or "no space left" in text:
        return FULL
    if state in _BUSY or "is locked" in text:
        return LOCKED
    # A statement that is wrong is a fault of ours, and stays one.
    ours = ("no such table", "no such column", "syntax error", "too many sql variables")
    return None if any(words in text for words in ours) else UNREACHABLE


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler of unexpected errors, which names an outage where one is behind it."""
    outage = outage_behind(sys.exc_info()[1])
    if outage is None:
        return defaults.server_error(request)
    return outage_response(request, outage)


def outage_response(request: HttpRequest, outage: Outage) -> HttpResponse:
    """503 in the form that was asked for: JSON for scripts, a line for htmx, else a page."""
    response: HttpResponse
    reason = outage.reason[:1].upper() + outage.reason[1:]
    if "application/json" in (request.content_type or "", request.headers.get("Accept", "")):
        response = JsonResponse({"code": outage.code, "refused": outage.reason}, status=503)
    elif request.headers.get("HX-Request"):
        text = f"{reason}. {SAFE} {outage.remedy}"
        response = HttpResponse(text, status=503, content_type="text/plain; charset=utf-8")
    else:
        context = {"reason": reason, "safe": SAFE, "remedy": outage.remedy}
        response = HttpResponse(render_to_string("503.html", context), status=503)
    response["Retry-After"] = str(RETRY_SECONDS)
    response["Cache-Control"] = "no-store"
    return response
