"""Pages of endpoints: the list, one with its use and cost, and forms for administrators."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access import (
    ENDPOINTS,
    OWN_ENDPOINTS,
    START,
    VIEW,
    allow,
    fetch,
    signed_in,
    visibility,
)
from benchmarks.core.errors import CoreError
from benchmarks.endpoints import selectors as endpoints
from benchmarks.endpoints.forms import EndpointForm, preset_of
from benchmarks.endpoints.guide import FIRST_TASKS, first_run_url
from benchmarks.endpoints.presets import PRESETS
from benchmarks.endpoints.rules import may_add, may_change
from benchmarks.endpoints.services import change_endpoint, create_endpoint
from benchmarks.endpoints.trials import QUESTIONS, is_under_way, latest_trial, start_trial
from benchmarks.lists.columns import ListColumn, column_choice, list_csv, wants_csv
from benchmarks.mappers import endpoint_config
from benchmarks.models import Endpoint, Job
from benchmarks.responses import STOP_POLLING, add_error_message
from benchmarks.visibility import Visibility

ENDPOINT_COLUMNS = (
    ListColumn(
        "endpoint",
        "Endpoint",
        {
            "endpoint": "endpoint.name", "title": "endpoint.title",
            "retired": "endpoint.retired",
        },
        fixed=True,
    ),
    ListColumn("model", "Model", {"model": "endpoint.model"}),
    ListColumn("asked", "Can be asked", {"obstacles": lambda row: "; ".join(row.obstacles)}),
    ListColumn("calls", "Calls", {"calls": "use.calls", "retries": "use.retries"}),
    ListColumn("failed", "Failed, lost", {"failed": "use.failed", "lost": "use.lost"}),
    ListColumn(
        "tokens", "Tokens in, out", {"tokens_in": "use.tokens_in", "tokens_out": "use.tokens_out"}
    ),
    ListColumn("cost", "Cost", {"cost": "use.cost", "currency": "use.currency"}),
    ListColumn("seconds", "Seconds", {"seconds_median": "use.median", "seconds_p95": "use.p95"}),
)  # fmt: skip


@signed_in
@require_safe
def endpoint_list(request: HttpRequest) -> HttpResponseBase:
    allow(request, VIEW)
    seen = visibility(request)
    rows = endpoints.endpoint_rows(list(seen.of(Endpoint.objects.all())), seen)
    if wants_csv(request):
        return list_csv("endpoints", ENDPOINT_COLUMNS, rows)
    columns = column_choice(request, "endpoints", ENDPOINT_COLUMNS)
    context = {
        "columns": columns,
        "hidden": columns.hidden,
        "rows": [row for row in rows if not row.endpoint.retired],
        "retired": [row for row in rows if row.endpoint.retired],
        "may_add": may_add(request.user),
        "sees_hosts": request.user.has_perm(ENDPOINTS),
        "may_start": request.user.has_perm(START),
    }
    return render(request, "benchmarks/endpoints/endpoint_list.html", context)


@signed_in
@require_safe
def endpoint(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    endpoint = fetch(request, Endpoint.objects.select_related("created_by"), pk=endpoint_id)
    changes, seen = may_change(request.user, endpoint), visibility(request)
    context = {
        "endpoint": endpoint,
        "row": endpoints.endpoint_row(endpoint, seen=seen),
        "by_run": endpoints.use_by_run(endpoint, seen),
        "by_day": endpoints.use_by_day(endpoint, seen),
        "may_change": changes,
        "may_start": request.user.has_perm(START),
        "agent": endpoint.agents.first(),
        "run_words": f"Run the first {FIRST_TASKS} tasks",
        "run_url": first_run_url(endpoint),
    }
    if changes:
        context |= _trials(endpoint, seen) | {
            "key_is_set": endpoints.key_is_set(endpoint.key_variable)
        }
    return render(request, "benchmarks/endpoints/endpoint.html", context)


def _trials(endpoint: Endpoint, seen: Visibility) -> dict[str, Any]:
    trials = endpoints.trials_of(endpoint)
    last = latest_trial(endpoint)
    states = [f"{trial.row.pk}{trial.state[0]}" for trial in trials]
    return {
        "endpoint": endpoint,
        "trials": [(trial, QUESTIONS[trial.row.role]) for trial in trials],
        "beside_runs": endpoints.use_beside_runs(endpoint, seen),
        "trying": is_under_way(last),
        "given_up": last if last is not None and last.status == Job.Status.FAILED else None,
        "version": "-".join([last.status if last is not None else "", *states]),
    }


def _own(request: HttpRequest, endpoint_id: int) -> Endpoint:
    """Return an endpoint that the user may change: any as administrator, else their own."""
    allow(request, ENDPOINTS, OWN_ENDPOINTS)
    allow(request, ENDPOINTS, VIEW)
    endpoint = fetch(
        request,
        Endpoint.objects.all(),
        ENDPOINTS if request.user.has_perm(ENDPOINTS) else VIEW,
        pk=endpoint_id,
    )
    if not may_change(request.user, endpoint):
        raise PermissionDenied("Only its maker and administrators can change this endpoint.")
    return endpoint


@signed_in
@require_safe
def endpoint_trials(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Return the fragment of trials, polled every second while one is under way."""
    endpoint = _own(request, endpoint_id)
    context = _trials(endpoint, visibility(request))
    if context["trying"] and request.GET.get("v") == context["version"]:
        return HttpResponse(status=204)
    response = render(request, "benchmarks/endpoints/_endpoint_trials.html", context)
    if not context["trying"]:
        response.status_code = STOP_POLLING
    return response


