"""The page on which somebody branches from a trajectory."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from benchmarks import paging
from benchmarks.access import START, fetch, signed_in, visibility
from benchmarks.branches.forms import BranchForm, EveryTurnForm, answer_titles
from benchmarks.branches.requests import BranchRequest, start_branches
from benchmarks.branches.services import (
    BranchRefused,
    GivenAnswer,
    answers_in,
    missing_answerers,
    roles_of,
    why_not,
)
from benchmarks.core.errors import CoreError
from benchmarks.mappers import system_of_run
from benchmarks.models import Run, Trajectory
from benchmarks.roles.cautions import run_caution
from benchmarks.roles.judge_fit import misfit_words, unread_judges
from benchmarks.roles.selectors import run_roles
from benchmarks.roles.services import assign_person
from benchmarks.trajectories.exchanges import agent_role, turn_steps
from benchmarks.trajectories.selectors import with_page_relations

PAGE = "benchmarks/branches/branch_new.html"
OTHERS = (
    "Name who continues in that role with the command branch_trajectory --fill or by the API, or "
    "run the task again and branch from the new trajectory."
)


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def branch_new(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    """Show the forms, or start what one of them asks for."""
    trajectory = fetch(request, with_page_relations(), START, pk=trajectory_id)
    posted = request.POST if request.method == "POST" else None
    context: dict[str, Any] = {
        "trajectory": trajectory,
        "run": trajectory.run,
        "caution": run_caution(trajectory.run, trajectory.role_changes),
    }
    if why := why_not(trajectory):
        return _refused(request, context, why)
    given = posted if posted is not None else request.GET
    parts = turn_steps(trajectory)
    turn = paging.as_id(given.get("turn", "")) or (parts[-1].turn if parts else 1)
    try:
        answers = answers_in(trajectory, turn)
    except BranchRefused as error:
        return _refused(request, context, str(error))
    system, role = system_of_run(trajectory.run), agent_role(trajectory)
    missing = missing_answerers(trajectory, roles_of(trajectory))
    gone = missing.pop(role, "")
    if missing:  # this page lets choose the agent only
        return _refused(request, context, f"{' '.join(missing.values())} {OTHERS}")
    answer = _chosen(answers, given.get("answer", ""), role)
    every = posted if posted is not None and "every" in posted else None
    edits = posted if every is None else None
    form = None
    if answer is not None:
        before = run_roles(trajectory.run, trajectory.role_changes)[0].assignments[-1].title
        seen = visibility(request)
        if answer.asked.role == role:
            roles = {**trajectory.run.roles, role: [assign_person()]}
            context["misfits"] = misfit_words(unread_judges(system, roles))
        form = BranchForm(edits, system=system, answer=answer, before=before, gone=gone, seen=seen)
    every_form = EveryTurnForm(every)
    context |= {
        "turns": [part.turn for part in parts],
        "turn": turn,
        "answers": answer_titles(system, answers),
        "answer": answer,
        "form": form,
        "every_form": every_form,
        "ended": trajectory.status == Trajectory.Status.DONE,
        "gone": gone,
    }
    started: Run | None = None
    if every is not None and every_form.is_valid():
        started = _start(request, every_form, every_form.wanted(), trajectory)
    elif edits is not None and form is not None and answer is not None and form.is_valid():
        wanted = form.wanted(turn=turn, answer=answer, role=role)
        started = _start(request, form, wanted, trajectory)
    if started is not None:
        messages.success(request, "Started. The original stays as it is.")
        return HttpResponseRedirect(reverse("analysis:branches", args=[started.pk]))
    return render(request, PAGE, context, status=422 if posted is not None else 200)


def _refused(request: HttpRequest, context: dict[str, Any], why: str) -> HttpResponse:
    status = 422 if request.method == "POST" else 200
    return render(request, PAGE, {**context, "refused": why}, status=status)


def _chosen(answers: list[GivenAnswer], name: str, role: str) -> GivenAnswer | None:
    """Return the answer of this name, else the agent's, else the first."""
    by_name = {answer.name: answer for answer in reversed(answers)}
    return by_name.get(name) or by_name.get(role) or next(iter(answers), None)


def _start(
    request: HttpRequest, form: Any, wanted: BranchRequest, trajectory: Trajectory
) -> Run | None:
    """Start what is wanted; if it is refused, nothing is stored and the form says why."""
    assert isinstance(request.user, User)
    try:
        return start_branches(wanted, trajectory=trajectory, by=request.user)
    except CoreError as error:
        field = getattr(error, "field", "")
        text = str(error)
        form.add_error(field if field in form.fields else None, text[:1].upper() + text[1:])
    return None
