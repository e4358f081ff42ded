"""An installation in which everything that could tell who made an item bears a mark."""

import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from django.contrib.auth.models import User
from django.db import connection

from analysis.models import SavedView
from analysis.papers.blocks import Source
from analysis.papers.services import create_paper, pin_parts, share_paper
from analysis.papers.sources import open_source
from annotation.desk.services import skip_assignment
from annotation.live.events import record_live_event
from annotation.models import Aspect, LivePlace, LiveSession, Membership, Study
from annotation.ratings.services import record_rating
from annotation.studies.setup import add_member
from benchmarks.imports.selectors import IMPORT
from benchmarks.models import (
    Agent,
    AnswererVersion,
    Dataset,
    Endpoint,
    Experiment,
    Job,
    JudgeScore,
    Judging,
    OpenAsk,
    Profile,
    Run,
    Suggestion,
    Task,
    Trajectory,
    Turn,
)
from benchmarks.visibility import Visibility
from tests.analysis.rows import flat, make_run, make_scores, make_trajectory
from tests.annotation.live_sessions import make_live_study
from tests.annotation.rows import SECRETS, make_person, make_study
from tests.annotation.talks import WORTH, make_talk_study
from tests.factories.benchmarks import (
    AnswererVersionFactory,
    EndpointTrialFactory,
    ExchangeFactory,
    StoredMessageFactory,
)

ANIMALS = (*dict.fromkeys(name.split("-")[0] for name in SECRETS if "-" in name), "okapi")
# A mean of judges that nothing else comes to.
SCORE = "1.07"
MARKS = re.compile("|".join([*ANIMALS, r"\b1[.,]07\d*\b", *map(re.escape, WORTH)]), re.IGNORECASE)
# Of tables whose ids nobody may learn who annotates; these begin where no other number is.
FIRST_ID = 734_000_000
IDS = re.compile(r"734\d{6}")
NOW = datetime(2026, 2, 1, tzinfo=UTC)


@dataclass(frozen=True)
class World:
    """``ann`` is everything at once, and annotates; ``root`` may see all; ``bob`` annotates too.

    ``live`` is a session in which ann plays and is asked; another agent has taken over in it.
    """

    ann: User
    bob: User
    root: User
    studies: tuple[Study, ...]
    live: LiveSession


def make_world() -> World:
    """Two blinded studies, of plans made here and of imported talks, one that is played, and a run
    that is in none.
    """
    for model in (Run, Trajectory, Turn, Task, JudgeScore):
        _begin_ids(model._meta.db_table)
    ann, bob = (make_person(name, superuser=name == "ann") for name in ("ann", "bob"))
    root = make_person("root", superuser=True)
    User.objects.filter(pk__in=[ann.pk, root.pk]).update(is_staff=True)
    # Before the others, for pages that choose a study by themselves take the newest.
    played = make_live_study(by=root)
    plans = make_study(annotators=[ann, bob], tasks=2)
    _mark_plans(list(Run.objects.order_by("pk")))
    talks = make_talk_study([ann, bob])
    _mark_talks(root, ann)
    live = _play(played, ann, root)
    for study in (plans, talks, live.study):
        for role in ("manager", "researcher"):
            Membership.objects.create(study=study, user=ann, role=role)
    for study in (plans, talks):
        _say(study, bob)
    _same_agent_elsewhere()
    _open_run()
    for page in ("trajectories", "leaderboard"):
        SavedView.objects.create(owner=root, page=page, name="Where zebra fails", shared=True)
    _shared_paper(root)
    ann.refresh_from_db()
    root.refresh_from_db()
    return World(ann, bob, root, (plans, talks), live)


def _shared_paper(owner: User) -> None:
    """A paper that others may edit, with the leaderboard and the turns of a hidden trajectory."""
    paper = create_paper(owner=owner, title="Why zebra fails")
    for run in Run.objects.order_by("pk"):
        trajectory = run.trajectories.first()
        if trajectory is not None:
            source = Source(kind="trajectory", name=str(trajectory.pk))
            found = open_source(source, owner, Visibility.to(owner))
            pin_parts(paper=paper, found=found, parts=["table:turns"], by=owner)
    share_paper(paper=paper, sharing="edit")


def _begin_ids(table: str) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
            cursor.execute(
                "INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, FIRST_ID]
            )
        else:
            cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, FIRST_ID])


