"""Constructing datasets: problems come in, a run constructs, and a dataset is made of it."""

from tempfile import TemporaryFile
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks.access import START, allow, fetch, signed_in, visibility
from benchmarks.construction import selectors as construction
from benchmarks.construction.forms import ConstructionForm, DatasetForm, ProblemsForm
from benchmarks.construction.services import make_dataset, start_construction
from benchmarks.core.errors import CoreError
from benchmarks.core.problems import FileRefused
from benchmarks.core.registry import find_system, get_system
from benchmarks.datasets import selectors as datasets
from benchmarks.datasets.files import export_published, writable_systems
from benchmarks.datasets.uploads import enqueue_problems
from benchmarks.imports.views import bounded_upload
from benchmarks.models import Dataset, Run, Task
from benchmarks.responses import respond
from benchmarks.roles.cautions import run_caution
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.estimates import cost_estimate
from benchmarks.runs.selectors import run_size


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
@bounded_upload(  # two files
    lambda: 2 * settings.UPLOAD_BYTES,
    "Split the problems, and import each file under its own name.",
)
def problems_import(request: HttpRequest) -> HttpResponse:
    allow(request, START)
    form = ProblemsForm(request.POST or None, request.FILES or None)
    refused: FileRefused | None = None
    if request.method == "POST" and form.is_valid():
        try:
            given = form.cleaned_data
            job = enqueue_problems(
                upload=given["file"],
                results=given["results"],
                name=given["name"],
                licence=given["licence"],
                created_by=request.user if request.user.is_authenticated else None,
            )
        except FileRefused as error:
            refused = error
        except CoreError as error:
            form.add_error(None, str(error))
        else:
            return HttpResponseRedirect(reverse("benchmarks:dataset_job", args=[job.pk]))
    status = 422 if request.method == "POST" else 200
    context = {"form": form, "refused": refused}
    return render(request, "benchmarks/construction/problems_import.html", context, status=status)


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def construction_new(request: HttpRequest) -> HttpResponse:
    allow(request, START)
    ensure_scripted_agents()
    seen = visibility(request)
    rows = [d for d in seen.of(Dataset.objects.all()) if find_system(d.system).making]
    wanted = (request.POST or request.GET).get("dataset", "")
    chosen = next((d for d in rows if str(d.pk) == wanted), rows[0] if rows else None)
    page, part = (
        "benchmarks/construction/construction_new.html",
        "benchmarks/construction/_construction_size.html",
    )
    if chosen is None:
        status = 422 if request.method == "POST" else 200
        return render(request, page, {"datasets": []}, status=status)
    making = find_system(chosen.system).making
    assert making is not None
    asked = request.method == "POST" or "set_rounds" in request.GET
    form = ConstructionForm(
        (request.POST or request.GET) if asked else None,
        dataset=chosen,
        system=get_system(chosen.system),
        making=making,
        seen=seen,
    )
    size = _size(form)
    context = {"datasets": rows, "dataset": chosen, "form": form, "size": size}
    if request.method != "POST":
        return respond(request, page, part, context)
    if form.is_valid() and (run := _start(request, form)):
        n = run.trajectories.count()
        words = f"{n:,} problems are" if n != 1 else "1 problem is"
        messages.success(request, f"The construction has started: {words} under way.")
        return HttpResponseRedirect(reverse("benchmarks:run", args=[run.pk]))
    return render(request, page, context, status=422)


def _start(request: HttpRequest, form: ConstructionForm) -> Run | None:
    """Start what the form asks for; on refusal nothing is stored and the form says why."""
    given = form.cleaned_data
    try:
        return start_construction(
            dataset=form.dataset,
            planners=form.chosen_planners,
            roles=form.other_roles,
            settings=form.chosen_settings,
            seed=given["seed"],
            tasks=given["tasks"],
            name=given["name"],
            cost_cap=given["cost_cap"],
            created_by=request.user if request.user.is_authenticated else None,
        )
    except CoreError as error:
        form.add_refusal(error)
    return None


