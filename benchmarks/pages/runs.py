"""Pages of runs: the list, the form that starts them, one run, its progress and its actions."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    QueryDict,
)
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks import paging
from benchmarks.access import ANSWER, START, VIEW, allow, fetch, signed_in, visibility
from benchmarks.asks import selectors as asks
from benchmarks.comparability.certificates import run_certificates
from benchmarks.core.errors import CoreError
from benchmarks.core.registry import find_system, system_of
from benchmarks.datasets.selectors import usual_dataset
from benchmarks.endpoints.selectors import run_use
from benchmarks.exports.downloads import ExportMenu, page_download, whole_runs
from benchmarks.judging.judges import is_judgeable, judged_by, run_judgings
from benchmarks.lists.columns import column_choice, every_row, list_csv, wants_csv
from benchmarks.models import Dataset, Run, Trajectory
from benchmarks.pages.list_columns import RUN_COLUMNS
from benchmarks.responses import (
    STOP_POLLING,
    add_error_message,
    go_back,
    own_template,
    respond,
    shown_url,
    wants_fragment,
)
from benchmarks.roles.cautions import run_caution
from benchmarks.roles.judge_fit import consequence, misfit_words, unread_judges
from benchmarks.roles.selectors import playing_system, roles_behind, run_roles
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs import selectors as runs
from benchmarks.runs.estimates import cost_estimate
from benchmarks.runs.forms import CapForm, NewRunForm, RunFilter
from benchmarks.runs.services import cancel_run, change_cost_cap, pause_run, resume_run, start_runs
from benchmarks.runs.versions import run_prompts
from benchmarks.trajectories import selectors as trajectories
from benchmarks.verification.selectors import latest_verification
from benchmarks.visibility import detached_runs

ROWS = 30
TRAJECTORIES = 50
PROBLEMS = 20


@signed_in
@require_safe
def run_list(request: HttpRequest) -> HttpResponseBase:
    allow(request, VIEW)
    seen = visibility(request)
    form = RunFilter(request.GET, runs.run_options(seen))
    chosen = form.chosen()
    rows = seen.of(runs.run_list(chosen))
    order = chosen.get("order", "")
    if order:
        rows = runs.sorted_runs(rows, order)
    if wants_csv(request):
        every = (row for part in every_row(rows) for row in runs.run_rows(part))
        return list_csv("runs", RUN_COLUMNS, every)
    columns = column_choice(request, "runs", RUN_COLUMNS)
    if order:
        page = paging.page_by_number(rows, request.GET, size=ROWS)
    else:
        page = paging.page_by_id(rows, request.GET, size=ROWS)
    listed = runs.run_rows(page.rows)
    context = {
        "form": form,
        "columns": columns,
        "hidden": columns.hidden,
        "order": order,
        "sorted_by": runs.ORDERS[order][0] if order else "newest first",
        "moving": any(row.is_moving for row in listed),
        "active": _named_experiment(form.active(), listed),
        "page": page,
        "rows": listed,
        "detached": list(detached_runs(seen)),
        "matching": paging.count_up_to(rows, "run", "runs"),
        "may_start": request.user.has_perm(START),
        "waiting": asks.open_asks(seen).count() if _answers(request) else 0,
    }
    response = respond(
        request, "benchmarks/runs/run_list.html", "benchmarks/runs/_run_results.html", context
    )
    response["HX-Push-Url"] = shown_url(request)
    return response


def _named_experiment(
    active: list[tuple[str, str, str]], rows: list[runs.RunRow]
) -> list[tuple[str, str, str]]:
    """Return the chosen filters, with the name of the experiment, which the runs show too."""
    name = rows[0].run.experiment.name if rows and rows[0].run.experiment else ""
    return [
        (field, value, f"Experiment: {name}" if field == "experiment" and name else words)
        for field, value, words in active
    ]


def _answers(request: HttpRequest) -> bool:
    """Return whether this person may answer in roles that people fill."""
    return request.user.has_perm(START) or request.user.has_perm(ANSWER)


def _open_asks(request: HttpRequest, run: Run) -> int:
    """Count the open asks of a run that this person may answer."""
    return asks.open_ask_counts([run.pk]).get(run.pk, 0) if _answers(request) else 0


def _runs() -> Any:
    return Run.objects.select_related(
        "dataset", "agent", "experiment", "primary_judging", "created_by"
    )


@signed_in
@require_safe
def run(request: HttpRequest, run_id: int) -> HttpResponse:
    run = fetch(request, _runs(), pk=run_id)
    part = "benchmarks/runs/_run_report.html"
    every_task = request.GET.get("tasks") == "all"
    if wants_fragment(request):  # the run has ended while its page was open
        more = {"judgeable": is_judgeable(run), "may_start": request.user.has_perm(START)}
        return render(request, part, {**_report(run, every_task=every_task), **more})
    context = {
        **_progress(request, run),
        **_report(run, every_task=every_task),
        "caution": run_caution(run),
        "roles": run_roles(run),
        "settings": _settings(run),
        "prompts": run_prompts(run),
        "verification": latest_verification(run),
        "others": _beside(request, run),
        "judgings": run_judgings(run),
        "certificates": run_certificates(run),
    }
    return render(request, "benchmarks/runs/run.html", context)


def _beside(request: HttpRequest, run: Run) -> int:
    """Count the other runs of the same experiment."""
    if run.experiment is None:
        return 0
    return visibility(request).of(run.experiment.runs.all()).count() - 1


def _report(run: Run, *, every_task: bool) -> dict[str, Any]:
    """Return the results of a run so far: metrics, endings, problems and first trajectories."""
    S = Trajectory.Status
    metrics = runs.ended_metrics(run, every_task=every_task)
    rows = trajectories.with_row_relations(trajectories.trajectory_list({"run": run.pk}))
    shown = rows.order_by("-pk")[: TRAJECTORIES + 1]
    listed = trajectories.trajectory_rows(shown)
    figures = runs.run_figures(run.dataset.system, metrics) if metrics else []
    figures = runs.beside_original(figures, runs.original_figures(run, every_task=every_task))
    problems = trajectories.with_row_relations(
        run.trajectories.filter(status__in=[S.FAILED, S.DECISION])
    )
    return {
        "run": run,
        "metrics": metrics,
        "every_task": every_task,
        "figures": figures,
        "undefined": runs.much_undefined(run.dataset.system, figures, metrics) if metrics else [],
        "unread": _unread(run),
        "endings": runs.ending_counts(run, metrics) if metrics else [],
        "notes": own_template(run.dataset.system, "_run_notes.html"),
        "rows": listed[:TRAJECTORIES],
        "columns": trajectories.list_columns([run.dataset.system]),
        "query": f"run={run.pk}",
        "more": len(listed) > TRAJECTORIES,
        "export": ExportMenu(reverse("benchmarks:run_export", args=[run.pk])),
        "problems": list(problems.order_by("pk")[:PROBLEMS]),
        "use": run_use(run) if run.currency else None,
    }


def _unread(run: Run) -> list[str]:
    """Return a sentence for each judge of the run that cannot read what its agent writes."""
    system = playing_system(run)
    return misfit_words(unread_judges(system, roles_behind(run))) if system is not None else []


def _settings(run: Run) -> list[tuple[str, str, Any, bool, str]]:
    """Return (name, title, value, is default, help) of every setting of a run."""
    system = playing_system(run)
    known = {setting.name: setting for setting in system.settings} if system else {}
    return [
        (name, one.label, one.words(str(value)), one.default == value, one.help)
        if (one := known.get(name)) is not None
        else (name, name, value, False, "")
        for name, value in run.settings.items()
    ]


def _progress(request: HttpRequest, run: Run) -> dict[str, Any]:
    progress = runs.run_progress(run)
    counts = (
        progress.done,
        progress.failed,
        progress.running,
        progress.waiting,
        progress.cancelled,
    )
    return {
        "run": run,
        "judged": judged_by(run),
        "judgeable": is_judgeable(run),
        "spent": runs.spent(run),
        "asks": _open_asks(request, run) if progress.waiting else 0,
        "progress": progress,
        "tone": runs.TONES[run.status],
        "moving": run.status in runs.MOVING,
        "version": "-".join([run.status, *map(str, counts), f"{run.committed:.3g}"]),
        "may_start": request.user.has_perm(START),
        "can_pause": run.status in (*runs.MOVING, Run.Status.WAITING, Run.Status.ATTENTION),
        "can_resume": run.status == Run.Status.PAUSED,
        "can_cancel": run.status not in (Run.Status.DONE, Run.Status.CANCELLED),
    }


@signed_in
@require_safe
def run_progress(request: HttpRequest, run_id: int) -> HttpResponse:
    """Return the progress fragment, polled every second: 204 if unchanged, 286 at the end."""
    run = fetch(request, _runs(), pk=run_id)
    context = _progress(request, run)
    if context["moving"] and request.GET.get("v") == context["version"]:
        return HttpResponse(status=204)
    response = render(request, "benchmarks/runs/_run_progress.html", context)
    if not context["moving"]:
        response.status_code = STOP_POLLING
        response["HX-Trigger"] = "run-ended"
    return response


@signed_in
@require_safe
def run_export(request: HttpRequest, run_id: int) -> HttpResponseBase:
    """Send the trajectories of a run as a file."""
    run = fetch(request, _runs(), pk=run_id)
    page = reverse("benchmarks:run", args=[run.pk])
    return page_download(
        request, lambda: whole_runs([run], visibility(request)), f"run-{run.pk}", page
    )


def _change(
    request: HttpRequest, run_id: int, act: Callable[..., None], words: str
) -> HttpResponse:
    run = fetch(request, _runs(), START, pk=run_id)
    try:
        act(run=run)
    except CoreError as error:
        add_error_message(request, error)
    else:
        messages.success(request, words)
    return go_back(request, reverse("benchmarks:run", args=[run.pk]))


@signed_in
@require_POST
def run_pause(request: HttpRequest, run_id: int) -> HttpResponse:
    return _change(
        request, run_id, pause_run, "The run is paused. Steps under way are still stored."
    )


@signed_in
@require_POST
def run_resume(request: HttpRequest, run_id: int) -> HttpResponse:
    return _change(request, run_id, resume_run, "The run is resumed.")


@signed_in
@require_POST
def run_cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    return _change(
        request, run_id, cancel_run, "The run is cancelled. Finished trajectories are kept."
    )


@signed_in
@require_POST
def run_cap(request: HttpRequest, run_id: int) -> HttpResponse:
    """Change the cost cap; an empty field removes it."""
    run = fetch(request, _runs(), START, pk=run_id)
    form = CapForm(request.POST)
    if not form.is_valid():
        for error in form.errors.get("cap", ()):
            messages.error(request, f"The cost cap was not changed. {error}")
    else:
        cap = form.cleaned_data["cap"]
        try:
            change_cost_cap(run=run, cap=cap)
        except CoreError as error:
            add_error_message(request, error)
        else:
            words = "no cap any more" if cap is None else f"a cap of {cap:g} {run.currency}"
            messages.success(request, f"The run has {words}.")
    return HttpResponseRedirect(reverse("benchmarks:run", args=[run.pk]))


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    allow(request, START)
    ensure_scripted_agents()
    seen = visibility(request)
    datasets = [
        d
        for d in seen.of(Dataset.objects.all())
        if system_of(d.system) and find_system(d.system).making is None
    ]
    wanted = (request.POST or request.GET).get("dataset", "")
    usual = usual_dataset(datasets, request.user if request.user.is_authenticated else None)
    chosen = next((d for d in datasets if str(d.pk) == wanted), usual)
    if chosen is None:
        return render(request, "benchmarks/runs/run_new.html", {"datasets": []})
    system = system_of(chosen.system)
    assert system is not None
    asked = request.method == "POST" or "agents" in request.GET
    form = NewRunForm(
        (request.POST or request.GET) if asked else None, dataset=chosen, system=system, seen=seen
    )
    if not asked and request.GET.get("agent"):
        form.prefill(request.GET["agent"], paging.as_id(request.GET.get("first", "")))
    context = {"datasets": datasets, "dataset": chosen, "form": form, "size": _size(form)}
    if request.method != "POST":
        return respond(
            request, "benchmarks/runs/run_new.html", "benchmarks/runs/_run_size.html", context
        )
    if "propose" in request.POST and form.is_valid():
        data = _with(request.POST.copy(), form.fitting_roles())
        form = NewRunForm(data, dataset=chosen, system=system, seen=seen)
        context |= {"form": form, "size": _size(form), "proposed": True}
        return render(request, "benchmarks/runs/run_new.html", context)
    if form.is_valid() and form.misfits and not form.cleaned_data["accept_undefined"]:
        form.add_error(None, "Some judges cannot read what an agent writes. See below.")
        return render(request, "benchmarks/runs/run_new.html", context, status=422)
    if form.is_valid() and (started := _start(request, chosen, form)):
        messages.success(request, _started(started))
        if len(started) == 1:
            return redirect("benchmarks:run", started[0].pk)
        return redirect("benchmarks:experiment", started[0].experiment_id)
    return render(request, "benchmarks/runs/run_new.html", context, status=422)


def _with(data: QueryDict, changed: Mapping[str, str]) -> QueryDict:
    """Return the posted data with other values in some fields."""
    for name, value in changed.items():
        data[name] = value
    return data


def _start(request: HttpRequest, dataset: Dataset, form: NewRunForm) -> list[Run]:
    """Start the runs of the form; if refused, nothing is stored and the form says why."""
    try:
        return start_runs(
            dataset=dataset,
            agents=form.chosen_agents,
            levels=form.cleaned_data.get("levels", ()),
            settings=form.chosen_settings,
            roles=form.chosen_roles,
            seed=form.cleaned_data["seed"],
            tasks=form.cleaned_data["tasks"],
            name=form.cleaned_data["name"],
            cost_cap=form.cleaned_data["cost_cap"],
            created_by=request.user if request.user.is_authenticated else None,
        )
    except CoreError as error:
        form.add_refusal(error)
    return []


def _started(started: list[Run]) -> str:
    n = Trajectory.objects.filter(run__in=started).count()
    runs_ = "1 run" if len(started) == 1 else f"{len(started)} runs"
    return f"Started {runs_} with {n:,} trajectories."


def _size(form: NewRunForm) -> dict[str, Any] | None:
    """Return the size of what the form would start; None while its choices are invalid."""
    if not form.is_bound:
        return None
    form.is_valid()
    agents = len(form.cleaned_data.get("agents", ()))
    levels = form.cleaned_data.get("levels", ())
    if not agents or (form.all_levels and not levels) or "tasks" not in form.cleaned_data:
        return None
    tasks = form.cleaned_data["tasks"]
    each = {
        level: runs.run_size(form.dataset, [level] * bool(level), tasks) for level in levels or [""]
    }
    size: dict[str, Any] = {
        "runs": agents * len(each),
        "trajectories": agents * sum(each.values()),
    }
    paid = form.chosen_endpoints
    if paid:
        parts = {level: form.paid_parts() for level in each} if form.is_valid() else {}
        estimate = cost_estimate(form.dataset, paid, parts, each)
        asked = form.asked_roles() if form.is_valid() else []
        size |= {"estimate": estimate, "paid": True, "asked": asked}
        cap = form.cleaned_data.get("cost_cap")
        if estimate and cap is not None:
            over = [cost for cost in estimate.runs if cost > cap]
            size |= {"cap": cap, "over_cap": over, "dearest": max(over, default=None)}
    if form.is_valid() and form.misfits:
        size["misfits"] = misfit_words(form.misfits)
        size["consequence"] = consequence(form.misfits)
        size["proposed"] = form.proposed
    elif form.is_valid() and form.partial:
        size["partial"] = form.partial
    return size