def _mark_plans(runs: list[Run]) -> None:
    """An agent behind an endpoint and a recorded one, judged by an endpoint, with their logs."""
    Experiment.objects.update(name="zebra-experiment")
    endpoint = Endpoint.objects.create(
        name="zebra-endpoint", title="Zebra endpoint", base_url="http://localhost:1/v1",
        model="zebra-model", price_in=1, price_out=1, currency="EUR",
    )  # fmt: skip
    EndpointTrialFactory(endpoint=endpoint, text="zebra-trial", model_reported="zebra-model")
    first, second = runs
    Agent.objects.filter(pk=first.agent_id).update(
        name="zebra-agent-7", title="Zebra agent 7", kind="endpoint", endpoint=endpoint, policy="",
    )  # fmt: skip
    Agent.objects.filter(pk=second.agent_id).update(
        name="quagga-agent-8", title="Quagga agent 8", kind="recorded", note="zebra-note",
        system="adaplanbench",
    )  # fmt: skip
    assignment = {"kind": "endpoint", "label": "endpoint", "endpoint": endpoint.name,
              "title": endpoint.title, "version": "1"}  # fmt: skip
    judge = AnswererVersion.objects.create(
        kind="endpoint", name=endpoint.name, version="1", digest="zebra"
    )
    for run in runs:
        run.roles = {**run.roles, "rubric_judge": [assignment]}
        if run == first:
            run.roles["agent"] = [assignment]
        run.currency, run.problem, run.finished_at = "EUR", "zebra-problem", NOW
        run.primary_judging = Judging.objects.create(run=run, name="zebra-judging")
        run.save()
        for trajectory in run.trajectories.all():
            _mark_plan(trajectory, judge)
    row = runs[0].trajectories.all()[0]
    waiting = Trajectory.objects.create(
        run=first, task=row.task, profile=row.profile, attempt=2, status="waiting",
        problem="zebra-problem",
    )  # fmt: skip
    told = StoredMessageFactory(text="zebra-ask")
    OpenAsk.objects.create(
        trajectory=waiting, step=0, slot=0, role="user_simulator", ask_digest="0" * 32,
        messages=[told.digest], seed=1, opened_at=NOW,
    )  # fmt: skip
    Run.objects.filter(pk=first.pk).update(status="waiting")
    plan = {"key": "a", "steps": ["Do it."], "author": "zebra-author", "verdict": "correct"}
    Task.objects.update(payload={"plans": [plan]})


def _mark_plan(trajectory: Trajectory, judge: AnswererVersion) -> None:
    trajectory.metrics = {"valid": 1.0, "accurate": 1.0, "turns": 2}
    trajectory.undefined = {"world_repeated": "zebra-reason"}
    trajectory.save()
    run = trajectory.run
    for turn in trajectory.turns.all():
        make_scores(turn, run, flat(float(SCORE)), judges=[f"zebra-judge-{n}" for n in (1, 2, 3)])
    JudgeScore.objects.filter(trajectory=trajectory, dimension="safety", seat="2").update(
        value=None, reason="zebra-reason"
    )
    ExchangeFactory(
        trajectory=trajectory, answerer=judge, text="zebra-answer", model_reported="zebra-model",
        value={"reason": "zebra-reason"}, sent_at=NOW, tokens_in=1, tokens_out=1, cost=0.1,
    )  # fmt: skip
    ExchangeFactory(
        trajectory=trajectory, step=1, role="rubric_judge", seat="1", text="zebra-reason",
        answerer=AnswererVersionFactory(kind="scripted"), sent_at=NOW,
    )  # fmt: skip


def _mark_talks(root: User, ann: User) -> None:
    """A file that names its model, once sent by another and once by who annotates."""
    dataset = Dataset.objects.get(system="external")
    Dataset.objects.filter(pk=dataset.pk).update(name="zebra-file", notes="zebra-notes")
    runs = list(dataset.runs.order_by("pk"))
    Run.objects.filter(dataset=dataset).update(finished_at=NOW)
    result = {"created": True, "dataset": dataset.pk, "trajectories": 4, "turns": 8}
    for sender in (root, ann):
        Job.objects.create(
            kind=IMPORT, title="Importing zebra.json", status="done", created_by=sender,
            payload={"file": "zebra.json", "result": {"runs": [r.pk for r in runs], **result}},
        )  # fmt: skip


