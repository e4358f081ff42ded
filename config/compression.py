"""Compressed answers."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

_PREFIXES = ("text/", "application/json", "application/x-ndjson", "application/yaml", "image/svg")


class CompressText(GZipMiddleware):
    """Django's compression, whose random padding hides lengths, for what is text.

    Archives and pictures are compressed already.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Compress text for clients that accept it."""
        if not response.headers.get("Content-Type", "").startswith(_PREFIXES):
            return response
        return super().process_response(request, response)
