"""Suggestions: what a script or model would have answered where a person answers.

They are made after the trajectory was laid aside, so that nobody waits for them who is asked, once
for each ask that people were put, and stored apart from exchanges. They decide nothing and fail
nothing: where none can be had, the reason is stored. Their cost counts against the run's cap, put
aside before a call leaves as for every other call.

No lease holds them. Whoever stores the row of a suggestion as sent makes it, so of several workers
one does; the row of a worker that died is taken over once that must have given up.
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
from benchmarks.core.log import Call, Verdict, counted_cost, total_most
from benchmarks.core.registry import get_system
from benchmarks.core.system import System
from benchmarks.core.types import Ask, Expect, Task
from benchmarks.endpoints.services import answerer_at
from benchmarks.mappers import core_messages, core_task
from benchmarks.models import Exchange, OpenAsk, Run, Suggestion, Trajectory
from benchmarks.roles.assignments import Filler, suggesting_fillers
from benchmarks.roles.services import build_answerer
from benchmarks.runs.calls import answerer_version, put_aside, take_back

logger = logging.getLogger(__name__)
S = Exchange.State

# What takes longer is of no use to anybody any more: it is given up, and counts as spent.
MOST_SECONDS = 60.0
# After so long whoever made it must have given up, or died.
FORSAKEN = timedelta(seconds=3 * MOST_SECONDS)


@dataclass(frozen=True)
class _Wanted:
    """A suggestion that is under way: its row is stored as sent."""

    row: Suggestion
    call: Call
    answerer: Answerer


def make_suggestions(*, pk: int, executor: Executor) -> int:
    """Ask for the suggestions that a trajectory still lacks; returns how many it asked for.

    It may be called at any time and by several workers at once. One that was under way when a
    worker died is asked for once more. What was cancelled gets none.
    """
    rows = Trajectory.objects.select_related("run__dataset", "task", "profile")
    trajectory = rows.get(pk=pk)
    run = trajectory.run
    suggesting = suggesting_fillers(run.roles, trajectory.recast)
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
        filler = suggesting.get((ask.role, places.get((ask.role, ask.seat), -1)))
        if filler is not None:
            found = _send(run, ask, filler, system, task)
            wanted += [found] if found is not None else []
    for one, answer in _answers(wanted, executor):
        _settle(run, one, read_answer(one.call.ask, answer, system.parsers))
    return len(wanted)


def _lacking(trajectory: Trajectory, roles: Sequence[str]) -> list[OpenAsk]:
    """Asks of these roles that were put to people, with no suggestion made or under way."""
    same = Suggestion.objects.filter(
        trajectory=trajectory, step=OuterRef("step"), slot=OuterRef("slot")
    )
    rows = OpenAsk.objects.filter(trajectory=trajectory, role__in=roles)
    return list(rows.exclude(Exists(same.exclude(_forsaken()))).order_by("step", "slot"))


def _forsaken() -> Q:
    """Suggestions that were asked for by a worker that has died since."""
    return Q(state=S.SENT, at__lt=timezone.now() - FORSAKEN)


def _send(
    run: Run, open_ask: OpenAsk, filler: Filler, system: System, task: Task
) -> _Wanted | None:
    """Store that a suggestion is asked for; None where it cannot be, with the reason stored.

    None also where another worker asks for it.
    """
    ask = _core_ask(open_ask)
    by, answerer, call, problem = _identity(filler), None, None, ""
    try:
        answerer = build_answerer(system, task, filler, answerer_at(system.key))
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
            put_aside(run.pk, most)
        except CapReached as error:
            row.state, row.reason = S.FAILED, str(error)
            row.save(update_fields=["state", "reason"])
    if answerer is None or call is None or row.state != S.SENT:
        return None
    return _Wanted(row, call, answerer)


def _take_on(open_ask: OpenAsk, about: Mapping[str, Any]) -> Suggestion | None:
    """The row of a suggestion, for whoever stores it first; None for all others.

    None as well where nobody is to be asked any more.
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
        rows = Suggestion.objects.filter(_forsaken(), pk=row.pk)
        if not rows.update(at=timezone.now(), **about):
            return None
        row.refresh_from_db()
    return row


def _core_ask(row: OpenAsk) -> Ask:
    """The ask as it was put to the person."""
    return Ask(
        row.role,
        tuple(core_messages(row.messages)),
        Expect(row.expect["kind"], row.expect["params"]),
        row.seat,
        tuple(row.tools),
        row.context,
    )


def _identity(filler: Filler) -> Identity:
    """Who was to be asked, as far as that can be told without them."""
    name = str(filler.get("endpoint") or filler.get("policy") or filler["kind"])
    return Identity(filler["kind"], name, str(filler.get("version", "")))


def _answers(
    wanted: Sequence[_Wanted], executor: Executor
) -> Iterator[tuple[_Wanted, Answer | AnswererFailed]]:
    """Each with its answer; those that wait for an endpoint are asked at once."""
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


def _answer(one: _Wanted) -> Answer | AnswererFailed:
    try:
        return answer_or_failure(one.answerer, one.call)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:  # a bug in a script must not stop the people who play
        logger.exception("a suggestion at step %s failed unexpectedly", one.call.step)
        return AnswererFailed(f"unexpected {type(error).__name__}")


def _settle(run: Run, one: _Wanted, verdict: Verdict) -> None:
    """Store what came back, and free what it did not cost."""
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
        # What another worker has settled meanwhile stays, and so does what that cost.
        if Suggestion.objects.filter(pk=one.row.pk, state=S.SENT).update(**settled):
            take_back(run.pk, (one.call.most or 0.0) - counted_cost(one.call, verdict))