def _say(study: Study, bob: User) -> None:
    """Store a rating of another rater, who will not judge more."""
    (item, *_) = study.assignments.filter(annotator=bob).order_by("position")
    record_rating(
        assignment=item, by=bob, aspect=Aspect.COMMENT, text="quagga-remark",
        client_id=uuid.uuid4(),
    )  # fmt: skip
    skip_assignment(assignment=item, by=bob, reason="quagga-skip")


def _play(study: Study, ann: User, root: User) -> LiveSession:
    """A session with an agent until its call failed, and then with another one at an endpoint."""
    add_member(study=study, user=ann, role="annotator")
    dataset = Dataset.objects.get(system="adaplanbench")
    run = make_run(dataset, "okapi-agent", level="mid")
    profile = Profile.objects.filter(level="mid").order_by("-pk")[0]
    deputy = Endpoint.objects.create(
        name="okapi-deputy", title="Okapi deputy", base_url="http://localhost:1/v1",
        model="okapi-model",
    )  # fmt: skip
    Agent.objects.create(
        name="okapi-deputy", title="Okapi deputy", kind="endpoint", endpoint=deputy
    )
    assignment = {"kind": "endpoint", "label": "endpoint", "endpoint": deputy.name,
              "title": deputy.title, "version": "1"}  # fmt: skip
    trajectory = Trajectory.objects.create(
        run=run, task=profile.task, profile=profile, status="waiting", reserved=True, turn_count=1,
        role_changes={"agent": [assignment]},
    )  # fmt: skip
    Turn.objects.create(trajectory=trajectory, index=1, text="1. Do it.", feedback="Not so.")
    Run.objects.filter(pk=run.pk).update(
        status="waiting", experiment=study.live.experiment,
        roles={"agent": [{"kind": "scripted", "policy": "okapi-policy", "label": "scripted"}],
               "simulator": [{"kind": "human", "label": "human"}]},
    )  # fmt: skip
    told = StoredMessageFactory(text="What do you say?")
    ExchangeFactory(
        trajectory=trajectory, text="1. Do it.", reason="okapi-reason", sent_at=NOW,
        answerer=AnswererVersionFactory(kind="endpoint", name=deputy.name),
    )  # fmt: skip
    ask = OpenAsk.objects.create(
        trajectory=trajectory, step=1, slot=0, role="simulator", ask_digest="1" * 32,
        messages=[told.digest], seed=1, opened_at=NOW, expect={"kind": "feedback", "params": {}},
    )  # fmt: skip
    Suggestion.objects.create(
        trajectory=trajectory, step=ask.step, slot=ask.slot, role=ask.role, seed=1,
        ask_digest=ask.ask_digest, state="failed", reason="okapi-reason",
        answerer=AnswererVersionFactory(kind="endpoint", name="okapi-suggests"), sent_at=NOW,
    )  # fmt: skip
    session = LiveSession.objects.create(
        study=study, number=1, trajectory=trajectory, state="running", started_at=NOW
    )
    LivePlace.objects.create(
        session=session, number=1, title="User", roles=["simulator"], player=ann, ready_at=NOW
    )
    for kind, detail in (("made", {"agent": "okapi-agent"}), ("agent", {"agent": "okapi-deputy"})):
        record_live_event(session=session, kind=kind, by=root, detail=detail, reason="okapi-reason")
    return session


def _same_agent_elsewhere() -> None:
    """An agent of the study at another level of its tasks, where it begins with the same plans."""
    judged = Run.objects.filter(agent__name="quagga-agent-8")[0]
    run = make_run(judged.dataset, "quagga-agent-8", level="low", finished=2)
    row = judged.trajectories.all()[0]
    same = Trajectory.objects.create(
        run=run, task=row.task, status="done", termination="valid_plan", turn_count=1,
        metrics={"valid": 1.0, "accurate": 1.0, "turns": 1},
    )  # fmt: skip
    Turn.objects.create(trajectory=same, index=1, text="1. Take the hammer.", is_final=True)


def _open_run() -> None:
    """A run of an agent that has no part in any study, on the dataset of the plans."""
    dataset = Dataset.objects.get(system="adaplanbench")
    run = make_run(dataset, "lion-agent", finished=3)
    Task.objects.create(dataset=dataset, external_id="t1", prompt="Mend 1.")
    make_trajectory(run, 1, scores=[flat(3), flat(2)])
