"""Whose request it is, where proxies stand between them and this server."""

from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse

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
    """An address as a proxy wrote it, without the port that some add; empty for anything else.

    With its port each connection would count as an address of its own.
    """
    text = text.strip()
    for candidate in (text, text.rpartition(":")[0], text.partition("]")[0].removeprefix("[")):
        with suppress(ValueError):
            return str(ip_address(candidate))
    return ""
