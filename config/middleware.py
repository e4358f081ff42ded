"""What happens to every request and answer, whatever page it is for."""

import logging
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

GetResponse = Callable[[HttpRequest], HttpResponse]


def client_address(get_response: GetResponse) -> GetResponse:
    """Middleware: put the client's address in the place of the nearest proxy's.

    Each of ``PROXIES`` proxies has added the address that it was asked from to X-Forwarded-For, so
    the client's is that many from the end; what stands before it anybody may have made up. Limits
    by address would otherwise be shared by all who come through the proxy.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        passed = request.headers.get("X-Forwarded-For", "").split(",")
        if 0 < settings.PROXIES <= len(passed):
            address = plain_address(passed[-settings.PROXIES])
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
    """Middleware: refuse answers of a person when another one is signed in by now.

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

    Archives and pictures are compressed already.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Compress text for clients that accept it."""
        if not response.headers.get("Content-Type", "").startswith(_TEXT_TYPES):
            return response
        return super().process_response(request, response)


class DeniedInOneLine(logging.Filter):
    """A filter of the log: leaves the stack trace out of what Django logs of a 403."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record; take the exception from that of a denied request."""
        if getattr(record, "status_code", None) == 403:
            record.exc_info = record.exc_text = None
        return True
