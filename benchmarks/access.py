"""Access checks: every view begins with one of these."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404

from benchmarks.models import Run, Trajectory
from benchmarks.visibility import EVERYTHING, Visibility, detached_runs

VIEW = "benchmarks.view_results"
START = "benchmarks.start_runs"
ANSWER = "benchmarks.answer_asks"
# No role includes this permission; administrators have it because they have all.
ENDPOINTS = "benchmarks.change_endpoint"
# Granted by administrators to people who may add endpoints of their own, under the rules for them.
OWN_ENDPOINTS = "benchmarks.add_endpoint"

M = TypeVar("M", bound=Model)
View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def signed_in(view: View) -> View:
    """Let only signed-in people open a view; send others to the sign-in page and back.

    A fragment cannot show that page, so a request for a fragment gets a short message.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        if getattr(request, "htmx", False):
            return HttpResponse("Your session has ended. Reload the page.", status=403)
        return redirect_to_login(request.get_full_path())

    return cast(View, guarded)


def allow(request: HttpRequest, *permissions: str) -> None:
    """Refuse the request (403) if the user has none of the permissions."""
    if not any(request.user.has_perm(permission) for permission in permissions):
        raise PermissionDenied("Your role does not include this.")


def visibility(request: HttpRequest) -> Visibility:
    """Return what the user of a request may see, computed once per request."""
    person = getattr(request, "user", None)
    if not isinstance(person, User):
        return EVERYTHING  # such a request is refused, or is the API's before its token was read
    known: Visibility | None = getattr(request, "visibility", None)
    if known is None:
        known = Visibility.to(person)
        request.visibility = known  # type: ignore[attr-defined]
    return known


def fetch(request: HttpRequest, rows: QuerySet[M], permission: str = VIEW, **lookup: object) -> M:
    """Return one row: 403 without the permission, 404 without the row.

    The permission is checked first, so that the status does not reveal which rows exist. A row that
    is hidden from a blinded annotator gives 404, too, because its existence may reveal something.
    The page of the 404 says of a detached run where it is.
    """
    allow(request, permission)
    seen = visibility(request)
    try:
        return get_object_or_404(seen.of(rows), **lookup)
    except Http404:
        request.detached = _detached_run(rows.model, lookup.get("pk"), seen)  # type: ignore[attr-defined]
        raise


def _detached_run(model: type[Model], pk: object, seen: Visibility) -> Run | None:
    """Return the detached run that a row of this id is, or belongs to."""
    if not isinstance(pk, int) or model not in (Run, Trajectory):
        return None
    runs = detached_runs(seen)
    if model is Run:
        return runs.filter(pk=pk).first()
    for run in runs:
        ranges = (run.archive or {})["trajectories"]
        if any(first <= pk <= last for first, last in ranges):
            return run
    return None
