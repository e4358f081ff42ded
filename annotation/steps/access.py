"""Nobody opens what they have not come to."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from annotation.access import NotYet

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def in_turn(view: View) -> View:
    """Send on whoever is not there yet, or is taking a break, to what comes first for them."""

    @wraps(view)
    def guarded(request: HttpRequest, pk: int, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, pk, *args, **kwargs)
        except NotYet:
            return redirect("annotation:next_item", pk=pk)

    return cast(View, guarded)
