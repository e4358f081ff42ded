"""Try a judge on one stored turn: its messages, its reply, and the parsed reply.

A trial belongs to no run and never counts. Its job stores the result.
"""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from benchmarks.core.digests import storable
from benchmarks.core.driver import answer_or_failure, read_answer
from benchmarks.core.errors import CoreError
from benchmarks.core.log import Call
from benchmarks.core.registry import NotRejudgeable
from benchmarks.core.types import Ask
from benchmarks.endpoints.services import answerer_at, check_use, currency_of, endpoints_in
from benchmarks.jobs.services import Progress, enqueue_job, job_kind, keep_lease
from benchmarks.judging.judges import TRIAL
from benchmarks.judging.services import ChosenPanel, read_panel
from benchmarks.mappers import core_task, stored_trajectory
from benchmarks.models import Job, Trajectory
from benchmarks.roles.services import assign_by_name, build_answerer


def try_judge(
    *,
    trajectory: Trajectory,
    index: int,
    role: str,
    judge: str,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    asked_by: User | None = None,
) -> Job:
    """Send one ask to one judge: a script answers at once, an endpoint through a worker.

    ``judge`` is named as in ``start_judging``. Raises ``CoreError`` if there is nothing to ask.
    """
    panel, ask = _asked(trajectory, index, role, settings or {})
    assignment = assign_by_name(panel.rejudging, role, judge)
    if assignment["kind"] == "human":
        raise NotRejudgeable("people judge through their own pages; try a script or a model")
    paid = endpoints_in({role: [assignment]})
    check_use(paid, asked_by)
    payload = {
        "trajectory": trajectory.pk,
        "turn": index,
        "role": role,
        "judge": judge,
        "settings": {k: v for k, v in panel.settings.items() if k in (settings or {})},
        "seed": seed,
        "filler": assignment,
        "currency": currency_of(paid),
        "messages": [{"speaker": m.speaker, "text": m.text} for m in ask.messages],
    }
    title = f"Try a judge on turn {index} of trajectory {trajectory.pk}"
    if assignment["kind"] != "scripted":
        return enqueue_job(kind=TRIAL, title=title, payload=payload, created_by=asked_by)
    result = _put(trajectory, panel, ask, assignment, seed)
    now = timezone.now()
    return Job.objects.create(
        kind=TRIAL, title=title, payload={**payload, "result": result}, created_by=asked_by,
        status=Job.Status.DONE, started_at=now, finished_at=now,
    )  # fmt: skip


@job_kind(TRIAL)
def perform_trial(job: Job, progress: Progress) -> None:
    """Ask the judge, unless the job has its result already."""
    given = job.payload
    if "result" in given:
        return
    trajectory = Trajectory.objects.select_related("run__dataset", "task__dataset", "profile").get(
        pk=given["trajectory"]
    )
    panel, ask = _asked(trajectory, given["turn"], given["role"], given["settings"])
    with keep_lease(progress):
        result = _put(trajectory, panel, ask, given["filler"], given["seed"])
    with transaction.atomic():
        progress.report()
        Job.objects.filter(pk=job.pk).update(payload={**given, "result": result})


def _asked(
    trajectory: Trajectory, index: int, role: str, settings: Mapping[str, Any]
) -> tuple[ChosenPanel, Ask]:
    given = {**settings}
    system = trajectory.run.dataset.system
    panel = read_panel(system=system, roles={}, settings=given)
    if role not in {known.name for known in panel.rejudging.roles}:
        raise NotRejudgeable("there is no such judge for these trajectories; choose another role")
    if role != "rubric_judge":
        panel = read_panel(system=system, roles={}, settings={**given, "what": "both"})
    task = core_task(trajectory.task, trajectory.profile)
    ask = panel.rejudging.one_ask(task, stored_trajectory(trajectory), index, role, panel.settings)
    if ask is None:
        raise NotRejudgeable(
            "there is nothing that this judge could look at: choose a turn with a plan, and for "
            "constraint judges a trajectory with such constraints"
        )
    return panel, ask


def _put(
    trajectory: Trajectory, panel: ChosenPanel, ask: Ask, assignment: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Return the reply as JSON values."""
    task = core_task(trajectory.task, trajectory.profile)
    try:
        who = build_answerer(panel.rejudging, task, assignment, answerer_at(panel.rejudging.key))
        answer = answer_or_failure(who, Call(0, 0, 1, ask, who.identity, seed))
    except CoreError as error:
        return {"state": "failed", "reason": storable(str(error))}
    verdict = read_answer(ask, answer, panel.rejudging.parsers)
    reply = verdict.answer
    return {
        "state": verdict.state,
        "value": verdict.value,
        "reason": verdict.reason,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "model_reported": reply.model_reported,
        "finish": reply.finish,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "cost": reply.cost,
        "latency": reply.latency,
        "tries": reply.tries,
    }
