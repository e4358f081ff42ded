"""Every request gets an id, is timed and counted, and may be written to the access log."""

import logging
import time

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from benchmarks.request_ids import request_id_as
from config.middleware import GetResponse
from config.operations.metrics import count_request

logger = logging.getLogger("planjury.access")
HEADER = "X-Request-ID"


def follow_requests(get_response: GetResponse) -> GetResponse:
    """Follow each request from the outermost middleware: everything within belongs to the request.

    A proxy in front may give the id; it is sent back, so that people can quote it.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        with request_id_as(request.headers.get(HEADER, "")) as request_id:
            # For what is logged after the middleware.
            request.request_id = request_id  # type: ignore[attr-defined]
            began = time.perf_counter()
            response = get_response(request)
            seconds = time.perf_counter() - began
            count_request(request.method or "", response.status_code, seconds)
            response[HEADER] = request_id
            if settings.ACCESS_LOG:
                _log(request, response, seconds)
            return response

    return answer


def _log(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    # Only a user that the page asked for: the log must cause no query.
    user = vars(request).get("_cached_user")
    entry = {
        "method": request.method,
        # Without what stands behind a question mark, which may hold tokens or names.
        "path": request.path,
        "status": response.status_code,
        "milliseconds": round(1000 * seconds, 1),
        "user": getattr(user, "pk", None),
        "address": request.META.get("REMOTE_ADDR", ""),
    }
    logger.info(
        "%(method)s %(path)s %(status)s in %(milliseconds)s ms, user %(user)s, from %(address)s",
        entry,
        extra=entry,
    )
