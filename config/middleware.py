"""Middleware for every request and answer."""

from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

GetResponse = Callable[[HttpRequest], HttpResponse]


_THIS_MACHINE = frozenset({"127.0.0.1", "::1"})


def client_address(get_response: GetResponse) -> GetResponse:
    """Put the client's address in the place of the nearest proxy's (middleware).

    Each of ``PROXIES`` proxies has added the address that it was asked from to X-Forwarded-For, so
    the client's is that many from the end; what stands before it anybody may have made up. Limits
    by address would otherwise be shared by all who come through the proxy, and a few wrong
    passwords would lock everybody out. So where the number is not set, what comes from this machine
    with the header is taken to come through one proxy.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        passed = request.headers.get("X-Forwarded-For", "").split(",")
        proxies = settings.PROXIES
        if not settings.PROXIES_GIVEN and request.META.get("REMOTE_ADDR") in _THIS_MACHINE:
            proxies = 1
        if 0 < proxies <= len(passed):
            address = plain_address(passed[-proxies])
            if address:
                request.META["REMOTE_ADDR"] = address
        return get_response(request)

    return answer


def plain_address(text: str) -> str:
    """Return an address as a proxy wrote it, without the port that some add; else nothing.

    With its port each connection would count as an address of its own.
    """
    text = text.strip()
    for candidate in (text, text.rpartition(":")[0], text.partition("]")[0].removeprefix("[")):
        with suppress(ValueError):
            return str(ip_address(candidate))
    return ""


# A desk names the person whose answers it sends.
OWNER_HEADER = "X-Answers-Of"


def same_person(get_response: GetResponse) -> GetResponse:
    """Refuse answers of a person when another one is signed in by now (middleware).

    A desk that stays open while somebody else signs in to the same browser would otherwise send its
    answers in their name: addresses name the item by its place, which both may have.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        owner = request.headers.get(OWNER_HEADER)
        if owner and request.user.is_authenticated and owner != str(request.user.pk):
            words = "somebody else is signed in here by now; sign in again, your answers are kept"
            return JsonResponse({"refused": words, "code": "signed_out"}, status=401)
        return get_response(request)

    return answer


_TEXT_TYPES = ("text/", "application/json", "application/x-ndjson", "application/yaml", "image/svg")


class CompressText(GZipMiddleware):
    """Django's compression, whose random padding hides lengths, for what is text.

    Archives and pictures are compressed already; events would wait for a block to be full.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Compress text for clients that accept it."""
        kind = response.headers.get("Content-Type", "")
        if not kind.startswith(_TEXT_TYPES) or kind == "text/event-stream":
            return response
        return super().process_response(request, response)
