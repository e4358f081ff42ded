"""The demo's live sessions: the annotator is the user whom two hidden agents plan for."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.demo.studies import ACCOUNTS, ANNOTATOR, ROLES
from annotation.live.setup.services import LiveWish, add_session, store_wish
from annotation.models import Membership, Study
from annotation.studies.setup import add_member
from benchmarks.jobs.services import Progress
from benchmarks.models import Agent, Dataset

KEY, NAME = "sessions", "Play the user"
LEVEL = "high"
# Agents, and tasks whose first plans leave something to say for a few turns.
MEETINGS = (
    ("world-minded", "rainy-hour-next-door"),
    ("shortcut-taker", "animal-costume-by-tomorrow"),
)


def ensure_demo_sessions(dataset: Dataset, progress: Progress | None = None) -> Study | None:
    """The study of sessions, made if it is missing; None where the demo's accounts are gone."""
    stored = Study.objects.filter(is_demo=True, settings__demo=KEY).first()
    if stored is not None:
        return stored
    accounts = User.objects.filter(groups__name=ACCOUNTS).in_bulk(field_name="username")
    maker, player = accounts.get("manager"), accounts.get(ANNOTATOR)
    if maker is None or player is None:
        return None
    wish = LiveWish(name=NAME, dataset=dataset, mode="simulator", level=LEVEL, seed=1)
    tasks = {task.external_id: task for task in dataset.tasks.order_by("pk")}
    first = next(iter(tasks.values()))
    with transaction.atomic():
        if progress is not None:
            progress.report()  # raises when another worker has taken the job over
        study, plan = store_wish(wish=wish, by=maker)
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
