"""Judges: who they were, one of them tried on a turn, and re-judging stored trajectories."""

from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
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
from benchmarks.core.registry import find_system, get_rejudging
from benchmarks.judging import judges
from benchmarks.judging.counts import judge_counts
from benchmarks.judging.forms import RejudgeForm, TryJudgeForm, read_chosen
from benchmarks.judging.plans import plan_judging
from benchmarks.judging.selectors import JudgingScope, TrajectoryChoice, chosen_shares
from benchmarks.judging.services import choose_judging, start_judging, system_of_runs
from benchmarks.judging.trials import try_judge
from benchmarks.lists.columns import (
    ListColumn,
    column_choice,
    every_row,
    list_csv,
    wants_csv,
)
from benchmarks.models import Run, Trajectory
from benchmarks.responses import STOP_POLLING, add_error_message, go_back, respond, wants_fragment
from benchmarks.trajectories.selectors import with_page_relations

SHARES = 12
LATEST = 8
# The fields of a query string that choose trajectories (``read_chosen``).
CHOOSING = ("run", "id", "list")
JUDGING_COLUMNS = (
    ListColumn(
        "judging",
        "Judging",
        {"judging": "judging.name", "run": "row.run.pk", "begun": "row.run.created_at"},
        fixed=True,
    ),
    ListColumn(
        "of",
        "Of",
        {
            "judged_run": "judging.run_id", "agent": "judging.run.agent.name",
            "dataset": "judging.run.dataset.name", "level": "judging.run.level",
        },
    ),
    ListColumn("how", "How", {"condition": "row.run.condition"}),
    ListColumn("state", "State", {"status": "row.run.status"}),
    ListColumn(
        "progress",
        "Progress",
        {
            "trajectories": "row.progress.total", "ended": "row.progress.ended",
            "cost": "row.spent.amount", "currency": "row.spent.currency",
        },
    ),
    ListColumn("scores", "Scores", {"scores": "scores"}),
    ListColumn("default", "Default", {"default": "counts"}),
)  # fmt: skip


# How each version of a judge was asked, and what it replied.
VERSION_COLUMNS = (
    ListColumn("judge", "Judge", {"judge": "title", "label": "label"}, fixed=True),
    ListColumn("role", "Role", {"role": "role"}),
    ListColumn(
        "parameters",
        "How it is asked",
        {"parameters": lambda row: "; ".join(f"{key} {value}" for key, value in row.parameters)},
    ),
    ListColumn("prompts", "Prompts", {"prompts": lambda row: "; ".join(row.prompts)}),
    ListColumn("replies", "Replies", {"replies": "replies"}),
    ListColumn("unreadable", "Unreadable", {"unreadable": "unreadable"}),
    ListColumn("scores", "Scores", {"scores": "scores"}),
    ListColumn("asked", "Last asked", {"last_asked": "last_asked"}),
)
VERSIONS = "versions-csv"


@signed_in
@require_safe
def judge_list(request: HttpRequest) -> HttpResponseBase:
    allow(request, VIEW)
    seen = visibility(request)
    if wants_csv(request):
        parts = map(judges.judging_rows, every_row(judges.rejudgings(seen)))
        return list_csv("rejudgings", JUDGING_COLUMNS, (row for part in parts for row in part))
    counts = judge_counts(seen)
    versions = judges.judge_versions(counts)
    if request.GET.get("format") == VERSIONS:
        return list_csv("judges", VERSION_COLUMNS, versions)
    page = paging.page_by_id(judges.rejudgings(seen), request.GET, size=judges.JUDGINGS)
    columns = column_choice(request, "rejudgings", JUDGING_COLUMNS)
    context = {
        "columns": columns,
        "hidden": columns.hidden,
        "version_columns": column_choice(request, "judges", VERSION_COLUMNS, file_format=VERSIONS),
        "versions": versions,
        "uncounted": counts.missing,
        "rows": judges.judging_rows(page.rows),
        "page": page,
        "may_start": request.user.has_perm(START),
    }
    return render(request, "benchmarks/judging/judge_list.html", context)


# --- Re-judging -----------------------------------------------------------------------------------


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def judging_new(request: HttpRequest) -> HttpResponse:
    """Show the form that starts a re-judging, with its size and cost; start it."""
    allow(request, START)
    given = request.POST if request.method == "POST" else request.GET
    chosen = read_chosen(given, visibility(request))
    scope = chosen_shares(chosen)
    context: dict[str, Any] = {
        "scope": scope,
        "shares": scope.shares[:SHARES],
        "more_runs": len(scope.shares) - SHARES,
        "choice": [(name, value) for name in CHOOSING for value in given.getlist(name)],
    }
    page = "benchmarks/judging/judging_new.html"
    try:
        rejudging = get_rejudging(system_of_runs(scope.runs))
    except CoreError as error:
        context["refused"] = str(error)
        return render(request, page, context, status=422 if request.method == "POST" else 200)
    form = RejudgeForm(
        given if "name" in given else None,
        dataset=scope.runs[0].dataset,
        rejudging=rejudging,
        seen=visibility(request),
    )
    context |= {"form": form, **_planned(form, chosen, scope)}
    if request.method != "POST":
        return respond(request, page, "benchmarks/judging/_judging_size.html", context)
    if form.is_valid() and (started := _start(request, form, chosen, scope)):
        words = (
            "1 trajectory" if scope.trajectories == 1 else f"{scope.trajectories:,} trajectories"
        )
        messages.success(request, f"Re-judging {words}. Existing scores are kept.")
        alone = reverse("benchmarks:run", args=[started[0].pk])
        return HttpResponseRedirect(alone if len(started) == 1 else _list())
    return render(request, page, context, status=422)


