"""Join a study by a recruiting link, and get the completion code at its end.

As with invitations, the token and the platform's ids are moved into the session at once, and the
next page has a URL without them. A cookie of its own tells browsers apart.
"""

import secrets
from typing import Any
from urllib.parse import quote

from allauth.decorators import rate_limit
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import fetch_annotator
from annotation.errors import Refused
from annotation.models import Recruit, RecruitingLink
from annotation.people.invitations import TOKEN_BYTES, digest_of
from annotation.recruiting.screening import passes, stored_screening
from annotation.recruiting.selectors import link_of_digest, recruit_of
from annotation.recruiting.services import (
    EXTERNAL_ID,
    admit_browser,
    find_recruit,
    finish_recruit,
    join_by_link,
    refuse_unless_open,
    screen_out,
)
from annotation.steps.withdrawals import explain_withdrawal
from benchmarks.access import signed_in
from benchmarks.core.digests import storable

KEPT = "recruiting"
# The names that platforms give to the participant, the study and the submission in an address.
NAMES = {
    "id": ("PROLIFIC_PID", "workerId", "participant"),
    "study": ("STUDY_ID", "hitId"),
    "session": ("SESSION_ID", "assignmentId"),
}
# What Mechanical Turk sends in place of an assignment while a worker only looks.
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
PROLIFIC_COMPLETE = "https://app.prolific.com/submissions/complete?cc="
BROWSER, BROWSER_AGE = "planjury_browser", 90 * 24 * 3600
LONGEST = 100


@require_GET
def recruit_link(request: HttpRequest, token: str) -> HttpResponseBase:
    """Put the token and the ids of a link away and go to the page.

    Never refused, for a refusal would be logged with the address; trying links is limited there.
    """
    request.session[KEPT] = {"link": digest_of(token), **_ids(request.GET)}
    response = _private(redirect("annotation:recruit"))
    # On a page with a form this would have the browser hide where the form comes from, too, and
    # the form would be refused.
    response["Referrer-Policy"] = "no-referrer"
    return response


def _ids(params: QueryDict) -> dict[str, str]:
    ids = {}
    for what, names in NAMES.items():
        given = next((params[name] for name in names if name in params), "")
        ids[what] = storable(given).strip()[:LONGEST]
    return ids


def _private(response: Any) -> HttpResponse:
    """Let no browser or proxy keep the answer."""
    add_never_cache_headers(response)
    return response  # type: ignore[no-any-return]


@require_http_methods(["GET", "POST"])
@rate_limit(action="join", limit_get=True)  # type: ignore[untyped-decorator]  # has no types
def recruit(request: HttpRequest) -> HttpResponseBase:
    """Show what a recruiting link leads to; a POST gives the id, or answers and joins."""
    kept = request.session.get(KEPT)
    kept = kept if isinstance(kept, dict) else {}
    link = link_of_digest(str(kept.get("link", "")))
    if request.method == "POST" and "participant" in request.POST:
        given = storable(request.POST["participant"]).strip()[:LONGEST]
        kept = {**kept, "id": given}
        request.session[KEPT] = kept
    external_id = str(kept.get("id", ""))
    try:
        if link is None:
            refuse_unless_open(link)
            raise AssertionError("a link that is not there is refused")
        if kept.get("session") == PREVIEW:
            raise Refused("not_open", "accept the task first, then open the link again")
        known = find_recruit(link, external_id) if external_id else None
        if known is not None:
            return _again(request, known)
        refuse_unless_open(link)
        if not EXTERNAL_ID.fullmatch(external_id):
            return _ask_id(request, link, external_id)
        if request.method == "POST" and request.POST.get("go") == "join":
            return _join(request, link, kept)
    except Refused as refused:
        return _stop(request, refused)
    return _page(request, link, external_id)


def _join(request: HttpRequest, link: RecruitingLink, kept: dict[str, str]) -> HttpResponseBase:
    """Check the screening answers and take somebody in."""
    questions = stored_screening(link.screening)
    answers = [request.POST.get(f"answer_{n}", "") for n in range(len(questions))]
    fits = passes(questions, answers)
    if fits is None:
        return _page(request, link, kept["id"], answers=answers, status=422)
    ids = {
        "external_id": kept["id"],
        "platform_study": kept.get("study", ""),
        "platform_session": kept.get("session", ""),
    }
    if not fits:
        return _again(request, screen_out(link=link, **ids))
    browser = request.COOKIES.get(BROWSER) or secrets.token_urlsafe(TOKEN_BYTES)
    try:
        recruit = join_by_link(link=link, browser=digest_of(browser), **ids)
    except IntegrityError:
        raise Refused("conflict", "this ID was used a moment ago; open the link again") from None
    return _come_in(request, recruit, browser)