@signed_in
@require_POST
def endpoint_try(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    endpoint = _own(request, endpoint_id)
    try:
        start_trial(endpoint=endpoint, asked_by=_person(request))
    except CoreError as error:
        add_error_message(request, error)
    return HttpResponseRedirect(_url(endpoint) + "#trials")


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_new(request: HttpRequest) -> HttpResponse:
    """Show the form of a new endpoint: empty, of a kind (``?preset=``) or a copy (``?copy=ID``)."""
    allow(request, ENDPOINTS, OWN_ENDPOINTS)
    copied, by = _copied(request), _person(request)
    preset = preset_of(request.GET.get("preset", ""))
    if request.method == "POST":
        form = EndpointForm(request.POST, by=by)
        if form.is_valid():
            try:
                made = create_endpoint(created_by=_person(request), **form.cleaned_data)
            except CoreError as error:
                form.add_error(None, str(error))
            else:
                if endpoint_config(made).address.loopback:
                    # At once, so that made-up replies are never taken for a model's.
                    start_trial(endpoint=made, asked_by=_person(request))
                    messages.success(request, f"{made.title} was added and is being tried.")
                else:
                    messages.success(
                        request, f"{made.title} was added. Try it before you use it in a run."
                    )
                return HttpResponseRedirect(_url(made))
    else:
        form = EndpointForm(copied=copied, preset=preset, by=by)
    context = {
        "form": form,
        "copied": copied,
        "preset": preset,
        "presets": PRESETS,
        "sees_hosts": request.user.has_perm(ENDPOINTS),
    }
    status = 422 if form.errors else 200
    return render(request, "benchmarks/endpoints/endpoint_form.html", context, status=status)


def _copied(request: HttpRequest) -> Endpoint | None:
    wanted = request.GET.get("copy", "")
    if not (wanted.isascii() and wanted.isdigit() and len(wanted) < 19):
        return None
    return _own(request, int(wanted))


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_edit(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    endpoint = _own(request, endpoint_id)
    locked = endpoints.endpoint_used(endpoint)
    given = request.POST if request.method == "POST" else None
    form = EndpointForm(given, endpoint=endpoint, locked=locked, by=_person(request))
    if form.is_bound and form.is_valid():
        values = {name: form.cleaned_data[name] for name in form.fields if name != "name"}
        try:
            change_endpoint(endpoint=endpoint, **values)
        except CoreError as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request, "The endpoint was changed. This applies to calls from now on."
            )
            return HttpResponseRedirect(_url(endpoint))
    context = {"form": form, "endpoint": endpoint, "locked": locked}
    status = 422 if form.errors else 200
    return render(request, "benchmarks/endpoints/endpoint_form.html", context, status=status)


@signed_in
@require_POST
def endpoint_retire(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Take an endpoint out of use, or (``retired=0``) bring it back."""
    endpoint = _own(request, endpoint_id)
    retired = request.POST.get("retired") != "0"
    try:
        change_endpoint(endpoint=endpoint, retired=retired)
    except CoreError as error:
        add_error_message(request, error)
    else:
        words = "is retired: no new run can ask it" if retired else "can be asked again"
        messages.success(request, f"{endpoint.title} {words}.")
    return HttpResponseRedirect(_url(endpoint))


def _url(endpoint: Endpoint) -> str:
    return reverse("benchmarks:endpoint", args=[endpoint.pk])


def _person(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None
