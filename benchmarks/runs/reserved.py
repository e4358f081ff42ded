"""Reserved trajectories: created for a live session, begun when its people are there.

Only the people of the session answer its asks (the annotation app says who they are). The same
workers carry it, and the same log stores it, as every other trajectory.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, Min, Q
from django.utils import timezone

from benchmarks.calls.rows import ASKED
from benchmarks.core.digests import derive_seed
from benchmarks.core.registry import get_system
from benchmarks.core.replay import play_as_far
from benchmarks.core.system import read_settings
from benchmarks.locks import lock_run, lock_trajectory
from benchmarks.mappers import core_exchange, core_task
from benchmarks.models import (
    Agent,
    Dataset,
    Exchange,
    Experiment,
    OpenAsk,
    Profile,
    Run,
    Task,
    Trajectory,
    Turn,
)
from benchmarks.models.role_assignments import RoleAssignment
from benchmarks.roles.judge_fit import refuse_unrecorded
from benchmarks.roles.services import assign_agent, assign_roles
from benchmarks.runs.growing import forget_growing
from benchmarks.runs.log import people_are_asked
from benchmarks.runs.services import (
    RunError,
    bump_data_version,
    count_created,
    create_empty_run,
    reopen_run,
)
from benchmarks.runs.versions import episode_of, seeds_of
from benchmarks.runs.worker import settle_run

S = Trajectory.Status
# Changing roles while a worker carries the trajectory would change who answers within a step.
AT_REST = (S.WAITING, S.FAILED, S.DECISION)


def make_shared_run(
    *,
    experiment: Experiment,
    dataset: Dataset,
    agent: Agent,
    level: str,
    settings: Mapping[str, Any],
    roles: Mapping[str, Sequence[str]],
    seed: int,
    suggests: Mapping[str, Sequence[str]] | None = None,
    practice: bool = False,
    by: User | None = None,
) -> Run:
    """Return the run for trajectories with these role assignments; it is created if needed.

    ``roles`` names who fills a role, as ``start_runs`` does, ``suggests`` who suggests to people.
    """
    system = get_system(dataset.system)
    refuse_unrecorded(dataset, [agent])
    complete = read_settings(system.settings, settings)
    assignments = assign_roles(system, dataset, agent, complete, roles, suggests)
    kind = Run.Kind.PRACTICE if practice else Run.Kind.MADE
    with transaction.atomic():
        # Within the lock, so that two callers get the same run.
        Experiment.objects.select_for_update(no_key=True).get(pk=experiment.pk)
        rows = Run.objects.filter(
            experiment=experiment, kind=kind, dataset=dataset, agent=agent, level=level
        )
        for run in rows.exclude(status=Run.Status.CANCELLED).order_by("pk"):
            if run.settings == complete and run.roles == assignments:
                return run
        run = create_empty_run(
            system, experiment, dataset, agent, level, complete, assignments, seed, None, kind
        )
        Run.objects.filter(pk=run.pk).update(
            created_by=by, is_demo=dataset.is_demo, status=Run.Status.WAITING
        )
    run.refresh_from_db()
    return run


def reserve_trajectory(*, run: Run, task: Task) -> Trajectory:
    """Create an attempt at a task that waits for its people; ``release_trajectory`` begins it."""
    with transaction.atomic():
        lock_run(run.pk)
        profile = Profile.objects.filter(task=task, level=run.level).first() if run.level else None
        if run.level and profile is None:
            raise RunError(f"task {task.external_id} has no level {run.level}")
        rows = Trajectory.objects.filter(run=run, task=task, profile=profile)
        attempt = (rows.aggregate(last=Max("attempt"))["last"] or 0) + 1
        count_created(run.pk, 1)
        return Trajectory.objects.create(
            run=run,
            task=task,
            profile=profile,
            attempt=attempt,
            seed=derive_seed(run.seed, task.external_id, run.level, attempt),
            status=S.WAITING,
            reserved=True,
        )


def release_trajectory(*, trajectory: Trajectory) -> None:
    """Let workers begin a reserved trajectory; a second call does nothing."""
    with transaction.atomic():
        lock_trajectory(trajectory.pk)
        rows = Trajectory.objects.filter(pk=trajectory.pk, status=S.WAITING)
        if people_are_asked(trajectory.pk):
            return
        if rows.update(status=S.PENDING):
            reopen_run(trajectory.run, people=trajectory)


def reassign_roles(
    *, trajectory: Trajectory, roles: Mapping[str, Sequence[RoleAssignment]]
) -> None:
    """Change who fills these roles of one trajectory from now on; earlier replies stay.

    The new answerers get the asks of these roles that wait for a person. Raises ``RunError`` while
    a worker carries the trajectory, and if it is over.
    """
    with transaction.atomic():
        lock_trajectory(trajectory.pk)
        trajectory.refresh_from_db()
        if trajectory.status not in AT_REST:
            word = trajectory.get_status_display().lower()
            raise RunError(
                f"this is {word} now; roles can change only while it waits or after it failed"
            )
        changed = {role: [dict(one) for one in assignments] for role, assignments in roles.items()}
        trajectory.role_changes = {**trajectory.role_changes, **changed}
        trajectory.save(update_fields=["role_changes"])
        waits = OpenAsk.objects.filter(trajectory=trajectory, answered_at=None)
        begun = trajectory.started_at is not None
        # The driver puts these asks to the new answerers.
        withdrawn, _ = waits.filter(role__in=roles).delete()
        resting = trajectory.status != S.WAITING or withdrawn
        if begun and resting and not waits.exists():
            Trajectory.objects.filter(pk=trajectory.pk).update(status=S.PENDING, problem="")
            reopen_run(trajectory.run, people=trajectory)


def withdraw_from(*, trajectory: Trajectory, step: int) -> int:
    """Withdraw all that was asked and answered from a step on; return how many exchanges.

    The trajectory goes on from there. A worker that carries it loses it: a reply that is under way
    is stored when it comes, as withdrawn. Raises ``RunError`` if the trajectory is over, or nothing
    was said from this step on.
    """
    return _withdraw(trajectory, Q(step__gte=step), S.PENDING)


def withdraw_replies(*, asks: Sequence[OpenAsk]) -> None:
    """Withdraw the replies to these asks of one step: they wait for a person again, all of them.

    Raises ``RunError`` if somebody replies to them.
    """
    trajectory, step = asks[0].trajectory, asks[0].step
    with transaction.atomic():
        lock_trajectory(trajectory.pk)
        if is_replied_to(trajectory.pk, step, trajectory.run.dataset.system):
            raise RunError("the other side is replying to it")
        slots = [ask.slot for ask in asks]
        _withdraw(trajectory, Q(step=step, slot__in=slots) | Q(step__gt=step), S.WAITING)
        for ask in asks:
            again = {name: getattr(ask, name) for name in (*ASKED, "context", "trajectory_id")}
            OpenAsk.objects.create(**again, opened_at=timezone.now())


def is_replied_to(trajectory: int, step: int, system: str) -> bool:
    """Return whether the other side replies to what was said at a step, or has replied.

    Judges who only score do not: nobody in the episode hears them.
    """
    roles = get_system(system).roles
    silent = [role.name for role in roles if role.judges and not role.decides]
    later = Exchange.objects.filter(trajectory=trajectory, step__gt=step)
    return later.exclude(role__in=silent).exists()


def _withdraw(trajectory: Trajectory, where: Q, status: str) -> int:
    with transaction.atomic():
        lock_trajectory(trajectory.pk)
        here = Trajectory.objects.filter(pk=trajectory.pk)
        if here.filter(status__in=[S.DONE, S.CANCELLED]).exists():
            raise RunError("this is over, so nothing of it can be withdrawn")
        rows = Exchange.objects.filter(where, trajectory=trajectory)
        first = rows.aggregate(first=Min("step"))["first"]
        if first is None:
            raise RunError("nothing was said there that could be withdrawn")
        if trajectory.branches.filter(steps__gt=first).exists():
            raise RunError("somebody has branched from here, so what was said before stays")
        count = rows.update(withdrawn_at=timezone.now())
        OpenAsk.objects.filter(where, trajectory=trajectory).delete()
        turns = _derived_turns(trajectory)
        Turn.objects.filter(trajectory=trajectory, index__gt=turns).delete()
        here.update(status=status, problem="", turn_count=turns, lease_owner="", lease_until=None)
        bump_data_version(trajectory.run_id)
        if status == S.PENDING:
            reopen_run(trajectory.run, people=trajectory)
    forget_growing(trajectory.pk)
    return count


def _derived_turns(trajectory: Trajectory) -> int:
    """Return how many turns follow from what stands in the log."""
    row = Trajectory.objects.select_related("run__dataset", "task__dataset", "profile").get(
        pk=trajectory.pk
    )
    system = get_system(row.run.dataset.system)
    task = core_task(row.task, row.profile)
    stored = Exchange.objects.filter(trajectory=row).order_by("step", "slot", "attempt")
    log = play_as_far(
        episode_of(row, system, task),
        [core_exchange(each) for each in stored],
        system.parsers,
        seeds_of(row, task),
        row.run.settings.get("reply_attempts", 3),
    )
    return len(log.turns)


def reassign_agent(*, trajectory: Trajectory, agent: Agent) -> None:
    """Let another agent continue a trajectory."""
    system = get_system(trajectory.run.dataset.system)
    reassign_roles(trajectory=trajectory, roles={"agent": [assign_agent(system, agent)]})


def cancel_trajectory(*, trajectory: Trajectory) -> bool:
    """Cancel one trajectory; return False if it was over already. Its log stays."""
    with transaction.atomic():
        lock_trajectory(trajectory.pk)
        over = [S.DONE, S.CANCELLED]
        rows = Trajectory.objects.filter(pk=trajectory.pk).exclude(status__in=over)
        if not rows.update(status=S.CANCELLED, lease_owner="", lease_until=None):
            return False
        bump_data_version(trajectory.run_id)
    settle_run(run_id=trajectory.run_id)
    return True