def _again(request: HttpRequest, known: Recruit) -> HttpResponseBase:
    """Go on with somebody whose id was used before: in their own browser alone."""
    if known.screened_out:
        context = {"recruit": known, "code": known.link.screened_code}
        if known.link.screened_code:
            context["return_url"] = return_link(known, known.link.screened_code)
        return _private(render(request, "annotation/recruit_screened.html", context))
    browser = request.COOKIES.get(BROWSER) or secrets.token_urlsafe(TOKEN_BYTES)
    if not admit_browser(recruit=known, browser=digest_of(browser)):
        raise Refused("not_yours", "this participant ID is in use in another browser")
    return _come_in(request, known, browser)


def _come_in(request: HttpRequest, known: Recruit, browser: str) -> HttpResponseBase:
    assert known.user is not None  # only people who were screened out have none
    if request.user != known.user:
        login(request, known.user, backend=settings.AUTHENTICATION_BACKENDS[0])
    request.session.pop(KEPT, None)
    response = redirect("annotation:next_item", pk=known.study_id)
    response.set_cookie(
        BROWSER, browser, max_age=BROWSER_AGE, path=reverse("annotation:recruit"), httponly=True,
        secure=bool(settings.SESSION_COOKIE_SECURE), samesite="Lax",
    )  # fmt: skip
    return _private(response)


def return_link(recruit: Recruit, code: str) -> str:
    """Return where somebody goes back to with a code; empty where they only copy the code."""
    link = recruit.link
    if link.platform == RecruitingLink.Platform.PROLIFIC:
        return PROLIFIC_COMPLETE + quote(code, safe="")
    filled = link.return_url.replace("{code}", quote(code, safe=""))
    return filled.replace("{id}", quote(recruit.external_id, safe=""))


# --- Pages ----------------------------------------------------------------------------------------


def _page(
    request: HttpRequest,
    link: RecruitingLink,
    external_id: str,
    *,
    answers: list[str] | None = None,
    status: int = 200,
) -> HttpResponse:
    questions = stored_screening(link.screening)
    given = answers or [""] * len(questions)
    context = {
        "link": link,
        "external_id": external_id,
        "questions": [
            {"question": question, "chosen": chosen, "missing": answers is not None and not chosen}
            for question, chosen in zip(questions, given, strict=True)
        ],
        "signed_in": request.user if isinstance(request.user, User) else None,
    }
    return _private(render(request, "annotation/recruit.html", context, status=status))


def _ask_id(request: HttpRequest, link: RecruitingLink, given: str) -> HttpResponse:
    context = {"link": link, "given": given}
    status = 422 if given else 200
    return _private(render(request, "annotation/recruit_id.html", context, status=status))


def _stop(request: HttpRequest, refused: Refused) -> HttpResponse:
    status = {"conflict": 409, "not_yours": 409, "invalid": 404, "not_open": 200}
    context = {"refused": refused}
    response = render(
        request, "annotation/recruit_stop.html", context, status=status.get(refused.code, 410)
    )
    return _private(response)


@require_GET
@signed_in
@explain_withdrawal
def finished(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the completion code of somebody who came by a recruiting link, or what is left to do."""
    access, participant = fetch_annotator(request, pk)
    recruit = recruit_of(access.study, access.user)
    if recruit is None:
        raise Http404
    recruit = finish_recruit(recruit=recruit)
    context = {
        "study": access.study,
        "recruit": recruit,
        "participant": participant,
        "left": max(0, (participant.most_items or recruit.link.items_each) - participant.submitted),
        "return_url": return_link(recruit, recruit.code) if recruit.finished_at else "",
        "review_url": return_link(recruit, recruit.link.review_code)
        if recruit.link.review_code and recruit.awaits_check
        else "",
    }
    return _private(render(request, "annotation/finished.html", context))
