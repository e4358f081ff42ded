"""Suggestions: what a script or model would have answered in place of a person.

One is made for each ask to a person, after the trajectory was suspended, so that the person does
not wait for it. It is stored apart from exchanges, decides nothing, and cannot fail a trajectory:
if there is none, the reason is stored. Its cost counts against the run's cap and is reserved before
the call is sent.

Suggestions need no lease. The worker that stores the row as sent makes the suggestion; the row of a
dead worker is taken over after the time limit.
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from benchmarks.core.answerers import Answer, Answerer, Identity, most_cost
from benchmarks.core.driver import answer_or_failure, read_answer
from benchmarks.core.errors import AnswererFailed, CapReached, CoreError, OutcomeUnknown
from benchmarks.core.log import Call, CallResult, counted_cost, total_most
from benchmarks.core.registry import get_system
from benchmarks.core.system import System
from benchmarks.core.types import Ask, Expect, Task
from benchmarks.endpoints.services import answerer_at
from benchmarks.mappers import core_messages, core_task
from benchmarks.models import Exchange, OpenAsk, Run, Suggestion, Trajectory
from benchmarks.models.role_assignments import RoleAssignment, suggesting_assignments
from benchmarks.roles.services import build_answerer
from benchmarks.runs.calls import answerer_version, release_cost, reserve_cost

logger = logging.getLogger(__name__)
S = Exchange.State

# A suggestion that takes longer comes too late: it is given up, and counts as spent.
MOST_SECONDS = 60.0
# After this time the worker that made it must have given up or died.
ABANDONED_AFTER = timedelta(seconds=3 * MOST_SECONDS)


@dataclass(frozen=True)
class _SentSuggestion:
    """A suggestion that is under way: its row is stored as sent."""

    row: Suggestion
    call: Call
    answerer: Answerer


def make_suggestions(*, pk: int, executor: Executor) -> int:
    """Ask for the missing suggestions of a trajectory; return how many were asked for.

    It may be called at any time, by several workers at once. A suggestion that a dead worker had
    begun is asked for again. A cancelled trajectory gets none.
    """
    rows = Trajectory.objects.select_related("run__dataset", "task", "profile")
    trajectory = rows.get(pk=pk)
    run = trajectory.run
    suggesting = suggesting_assignments(run.roles, trajectory.role_changes)
    if not suggesting:
        return 0
    asks = _lacking(trajectory, sorted({role for role, _ in suggesting}))
    if not asks:
        return 0
    system = get_system(run.dataset.system)
    trajectory.task.dataset = run.dataset  # known already; saves a query
    task = core_task(trajectory.task, trajectory.profile)
    places = {
        (role, seat): place
        for role, _ in suggesting
        for place, seat in enumerate(system.seats(role, run.settings))
    }
    wanted = []
    for ask in asks:
        assignment = suggesting.get((ask.role, places.get((ask.role, ask.seat), -1)))
        if assignment is not None:
            suggestion = _send(run, ask, assignment, system, task)
            wanted += [suggestion] if suggestion is not None else []
    for one, answer in _answers(wanted, executor):
        _settle(run, one, read_answer(one.call.ask, answer, system.parsers))
    return len(wanted)


def _lacking(trajectory: Trajectory, roles: Sequence[str]) -> list[OpenAsk]:
    """Return asks of these roles to people that have no suggestion yet, not even under way."""
    same = Suggestion.objects.filter(
        trajectory=trajectory, step=OuterRef("step"), slot=OuterRef("slot")
    )
    rows = OpenAsk.objects.filter(trajectory=trajectory, role__in=roles)
    return list(rows.exclude(Exists(same.exclude(_abandoned()))).order_by("step", "slot"))


def _abandoned() -> Q:
    """Return suggestions that a dead worker has asked for."""
    return Q(state=S.SENT, at__lt=timezone.now() - ABANDONED_AFTER)


def _send(
    run: Run, open_ask: OpenAsk, assignment: RoleAssignment, system: System, task: Task
) -> _SentSuggestion | None:
    """Store a suggestion as sent; return None if it cannot be made, and store the reason.

    It is None, too, if another worker makes it.
    """
    ask = _core_ask(open_ask)
    by, answerer, call, problem = _identity(assignment), None, None, ""
    try:
        answerer = build_answerer(system, task, assignment, answerer_at(system.key))
        by = answerer.identity
        call = Call(open_ask.step, open_ask.slot, 1, ask, by, open_ask.seed)
        call = replace(call, most=most_cost(answerer, ask, open_ask.seed))
        most = total_most([call], capped=run.cost_cap is not None)
    except (CoreError, AnswererFailed, CapReached) as error:
        problem, most = str(error), 0.0
    about = {
        "role": open_ask.role,
        "seat": open_ask.seat,
        "answerer_id": answerer_version(by),
        "ask_digest": open_ask.ask_digest,
        "seed": open_ask.seed,
        "state": S.FAILED if problem else S.SENT,
        "reason": problem,
    }
    with transaction.atomic():
        row = _take_on(open_ask, about)
        if row is None:
            return None
        try:
            reserve_cost(run.pk, most)
        except CapReached as error:
            row.state, row.reason = S.FAILED, str(error)
            row.save(update_fields=["state", "reason"])
    if answerer is None or call is None or row.state != S.SENT:
        return None
    return _SentSuggestion(row, call, answerer)


def _take_on(open_ask: OpenAsk, about: Mapping[str, Any]) -> Suggestion | None:
    """Create the row of a suggestion; return None if another worker was first.

    It is None, too, if the suggestion is no longer needed.
    """
    dead = Trajectory.objects.filter(pk=open_ask.trajectory_id, status=Trajectory.Status.CANCELLED)
    if dead.exists():
        return None
    row, made = Suggestion.objects.get_or_create(
        trajectory_id=open_ask.trajectory_id,
        step=open_ask.step,
        slot=open_ask.slot,
        defaults=about,
    )
    if not made:
        rows = Suggestion.objects.filter(_abandoned(), pk=row.pk)
        if not rows.update(at=timezone.now(), **about):
            return None
        row.refresh_from_db()
    return row


def _core_ask(row: OpenAsk) -> Ask:
    """Return the ask as the person saw it."""
    return Ask(
        row.role,
        tuple(core_messages(row.messages)),
        Expect(row.expect["kind"], row.expect["params"]),
        row.seat,
        tuple(row.tools),
        row.context,
    )


def _identity(assignment: RoleAssignment) -> Identity:
    """Return the identity of an answerer that could not be built, as far as it is known."""
    name = str(assignment.get("endpoint") or assignment.get("policy") or assignment["kind"])
    return Identity(assignment["kind"], name, str(assignment.get("version", "")))


def _answers(
    wanted: Sequence[_SentSuggestion], executor: Executor
) -> Iterator[tuple[_SentSuggestion, Answer | AnswererFailed]]:
    """Yield each suggestion with its answer; endpoints are asked in parallel."""
    until = time.monotonic() + MOST_SECONDS
    slow = [(one, executor.submit(_answer, one)) for one in wanted if not one.answerer.instant]
    for one in wanted:
        if one.answerer.instant:
            yield one, _answer(one)
    for one, future in slow:
        try:
            yield one, future.result(timeout=max(0.0, until - time.monotonic()))
        except TimeoutError:
            yield one, OutcomeUnknown(f"no answer within {MOST_SECONDS:.0f} seconds")


def _answer(one: _SentSuggestion) -> Answer | AnswererFailed:
    try:
        return answer_or_failure(one.answerer, one.call)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:  # a bug in a script must not stop the people who play
        logger.exception("a suggestion at step %s failed unexpectedly", one.call.step)
        return AnswererFailed(f"unexpected {type(error).__name__}")


def _settle(run: Run, one: _SentSuggestion, verdict: CallResult) -> None:
    """Store the answer, and release the rest of the reserved cost."""
    answer = verdict.answer
    settled: Mapping[str, Any] = {
        "state": verdict.state,
        "text": answer.text,
        "value": verdict.value,
        "reason": verdict.reason,
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
        "cost": answer.cost,
        "latency": answer.latency,
    }
    with transaction.atomic():
        # If another worker has settled it meanwhile, that result and its cost stay.
        if Suggestion.objects.filter(pk=one.row.pk, state=S.SENT).update(**settled):
            release_cost(run.pk, (one.call.most or 0.0) - counted_cost(one.call, verdict))
