"""The manager's pages of recruiting: links, who came by them, and how they are paid."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import StudyAccess, fetch_managed_study
from annotation.annotator_quality.rule import CODE_CHECKS, code_check
from annotation.errors import Refused
from annotation.models import Recruit, RecruitingLink
from annotation.recruiting.forms import BonusForm, RecruitingLinkForm
from annotation.recruiting.selectors import (
    link_rows,
    payment_lists,
    payment_rows,
    recruit_rows,
)
from annotation.recruiting.services import (
    allow_another_browser,
    approve_recruit,
    make_recruiting_link,
    recruits_people,
    reject_recruit,
    revoke_recruiting_link,
    set_bonus,
)
from annotation.studies.selectors import study_sizes
from annotation.study_frame.context import attempt, study_context
from benchmarks.access import signed_in
from benchmarks.core.digests import storable
from benchmarks.tables import csv_lines

# So many people are shown and decided about at once.
MOST_CHOSEN = 500
# What Prolific replaces in an address by the ids of a participant.
PROLIFIC_IDS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


@require_http_methods(["GET", "POST"])
@never_cache
@signed_in
def recruiting(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show links and participants; a POST makes a link, which is in this answer alone."""
    access = fetch_managed_study(request, pk)
    items = study_sizes([access.study])[access.study.pk].items
    form = RecruitingLinkForm(
        request.POST if request.method == "POST" else None, study=access.study, items=items
    )
    link = ""
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            token = make_recruiting_link(study=access.study, by=access.user, **given)
        except Refused as refused:
            form.add_error(None, f"No link was made: {refused.reason}.")
        else:
            link = recruiting_url(request, token, given["platform"])
            shown = {"link": link, "link_platform": given["platform"]}
            return _recruiting(request, access, None, items, shown)
    return _recruiting(request, access, form, items, {})


def recruiting_url(request: HttpRequest, token: str, platform: str) -> str:
    """Return the address of a link as its platform takes it."""
    url = request.build_absolute_uri(reverse("annotation:recruit_link", args=[token]))
    return f"{url}?{PROLIFIC_IDS}" if platform == RecruitingLink.Platform.PROLIFIC else url


def _recruiting(
    request: HttpRequest,
    access: StudyAccess,
    form: RecruitingLinkForm | None,
    items: int,
    more: dict[str, Any],
) -> HttpResponse:
    people = recruit_rows(access.study)
    form = form or RecruitingLinkForm(study=access.study, items=items)
    context = {
        **study_context(access, "recruiting"),
        **more,
        "form": form,
        "links": link_rows(access.study, people),
        "people": people,
        "waiting": [row for row in people if row.awaits_check][:MOST_CHOSEN],
        "check": CODE_CHECKS[code_check(access.study)],
        "recruits": recruits_people(access.study),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/recruiting.html", context, status=status)


@require_POST
@signed_in
def link_revoke(request: HttpRequest, pk: int, link_id: int) -> HttpResponseBase:
    """Close a link; whoever came by it goes on."""
    access = fetch_managed_study(request, pk)
    link = get_object_or_404(RecruitingLink, study=access.study, pk=link_id)

    def do() -> str:
        revoke_recruiting_link(link=link, by=access.user)
        return "The link is closed: it lets nobody else in."

    attempt(request, do)
    return redirect("annotation:study_recruiting", pk=pk)


@require_POST
@signed_in
def recruit_change(request: HttpRequest, pk: int, recruit_id: int) -> HttpResponseBase:
    """Let another browser in, or give or refuse the completion code by hand."""
    access = fetch_managed_study(request, pk)
    recruit = get_object_or_404(
        Recruit.objects.select_related("link", "study", "user"),
        study=access.study, pk=recruit_id,
    )  # fmt: skip
    action = request.POST.get("action", "")
    reason = storable(request.POST.get("reason", ""))

    def do() -> str:
        if action == "browser":
            allow_another_browser(recruit=recruit, by=access.user)
            return f"The next browser that opens the link as {recruit.external_id} is let in."
        if action == "approve":
            approve_recruit(recruit=recruit, by=access.user)
            return f"{recruit.external_id} gets the completion code."
        if action == "reject":
            reject_recruit(recruit=recruit, by=access.user, reason=reason)
            return f"{recruit.external_id} gets no completion code, and reads your reason."
        raise Refused("invalid", "the form does not say what to do")

    attempt(request, do)
    return redirect("annotation:study_recruiting", pk=pk)


@require_POST
@signed_in
def approve_checked(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Give the completion code to all selected people whose work was checked."""
    access = fetch_managed_study(request, pk)
    chosen = [int(text) for text in request.POST.getlist("recruit") if text.isdecimal()]
    rows = Recruit.objects.filter(study=access.study, pk__in=chosen[:MOST_CHOSEN])
    waiting = [row for row in rows.select_related("link", "study", "user") if row.awaits_check]

    def do() -> str:
        if not waiting:
            raise Refused("invalid", "select somebody whose work waits for a check")
        with transaction.atomic():
            for row in waiting:
                approve_recruit(recruit=row, by=access.user)
        count = len(waiting)
        return f"{count} {'person gets' if count == 1 else 'people get'} the completion code."

    attempt(request, do)
    return redirect("annotation:study_recruiting", pk=pk)


@require_http_methods(["GET", "POST"])
@never_cache
@signed_in
def payment(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what to paste at each platform; a POST keeps the bonuses."""
    access = fetch_managed_study(request, pk)
    people = recruit_rows(access.study)
    payable = {row.recruit.pk: row for row in people if row.participant is not None}
    form = BonusForm(request.POST if request.method == "POST" else None, recruits=list(payable))
    if request.method == "POST" and form.is_valid():
        for key, row in payable.items():
            bonus = form.cleaned_data[f"bonus_{key}"]
            if bonus != row.recruit.bonus:
                set_bonus(recruit=row.recruit, bonus=bonus)
        messages.success(request, "The bonuses are saved.")
        return redirect("annotation:recruiting_payment", pk=pk)
    rows = [
        {"row": row, "name": f"bonus_{key}", "errors": form.errors.get(f"bonus_{key}"),
         "value": request.POST.get(f"bonus_{key}", "") if form.is_bound else row.recruit.bonus}
        for key, row in payable.items()
    ]  # fmt: skip
    context = {
        **study_context(access, "recruiting"),
        "rows": rows,
        "lists": payment_lists(people),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/recruiting_payment.html", context, status=status)


@require_GET
@signed_in
def payment_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send who finished, their minutes and their bonus as CSV."""
    access = fetch_managed_study(request, pk)
    lines = csv_lines(payment_rows(recruit_rows(access.study)))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    name = f"{slugify(access.study.name) or 'study'}-payment.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
