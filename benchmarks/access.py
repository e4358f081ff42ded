"""Who may see and do what: every view begins here."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404

from benchmarks.visibility import EVERYTHING, Visibility

VIEW = "benchmarks.view_results"
START = "benchmarks.start_runs"
ANSWER = "benchmarks.answer_asks"
# Nobody is given this one: administrators have it because they have all.
ENDPOINTS = "benchmarks.change_endpoint"

M = TypeVar("M", bound=Model)
View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def signed_in(view: View) -> View:
    """Only for people who are signed in; others go to the sign-in page and come back.

    A fragment cannot show that page, so a request for one is refused in words.
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
    """Refuse (403) who has none of the permissions."""
    if not any(request.user.has_perm(permission) for permission in permissions):
        raise PermissionDenied("Your role does not include this.")


def visibility(request: HttpRequest) -> Visibility:
    """What the person behind a request may see now; found out once a request."""
    person = getattr(request, "user", None)
    if not isinstance(person, User):
        return EVERYTHING  # such a request is refused, or is the API's before its token was read
    found: Visibility | None = getattr(request, "visibility", None)
    if found is None:
        found = Visibility.to(person)
        request.visibility = found  # type: ignore[attr-defined]
    return found


def fetch(request: HttpRequest, rows: QuerySet[M], permission: str = VIEW, **lookup: object) -> M:
    """One row for somebody who may have it: 403 without the permission, 404 without the row.

    The permission comes first, so that nobody learns from the answer which rows exist. A row that
    is closed to somebody who annotates blind is not there for them either: that it exists may tell.
    """
    allow(request, permission)
    return get_object_or_404(visibility(request).of(rows), **lookup)
