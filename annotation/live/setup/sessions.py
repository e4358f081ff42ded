"""Create the rows of a session: its study, its places and its trajectory."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from annotation.assignments.services import lock_study
from annotation.errors import Refused
from annotation.live.events import record_live_event
from annotation.models import LiveEvent, LivePlace, LivePlan, LiveSession, Study
from annotation.models.studies import LIVE
from annotation.studies.setup import store_study
from benchmarks.core.errors import CoreError
from benchmarks.core.ports.people import Mode
from benchmarks.core.registry import find_system
from benchmarks.models import Agent, Dataset, Experiment, Task
from benchmarks.roles.services import HUMAN, PERSON
from benchmarks.runs.reserved import make_shared_run, reserve_trajectory


def mode_of(system: str, key: str) -> Mode:
    """Return a system's mode by its key, or by its title as pages and docs name it."""
    modes = find_system(system).modes()
    by_title = {mode.title.lower(): mode for mode in modes}
    by_name = by_title | {mode.key: mode for mode in modes}
    name = key if key in by_name else key.strip().lower()
    if name not in by_name:
        known = ", ".join(mode.key for mode in modes)
        raise Refused("invalid", f"a mode of play is one of {known}, not {key or 'empty'}")
    return by_name[name]


def refuse_idle(mode: Mode, settings: Mapping[str, Any]) -> None:
    """Refuse settings under which somebody who plays would have nothing to do."""
    for name, values in mode.excludes.items():
        if (value := settings.get(name)) in values:
            raise Refused(
                "invalid",
                f"with {name} {value}, nobody would ask the player of {mode.title!r} anything; "
                f"choose another {name}",
            )


def store_live_study(*, study: Study, plan: LivePlan, by: User) -> LivePlan:
    """Store a study whose items come from sessions, without any session yet.

    Neither is saved yet; ``plan.experiment`` is made here. The study's questionnaire is asked after
    each session.
    """
    mode_of(plan.system, plan.mode)
    with transaction.atomic():
        study.settings = {**study.settings, LIVE: True}
        store_study(study=study, items=(), by=by)
        plan.study = study
        plan.experiment = Experiment.objects.create(name=study.name[:160], created_by=by)
        plan.save()
    return plan


def make_session(
    *,
    study: Study,
    agent: Agent | None,
    task: Task,
    level: str = "",
    settings: Mapping[str, Any] | None = None,
    roles: Mapping[str, Sequence[str]] | None = None,
    players: Sequence[User | None] = (),
    order: int = 0,
    practice: bool = False,
    seed: int | None = None,
    by: User | None,
) -> LiveSession:
    """Return a session of a live study: a reserved trajectory, and the places of the study's mode.

    ``agent`` plays where no person is the agent, and only there; ``roles`` names who fills the
    roles that people do not, and who suggests in those where the mode has suggestions. ``players``
    by place; nobody where left out.
    """
    plan = LivePlan.objects.select_related("experiment").get(study=study)
    mode = mode_of(plan.system, plan.mode)
    dataset = Dataset.objects.get(pk=task.dataset_id)
    if dataset.system != plan.system:
        raise Refused("invalid", f"task {task.external_id} belongs to another system")
    agent = Agent.objects.get(name=PERSON) if "agent" in mode.roles else agent
    if agent is None:
        raise Refused("invalid", "choose the agent that the players are to meet")
    refuse_idle(mode, settings or {})
    cast = {**(roles or {}), **{role: [HUMAN] for role in mode.roles if role != "agent"}}
    try:
        with transaction.atomic():
            lock_study(study)
            run = make_shared_run(
                experiment=plan.experiment,
                dataset=dataset,
                agent=agent,
                level=level,
                settings=settings or {},
                roles=cast,
                suggests={role: (roles or {}).get(role, ()) for role in mode.suggests},
                seed=study.seed if seed is None else seed,
                practice=practice,
                by=by,
            )
            last = LiveSession.objects.filter(study=study).aggregate(last=Max("number"))["last"]
            session = LiveSession.objects.create(
                study=study,
                number=(last or 0) + 1,
                trajectory=reserve_trajectory(run=run, task=task),
                practice=practice,
                created_by=by,
            )
            seated = [*players, *[None] * len(mode.places)][: len(mode.places)]
            LivePlace.objects.bulk_create(
                [
                    LivePlace(
                        session=session,
                        number=number,
                        title=place.title,
                        roles=list(place.roles),
                        player=player,
                        order=order,
                    )
                    for number, (place, player) in enumerate(
                        zip(mode.places, seated, strict=True), 1
                    )
                ]
            )
            record_live_event(
                session=session,
                kind=LiveEvent.Kind.MADE,
                by=by,
                detail={"mode": mode.key, "agent": agent.name, "task": task.external_id},
            )
    except CoreError as error:
        raise Refused("invalid", str(error)) from error
    return session
