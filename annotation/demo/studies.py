"""The demo's studies: ten questions, violation check, filter check and live sessions."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from annotation.demo.simulation import ensure_simulated_annotator, simulate_annotator
from annotation.live.setup.services import SessionRequest, add_session, store_session_request
from annotation.models import Membership, Study
from annotation.planning.planned_study import plan_study
from annotation.planning.preset_plans import (
    LEVEL,
    correcting_plan,
    filter_plan,
    paper_plan,
    shared_plan,
    turn_plan,
    violation_plan,
)
from annotation.planning.services import create_planned_study
from annotation.plans.study_plan import StudyPlan
from annotation.studies.setup import add_member
from benchmarks.jobs.services import Progress
from benchmarks.models import Agent, Dataset

Role = Membership.Role
# Marks accounts whose password is public knowledge, so that they are never taken for others.
ACCOUNTS = "demo accounts"
ANNOTATOR = "annotator"
# Who has which role in every study of the demo.
ROLES = (
    ("researcher", Role.RESEARCHER),
    ("manager", Role.MANAGER),
    (ANNOTATOR, Role.ANNOTATOR),
    ("observer", Role.OBSERVER),
)


class DemoStudy(NamedTuple):
    """One of them; ``key`` finds it again. ``shares`` are what simulated annotators have done.

    ``joined``: the demo's annotator takes part; otherwise it is finished, by simulated ones
    alone, who skip nothing.
    """

    key: str
    name: str
    plan: Callable[..., StudyPlan]
    shares: Sequence[float]
    joined: bool = True


TEN_QUESTIONS = DemoStudy(
    LEVEL, "Ten questions on household plans", paper_plan, (1.0, 1.0, 1.0, 0.6, 1.0, 1.0, 0.85)
)
VIOLATION_CHECK = DemoStudy("violations", "Violation check", violation_plan, (1.0,) * 5)
FILTER_CHECK = DemoStudy("filters", "Filter check", filter_plan, (1.0,) * 5)
# Everybody scores the same items, so that people can be held against each other and judges
# against people.
TURN_SCORES = DemoStudy("turns", "Scores of every turn", turn_plan, (1.0,) * 3, joined=False)
SHARED_ITEMS = DemoStudy(
    "shared", "Three annotators on the same plans", shared_plan, (1.0,) * 3, joined=False
)


def correcting_study(rated: int) -> DemoStudy:
    """Return the study in which people rate so many plans of each agent, to correct judges."""
    plan = partial(correcting_plan, rated=rated)
    return DemoStudy("correcting", "Plans to correct the judge by", plan, (1.0,) * 4, joined=False)


def simulated_names(count: int) -> list[str]:
    """Return the usernames of the first simulated annotators, who are made where they are
    missing.
    """
    return [ensure_simulated_annotator(number=n).get_username() for n in range(1, count + 1)]


def ensure_demo_study(dataset: Dataset, kind: DemoStudy, progress: Progress | None = None) -> Study:
    """Return one of the demo's studies, made if it is missing."""
    stored = Study.objects.filter(is_demo=True, settings__demo=kind.key).first()
    if stored is not None:
        return stored
    accounts = User.objects.filter(groups__name=ACCOUNTS).in_bulk(field_name="username")
    people = [ANNOTATOR] if kind.joined and ANNOTATOR in accounts else []
    people += simulated_names(len(kind.shares))
    planned = plan_study(kind.plan(dataset, people, name=kind.name))
    with transaction.atomic():
        if progress is not None:
            progress.report()  # raises when another worker has taken the job over
        study = create_planned_study(planned=planned, is_demo=True, settings={"demo": kind.key})
        for name, role in ROLES:
            if name in accounts and (kind.joined or role != Role.ANNOTATOR):
                add_member(study=study, user=accounts[name], role=role)
    return study


def simulate_demo_study(study: Study, kind: DemoStudy) -> Iterator[str]:
    """Let the simulated annotators work, one after the other; says who is next."""
    for number, share in enumerate(kind.shares, 1):
        yield f"{study.name}: simulated annotator {number} of {len(kind.shares)}"
        user = ensure_simulated_annotator(number=number)
        simulate_annotator(study=study, user=user, share=share, skips=kind.joined)


KEY, NAME = "sessions", "Play the user"
SESSION_LEVEL = "high"
# Agents, and tasks whose first plans leave something to say for a few turns.
MEETINGS = (
    ("world-minded", "rainy-hour-next-door"),
    ("shortcut-taker", "animal-costume-by-tomorrow"),
)


def ensure_demo_sessions(dataset: Dataset, progress: Progress | None = None) -> Study | None:
    """Return the study of sessions, made if it is missing; None where the demo's accounts are
    gone.
    """
    stored = Study.objects.filter(is_demo=True, settings__demo=KEY).first()
    if stored is not None:
        return stored
    accounts = User.objects.filter(groups__name=ACCOUNTS).in_bulk(field_name="username")
    maker, player = accounts.get("manager"), accounts.get(ANNOTATOR)
    if maker is None or player is None:
        return None
    wish = SessionRequest(name=NAME, dataset=dataset, mode="simulator", level=SESSION_LEVEL, seed=1)
    tasks = {task.external_id: task for task in dataset.tasks.order_by("pk")}
    first = next(iter(tasks.values()))
    with transaction.atomic():
        if progress is not None:
            progress.report()  # raises when another worker has taken the job over
        study, plan = store_session_request(wish=wish, by=maker)
        study.settings = {**study.settings, "demo": KEY}
        study.save(update_fields=["settings"])
        for name, role in ROLES:
            if name in accounts and role != Membership.Role.MANAGER:
                add_member(study=study, user=accounts[name], role=role, by=maker)
        for order, (name, task) in enumerate(MEETINGS, 1):
            add_session(
                study=study,
                plan=plan,
                agent=Agent.objects.get(name=name),
                task=tasks.get(task, first),
                players={1: player},
                order=order,
                by=maker,
            )
    return study
