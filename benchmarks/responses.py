"""A page and its fragments: the same context, the part alone when a script asks for it."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme

# The status by which a fragment that polls is told to stop: its work is over.
STOP_POLLING = 286


def wants_fragment(request: HttpRequest) -> bool:
    """Return whether a script of ours asks, and wants the part that it will put into the page."""
    return request.headers.get("HX-Request") == "true"


def respond(request: HttpRequest, page: str, part: str, context: Mapping[str, Any]) -> HttpResponse:
    """Return the whole page, or the part of it that changed."""
    alone = wants_fragment(request)
    response = render(request, part if alone else page, {**context, "alone": alone})
    patch_vary_headers(response, ["HX-Request"])
    return response


def clean_query(params: QueryDict) -> str:
    """Return the query string without the fields that were left empty."""
    kept = params.copy()
    for key in list(kept):
        kept.setlist(key, [value for value in kept.getlist(key) if value])
        if not kept.getlist(key):
            kept.pop(key)
    return kept.urlencode()


def shown_url(request: HttpRequest) -> str:
    """Return this page's address without empty fields, to be shown in the browser."""
    query = clean_query(request.GET)
    return f"{request.path}?{query}" if query else request.path


def go_back(request: HttpRequest, otherwise: str) -> HttpResponseRedirect:
    """Redirect to the page that a form names in ``next``, if it is one of ours."""
    wanted = request.POST.get("next", "")
    ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return HttpResponseRedirect(wanted if ours else otherwise)


def add_error_message(request: HttpRequest, error: Exception) -> None:
    """Add an error of a service as a message: its text is fit to be shown."""
    text = str(error)
    messages.error(request, text[:1].upper() + text[1:] + ("" if text.endswith(".") else "."))


def own_template(system: str, name: str) -> list[str]:
    """Return a system's own template, or the one that serves all systems."""
    return [f"systems/{system}/{name}", f"systems/{name}"]
