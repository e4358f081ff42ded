"""Practice rounds: created when a player needs one, and never counted."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.errors import Refused
from annotation.live.control.services import let_stand_in
from annotation.live.setup.services import add_session
from annotation.live.setup.sessions import mode_of
from annotation.models import LivePlace, LivePlan, LiveSession, Study
from benchmarks.models import Agent, Dataset, Profile, Task


def begin_practice(*, place: LivePlace, user: User) -> LiveSession:
    """Return a practice round at a place like this one; the one that was begun, if there is one.

    It is played with a scripted agent on a task that no session of the study is about, where the
    dataset has another one; scripts fill the places of other people.
    """
    study = Study.objects.get(pk=place.session.study_id)
    with transaction.atomic():
        # Of two requests at once the second finds what the first made.
        plan = LivePlan.objects.select_for_update(no_key=True).get(study=study)
        if not plan.practises:
            raise Refused("conflict", "this study has no practice rounds")
        begun = LiveSession.objects.filter(study=study, practice=True, places__player=user).first()
        if begun is not None:
            return begun
        session = add_session(
            study=study,
            plan=plan,
            agent=_scripted_agent(plan),
            task=_other_task(study, plan, place),
            players={place.number: user},
            practice=True,
            by=user,
        )
        for other in session.places.exclude(number=place.number):
            let_stand_in(place=other, by=None, reason="a practice round for one person")
    return session


def _scripted_agent(plan: LivePlan) -> Agent | None:
    """Return the agent of practice rounds; None where a person is the agent."""
    if "agent" in mode_of(plan.system, plan.mode).roles:
        return None
    rows = Agent.objects.filter(kind=Agent.Kind.SCRIPTED, system=plan.system)
    dataset = Dataset.objects.filter(pk=plan.settings.get("cast", {}).get("dataset")).first()
    usual = dataset.roles.get("agent", []) if dataset is not None else []
    agent = rows.filter(name__in=usual).order_by("pk").first() or rows.order_by("pk").first()
    if agent is None:
        raise Refused("conflict", "there is no scripted agent to practise with")
    return agent


def _other_task(study: Study, plan: LivePlan, place: LivePlace) -> Task:
    """Return the first task of the dataset that is not played in the study; the session's own at
    worst.
    """
    own = place.session.trajectory.task
    played = LiveSession.objects.filter(study=study, trajectory__task=OuterRef("pk")).order_by()
    rows = Task.objects.filter(dataset=own.dataset_id).exclude(Exists(played))
    level = plan.settings.get("cast", {}).get("level", "")
    if level:
        rows = rows.filter(Exists(Profile.objects.filter(task=OuterRef("pk"), level=level)))
    return rows.order_by("pk").first() or own
