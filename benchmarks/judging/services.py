"""Re-judge stored trajectories: one run of judges for each run that they come from."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.db.models import F, JSONField, QuerySet, Value
from django.db.models.functions import Cast

from benchmarks.core.errors import CoreError, SettingError
from benchmarks.core.registry import EXTERNAL, NotJudgedAnew, get_rejudging
from benchmarks.core.system import Rejudging, read_settings
from benchmarks.jobs import wake_up as doorbell
from benchmarks.judging.selectors import Chosen, chosen_shares, judgeable, not_covered
from benchmarks.locks import lock_run
from benchmarks.models import Experiment, Judging, Run, Trajectory
from benchmarks.roles.assignments import all_fillers
from benchmarks.roles.services import assign_roles
from benchmarks.runs.services import (
    bump_data_version,
    check_cost_cap,
    count_created,
    create_empty_run,
)

RUBRIC = "rubric_judge"
# Whoever judges by reading a form sees the whole rubric in its own order.
_FOR_MODELS = {"calls": "together", "anchors": "ascending"}


@dataclass(frozen=True)
class Panel:
    """Who judges, and how: names by role as ``named_filler`` takes them, and all settings."""

    rejudging: Rejudging
    roles: Mapping[str, Sequence[str]]
    settings: Mapping[str, Any]


def read_panel(
    *, system: str, roles: Mapping[str, Sequence[str]], settings: Mapping[str, Any]
) -> Panel:
    """Settings made complete: as many rubric judges as are named, unless a number is given."""
    rejudging = get_rejudging(system)
    given = dict(settings)
    if roles.get(RUBRIC) and not given.get("rubric_judges"):
        given["rubric_judges"] = len(roles[RUBRIC])
    complete = read_settings(rejudging.settings, given)
    return Panel(rejudging, {k: tuple(v) for k, v in roles.items() if v}, complete)


def system_of_runs(runs: Sequence[Run]) -> str:
    """The system that all these runs are of; ``NotJudgedAnew`` where there are none or several."""
    systems = {run.dataset.system for run in runs}
    if not systems:
        raise NotJudgedAnew(
            "none of these trajectories has ended with a turn that could be judged; choose others"
        )
    if len(systems) > 1:
        raise NotJudgedAnew("these trajectories are of several systems; judge one at a time")
    return systems.pop()


def start_judging(
    *,
    name: str,
    chosen: Chosen,
    roles: Mapping[str, Sequence[str]],
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    cost_cap: float | None = None,
    created_by: User | None = None,
    ring: bool = True,
) -> list[Run]:
    """One run of judges for each run of the chosen trajectories; all or nothing.

    Each makes a judging of the stored run, which counts for nothing until it is chosen
    (``choose_judging``). ``roles`` and ``cost_cap`` are as in ``start_runs``. Raises
    ``NotJudgedAnew``, ``SettingError``, ``UnknownName`` or ``CapError``; nothing is stored then.
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
        if ring:
            pks = [run.pk for run in runs]
            transaction.on_commit(lambda: doorbell.ring_runs(pks))
    return runs


def _judging_run(
    panel: Panel,
    experiment: Experiment,
    judged: Run,
    chosen: Chosen,
    name: str,
    seed: int,
    cost_cap: float | None,
) -> Run:
    fillers = assign_roles(
        panel.rejudging, judged.dataset, judged.agent, panel.settings, panel.roles
    )
    check_people(judged.dataset.system, fillers, panel.settings)
    run = create_empty_run(
        panel.rejudging, experiment, judged.dataset, judged.agent, judged.level,
        panel.settings, fillers, seed, cost_cap, Run.Kind.JUDGING,
    )  # fmt: skip
    assert run.primary_judging is not None
    Judging.objects.filter(pk=run.primary_judging.pk).update(run=judged, name=name, made_by=run)
    for rows in chosen.parts():
        _copy_units(run, judgeable(rows).filter(run=judged))
    count_created(run.pk, run.trajectories.count())
    return run


def _copy_units(run: Run, rows: QuerySet[Trajectory]) -> None:
    """A pending unit of ``run`` for each of these trajectories, in one statement.

    Made one by one in Python, a hundred thousand of them would hold everybody else's writing up.
    """
    taken: dict[str, Any] = {
        "run": Value(run.pk),
        "judged": F("pk"),
        **{name: F(name) for name in ("task", "profile", "attempt", "seed")},
    }
    columns, made = [], {}
    for field in Trajectory._meta.concrete_fields:
        if field.primary_key or (field.null and field.name not in taken):
            continue
        assert field.column is not None
        value = taken.get(field.name)
        if value is None:
            given = field.get_default()
            empty = isinstance(field, JSONField)
            value = Cast(Value(json.dumps(given)), JSONField()) if empty else Value(given)
        columns.append(connection.ops.quote_name(field.column))
        made[f"new_{field.name}"] = value
    chosen = rows.order_by("pk").annotate(**made).values_list(*made)
    select, params = chosen.query.sql_with_params()
    table = connection.ops.quote_name(Trajectory._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({', '.join(columns)}) {select}", params)


def check_people(
    system: str, fillers: Mapping[str, Sequence[Mapping[str, Any]]], settings: Mapping[str, Any]
) -> None:
    """Refuse people where they could not be asked what the settings say."""
    if all(filler["kind"] != "human" for filler in all_fillers(fillers)):
        return
    if system == EXTERNAL:
        raise NotJudgedAnew("people rate imported trajectories in a study, not in a judging")
    for setting, wanted in _FOR_MODELS.items():
        if settings[setting] != wanted:
            raise SettingError(setting, f"{wanted} where people judge", settings[setting])


class ChoiceRefused(CoreError):
    """A judging that cannot count for its run; the text says what to do."""


def choose_judging(*, run: Run, judging: Judging | None, by: User | None = None) -> None:
    """Let a judging count for its run; None for none, where nobody judged it live.

    Only one that looked at every ended trajectory can, so that no figure changes what it rests on
    without saying so. The change is noted in the administration's history.
    """
    if judging is not None and judging.run_id != run.pk:
        raise ChoiceRefused(f"“{judging.name}” is a judging of run {judging.run_id}, not of {run}")
    if run.kind not in (Run.Kind.MADE, Run.Kind.IMPORTED):
        raise ChoiceRefused(
            f"{run} tries no agent, so there is nothing that a judging could count for"
        )
    if judging is None and run.judgings.filter(made_by=None).exists():
        raise ChoiceRefused(f"{run} was judged live; choose that judging or another one")
    with transaction.atomic():
        lock_run(run.pk)
        run.refresh_from_db(fields=["primary_judging"])
        if judging is not None and judging.made_by_id and (left := not_covered(judging)):
            raise ChoiceRefused(
                f"“{judging.name}” has not looked at {left} of the run's ended trajectories; "
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
