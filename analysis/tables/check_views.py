"""How far the check of a large table is, and what was wrong with it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis.tables.checks import TableCheck, checks_of
from analysis.tables.forms import TableForm
from annotation.access import person
from benchmarks.access import VIEW, allow, signed_in
from benchmarks.imports.views import STOP_POLLING


@require_safe
@signed_in
def table_check(request: HttpRequest, job_id: int) -> HttpResponseBase:
    """Leads to the table once it is stored; where it was refused, the form without the file."""
    view = _find(request, job_id)
    if view.result:
        if not view.result["created"]:
            messages.info(request, "You have this file with these settings already; this is it.")
        return HttpResponseRedirect(reverse("analysis:rating_table", args=[view.result["table"]]))
    if view.moving:
        return render(request, "analysis/tables/check.html", {"view": view})
    context: dict[str, object] = {"form": TableForm(initial=view.given)}
    if view.refused and view.faults:
        context["refused"] = {"problems": view.faults, "total": view.refused["total"]}
    else:
        context["too_large"] = view.job.message
    return render(request, "analysis/tables/new.html", context)


@require_safe
@signed_in
def table_check_progress(request: HttpRequest, job_id: int) -> HttpResponse:
    """The fragment, asked for every second: 204 while nothing moved; the page anew at the end."""
    view = _find(request, job_id)
    if view.moving and request.GET.get("v") == view.mark:
        return HttpResponse(status=204)
    response = render(request, "analysis/tables/_check_progress.html", {"view": view})
    if view.over:
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response


def _find(request: HttpRequest, job_id: int) -> TableCheck:
    """Authorise; only who sent a table sees how far its check is."""
    allow(request, VIEW)
    return TableCheck(get_object_or_404(checks_of(person(request)), pk=job_id))
