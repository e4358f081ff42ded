"""One shape for everything that goes wrong: ``{"error": {"code", "message", "field"?}}``."""

import logging
import uuid
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFilesSent,
)
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError
from pydantic import Field

from benchmarks.access import visibility
from benchmarks.core.errors import CoreError, SettingError, UnknownName
from benchmarks.outages import RETRY_SECONDS, SAFE, outage_behind

logger = logging.getLogger(__name__)

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_large",
    422: "invalid",
    429: "too_many_requests",
}
NOT_FOUND = "Not found: it does not exist, or you may not see it."
CLOSED = (
    "Or it belongs to a blinded study in which you still have open items, "
    "and opens when you have done them."
)
NO_TOKEN = "Give a valid token in the header “Authorization: Bearer pj_…”."


class ErrorDetail(Schema):
    """The error in a machine-readable form."""

    code: str = Field(description="A word for programs, such as `not_found`.")
    message: str = Field(description="A sentence for people.")
    field: str | None = Field(None, description="The field that is at fault, if it is one.")


class ErrorOut(Schema):
    """The answer to every request that is not carried out."""

    error: ErrorDetail


class ApiError(Exception):
    """A request that is refused by the API itself."""

    def __init__(self, status: int, message: str, field: str = "", code: str = "") -> None:
        self.status, self.message, self.field = status, message, field
        self.code = code or CODES.get(status, "error")
        super().__init__(message)


def error_response(status: int, message: str, field: str = "", code: str = "") -> HttpResponse:
    """Return an error in the one shape that all errors of the API have."""
    detail = {"code": code or CODES.get(status, "error"), "message": message}
    if field:
        detail["field"] = field
    response = JsonResponse({"error": detail}, status=status)
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Bearer"
    return response


def refusals(*statuses: int) -> dict[int, type[ErrorOut]]:
    """Return the errors that an operation can answer with, for its description.

    Any can be 422, because a field that is not known is refused everywhere.
    """
    return dict.fromkeys(sorted({401, 403, 422, 429, *statuses}), ErrorOut)


# --- Which error becomes which answer ---------------------------------------------------------


def _api_error(request: HttpRequest, error: Any) -> HttpResponse:
    response = error_response(error.status, error.message, error.field, error.code)
    if error.status == HTTPStatus.TOO_MANY_REQUESTS:
        rate = getattr(request, "rate_limit", None)
        response["Retry-After"] = str(rate.seconds if rate is not None else 60)
    return response


def _core_error(request: HttpRequest, error: Any) -> HttpResponse:
    text = str(error)
    if isinstance(error, UnknownName) and error.kind == "endpoint":
        text = f"there is no endpoint {error.name!r}"  # names of models may be closed to the asker
    plain = text.partition(" ")[0].isalpha()  # not the name of a file, which is as it is
    message = text[:1].upper() + text[1:] if plain else text
    message += "" if text.endswith((".", "…")) else "."
    field = ""
    if isinstance(error, SettingError):  # a system's own setting, or one that all runs have
        own = error.name.isidentifier()
        field = f"settings.{error.name}" if own else error.name.replace(" ", "_")
    return error_response(422, message, field, code="refused")


def _http_error(request: HttpRequest, error: Any) -> HttpResponse:
    if isinstance(error.__cause__, ApiError):  # what the parser of bodies found
        return _api_error(request, error.__cause__)
    return error_response(error.status_code, f"{error}.".replace("..", "."))


def _validation_error(request: HttpRequest, error: Any) -> HttpResponse:
    """Answer with the first fault, and say how many more there are."""
    first = error.errors[0]
    where = [str(part) for part in first["loc"]]
    # The source (query, body) and, for bodies, the name of our own argument stand in front.
    field = ".".join(where[2:] if where[0] == "body" else where[1:][-1:])
    more = len(error.errors) - 1
    message = first["msg"] + (f"; {more} more fault{'s' * (more > 1)}" if more else "") + "."
    return error_response(422, message, field)


def _too_large(request: HttpRequest, error: Any) -> HttpResponse:
    return error_response(413, "The request is larger than this server takes.")


def _suspicious(request: HttpRequest, error: Any) -> HttpResponse:
    return error_response(400, "The request cannot be read.")


def _not_found(request: HttpRequest, error: Any) -> HttpResponse:
    """Answer in the same words for what is not there and for what is closed: that it exists may
    tell.
    """
    seen = visibility(request)
    closed = seen.closed or seen.tasks
    return error_response(404, f"{NOT_FOUND} {CLOSED}" if closed else NOT_FOUND)


def _unexpected(request: HttpRequest, error: Any) -> HttpResponse:
    if outage := outage_behind(error):
        logger.error("API request failed: %s", outage.reason, exc_info=error)
        text = f"{outage.reason[:1].upper()}{outage.reason[1:]}. {SAFE} {outage.remedy}"
        response = error_response(503, text, code=outage.code)
        response["Retry-After"] = str(RETRY_SECONDS)
        return response
    mark = uuid.uuid4().hex[:12]
    logger.error("API request failed, id %s", mark, exc_info=error)
    message = f"Something went wrong here. If you report it, give the id {mark}."
    return error_response(500, message, code="server_error")


Handler = Callable[[HttpRequest, Any], HttpResponse]
Handlers = Sequence[tuple[type[Exception], Handler]]
_HANDLERS: Handlers = [
    (ApiError, _api_error),
    (CoreError, _core_error),
    (Http404, _not_found),
    (PermissionDenied, lambda request, error: error_response(403, str(error) or "Not allowed.")),
    (AuthenticationError, lambda request, error: error_response(401, NO_TOKEN)),
    (ValidationError, _validation_error),
    (HttpError, _http_error),
    (RequestDataTooBig, _too_large),
    (TooManyFilesSent, _too_large),
    (SuspiciousOperation, _suspicious),
    (MultiPartParserError, _suspicious),
    (UnreadablePostError, _suspicious),
    (Exception, _unexpected),
]


def register(api: NinjaAPI, more: Handlers = ()) -> None:
    """Have the API answer with the one shape whatever is raised; ``more`` are other apps' own."""
    for kind, handler in (*_HANDLERS, *more):
        api.add_exception_handler(kind, handler)


class ErrorShape:
    """Middleware: what is refused before the API is reached has the same shape.

    Unknown addresses, methods that are not offered, and hosts that are not ours.
    """

    PREFIX = "/api/v1/"

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not request.path_info.startswith(self.PREFIX):
            return response
        json = response.get("Content-Type", "").startswith("application/json")
        if response.status_code >= 400 and not json:
            made = self._shaped(response.status_code)
            if "Allow" in response:
                made["Allow"] = response["Allow"]
            response = made
        response.setdefault("Cache-Control", "no-store")
        rate = getattr(request, "rate_limit", None)
        if rate is not None:
            response["X-RateLimit-Limit"] = str(rate.limit)
            response["X-RateLimit-Remaining"] = str(rate.left)
            response["X-RateLimit-Reset"] = str(rate.seconds)
        return response

    @staticmethod
    def _shaped(status: int) -> HttpResponse:
        words = {404: NOT_FOUND, 405: "This address does not offer that method."}
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "The request failed"
        return error_response(status, words.get(status, f"{phrase}."))
