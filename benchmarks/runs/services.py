"""Start, pause, resume and cancel runs, and take up single trajectories again."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from benchmarks.core.conditions import STANDARD
from benchmarks.core.digests import derive_seed, digest_text
from benchmarks.core.errors import CoreError, SettingError, UnknownName
from benchmarks.core.registry import find_system, get_system
from benchmarks.core.system import System, read_settings
from benchmarks.datasets.selectors import dataset_levels
from benchmarks.endpoints.services import check_cap, check_use, currency_of, endpoints_in
from benchmarks.jobs import wake_up
from benchmarks.locks import lock_run, lock_trajectories_of
from benchmarks.mappers import shared_content, system_of_run
from benchmarks.models import Agent, Dataset, Experiment, Judging, Profile, Run, Trajectory
from benchmarks.models.role_assignments import RoleAssignment
from benchmarks.roles.judge_fit import refuse_unrecorded
from benchmarks.roles.services import assign_roles
from benchmarks.runs.versions import current_pins

CHUNK = 1000
_LONGEST = 200


class RunError(CoreError):
    """A run that cannot be started or changed; the text says what to do."""


def condition_name(
    system: System,
    settings: Mapping[str, Any],
    roles: Mapping[str, Sequence[RoleAssignment]] | None = None,
) -> str:
    """Return ``standard``, or the settings that differ from the defaults, as ``name=value``.

    A role other than the agent that people fill is part of the name, as ``role=person``, so that
    the replies of people and of models are never pooled.
    """
    changed = [
        f"{setting.name}={settings[setting.name]}"
        for setting in system.settings
        if settings[setting.name] != setting.default
    ]
    changed += [
        f"{role}=person"
        for role, assignments in (roles or {}).items()
        if role != "agent" and any(assignment["kind"] == "human" for assignment in assignments)
    ]
    name = ", ".join(changed) or STANDARD
    if len(name) <= _LONGEST:
        return name
    # The digest keeps the cut names of different conditions different.
    return f"{name[: _LONGEST - 14]}… {digest_text(name)[:12]}"


def start_runs(
    *,
    dataset: Dataset,
    agents: Sequence[Agent],
    levels: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    roles: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
    tasks: Sequence[str] = (),
    name: str = "",
    cost_cap: float | None = None,
    created_by: User | None = None,
    wake: bool = True,
    experiment: Experiment | None = None,
) -> list[Run]:
    """Create one run per agent and level, with all trajectories pending; all or nothing.

    They belong to ``experiment``, else to a new one of this ``name``. ``tasks`` restricts to
    external ids. ``cost_cap`` limits each run, in the currency of its endpoints; a run that reaches
    it is paused. With ``wake=False`` the caller wakes the workers.
    """
    system = get_system(dataset.system)
    complete = read_settings(system.settings, settings or {})
    if not agents:
        raise RunError("choose at least one agent")
    refuse_unrecorded(dataset, agents)
    check_cost_cap(cost_cap)
    wanted_levels = _levels(dataset, levels)
    with transaction.atomic():
        title = name or f"{dataset.name}: {len(agents)} × {', '.join(wanted_levels) or 'tasks'}"
        if experiment is None:
            experiment = Experiment.objects.create(name=title[:160], created_by=created_by)
        runs = [
            _create_run(
                system,
                experiment,
                dataset,
                agent,
                level,
                complete,
                roles or {},
                seed,
                tasks,
                cost_cap,
            )
            for level in wanted_levels or [""]
            for agent in agents
        ]
        Run.objects.filter(pk__in=[run.pk for run in runs]).update(
            created_by=created_by, is_demo=dataset.is_demo
        )
        if wake:
            _wake_on_commit([run.pk for run in runs])
    return runs


def check_cost_cap(cap: float | None) -> None:
    """Refuse a cap that is not a positive amount."""
    if cap is not None and not 0 < cap < math.inf:
        raise SettingError("cost cap", "an amount above 0, or nothing", cap)


def _levels(dataset: Dataset, levels: Sequence[str]) -> list[str]:
    known = dataset_levels(dataset)
    for level in levels:
        if level not in known:
            raise UnknownName("level", level, known)
    return list(dict.fromkeys(levels)) or known[:1]


def _create_run(
    system: System,
    experiment: Experiment,
    dataset: Dataset,
    agent: Agent,
    level: str,
    settings: Mapping[str, Any],
    roles: Mapping[str, Sequence[str]],
    seed: int,
    tasks: Sequence[str],
    cost_cap: float | None,
) -> Run:
    assignments = assign_roles(system, dataset, agent, settings, roles)
    run = create_empty_run(
        system,
        experiment,
        dataset,
        agent,
        level,
        settings,
        assignments,
        seed,
        cost_cap,
        _kind(system),
        design_tasks=sorted(set(tasks)) or None,
    )
    units = run_units(dataset, level, tasks)
    if not units:
        raise RunError(f"{dataset} has no task at level {level or 'none'} to run")
    Trajectory.objects.bulk_create(
        [
            Trajectory(
                run=run,
                task_id=task_id,
                profile_id=profile_id,
                seed=derive_seed(seed, external_id, level, 1),
            )
            for task_id, profile_id, external_id in units
        ],
        batch_size=CHUNK,
    )
    count_created(run.pk, len(units))
    return run


def count_created(run_id: int, more: int) -> None:
    """Add to the number of trajectories that were created for a run."""
    rows = Run.objects.filter(pk=run_id)
    rows.update(created_trajectories=F("created_trajectories") + more)


def _kind(system: System) -> str:
    """Return the kind of a new run: a system that makes tasks has construction runs."""
    return Run.Kind.CONSTRUCTION if find_system(system.key).making else Run.Kind.MADE


def create_empty_run(
    system: System,
    experiment: Experiment,
    dataset: Dataset,
    agent: Agent,
    level: str,
    settings: Mapping[str, Any],
    assignments: Mapping[str, Sequence[RoleAssignment]],
    seed: int,
    cost_cap: float | None,
    kind: str = Run.Kind.MADE,
    design_tasks: Sequence[str] | None = (),
) -> Run:
    """Create a run without trajectories, within a transaction; ``settings`` must be complete.

    ``design_tasks`` are the tasks that it must have, None for all; by default none are fixed.

    It is created for the person who made the experiment, who must be allowed to use its keys.
    """
    system.check_settings(settings, shared_content(dataset))
    paid = endpoints_in(assignments)
    check_use(paid, experiment.created_by)
    check_cap(cost_cap, paid)
    run = Run.objects.create(
        experiment=experiment,
        kind=kind,
        dataset=dataset,
        agent=agent,
        level=level,
        condition=condition_name(system, settings, assignments),
        settings=dict(settings),
        roles=dict(assignments),
        currency=currency_of(paid),
        cost_cap=cost_cap,
        pins=current_pins(system),
        seed=seed,
        design_tasks=None if design_tasks is None else list(design_tasks),
    )
    run.primary_judging = Judging.objects.create(run=run, name="live")
    run.save(update_fields=["primary_judging"])
    return run


def run_units(
    dataset: Dataset, level: str, tasks: Sequence[str]
) -> list[tuple[int, int | None, str]]:
    """Return (task, profile, external id) for each trajectory of a run at ``level``."""
    if level:
        rows = Profile.objects.filter(task__dataset=dataset, level=level).order_by("task_id")
        units: list[tuple[int, int | None, str]] = list(
            rows.values_list("task_id", "pk", "task__external_id")
        )
    else:
        units = [
            (pk, None, external_id)
            for pk, external_id in dataset.tasks.order_by("pk").values_list("pk", "external_id")
        ]
    if not tasks:
        return units
    known = {external_id for _, _, external_id in units}
    for name in tasks:
        if name not in known:
            raise UnknownName("task", name, sorted(known)[:20])
    return [unit for unit in units if unit[2] in tasks]


def _wake_on_commit(run_ids: Sequence[int]) -> None:
    transaction.on_commit(lambda: wake_up.wake_for_runs(run_ids))


def _move(run: Run, allowed: Sequence[str], status: str, verb: str) -> None:
    """Change the status if it is one of ``allowed``; otherwise refuse."""
    changed = Run.objects.filter(pk=run.pk, status__in=allowed).update(status=status)
    run.refresh_from_db()
    if not changed:
        raise RunError(f"{run} is {run.get_status_display().lower()} and cannot be {verb}")


def pause_run(*, run: Run) -> None:
    """Pause a run: no further step begins, and calls under way are still logged."""
    S = Run.Status
    _move(run, [S.QUEUED, S.RUNNING, S.WAITING, S.ATTENTION], S.PAUSED, "paused")


def resume_run(*, run: Run, cap: float | None = None) -> None:
    """Resume a paused run, with a new cost cap if one is given."""
    with transaction.atomic():
        _move(run, [Run.Status.PAUSED], Run.Status.QUEUED, "resumed")
        Run.objects.filter(pk=run.pk).update(problem="")
        if cap is not None:
            change_cost_cap(run=run, cap=cap)
        _wake_on_commit([run.pk])


def cancel_run(*, run: Run) -> None:
    """Cancel a run: finished trajectories stay, all others become cancelled."""
    S = Run.Status
    with transaction.atomic():
        lock_trajectories_of(run.pk)
        _move(
            run, [S.QUEUED, S.RUNNING, S.WAITING, S.ATTENTION, S.PAUSED], S.CANCELLED, "cancelled"
        )
        run.trajectories.filter(
            status__in=[
                Trajectory.Status.PENDING,
                Trajectory.Status.WAITING,
                Trajectory.Status.RUNNING,
            ]
        ).update(status=Trajectory.Status.CANCELLED, lease_owner="", lease_until=None)
        Run.objects.filter(pk=run.pk).update(finished_at=timezone.now())


def retry_trajectory(*, trajectory: Trajectory) -> None:
    """Resume a trajectory that has failed or waits for a decision, from its log."""
    S = Trajectory.Status
    with transaction.atomic():
        _refuse_cancelled(trajectory.run, lock=False)
        changed = Trajectory.objects.filter(
            pk=trajectory.pk, status__in=[S.FAILED, S.DECISION]
        ).update(status=S.PENDING, problem="", lease_owner="", lease_until=None)
        if not changed:
            raise RunError(f"{trajectory} has not failed, so it cannot be run again")
        _refuse_cancelled(trajectory.run)
        reopen_run(trajectory.run, people=trajectory)


def restart_trajectory(*, trajectory: Trajectory) -> Trajectory:
    """Create a new attempt at a trajectory; the old one stays as it is."""
    run = trajectory.run
    S = Trajectory.Status
    with transaction.atomic():
        ended = Trajectory.objects.filter(pk=trajectory.pk, status__in=[S.DECISION, S.FAILED])
        if not ended.update(status=S.CANCELLED):
            raise RunError(f"{trajectory} is neither failed nor waiting for a decision")
        _refuse_cancelled(run)
        latest = run.trajectories.filter(
            task=trajectory.task_id, profile=trajectory.profile_id
        ).order_by("-attempt")[0]
        attempt = latest.attempt + 1
        # The new attempt uses today's versions, so the run is pinned to them now.
        Run.objects.filter(pk=run.pk).update(pins=current_pins(system_of_run(run)))
        fresh = Trajectory.objects.create(
            run=run,
            task=trajectory.task,
            profile=trajectory.profile,
            attempt=attempt,
            seed=derive_seed(run.seed, trajectory.task.external_id, run.level, attempt),
            judged_id=trajectory.judged_id,
        )
        count_created(run.pk, 1)
        reopen_run(run)
    return fresh


def _refuse_cancelled(run: Run, *, lock: bool = True) -> None:
    """Refuse to resume anything in a cancelled run, which no worker would ever take up."""
    if lock:
        lock_run(run.pk)
    if Run.objects.filter(pk=run.pk, status=Run.Status.CANCELLED).exists():
        raise RunError(f"{run} is cancelled; start a new one")


def reopen_run(run: Run, *, people: Trajectory | None = None) -> None:
    """Queue a run again for workers; a paused or cancelled run stays as it is.

    For a live trajectory (``people``) only that one gets a worker; its run waits for people before
    and after.
    """
    R = Run.Status
    alone = people is not None and people.reserved
    as_is = [R.PAUSED, R.CANCELLED, *([R.QUEUED, R.RUNNING, R.WAITING] if alone else [])]
    rows = Run.objects.filter(pk=run.pk).exclude(status__in=as_is)
    rows.update(status=R.QUEUED, finished_at=None)
    if people is not None and people.reserved:
        pk = people.pk
        transaction.on_commit(lambda: wake_up.wake_for_trajectory(pk))
    else:
        _wake_on_commit([run.pk])


def bump_data_version(run_id: int) -> None:
    """Invalidate cached results of a run."""
    Run.objects.filter(pk=run_id).update(data_version=F("data_version") + 1)


_AT_WORK = (Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.WAITING)


def halt_run(*, run_id: int, reason: str) -> None:
    """Pause a run that must not continue by itself, and store the reason."""
    Run.objects.filter(pk=run_id, status__in=_AT_WORK).update(
        status=Run.Status.PAUSED, problem=reason
    )


def change_cost_cap(*, run: Run, cap: float | None) -> None:
    """Change or remove a run's cost cap, and resume the run if it was paused at a lower cap."""
    check_cost_cap(cap)
    check_cap(cap, endpoints_in(run.roles))
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(cost_cap=cap)
        run.refresh_from_db()
        if run.status == Run.Status.PAUSED and run.problem and (cap is None or run.committed < cap):
            resume_run(run=run)
            run.refresh_from_db()
