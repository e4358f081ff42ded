"""Try a judge on one stored turn: its messages, its reply, and the parsed reply.

A trial belongs to no run and never counts. Its job says what was asked, its `JudgeTrial` what came
back.
"""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from benchmarks.calls.trials import RefusingAnswerer, TrialLog
from benchmarks.core.answerers import Answer, Answerer
from benchmarks.core.digests import storable
from benchmarks.core.driver import read_answer
from benchmarks.core.errors import AnswererFailed, CoreError
from benchmarks.core.log import CallResult
from benchmarks.core.registry import NotRejudgeable
from benchmarks.core.types import Ask
from benchmarks.endpoints.services import answerer_at, check_use, currency_of, endpoints_in
from benchmarks.jobs.services import Progress, enqueue_job, job_kind, keep_lease
from benchmarks.judging.judges import TRIAL
from benchmarks.judging.services import ChosenPanel, read_panel
from benchmarks.mappers import core_task, stored_trajectory
from benchmarks.models import Endpoint, Job, JudgeTrial, Trajectory
from benchmarks.roles.services import assign_by_name, build_answerer, unbuilt_identity


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
    now = timezone.now()
    with transaction.atomic():
        job = Job.objects.create(
            kind=TRIAL, title=title, payload=payload, created_by=asked_by,
            status=Job.Status.DONE, started_at=now, finished_at=now,
        )  # fmt: skip
        _put(job, trajectory, panel, ask)
    return job


@job_kind(TRIAL)
def perform_trial(job: Job, progress: Progress) -> None:
    """Ask the judge, unless its reply is stored already."""
    given = job.payload
    trajectory = Trajectory.objects.select_related("run__dataset", "task__dataset", "profile").get(
        pk=given["trajectory"]
    )
    panel, ask = _asked(trajectory, given["turn"], given["role"], given["settings"])
    with keep_lease(progress):
        _put(job, trajectory, panel, ask)


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


def _put(job: Job, trajectory: Trajectory, panel: ChosenPanel, ask: Ask) -> None:
    """Ask the judge that the job names, and store the reply."""
    assignment = job.payload["filler"]
    task = core_task(trajectory.task, trajectory.profile)
    judge: Answerer
    try:
        judge = build_answerer(panel.rejudging, task, assignment, answerer_at(panel.rejudging.key))
    except CoreError as error:
        judge = RefusingAnswerer(unbuilt_identity(assignment), storable(str(error)))

    def read(ask: Ask, answer: Answer | AnswererFailed) -> CallResult:
        return read_answer(ask, answer, panel.rejudging.parsers)

    endpoint = Endpoint.objects.filter(name=assignment.get("endpoint", "")).first()
    TrialLog(JudgeTrial, job, endpoint=endpoint).put(0, ask, judge, read, job.payload["seed"])
