"""Datasets, their tasks, and who can answer."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks.access import START, VIEW, allow, fetch, signed_in
from benchmarks.models import Task
from benchmarks.selectors import agents, datasets, paging
from benchmarks.selectors.runs import run_list, run_rows
from benchmarks.views.parts import own_template, wants_part

TASKS = 50
RUNS = 10


@signed_in
@require_safe
def dataset_list(request: HttpRequest) -> HttpResponse:
    allow(request, VIEW)
    context = {"datasets": datasets.datasets(), "may_start": request.user.has_perm(START)}
    return render(request, "benchmarks/dataset_list.html", context)


@signed_in
@require_safe
def dataset(request: HttpRequest, dataset_id: int) -> HttpResponse:
    found = fetch(request, datasets.datasets(), pk=dataset_id)
    words, category = request.GET.get("q", "").strip()[:200], request.GET.get("category", "")
    rows = datasets.dataset_tasks(found, words, category)
    tasks = paging.page_by_id(rows, request.GET, size=TASKS, newest=False)
    context = {
        "dataset": found,
        "tasks": tasks,
        "words": words,
        "category": category,
        "matching": paging.count_up_to(rows) if words or category else "",
    }
    if wants_part(request):
        return render(request, "benchmarks/_task_rows.html", context)
    runs = list(run_list({"dataset": found.pk}).order_by("-pk")[:RUNS])
    context |= {
        "sizes": datasets.level_sizes(found),
        "categories": datasets.dataset_categories(found),
        "runs": run_rows(runs),
        "may_start": request.user.has_perm(START),
    }
    return render(request, "benchmarks/dataset.html", context)


@signed_in
@require_safe
def task(request: HttpRequest, task_id: int) -> HttpResponse:
    found = fetch(request, Task.objects.select_related("dataset"), pk=task_id)
    siblings = found.dataset.tasks.order_by().values_list("pk", flat=True)
    context = {
        "task": found,
        "levels": datasets.task_levels(found),
        "previous": siblings.filter(pk__lt=found.pk).order_by("-pk").first(),
        "next": siblings.filter(pk__gt=found.pk).order_by("pk").first(),
        "template": own_template(found.dataset.system, "_task.html"),
        "played": found.trajectories.count(),
    }
    return render(request, "benchmarks/task.html", context)


@signed_in
@require_safe
def agent_list(request: HttpRequest) -> HttpResponse:
    allow(request, VIEW)
    context = {"agents": agents.agents(), "systems": agents.scripted_roles()}
    return render(request, "benchmarks/agent_list.html", context)
