"""What every page of a study shows, and how its fragments are polled."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import (
    HttpRequest,
    HttpResponse,
)
from django.shortcuts import render

from annotation.access import (
    StudyAccess,
)
from annotation.errors import Refused
from annotation.models import Study
from annotation.questionnaires import load_questionnaire
from annotation.study_frame.storing import storing_of

STOP_POLLING = 286


def study_context(access: StudyAccess, tab: str) -> dict[str, Any]:
    """Return what the head of every page of a study shows."""
    return {
        "study": access.study,
        "access": access,
        "tab": tab,
        "banner": study_banner(access.study),
        "questionnaire": load_questionnaire(access.study.questionnaire),
        "over": access.study.status in Study.OVER,
        "storing": storing_of(access.study),
    }


def attempt(request: HttpRequest, do: Callable[[], str]) -> bool:
    """Do something and tell what was done, or why not; whether it was done."""
    try:
        message = do()
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused.reason}.")
        return False
    messages.success(request, message)
    return True


def live(
    request: HttpRequest, access: StudyAccess, template: str, context: dict[str, Any], mark: str
) -> HttpResponse:
    """Show a fragment that is asked for again and again: 204 while nothing changed, 286 at the
    end.
    """
    if access.study.status in Study.OVER:
        return stop_polling()
    if request.GET.get("v") == mark:
        return HttpResponse(status=204)
    return render(request, template, context)


def stop_polling() -> HttpResponse:
    """Show the last answer to a page that asks again and again: the rest of it is out of date
    too.
    """
    response = HttpResponse(status=STOP_POLLING)
    response["HX-Refresh"] = "true"
    return response


def blind_reader(access: StudyAccess) -> User | None:
    """Return the reader where they annotate the study blind."""
    return access.user if access.annotates and access.blind else None


MADE_UP = "This study shows how studies work; nothing in it is a finding."


def study_banner(study: Study) -> Mapping[str, str] | None:
    """Return the title and text of the banner. It speaks of the whole study, never of one item's
    agent.
    """
    labels = study.settings.get("labels", {})
    agents, others = set(labels.get("agents", ())), set(labels.get("others", ()))
    parts = []
    if agents == {"scripted"} and "scripted" in others and "human" not in others:
        parts.append("agents, judges and the simulated user are scripts")
    else:
        if "scripted" in agents:
            parts.append("agents are scripts" if len(agents) == 1 else "some agents are scripts")
        if "scripted" in others and "human" in others:
            parts.append("roles that people do not play are filled by scripts")
        elif "scripted" in others:
            parts.append("judges and the simulated user are scripts")
    if "recorded" in agents:
        parts.append("agents repeat recorded answers")
    if "lexicon" in others:
        parts.append("what was violated was decided by word lists")
    if "simulated" in agents | others:
        parts.append("some answers come from a fake endpoint, a program that makes them up")
    if not parts and not study.is_demo:
        return None
    text = "; ".join(parts)
    return {
        "title": "Demo data" if study.is_demo else "Scripts",
        "text": f"{text[:1].upper()}{text[1:]}." if text else MADE_UP,
    }
