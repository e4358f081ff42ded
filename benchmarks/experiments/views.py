"""Pages of experiments: the list, the editor with size and cost, and one with its runs."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks import paging
from benchmarks.access import START, VIEW, allow, fetch, signed_in, visibility
from benchmarks.core.errors import CoreError
from benchmarks.core.problems import FileRefused
from benchmarks.core.registry import system_of
from benchmarks.experiments import control
from benchmarks.experiments import selectors as experiments
from benchmarks.experiments.checks import read_checked
from benchmarks.experiments.design import Design
from benchmarks.experiments.forms import LONGEST_FILE, ChoicesForm, DesignForm
from benchmarks.experiments.plans import ExperimentPlan, plan_design
from benchmarks.experiments.presets import presets
from benchmarks.experiments.services import make_experiment, stored_design
from benchmarks.exports.downloads import ONE_PER_RUN, ExportMenu, page_download, whole_runs
from benchmarks.imports.views import bounded_upload
from benchmarks.lists.columns import (
    ListColumn,
    column_choice,
    every_row,
    list_csv,
    wants_csv,
)
from benchmarks.models import Dataset, Experiment
from benchmarks.responses import STOP_POLLING, add_error_message
from benchmarks.roles.cautions import runs_caution
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.forms import NewRunForm
from benchmarks.runs.selectors import MOVING
from benchmarks.visibility import detached_runs

ROWS = 30
LINES = 200
EXPERIMENT_COLUMNS = (
    ListColumn(
        "experiment",
        "Experiment",
        {
            "experiment": "experiment.pk", "name": "experiment.name",
            "preset": "experiment.preset", "created_by": "experiment.created_by.username",
        },
        fixed=True,
    ),
    ListColumn("runs", "Runs", {"runs": "runs"}),
    ListColumn("agents", "Agents", {"agents": "agents"}),
    ListColumn("levels", "Levels", {"levels": lambda row: "; ".join(row.levels)}),
    ListColumn(
        "ended",
        "Trajectories ended",
        {"trajectories": "total", "ended": "ended", "failed": "failed"},
    ),
    ListColumn("begun", "Begun", {"begun": "experiment.created_at"}),
)  # fmt: skip


@signed_in
@require_safe
def experiment_list(request: HttpRequest) -> HttpResponseBase:
    allow(request, VIEW)
    seen = visibility(request)
    every = experiments.experiments(seen)
    if wants_csv(request):
        parts = (experiments.experiment_rows(part, seen) for part in every_row(every))
        return list_csv("experiments", EXPERIMENT_COLUMNS, (row for part in parts for row in part))
    page = paging.page_by_id(every, request.GET, size=ROWS)
    columns = column_choice(request, "experiments", EXPERIMENT_COLUMNS)
    context = {
        "columns": columns,
        "hidden": columns.hidden,
        "page": page,
        "rows": experiments.experiment_rows(page.rows, seen),
        "may_start": request.user.has_perm(START),
    }
    return render(request, "benchmarks/experiments/experiment_list.html", context)


# --- New experiment -------------------------------------------------------------------------------


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
@bounded_upload(lambda: 2 * LONGEST_FILE, "Split the design into several experiments.")
def experiment_new(request: HttpRequest) -> HttpResponse:
    """Show the editor, and on request the size and cost of the design with the start button."""
    allow(request, START)
    ensure_scripted_agents()
    if request.method != "POST" or "of_runs" in request.POST:
        text, context = _first_text(request)
        form = DesignForm(initial={"text": text})
        return render(
            request, "benchmarks/experiments/experiment_new.html", {"form": form, **context}
        )
    form = DesignForm(request.POST, request.FILES)
    context = _choices(request)
    if not form.is_valid():
        return render(
            request,
            "benchmarks/experiments/experiment_new.html",
            {"form": form, **context},
            status=422,
        )
    text = form.cleaned_data["text"]
    given = {"text": text, "take": True}
    try:
        plan = plan_design(read_checked(text, visibility(request)), visibility(request))
        counted = plan.checked.design.digest
        if "start" in request.POST and form.cleaned_data["counted"] == counted:
            return _start(request, plan, form)
    except FileRefused as error:
        context |= {"form": DesignForm(initial=given), "refused": error}
        return render(request, "benchmarks/experiments/experiment_new.html", context, status=422)
    context |= {
        "form": DesignForm(initial={**given, "counted": counted}),
        "plan": plan,
        "changed": "start" in request.POST,
        "cost": plan.cost(plan.cells),
        "calls": plan.calls(plan.cells),
    }
    return render(request, "benchmarks/experiments/experiment_new.html", context)


def _start(request: HttpRequest, plan: ExperimentPlan, form: DesignForm) -> HttpResponse:
    """Create the experiment and redirect to its page."""
    known = next((one for one in presets() if one.text == form.cleaned_data["text"]), None)
    try:
        made = make_experiment(
            plan=plan,
            created_by=request.user if request.user.is_authenticated else None,
            take=form.cleaned_data["take"],
            preset=known.key if known is not None else "",
        )
    except CoreError as error:
        add_error_message(request, error)
        return HttpResponseRedirect(reverse("benchmarks:experiment_new"))
    messages.success(request, f"The experiment “{made.name}” has started.")
    return HttpResponseRedirect(reverse("benchmarks:experiment", args=[made.pk]))


def _first_text(request: HttpRequest) -> tuple[str, dict[str, Any]]:
    """Return the initial text of the editor: a shipped design, another experiment's, or the choices
    made here or on the form for runs.
    """
    context = _choices(request)
    if key := request.GET.get("preset", ""):
        preset = next((one for one in presets() if one.key == key), None)
        if preset is None:
            raise Http404("There is no such design.")
        return preset.text, context
    if (copied := paging.as_id(request.GET.get("copy", ""))) is not None:
        return _design_text(request, copied), context
    choices: ChoicesForm | None = context["choices"]
    if choices is not None and choices.is_bound:
        return (choices.design.text if choices.is_valid() else ""), context
    return _text_of_run_form(request), context


def _choices(request: HttpRequest) -> dict[str, Any]:
    """Return the form of the simple case, for the dataset in the URL or the newest one."""
    seen = visibility(request)
    known = [one for one in seen.of(Dataset.objects.all()) if system_of(one.system)]
    wanted = (request.POST or request.GET).get("dataset", "")
    dataset = next((one for one in known if str(one.pk) == wanted), known[0] if known else None)
    bound = request.GET if "c-replicates" in request.GET else None
    form = ChoicesForm(bound, dataset=dataset, seen=seen) if dataset is not None else None
    return {"choices": form, "dataset": dataset, "datasets": known, "presets": presets()}


def _text_of_run_form(request: HttpRequest) -> str:
    """Return the design of the form for runs, with three seeds; empty without one.

    That form posts its choices: they are many, and an address would hold its token.
    """
    seen = visibility(request)
    wanted = paging.as_id(request.POST.get("dataset", ""))
    dataset = seen.of(Dataset.objects.all()).filter(pk=wanted or 0).first()
    system = system_of(dataset.system) if dataset is not None else None
    if dataset is None or system is None or "agents" not in request.POST:
        return ""
    form = NewRunForm(request.POST, dataset=dataset, system=system, seen=seen)
    if not form.is_valid():
        messages.error(request, "The form for runs has errors, so no design was made from it.")
        return ""
    usual = {one.name: one.default for one in system.settings}
    first = form.cleaned_data["seed"]
    return Design(
        name=form.cleaned_data["name"] or f"{dataset.name}, three runs of each",
        dataset=f"{dataset.name}@{dataset.version}",
        agents=tuple(agent.name for agent in form.chosen_agents),
        levels=tuple(form.cleaned_data.get("levels", ())),
        conditions=({k: v for k, v in form.chosen_settings.items() if v != usual[k]},),
        seeds=(first, first + 1, first + 2),
        roles={role: tuple(names) for role, names in form.chosen_roles.items()},
        tasks=tuple(form.cleaned_data["tasks"]) or None,
    ).text


# --- One experiment -------------------------------------------------------------------------------


def _open(request: HttpRequest, pk: int, permission: str = VIEW) -> tuple[Experiment, bool]:
    """Return the experiment, and whether all of its runs are visible to this person."""
    rows = Experiment.objects.select_related("created_by")
    experiment = fetch(request, rows, permission, pk=pk)
    seen = visibility(request)
    closed = seen.closed.intersection(
        {*experiment.runs.values_list("pk", flat=True), *experiments.taken_runs(experiment)}
    )
    return experiment, not closed


def _design_text(request: HttpRequest, pk: int) -> str:
    """Return the design as YAML; it names all agents, so one hidden run hides it."""
    experiment, whole = _open(request, pk)
    stored = stored_design(experiment)
    if stored is None or not whole:
        raise Http404("This experiment has no design that can be shown.")
    return stored[0].text


@signed_in
@require_safe
def experiment(request: HttpRequest, experiment_id: int) -> HttpResponse:
    experiment, whole = _open(request, experiment_id)
    stored = stored_design(experiment) if whole else None
    context = _progress(request, experiment, whole)
    places = context["matrix"].places
    context |= {
        "design": stored[0] if stored is not None else None,
        "detached": list(detached_runs(visibility(request)).filter(experiment=experiment)),
        "caution": runs_caution(place.run for place in places),
        "export": ExportMenu(
            reverse("benchmarks:experiment_export", args=[experiment.pk]),
            note=ONE_PER_RUN if len(places) > 1 else "",
        ),
        "pair": [place.run.pk for place in places[:2]] if len(places) > 1 else [],
        "system": places[0].run.dataset.system if places else "",
    }
    return render(request, "benchmarks/experiments/experiment.html", context)


def _progress(request: HttpRequest, experiment: Experiment, whole: bool) -> dict[str, Any]:
    runs = experiments.experiment_runs(experiment, visibility(request))
    matrix = experiments.experiment_matrix(experiment, runs)
    lacking = control.runs_lacking(experiment) if whole else 0
    making = control.making_jobs(experiment).first() if lacking else None
    own = [place.run for place in matrix.places if not place.taken]
    statuses = [run.status for run in own]
    moving = making is not None or any(status in MOVING for status in statuses)
    may = request.user.has_perm(START) and whole
    S = control.S
    counts = (matrix.ended, matrix.failed, matrix.waiting, len(runs), lacking)
    return {
        "experiment": experiment,
        "whole": whole,
        "matrix": matrix,
        "lines": matrix.lines[:LINES],
        "hidden_lines": max(0, len(matrix.groups) - LINES),
        "lacking": lacking,
        "making": making,
        "moving": moving,
        "spent": experiments.experiment_spent(experiment, runs),
        "at_cap": sum(1 for run in own if run.status == S.PAUSED and run.problem),
        "version": "-".join(map(str, (*counts, *sorted(set(statuses)), len(statuses)))),
        "may_start": may,
        "can_pause": may
        and any(status in (*MOVING, S.WAITING, S.ATTENTION) for status in statuses),
        "can_resume": may
        and (any(r.status == S.PAUSED and not r.problem for r in own) or (lacking and not making)),
        "can_cancel": may
        and (bool(lacking) or any(status not in (S.DONE, S.CANCELLED) for status in statuses)),
    }


@signed_in
@require_safe
def experiment_progress(request: HttpRequest, experiment_id: int) -> HttpResponse:
    """Return the progress fragment, polled every two seconds: 204 if unchanged, 286 at the end."""
    experiment, whole = _open(request, experiment_id)
    context = _progress(request, experiment, whole)
    if context["moving"] and request.GET.get("v") == context["version"]:
        return HttpResponse(status=204)
    response = render(request, "benchmarks/experiments/_experiment_progress.html", context)
    if not context["moving"]:
        response.status_code = STOP_POLLING
        response["HX-Trigger"] = "experiment-ended"
    return response


@signed_in
@require_safe
def experiment_export(request: HttpRequest, experiment_id: int) -> HttpResponseBase:
    """Send the trajectories of all runs of an experiment that this person may see."""
    experiment, _ = _open(request, experiment_id)
    seen = visibility(request)
    runs = experiments.experiment_runs(experiment, seen)
    page = reverse("benchmarks:experiment", args=[experiment.pk])
    return page_download(
        request, lambda: whole_runs(runs, seen), f"experiment-{experiment.pk}", page
    )


@signed_in
@require_safe
def experiment_design(request: HttpRequest, experiment_id: int) -> HttpResponse:
    """Return the design as a YAML file."""
    allow(request, VIEW)
    text = _design_text(request, experiment_id)
    response = HttpResponse(text, content_type="application/yaml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="experiment-{experiment_id}.yaml"'
    return response


def _change(
    request: HttpRequest, pk: int, act: Callable[[Experiment], str]
) -> HttpResponseRedirect:
    experiment, whole = _open(request, pk, START)
    if not whole:
        raise PermissionDenied("Some runs of this experiment are closed to you.")
    try:
        messages.success(request, act(experiment))
    except CoreError as error:
        add_error_message(request, error)
    return HttpResponseRedirect(reverse("benchmarks:experiment", args=[experiment.pk]))


def _runs(n: int) -> str:
    return "1 run" if n == 1 else f"{n:,} runs"


@signed_in
@require_POST
def experiment_pause(request: HttpRequest, experiment_id: int) -> HttpResponse:
    def act(experiment: Experiment) -> str:
        n = control.pause_experiment(experiment=experiment)
        return f"{_runs(n)} paused: nothing further is begun."

    return _change(request, experiment_id, act)


@signed_in
@require_POST
def experiment_resume(request: HttpRequest, experiment_id: int) -> HttpResponse:
    def act(experiment: Experiment) -> str:
        person = request.user if request.user.is_authenticated else None
        n = control.resume_experiment(experiment=experiment, person=person)
        return f"The experiment goes on where it was left; {_runs(n)} resumed."

    return _change(request, experiment_id, act)


@signed_in
@require_POST
def experiment_cancel(request: HttpRequest, experiment_id: int) -> HttpResponse:
    def act(experiment: Experiment) -> str:
        n = control.cancel_experiment(experiment=experiment)
        return f"{_runs(n)} cancelled. What had ended before is kept."

    return _change(request, experiment_id, act)


@signed_in
@require_POST
def experiment_share(request: HttpRequest, experiment_id: int) -> HttpResponse:
    def act(experiment: Experiment) -> str:
        left = control.share_out(experiment=experiment)
        return f"{left:.2f} of the cap for all are shared out among the runs that go on."

    return _change(request, experiment_id, act)
