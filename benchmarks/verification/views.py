"""Pages of a run's verification, and of the prompts that runs use."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks.access import START, VIEW, allow, fetch, signed_in
from benchmarks.core.errors import CoreError
from benchmarks.core.registry import SYSTEMS, find_system
from benchmarks.models import Run
from benchmarks.responses import STOP_POLLING, add_error_message, respond, wants_fragment
from benchmarks.roles.cautions import run_caution
from benchmarks.runs.versions import prompt_files
from benchmarks.verification.selectors import latest_verification
from benchmarks.verification.services import start_verification


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def run_verification(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show the newest verification, and the button that starts another.

    The page polls this every second while one is under way.
    """
    rows = Run.objects.select_related("dataset", "agent")
    run = fetch(request, rows, START if request.method == "POST" else VIEW, pk=run_id)
    if request.method == "POST":
        assert isinstance(request.user, User)
        try:
            start_verification(run=run, asked_by=request.user)
        except CoreError as error:
            add_error_message(request, error)
        else:
            messages.success(request, "The verification has started. Its result will appear here.")
        return HttpResponseRedirect(reverse("benchmarks:run_verification", args=[run.pk]))
    view = latest_verification(run)
    if wants_fragment(request) and view and view.moving and request.GET.get("v") == view.mark:
        return HttpResponse(status=204)
    context = {
        "run": run,
        "view": view,
        "imported": run.kind == Run.Kind.IMPORTED,
        "may_start": request.user.has_perm(START),
        "caution": run_caution(run),
    }
    page, part = (
        "benchmarks/verification/verification.html",
        "benchmarks/verification/_verification.html",
    )
    response = respond(request, page, part, context)
    if wants_fragment(request) and not (view and view.moving):
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response


@signed_in
@require_safe
def prompts(request: HttpRequest, key: str, version: int) -> HttpResponse:
    """Show the prompts of a system in one version."""
    allow(request, VIEW)
    files = prompt_files(key, str(version))
    prompts = find_system(key).prompts
    if not files or prompts is None:
        raise Http404
    context = {
        "title": SYSTEMS[key][0],
        "system": key,
        "version": str(version),
        "versions": prompts.versions(),
        "files": files,
    }
    return render(request, "benchmarks/verification/prompts.html", context)