def _planned(form: RejudgeForm, chosen: TrajectoryChoice, scope: JudgingScope) -> dict[str, Any]:
    """Return what the form would start, or why it is refused; neither while a field is invalid."""
    if form.is_bound and not form.is_valid() and set(form.errors) - {"name", "expected"}:
        return {"plan": None, "obstacle": ""}
    try:
        plan = plan_judging(
            chosen=chosen, roles=form.chosen_roles, settings=form.chosen_settings, scope=scope
        )
    except CoreError as error:
        return {"plan": None, "obstacle": str(error)}
    return {"plan": plan, "obstacle": ""}


def _start(
    request: HttpRequest, form: RejudgeForm, chosen: TrajectoryChoice, scope: JudgingScope
) -> list[Run]:
    """Start the re-judging of the form; if refused, nothing is stored and the form says why."""
    expected = form.cleaned_data["expected"]
    if expected is not None and expected != scope.trajectories:
        words = f"There are {scope.trajectories:,} of them now. Check this and send the form again."
        form.add_error(None, words)
        return []
    try:
        return start_judging(
            name=form.cleaned_data["name"],
            chosen=chosen,
            roles=form.chosen_roles,
            settings=form.chosen_settings,
            seed=form.cleaned_data["seed"],
            cost_cap=form.cleaned_data["cost_cap"],
            created_by=_person(request),
        )
    except CoreError as error:
        form.add_refusal(error)
    return []


@signed_in
@require_POST
def judging_choose(request: HttpRequest, run_id: int) -> HttpResponse:
    """Make one of a run's judgings the primary one."""
    run = fetch(request, Run.objects.all(), START, pk=run_id)
    wanted = paging.as_id(request.POST.get("judging", ""))
    judging = run.judgings.filter(pk=wanted).first() if wanted is not None else None
    if judging is None and wanted is not None:
        raise Http404
    try:
        choose_judging(run=run, judging=judging, by=_person(request))
    except CoreError as error:
        add_error_message(request, error)
    else:
        name = f"“{judging.name}” counts" if judging else "No judging counts"
        messages.success(request, f"{name} for run {run.pk} from now on.")
    return go_back(request, reverse("benchmarks:run", args=[run.pk]))


# --- Trying a judge -------------------------------------------------------------------------------


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def judge_try(request: HttpRequest) -> HttpResponse:
    """Try one judge on one stored turn: scripts answer at once, models through a worker."""
    allow(request, START)
    given = request.POST if request.method == "POST" else request.GET
    words = given.get("trajectory", "").strip()
    page = "benchmarks/judging/judge_try.html"
    trajectory = _tried(request, words)
    if trajectory is None:
        empty = {"trajectory": None, "unknown": words, "latest": _latest(request)}
        status = 404 if words else 422 if request.method == "POST" else 200
        return render(request, page, empty, status=status)
    rejudging = find_system(trajectory.run.dataset.system).rejudging
    turns = list(
        trajectory.turns.exclude(text="").order_by("index").values_list("index", flat=True)
    )
    context: dict[str, Any] = {"trajectory": trajectory, "latest": _latest(request)}
    if rejudging is None or not turns or trajectory.judged_id is not None:
        context["refused"] = "This trajectory has no turn to judge."
        return render(request, page, context, status=422 if request.method == "POST" else 200)
    form = TryJudgeForm(
        request.POST if request.method == "POST" else None,
        rejudging=rejudging,
        turns=turns,
        seen=visibility(request),
    )
    context["form"] = form
    if request.method == "POST" and form.is_valid():
        try:
            job = try_judge(trajectory=trajectory, asked_by=_person(request), **form.chosen)
        except CoreError as error:
            form.add_error(None, str(error))
        else:
            return HttpResponseRedirect(reverse("benchmarks:judge_trial", args=[job.pk]))
    return render(request, page, context, status=422 if form.errors else 200)


def _tried(request: HttpRequest, number: str) -> Trajectory | None:
    """Return the trajectory of this id; None if there is none, or it is hidden."""
    pk = paging.as_id(number)
    with suppress(Http404):
        return fetch(request, with_page_relations(), START, pk=pk) if pk is not None else None
    return None


def _latest(request: HttpRequest) -> list[judges.JudgeTrialView]:
    rows = visibility(request).of(judges.judge_trials()).filter(created_by=_person(request))
    return [judges.JudgeTrialView(job) for job in rows[:LATEST]]


@signed_in
@require_safe
def judge_trial(request: HttpRequest, trial_id: int) -> HttpResponse:
    """Show the result of a trial; the page polls this every second until it is there."""
    view = judges.JudgeTrialView(fetch(request, judges.judge_trials(), START, pk=trial_id))
    trajectory = fetch(request, with_page_relations(), START, pk=view.job.payload["trajectory"])
    if wants_fragment(request) and view.moving and request.GET.get("v") == view.mark:
        return HttpResponse(status=204)
    context = {"view": view, "trajectory": trajectory}
    response = respond(
        request,
        "benchmarks/judging/judge_trial.html",
        "benchmarks/judging/_judge_trial.html",
        context,
    )
    if wants_fragment(request) and not view.moving:
        response.status_code = STOP_POLLING
    return response


def _list() -> str:
    return reverse("benchmarks:judge_list")


def _person(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None
