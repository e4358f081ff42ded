"""Re-judge stored trajectories: one run of judges for each run that they come from."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.db.models import Field, QuerySet

from benchmarks.core.errors import CoreError, SettingError
from benchmarks.core.registry import EXTERNAL, NotRejudgeable, get_rejudging
from benchmarks.core.system import Rejudging, read_settings
from benchmarks.jobs import wake_up
from benchmarks.judging.selectors import TrajectoryChoice, chosen_shares, judgeable, not_covered
from benchmarks.locks import lock_run
from benchmarks.models import Experiment, Judging, Run, Trajectory
from benchmarks.models.role_assignments import all_assignments
from benchmarks.roles.services import assign_roles
from benchmarks.runs.services import (
    bump_data_version,
    check_cost_cap,
    count_created,
    create_empty_run,
)

RUBRIC = "rubric_judge"
# What a trajectory of a re-judging run has in common with the one that it judges.
_OF_JUDGED = ("task", "profile", "attempt", "seed")
_COPIED_AT_ONCE = 500  # SQLite may be built to take no more than 999 values in a statement
# People judge with a form that shows the whole rubric in its own order.
_FOR_MODELS = {"calls": "together", "anchors": "ascending"}


class ChosenPanel(NamedTuple):
    """The judges' names by role, as ``assign_by_name`` takes them, and all settings."""

    rejudging: Rejudging
    roles: Mapping[str, Sequence[str]]
    settings: Mapping[str, Any]


def read_panel(
    *, system: str, roles: Mapping[str, Sequence[str]], settings: Mapping[str, Any]
) -> ChosenPanel:
    """Complete the settings: as many rubric judges as are named, unless a number is given."""
    rejudging = get_rejudging(system)
    given = dict(settings)
    if roles.get(RUBRIC) and not given.get("rubric_judges"):
        given["rubric_judges"] = len(roles[RUBRIC])
    complete = read_settings(rejudging.settings, given)
    return ChosenPanel(rejudging, {k: tuple(v) for k, v in roles.items() if v}, complete)


def system_of_runs(runs: Sequence[Run]) -> str:
    """Return the common system of these runs; raises ``NotRejudgeable`` if there is not one."""
    systems = {run.dataset.system for run in runs}
    if not systems:
        raise NotRejudgeable(
            "none of these trajectories has ended with a turn that could be judged; choose others"
        )
    if len(systems) > 1:
        raise NotRejudgeable(
            "these trajectories belong to several systems; re-judge one system at a time"
        )
    return systems.pop()


def start_judging(
    *,
    name: str,
    chosen: TrajectoryChoice,
    roles: Mapping[str, Sequence[str]],
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    cost_cap: float | None = None,
    created_by: User | None = None,
    wake: bool = True,
) -> list[Run]:
    """Create one re-judging run for each run of the chosen trajectories; all or nothing.

    Each makes a judging of the stored run, which does not count until it is chosen
    (``choose_judging``). ``roles`` and ``cost_cap`` are as in ``start_runs``. Raises
    ``NotRejudgeable``, ``SettingError``, ``UnknownName`` or ``CapError``; nothing is stored then.
    """
    judged = chosen_shares(chosen).runs
    panel = read_panel(system=system_of_runs(judged), roles=roles, settings=settings or {})
    check_cost_cap(cost_cap)
    title = (name.strip() or "Re-judging")[:120]
    with transaction.atomic():
        experiment = Experiment.objects.create(name=title, created_by=created_by)
        runs = [
            _judging_run(panel, experiment, run, chosen, title, seed, cost_cap) for run in judged
        ]
        Run.objects.filter(pk__in=[run.pk for run in runs]).update(created_by=created_by)
        if wake:
            pks = [run.pk for run in runs]
            transaction.on_commit(lambda: wake_up.wake_for_runs(pks))
    return runs


