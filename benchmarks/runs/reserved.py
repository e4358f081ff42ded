"""Reserved trajectories: created for a live session, begun when its people are there.

Only the people of the session answer its asks (the annotation app says who they are). The same
workers carry it, and the same log stores it, as every other trajectory.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from benchmarks.core.digests import derive_seed
from benchmarks.core.registry import get_system
from benchmarks.core.system import read_settings
from benchmarks.locks import lock_run, lock_trajectory
from benchmarks.models import (
    Agent,
    Dataset,
    Experiment,
    OpenAsk,
    Profile,
    Run,
    Task,
    Trajectory,
)
from benchmarks.models.role_assignments import RoleAssignment
from benchmarks.roles.judge_fit import refuse_unrecorded
from benchmarks.roles.services import assign_agent, assign_roles
from benchmarks.runs.log import people_are_asked
from benchmarks.runs.services import (
    RunError,
    bump_data_version,
    count_created,
    create_empty_run,
    reopen_run,
)
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
