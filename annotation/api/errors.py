"""Refusals of studies as answers of the API, in its one shape."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from annotation.errors import Refused
from annotation.live.setup.files import LiveFileRefused
from annotation.plans.study_plan import PlanError
from annotation.steps.access import StepNotReached
from benchmarks.api.errors import Handlers, error_response

STATUS = {"invalid": 422, "incomplete": 422, "not_yours": 403}
# So many problems of a plan are told in one message.
MOST = 20
NOT_REACHED = (
    "Another step of the study comes first, such as consent, training or a break; "
    "POST to …/next says which."
)


def _refused(request: HttpRequest, error: Any) -> HttpResponse:
    reason = error.reason
    return error_response(
        STATUS.get(error.code, 409), f"{reason[:1].upper()}{reason[1:]}.", code=error.code
    )


def _not_reached(request: HttpRequest, error: Any) -> HttpResponse:
    return error_response(409, NOT_REACHED, code="not_reached")


def _plan(request: HttpRequest, error: Any) -> HttpResponse:
    first = error.problems[0]
    return error_response(422, _lines(list(map(str, error.problems))), f"plan.{first.path}")


def _live(request: HttpRequest, error: Any) -> HttpResponse:
    return error_response(422, _lines(error.problems), "sessions")


def _lines(problems: list[str]) -> str:
    more = len(problems) - MOST
    return "\n".join([*problems[:MOST], *([f"and {more} more"] if more > 0 else [])])


HANDLERS: Handlers = [
    (Refused, _refused),
    (StepNotReached, _not_reached),
    (PlanError, _plan),
    (LiveFileRefused, _live),
]