def _judging_run(
    panel: ChosenPanel,
    experiment: Experiment,
    judged: Run,
    chosen: TrajectoryChoice,
    name: str,
    seed: int,
    cost_cap: float | None,
) -> Run:
    assignments = assign_roles(
        panel.rejudging, judged.dataset, judged.agent, panel.settings, panel.roles
    )
    check_people(judged.dataset.system, assignments, panel.settings)
    run = create_empty_run(
        panel.rejudging, experiment, judged.dataset, judged.agent, judged.level,
        panel.settings, assignments, seed, cost_cap, Run.Kind.JUDGING,
    )  # fmt: skip
    assert run.primary_judging is not None
    Judging.objects.filter(pk=run.primary_judging.pk).update(run=judged, name=name, made_by=run)
    for rows in chosen.parts():
        _copy_units(run, judgeable(rows).filter(run=judged))
    count_created(run.pk, run.trajectories.count())
    return run


def _copy_units(run: Run, rows: QuerySet[Trajectory]) -> None:
    """Create a pending trajectory of ``run`` for each of these.

    The first is created through the ORM. All others are copies of it that name another judged
    trajectory, made within the database: creating a hundred thousand rows in Python would block
    all other writers too long.
    """
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    if not ids:
        return
    judged = Trajectory.objects.get(pk=ids[0])
    shared = {name: getattr(judged, name) for name in _OF_JUDGED}
    made = Trajectory.objects.create(run=run, judged=judged, **shared)
    columns, values = [], []
    for field in Trajectory._meta.get_fields():
        if not isinstance(field, Field) or field.primary_key:
            continue
        assert field.column is not None
        columns.append(field.column)
        if field.name == "judged":
            values.append("judged.id")
        else:
            values.append(f"{'judged' if field.name in _OF_JUDGED else 'made'}.{field.column}")
    table = Trajectory._meta.db_table
    statement = (
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} "
        f"FROM {table} judged CROSS JOIN {table} made WHERE made.id = %s AND judged.id IN "
    )
    with connection.cursor() as cursor:
        for start in range(1, len(ids), _COPIED_AT_ONCE):
            part = ids[start : start + _COPIED_AT_ONCE]
            marks = ", ".join(["%s"] * len(part))
            cursor.execute(f"{statement} ({marks}) ORDER BY judged.id", [made.pk, *part])


def check_people(
    system: str, assignments: Mapping[str, Sequence[Mapping[str, Any]]], settings: Mapping[str, Any]
) -> None:
    """Refuse people as judges if the settings do not suit their form."""
    if all(assignment["kind"] != "human" for assignment in all_assignments(assignments)):
        return
    if system == EXTERNAL:
        raise NotRejudgeable("people rate imported trajectories in a study, not in a judging")
    for setting, wanted in _FOR_MODELS.items():
        if settings[setting] != wanted:
            raise SettingError(setting, f"{wanted} where people judge", settings[setting])


class ChoiceRefused(CoreError):
    """Raised for a judging that cannot count for its run; the text says what to do."""


def choose_judging(*, run: Run, judging: Judging | None, by: User | None = None) -> None:
    """Make a judging the primary one of its run; None for none, if it had no live judging.

    The judging must cover every ended trajectory, so that no result silently rests on fewer. The
    change is recorded in the administration's history.
    """
    if judging is not None and judging.run_id != run.pk:
        raise ChoiceRefused(f"“{judging.name}” is a judging of run {judging.run_id}, not of {run}")
    if run.kind not in (Run.Kind.MADE, Run.Kind.IMPORTED):
        raise ChoiceRefused(f"{run} is not a run of an agent, so no judging can become its default")
    if judging is None and run.judgings.filter(made_by=None).exists():
        raise ChoiceRefused(f"{run} was judged live; choose that judging or another one")
    with transaction.atomic():
        lock_run(run.pk)
        run.refresh_from_db(fields=["primary_judging"])
        if judging is not None and judging.made_by_id and (left := not_covered(judging)):
            raise ChoiceRefused(
                f"“{judging.name}” has not judged {left} of the run's ended trajectories; "
                "let it finish, or judge all of them"
            )
        before = run.primary_judging
        if before == judging:
            return
        Run.objects.filter(pk=run.pk).update(primary_judging=judging)
        bump_data_version(run.pk)
        if by is not None:
            names = [one.name if one else "none" for one in (before, judging)]
            LogEntry.objects.create(
                user=by,
                content_type=ContentType.objects.get_for_model(Run),
                object_id=str(run.pk),
                object_repr=str(run),
                action_flag=CHANGE,
                change_message=json.dumps(f"Judging that counts: {names[0]} → {names[1]}"),
            )
    run.refresh_from_db()
