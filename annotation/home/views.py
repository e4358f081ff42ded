"""The home page, and the progress of loading the demo."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import person
from annotation.demo.deletion import begin_demo_deletion, plan_demo_deletion
from annotation.demo.services import reload_demo
from annotation.errors import Refused
from annotation.home.selectors import (
    demo_progress,
    home_studies,
    newest_experiments,
    studies_to_look_at,
)
from annotation.home.tasks import annotating, task_cards
from annotation.live.control.monitor import needing_rows
from annotation.live.lists import waiting_rows
from annotation.messages.selectors import unread_messages
from annotation.steps.withdrawals import withdrawals_of
from benchmarks.access import START, VIEW, allow, signed_in, visibility
from benchmarks.endpoints.rules import may_add
from benchmarks.models import Endpoint

STOP_POLLING = 286


@require_GET
@signed_in
def home(request: HttpRequest) -> HttpResponseBase:
    """Show the home page: own items first, then what is going on."""
    user = person(request)
    sees_results = user.has_perm(VIEW)
    rows = home_studies(user)
    sessions = waiting_rows(user)
    cards = task_cards(user, rows, sessions)
    own = {row.session.study_id for row in sessions} | {row.study.pk for row in annotating(rows)}
    return render(
        request,
        "annotation/home.html",
        {
            "cards": [card for card in cards if not card.over],
            "finished": [card for card in cards if card.over],
            "attention": studies_to_look_at(user, rows),
            "withdrawals": withdrawals_of(user),
            "needing": needing_rows(user, visibility(request)),
            "others": [row for row in rows if row.study.pk not in own],
            "sees_results": sees_results,
            "may_start": user.has_perm(START),
            "experiments": newest_experiments(visibility(request)) if sees_results else [],
            "first_steps": (user.has_perm(START) or may_add(user))
            and not Endpoint.objects.filter(retired=False).exists(),
            "demo": demo_progress(),
            "unread": unread_messages(user),
        },
    )


@require_GET
@signed_in
def demo(request: HttpRequest) -> HttpResponseBase:
    """Show how far the demo is: nothing (204) while unchanged; 286 ends the polling."""
    progress = demo_progress()
    if progress is None:
        return HttpResponse(status=STOP_POLLING)
    if not progress.over and request.GET.get("seen") == progress.mark:
        return HttpResponse(status=204)
    response = render(
        request, "annotation/partials/_demo.html", {"demo": progress, "may_start": False}
    )
    if progress.over:
        # What was loaded shows on the rest of the page too.
        response["HX-Refresh"] = "true"
        response.status_code = STOP_POLLING
    return response


@require_POST
@signed_in
def load_again(request: HttpRequest) -> HttpResponseBase:
    """Take up the loading of the demo where it failed."""
    allow(request, START)
    reload_demo()
    return redirect("annotation:home")


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def demo_delete(request: HttpRequest) -> HttpResponseBase:
    """Show what deleting the demo takes, and delete it; for administrators."""
    user = person(request)
    if not user.is_superuser:
        raise PermissionDenied("Only administrators can delete the demo.")
    plan = plan_demo_deletion(by=user)
    if request.method == "POST":
        try:
            begin_demo_deletion(plan, by=user)
        except Refused as refused:
            messages.error(request, f"Nothing was deleted: {refused.reason}.")
            return redirect("annotation:demo_delete")
        messages.success(request, "The demo is being deleted, and its accounts are closed.")
        return redirect("annotation:home")
    context = {"plan": plan, "back": reverse("server"), "above": "Server"}
    return render(request, "benchmarks/deletion/delete.html", context)
