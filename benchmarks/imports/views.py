"""Pages that import trajectories: the form, and the progress of an import."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks.access import START, allow, fetch, signed_in, visibility
from benchmarks.core.errors import CoreError
from benchmarks.formats.trajectory import TURNS
from benchmarks.imports.forms import SpansForm, TrajectoryImportForm, TurnsForm, too_large
from benchmarks.imports.selectors import (
    ImportView,
    import_formats,
    import_jobs,
    imported_runs,
    turn_changes,
)
from benchmarks.imports.turns import (
    enqueue_change,
    enqueue_spans,
    states_scores_of_turns,
    turns_of,
    uses_of_turns,
)
from benchmarks.imports.uploads import announces_too_much, enqueue_import, store_upload
from benchmarks.paging import as_id
from benchmarks.responses import STOP_POLLING

LATEST = 5
# So many files of one form are shown with their progress; Django takes no more files at once.
MOST_SENT = 100
BLOCK = 1 << 20
# Browsers show a response only after they have sent everything, so this much of a file that is too
# large is read and discarded; a connection that sends more is cut off.
PATIENCE = 5


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
@csrf_exempt  # the length is looked at before anything is read; what follows is protected
def trajectory_import(request: HttpRequest) -> HttpResponse:
    allow(request, START)
    length = request.META.get("CONTENT_LENGTH") or ""
    if request.method == "POST" and announces_too_much(length):
        throw_away(request, settings.UPLOAD_BYTES)
        form = TrajectoryImportForm()
        return _form(request, form, status=413, too_large=too_large())
    return _import(request)


def throw_away(request: HttpRequest, most: int) -> None:
    """Read and discard a body that is too long, up to a multiple of the limit."""
    for _ in range(PATIENCE * most // BLOCK):
        if not request.read(BLOCK):
            break


def bounded_upload(
    most: Callable[[], int], todo: str
) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Make a decorator that refuses too long a POST before its body is read.

    A form sees a file only when all of it is on the disk. ``most`` returns the limit in bytes,
    ``todo`` says what to do with a larger file. The views are for people who may start runs.
    """

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        protected = csrf_protect(view)

        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            length = request.META.get("CONTENT_LENGTH") or ""
            if request.method != "POST" or not announces_too_much(length, most()):
                return protected(request, *args, **kwargs)
            allow(request, START)
            throw_away(request, most())
            context = {"most": most(), "todo": todo, "back": request.path}
            return render(request, "benchmarks/imports/upload_too_large.html", context, status=413)

        # The token is in the body, which is not read before its length is known.
        return csrf_exempt(guarded)

    return decorate


@csrf_protect
def _import(request: HttpRequest) -> HttpResponse:
    form = TrajectoryImportForm(request.POST or None, request.FILES or None)
    if request.method != "POST":
        return _form(request, form)
    if not form.is_valid():
        return _form(request, form, status=422)
    assert isinstance(request.user, User)
    given = form.cleaned_data
    jobs = [
        enqueue_import(
            upload=store_upload(upload=file, created_by=request.user),
            format=given["format"],
            name=given["name"],
            agent=given["agent"],
            turns=given["turns"],
            created_by=request.user,
        )
        for file in given["file"]
    ]
    if len(jobs) == 1:
        return HttpResponseRedirect(reverse("benchmarks:import_job", args=[jobs[0].pk]))
    sent = urlencode([("sent", job.pk) for job in jobs])
    return HttpResponseRedirect(f"{reverse('benchmarks:trajectory_import')}?{sent}")


def _form(
    request: HttpRequest, form: TrajectoryImportForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    jobs = visibility(request).of(import_jobs())
    numbers = [number for text in request.GET.getlist("sent")[:MOST_SENT]
               if (number := as_id(text)) is not None]  # fmt: skip
    sent = [ImportView(job) for job in jobs.filter(pk__in=numbers).order_by("pk")]
    context = {
        "form": form,
        "formats": import_formats(),
        "latest": [ImportView(job) for job in jobs[:LATEST]],
        "sent": sent,
        "sent_runs": [pk for one in sent for pk in (one.result or {}).get("runs", ())],
        "moving": any(one.moving for one in sent),
        **more,
    }
    return render(request, "benchmarks/imports/trajectory_import.html", context, status=status)


@signed_in
@require_safe
def import_job(request: HttpRequest, job_id: int) -> HttpResponse:
    """Show one import; if it was refused, also the form with all values but the file."""
    view = ImportView(fetch(request, import_jobs(), START, pk=job_id))
    payload = view.job.payload
    kept = {name: payload.get(name, "") for name in ("format", "name", "agent", "turns")}
    context = {
        "view": view,
        "form": TrajectoryImportForm(initial=kept) if view.over and not view.result else None,
        "formats": import_formats(),
    }
    return render(request, "benchmarks/imports/import_job.html", context)


@signed_in
@require_safe
def import_progress(request: HttpRequest, job_id: int) -> HttpResponse:
    """Return the progress fragment, polled every second: 204 if unchanged, a reload at the end."""
    return answer_progress(request, ImportView(fetch(request, import_jobs(), START, pk=job_id)))


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def run_turns(request: HttpRequest, run_id: int) -> HttpResponse:
    """Change what a turn of an imported run is, or copy the run with other turns."""
    run = fetch(request, imported_runs(), START, pk=run_id)
    act = request.POST.get("act", "")
    form = TurnsForm(request.POST if act in ("change", "copy") else None,
                     initial={"turns": turns_of(run)})  # fmt: skip
    spans = SpansForm(request.POST if act == "spans" else None, initial={"size": 10})
    asked = spans if act == "spans" else form
    if request.method == "POST" and asked.is_valid():
        assert isinstance(request.user, User)
        given = asked.cleaned_data
        try:
            if act == "spans":
                enqueue_spans(run=run, spans=given["spans"], created_by=request.user)
            else:
                enqueue_change(
                    run=run, by=given["turns"], copy=act == "copy", created_by=request.user
                )
        except CoreError as error:
            asked.add_error(None, str(error))
        else:
            return HttpResponseRedirect(reverse("benchmarks:run_turns", args=[run.pk]))
    job = turn_changes(run.pk).first()
    context = {
        "run": run,
        "form": form,
        "spans": spans,
        "now": TURNS[turns_of(run)],
        "uses": uses_of_turns(run),
        "fixed": states_scores_of_turns(run),
        "view": job and ImportView(job),
        "changed": job and job.payload.get("result"),
    }
    status = 422 if form.errors or spans.errors else 200
    return render(request, "benchmarks/imports/run_turns.html", context, status=status)


def answer_progress(request: HttpRequest, view: ImportView) -> HttpResponse:
    """Return the progress of an import if it differs from what is shown."""
    if not view.over and request.GET.get("v") == view.mark:
        return HttpResponse(status=204)
    response = render(request, "benchmarks/imports/_import_progress.html", {"view": view})
    if view.over:
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response
