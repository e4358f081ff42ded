"""Pages of datasets and their tasks."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks import paging
from benchmarks.access import START, VIEW, allow, fetch, signed_in, visibility
from benchmarks.comparability.certificates import dataset_certificates
from benchmarks.construction.candidates import (
    dataset_decisions,
    task_candidates,
    with_decisions,
)
from benchmarks.construction.selectors import made_by, made_caution
from benchmarks.core.errors import CoreError
from benchmarks.core.registry import find_system, system_of
from benchmarks.datasets import selectors as datasets
from benchmarks.datasets.files import writable_systems
from benchmarks.datasets.forms import ImportForm
from benchmarks.datasets.uploads import enqueue_dataset
from benchmarks.imports.selectors import ImportView, dataset_jobs
from benchmarks.imports.views import answer_progress, bounded_upload
from benchmarks.lists.columns import column_choice, list_csv, wants_csv
from benchmarks.models import Task
from benchmarks.pages.list_columns import DATASET_COLUMNS, TASK_COLUMNS
from benchmarks.responses import own_template, wants_fragment
from benchmarks.runs.selectors import run_list, run_rows
from benchmarks.validity.selectors import certificate_view

TASKS = 50
RUNS = 10


@signed_in
@require_safe
def dataset_list(request: HttpRequest) -> HttpResponseBase:
    allow(request, VIEW)
    rows = datasets.datasets(visibility(request))
    if wants_csv(request):
        return list_csv("datasets", DATASET_COLUMNS, rows)
    columns = column_choice(request, "datasets", DATASET_COLUMNS)
    context = {
        "datasets": rows,
        "columns": columns,
        "hidden": columns.hidden,
        "may_start": request.user.has_perm(START),
    }
    return render(request, "benchmarks/datasets/dataset_list.html", context)


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
@bounded_upload(
    lambda: settings.UPLOAD_BYTES, "Import it on the server: manage.py import_dataset SYSTEM FILE."
)
def dataset_import(request: HttpRequest) -> HttpResponse:
    allow(request, START)
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            job = enqueue_dataset(
                uploads=given["file"],
                format=given["format"],
                name=given["name"],
                licence=given["licence"],
                created_by=request.user if request.user.is_authenticated else None,
            )
        except CoreError as error:
            form.add_error(None, str(error))
        else:
            return HttpResponseRedirect(reverse("benchmarks:dataset_job", args=[job.pk]))
    status = 422 if request.method == "POST" else 200
    return render(request, "benchmarks/datasets/dataset_import.html", {"form": form}, status=status)


@signed_in
@require_safe
def dataset_job(request: HttpRequest, import_id: int) -> HttpResponse:
    """Show one import of a dataset or of problems: how far it is, and what came of it."""
    view = ImportView(fetch(request, dataset_jobs(), START, pk=import_id))
    return render(request, "benchmarks/datasets/dataset_job.html", {"view": view})


@signed_in
@require_safe
def dataset_progress(request: HttpRequest, import_id: int) -> HttpResponse:
    """Show the fragment that asks for itself while the import moves."""
    return answer_progress(request, ImportView(fetch(request, dataset_jobs(), START, pk=import_id)))


@signed_in
@require_safe
def dataset(request: HttpRequest, dataset_id: int) -> HttpResponseBase:
    seen = visibility(request)
    rows = with_decisions(datasets.datasets(seen)).select_related("made_by__dataset")
    dataset = fetch(request, rows, pk=dataset_id)
    words, category = request.GET.get("q", "").strip()[:200], request.GET.get("category", "")
    matching = datasets.dataset_tasks(dataset, words, category, seen)
    if wants_csv(request):
        return list_csv("tasks", TASK_COLUMNS, matching.order_by("pk"))
    tasks = paging.page_by_id(matching, request.GET, size=TASKS, newest=False)
    columns = column_choice(request, "tasks", TASK_COLUMNS)
    context = {
        "dataset": dataset,
        "columns": columns,
        "hidden": columns.hidden,
        "tasks": tasks,
        "words": words,
        "category": category,
        "matching": paging.count_up_to(matching, "task matches", "tasks match")
        if words or category
        else "",
    }
    if wants_fragment(request):
        return render(request, "benchmarks/datasets/_task_rows.html", context)
    runs = list(seen.of(run_list({"dataset": dataset.pk})).order_by("-pk")[:RUNS])
    sizes = datasets.level_sizes(dataset)
    context |= {
        "sizes": sizes,
        "certificates": dataset_certificates(dataset, [sizes.published]) if sizes.published else (),
        "validity": certificate_view(dataset),
        "closed_tasks": seen.tasks,
        "decisions": dataset_decisions(dataset, seen),
        "categories": datasets.dataset_categories(dataset),
        "runs": run_rows(runs),
        "runnable": system_of(dataset.system) is not None,
        "constructs": find_system(dataset.system).making is not None,
        "made_by": made_by(dataset, seen),
        "caution": made_caution(dataset),
        "exportable": dataset.system in writable_systems()
        and not datasets.closed_in_part(dataset, seen),
        "may_start": request.user.has_perm(START),
    }
    return render(request, "benchmarks/datasets/dataset.html", context)


@signed_in
@require_safe
def task(request: HttpRequest, task_id: int) -> HttpResponse:
    task = fetch(request, Task.objects.select_related("dataset__made_by"), pk=task_id)
    seen = visibility(request)
    candidates = task_candidates(task)
    labels = find_system(task.dataset.system).labels
    context = {
        **datasets.task_neighbours(task, seen),
        "task": task,
        "levels": datasets.task_levels(task),
        "candidates": candidates,
        "grew": candidates is not None and candidates.by_round,
        "caution": made_caution(task.dataset),
        "hidden": labels.hidden,
        "disclosure": labels.disclosure,
        "template": own_template(task.dataset.system, "_task.html"),
        "played": seen.of(task.trajectories.all()).count(),
    }
    return render(request, "benchmarks/datasets/task.html", context)
