"""Confirmation pages of deletions: what goes, what refuses, and one button."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from benchmarks.access import START, fetch, signed_in
from benchmarks.core.errors import CoreError
from benchmarks.deletion.plans import (
    DeletionPlan,
    may_delete,
    plan_dataset,
    plan_experiment,
    plan_import,
    plan_run,
)
from benchmarks.deletion.services import begin_deletion
from benchmarks.imports.selectors import import_jobs
from benchmarks.models import Dataset, Experiment, Run

Page = Callable[[HttpRequest, int], HttpResponse]


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def run_delete(request: HttpRequest, run_id: int) -> HttpResponse:
    """Delete a run."""
    return _page(request, Run.objects.all(), run_id, plan_run, after="run_list", back="run")


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def experiment_delete(request: HttpRequest, experiment_id: int) -> HttpResponse:
    """Delete an experiment with its runs."""
    rows = Experiment.objects.all()
    return _page(
        request, rows, experiment_id, plan_experiment, after="experiment_list", back="experiment"
    )


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def dataset_delete(request: HttpRequest, dataset_id: int) -> HttpResponse:
    """Delete a dataset that no run uses."""
    rows = Dataset.objects.all()
    return _page(request, rows, dataset_id, plan_dataset, after="dataset_list", back="dataset")


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def import_delete(request: HttpRequest, job_id: int) -> HttpResponse:
    """Delete what an import stored."""
    rows = import_jobs()
    return _page(request, rows, job_id, plan_import, after="trajectory_import", back="import_job")


def _page(
    request: HttpRequest,
    rows: QuerySet[Any],
    pk: int,
    planned: Callable[[Any], DeletionPlan],
    *,
    after: str,
    back: str,
) -> HttpResponse:
    row = fetch(request, rows, START, pk=pk)
    plan = planned(row)
    user = request.user
    assert isinstance(user, User)  # signed in
    if not may_delete(user, row, plan):
        raise PermissionDenied(
            "Only administrators, and people who started or imported it themselves, can delete it."
        )
    if request.method == "POST":
        try:
            begin_deletion(plan, by=user)
        except CoreError as error:
            messages.error(request, f"Nothing was deleted: {error}")
            return HttpResponseRedirect(request.path)
        messages.success(request, f"{plan.label} is being deleted.")
        return HttpResponseRedirect(reverse(f"benchmarks:{after}"))
    context = {"plan": plan, "back": reverse(f"benchmarks:{back}", args=[pk])}
    return render(request, "benchmarks/deletion/delete.html", context)