def _size(form: ConstructionForm) -> dict[str, Any] | None:
    """Return how many calls the form would start, and their likely cost; None while nothing is
    known.
    """
    sound = form.is_valid()  # which fills what can be read of the fields
    settings = {s.name: s.default for s in form.system.settings}
    tasks: list[str] = []
    if form.is_bound:
        if not {"tasks", *form.setting_names} <= set(form.cleaned_data):
            return None
        settings, tasks = form.chosen_settings, form.cleaned_data["tasks"]
    making = find_system(form.system.key).making
    assert making is not None
    problems = run_size(form.dataset, (), tasks)
    calls = sum(making.calls(settings).values())
    size: dict[str, Any] = {"problems": problems, "each": calls, "calls": problems * calls}
    if sound and (paid := form.chosen_endpoints):
        seats = {"": [form.paid_seats()]}
        size |= {
            "paid": True,
            "paid_calls": problems * _paid_calls(making.calls(settings), form),
            "estimate": cost_estimate(form.dataset, paid, seats, {"": problems}),
        }
    return size


def _paid_calls(calls: Any, form: ConstructionForm) -> float:
    """Count the calls of one problem to endpoints; a role's calls go to its answerers in equal
    parts.
    """
    total = 0.0
    for role, _ in form.paid_seats():
        total += calls[role] / len(form.system.seats(role, form.chosen_settings))
    return round(total)


def _construction(request: HttpRequest, run_id: int) -> Run:
    """Return a run that constructs, for somebody who may start some, or raise 404."""
    rows = Run.objects.filter(kind=Run.Kind.CONSTRUCTION).select_related("dataset", "agent")
    return fetch(request, rows, START, pk=run_id)


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def construction_dataset(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show what a construction has come to, and make a dataset of it."""
    run = _construction(request, run_id)
    making = find_system(run.dataset.system).making
    if making is None:
        raise Http404
    usual = {"name": construction.dataset_name(run), "licence": run.dataset.licence}
    form = DatasetForm(request.POST or None, initial=usual)
    if request.method == "POST" and form.is_valid():
        try:
            made = make_dataset(run=run, **form.cleaned_data)
        except CoreError as error:
            text = str(error)
            form.add_error(None, f"{text[:1].upper()}{text[1:]}.")
        else:
            stored = made.saved.dataset
            n = made.saved.tasks
            words = f"Made {stored} with {n:,} task{'s' * (n != 1)}."
            if not made.saved.created:
                words = f"These tasks are stored as {stored} already; nothing was added."
            messages.success(request, words)
            return HttpResponseRedirect(reverse("benchmarks:dataset", args=[stored.pk]))
    context = {
        "run": run,
        "form": form,
        "counts": construction.count_constructed(run, making),
        "made": construction.datasets_made(run, visibility(request)),
        "caution": run_caution(run),
    }
    status = 422 if request.method == "POST" else 200
    return render(
        request, "benchmarks/construction/construction_dataset.html", context, status=status
    )


@signed_in
@require_safe
def task_growth(request: HttpRequest, task_id: int) -> HttpResponse:
    """Show how the profiles of a task grew."""
    task = fetch(
        request,
        Task.objects.select_related("dataset__made_by__agent", "dataset__made_by__dataset"),
        pk=task_id,
    )
    rounds = construction.task_growth(task)
    if not rounds:
        raise Http404
    seen = visibility(request)
    run = construction.made_by(task.dataset, seen)
    context = {
        **datasets.task_neighbours(task, seen),
        "task": task,
        "rounds": rounds,
        "planners": construction.planner_titles(run) if run else {},
        "caution": construction.made_caution(task.dataset),
        "trajectory": construction.trajectory_of(task, seen),
    }
    return render(request, "benchmarks/construction/task_growth.html", context)


@signed_in
@require_safe
def dataset_file(request: HttpRequest, dataset_id: int) -> HttpResponse | FileResponse:
    """Send a dataset in the published format; closed to those who may not see some of its tasks."""
    seen = visibility(request)
    rows = Dataset.objects.filter(system__in=writable_systems())
    dataset = fetch(request, rows, pk=dataset_id)
    if datasets.closed_in_part(dataset, seen):
        raise Http404
    with TemporaryFile("w+", encoding="utf-8") as file:
        export_published(dataset=dataset, file=file)
        file.seek(0)
        response = HttpResponse(file.read(), content_type="application/json")
    response["Content-Disposition"] = (
        f'attachment; filename="adaplanbench_queries-{dataset.pk}.json"'
    )
    return response
