"""Suggestions: what a script or model would have answered in place of a person.

One is made for each ask to a person, after the trajectory was suspended, so that the person does
not wait for it. It is stored apart from exchanges, decides nothing, and cannot fail a trajectory:
if there is none, the reason is stored. Its cost counts against the run's cap and is reserved before
the call is sent.

Suggestions need no lease. The worker that stores the row as sent makes the suggestion. A row that a
dead worker left is lost after the time limit, and the ask is put again as another attempt.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.utils import timezone

from benchmarks.calls.log import CallLog, LeaseLost
from benchmarks.core.answerers import Answer, Answerer, most_cost
from benchmarks.core.driver import answer_or_failure, read_answer
from benchmarks.core.errors import AnswererFailed, CapReached, CoreError, OutcomeUnknown
from benchmarks.core.log import Call, CallResult
from benchmarks.core.registry import get_system
from benchmarks.core.system import System
from benchmarks.core.types import Ask, Expect, Task
from benchmarks.endpoints.services import answerer_at
from benchmarks.mappers import core_messages, core_task
from benchmarks.models import OpenAsk, Run, Suggestion, Trajectory
from benchmarks.models.role_assignments import RoleAssignment, suggesting_assignments
from benchmarks.roles.services import build_answerer, unbuilt_identity

logger = logging.getLogger(__name__)
S = Suggestion.State

# A suggestion that takes longer comes too late: it is given up, and counts as spent.
MOST_SECONDS = 60.0
# After this time the worker that made it must have given up or died.
ABANDONED_AFTER = timedelta(seconds=3 * MOST_SECONDS)


class _SuggestionLog(CallLog):
    """The log of the suggestions on one trajectory, under the cap of its run."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory, run = trajectory, trajectory.run
        super().__init__(
            Suggestion,
            {"trajectory_id": trajectory.pk},
            Run.objects.filter(pk=run.pk),
            capped=run.cost_cap is not None,
        )

    @contextmanager
    def _writing(self, now: datetime) -> Iterator[None]:
        with transaction.atomic():
            cancelled = Trajectory.objects.filter(
                pk=self.trajectory.pk, status=Trajectory.Status.CANCELLED
            )
            if cancelled.exists():
                raise LeaseLost
            yield


@dataclass(frozen=True)
class _SentSuggestion:
    """A suggestion that is under way: its row is stored as sent."""

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
    log = _SuggestionLog(trajectory)
    log.exchanges()
    wanted = []
    for ask, last, lost in asks:
        assignment = suggesting.get((ask.role, places.get((ask.role, ask.seat), -1)))
        if assignment is not None:
            suggestion = _send(log, ask, (last, lost), assignment, system, task)
            wanted += [suggestion] if suggestion is not None else []
    for each, answer in _answers(wanted, executor):
        # If another worker has given it up meanwhile, that stays.
        with suppress(LeaseLost):
            log.record_verdict(each.call, read_answer(each.call.ask, answer, system.parsers))
    return len(wanted)


def _lacking(trajectory: Trajectory, roles: Sequence[str]) -> list[tuple[OpenAsk, int, int]]:
    """Return asks of these roles to people that have no suggestion yet, not even under way.

    With each, its last attempt, perhaps of an ask that was withdrawn, and the attempt that a dead
    worker has left; 0 where there is none.
    """
    begun = Suggestion.objects.filter(trajectory=trajectory).order_by("attempt")
    newest = {(row.step, row.slot): row for row in begun}
    asks = OpenAsk.objects.filter(trajectory=trajectory, role__in=roles).order_by("step", "slot")
    lacking = []
    for ask in asks:
        row = newest.get((ask.step, ask.slot))
        if row is None or row.ask_digest not in ("", ask.ask_digest):  # withdrawn
            lacking.append((ask, row.attempt if row else 0, 0))
        elif row.state == S.SENT and row.sent_at < timezone.now() - ABANDONED_AFTER:
            lacking.append((ask, row.attempt, row.attempt))
    return lacking


def _send(
    log: _SuggestionLog,
    open_ask: OpenAsk,
    before: tuple[int, int],
    assignment: RoleAssignment,
    system: System,
    task: Task,
) -> _SentSuggestion | None:
    """Store a suggestion as sent; return None if it cannot be made, and store the reason.

    ``before`` are the attempts that `_lacking` returns. It is None, too, if another worker makes
    it, or the trajectory was cancelled.
    """
    ask, by = _core_ask(open_ask), unbuilt_identity(assignment)
    last, lost = before
    call = Call(open_ask.step, open_ask.slot, last + 1, ask, by, open_ask.seed, repeats=lost)
    with suppress(IntegrityError, LeaseLost):
        try:
            answerer = build_answerer(system, task, assignment, answerer_at(system.key))
            call = replace(call, by=answerer.identity)
            call = replace(call, most=most_cost(answerer, ask, open_ask.seed))
            log.record_sent([call])
        except (CoreError, AnswererFailed, CapReached) as error:
            failed = CallResult("failed", Answer("", tries=0), reason=str(error))
            log.record_sent([], [(replace(call, most=0.0), failed)])
        else:
            return _SentSuggestion(call, answerer)
    return None


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
