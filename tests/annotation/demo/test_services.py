"""The demo: its accounts, and loading that can be killed anywhere."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.demo import scripted_people
from annotation.demo import services as demo
from annotation.demo.simulation import simulate_annotator
from annotation.live.setup.sessions import make_session
from annotation.models import Annotator, Assignment, LiveSession, Rating, RatingEdit, Study
from annotation.planning import preset_plans as demo_plans
from annotation.ratings.selectors import human_scores
from benchmarks import demo as benchmark_demo
from benchmarks.jobs import services as jobs
from benchmarks.models import Agent, Dataset, Job, Judging, Run, Trajectory
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.verification.services import verify_run
from tests.annotation.exports.valid_exports import assert_valid_exports
from tests.annotation.live_sessions import make_live_study
from tests.annotation.rows import make_person
from tests.small_demo import demo_named, save_household, shrink_demo

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def few_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tasks and three agents instead of all; among tools, two tasks and one agent."""
    shrink_demo(monkeypatch)


def load() -> Job:
    """Do the job as a worker would."""
    job = Job.objects.get(kind="demo")
    jobs.perform(job_id=job.pk, owner="worker")
    job.refresh_from_db()
    return job


def test_accounts_for_every_role_can_sign_in() -> None:
    accounts = demo.ensure_demo()
    assert [name for name, _, _ in accounts] == [
        "admin", "researcher", "manager", "annotator", "observer",
    ]  # fmt: skip
    for name, password, role in accounts:
        assert authenticate(username=name, password=password) is not None
        assert role
    rights = {
        name: [
            User.objects.get(username=name).has_perm(f"benchmarks.{code}")
            for code in ("view_results", "start_runs")
        ]
        for name, _, _ in accounts
    }
    assert rights == {
        "admin": [True, True],
        "researcher": [True, True],
        "manager": [True, False],
        "annotator": [False, False],
        "observer": [True, False],
    }
    assert Job.objects.get().kind == "demo"


def test_asked_again_it_lists_the_accounts_and_does_nothing() -> None:
    first = demo.ensure_demo()
    assert demo.ensure_demo() == first
    assert Job.objects.count() == 1
    User.objects.filter(username="admin").update(is_active=False)
    assert [name for name, *_ in demo.ensure_demo()] == [name for name, *_ in first[1:]]


@pytest.mark.parametrize("there", ["person", "dataset"])
def test_a_database_in_use_is_left_alone(there: str) -> None:
    if there == "person":
        make_person("admin")
    else:
        Dataset.objects.create(system="adaplanbench", name="Ours", checksum="x")
    assert demo.ensure_demo() == []
    assert not Job.objects.exists()


def test_the_job_makes_runs_and_a_study_partly_answered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shrink_demo(monkeypatch, rejudged=True)
    demo.ensure_demo()
    job = load()
    # 3 tasks x 3 agents, 1 full-size task x 3 agents x 3 levels, 2 tasks x 1 agent x 3 conditions
    # among tools, 2 planning questions x 1 agent, 2 meals x 4 methods and 2 whose steps are
    # corrected, 2 tasks in a house x 4 conditions, 2 tasks x 1 agent with a partial judge, one plan
    # judged again, and 5 scripted people who meet 2 agents on 3 tasks
    assert (job.status, job.done, job.total) == ("done", 77, 77)
    assert Run.objects.filter(is_demo=True, status="done").count() == 29
    full = Run.objects.filter(dataset__name="Full-size household demo")
    assert sorted(full.values_list("level", flat=True)) == ["high"] * 3 + ["low"] * 3 + ["mid"] * 3
    _, household = demo_named("Household demo")
    assert household.rejudging is not None
    again = Judging.objects.get(name=household.rejudging.title)
    # 3 judges x 8 dimensions x 2 replies, and no second time
    assert again.scores.count() == 48
    assert not benchmark_demo.start_demo_rejudging(again.run.dataset, household.rejudging)
    nursery = Run.objects.filter(dataset__name="Nursery demo").order_by("pk")
    assert [run.settings["condition"] for run in nursery] == ["default", "blocker", "default"]
    assert not Trajectory.objects.filter(reserved=False).exclude(status="done").exists()
    study = Study.objects.get(settings__demo="mid")
    # three queries for eight annotators: three of them have one query each, by all three agents
    assert study.assignments.count() == 9
    assert {row.trajectory.run.level for row in study.assignments.all()} == {"mid"}
    mine = study.assignments.filter(annotator__username="annotator")
    assert not mine.exclude(state="open").exists()
    roles = set(study.memberships.values_list("user__username", "role"))
    assert {("manager", "manager"), ("annotator", "annotator")} <= roles
    assert {("researcher", "researcher"), ("observer", "observer")} <= roles
    # Two further studies are finished: three simulated annotators on the same trajectories.
    for key in ("shared", "turns"):
        shared = Study.objects.get(settings__demo=key)
        rows = list(shared.assignments.values_list("item", "annotator", "state"))
        assert {state for *_, state in rows} == {"submitted"}
        people = {annotator for _, annotator, _ in rows}
        assert len(people) == 3 and len(rows) == 3 * len({item for item, *_ in rows})
        assert set(shared.memberships.filter(role="annotator").values_list("user", flat=True)) == (
            people
        )
        assert not shared.memberships.filter(user__username="annotator").exists()
    scores = list(human_scores())
    assert scores
    assert all(score.is_simulated for score in scores)
    assert_valid_exports(tmp_path, hidden=['"manager"', '"simulated-1"', '"observer"'])


def test_a_session_while_it_loads_takes_no_level_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink_demo(monkeypatch, tasks=2)
    dataset = save_household()
    (wanted,) = demo_named("Household demo")[1].runs
    ensure_scripted_agents()
    session = make_session(
        study=make_live_study(),
        agent=Agent.objects.get(name="coin-flipper"),
        task=dataset.tasks.order_by("pk")[0],
        level=wanted.level,
        by=None,
    )
    runs = benchmark_demo.start_demo_runs(dataset, wanted)
    assert runs and session.trajectory.run not in runs
    assert not benchmark_demo.start_demo_runs(dataset, wanted)


def test_variations_are_few_and_are_not_what_the_studies_are_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = demo_named("Full-size household demo")[1]
    variations = [replace(one, agents=one.agents[:1]) for one in whole.runs if one.settings]
    shrink_demo(monkeypatch, tasks=5)
    dataset = save_household()
    full = benchmark_demo.save_demo_dataset(*demo_named("Full-size household demo"))
    studied = benchmark_demo.start_demo_runs(dataset, *demo_named("Household demo")[1].runs)
    # one agent, on the one full-size task
    for variation in variations:
        (run,) = benchmark_demo.start_demo_runs(full, variation)
        assert variation.settings.items() <= run.settings.items()
        assert run.trajectories.count() == 1
        assert not benchmark_demo.start_demo_runs(full, variation)
        assert list(benchmark_demo.demo_runs(full, variation)) == [run]
    plan = demo_plans.paper_plan(dataset, ["annotator"], name="Ten questions")
    assert plan.items.experiment == str(studied[0].experiment_id)
    assert len(variations) == 4
    assert Trajectory.objects.count() == 5 * 3 + len(variations)


class Killed(BaseException):
    """The worker dies: nothing after this is run, not even ``except Exception``."""


def points(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kill the job at its first progress report, the next attempt at its second, and so on."""
    report = jobs.Progress.report
    for deadline in range(1, 60):
        calls = 0

        def dying(self: jobs.Progress, *, last: int = deadline, **given: object) -> None:
            nonlocal calls
            calls += 1
            if calls == last:
                raise Killed
            report(self, **given)  # type: ignore[arg-type]

        monkeypatch.setattr(jobs.Progress, "report", dying)
        yield
    raise AssertionError("the job reports more often than expected")


def content() -> list[object]:
    """Return what the demo holds, without times and ids that differ by chance."""
    return [
        list(Trajectory.objects.order_by("pk").values_list("termination", "turn_count", "metrics")),
        sorted(
            Assignment.objects.values_list(
                "study__name",
                "annotator__username",
                "position",
                Coalesce("trajectory__task__external_id", Value("")),
                "state",
            )
        ),
        sorted(
            Rating.objects.values_list(
                "assignment__study__name",
                "assignment__annotator__username",
                "assignment__position",
                "question",
                "value",
            )
        ),
        RatingEdit.objects.count(),
        User.objects.count(),
    ]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("few_tasks")
def test_killed_again_and_again_it_ends_as_if_undisturbed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # transactions are real here, so bells would ring at once: the test is the only worker
    monkeypatch.setattr(jobs, "_wake_on_commit", lambda job_id: None)
    monkeypatch.setattr("benchmarks.runs.services._wake_on_commit", lambda run_ids: None)
    demo.ensure_demo()
    load()
    expected = content()
    call_command("flush", interactive=False, verbosity=0, reset_sequences=False)
    demo.ensure_demo()
    kills = 0
    for _ in points(monkeypatch):
        try:
            job = load()
        except Killed:
            kills += 1
            Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
            continue
        break
    assert kills > jobs.MAX_ATTEMPTS
    assert (job.status, job.message) == ("done", "The demo is complete")
    assert Study.objects.count() == 8
    assert LiveSession.objects.count() == 32
    assert content() == expected


@pytest.mark.usefixtures("few_tasks")
def test_scripted_people_play_every_session_and_are_flagged() -> None:
    demo.ensure_demo()
    load()
    study = Study.objects.get(settings__demo=scripted_people.KEY)
    sessions = LiveSession.objects.filter(study=study)
    assert set(sessions.values_list("state", flat=True)) == {"ended"}
    players = User.objects.filter(live_places__session__in=sessions).distinct()
    assert Annotator.objects.filter(user__in=players, is_simulated=True).count() == 5
    assert not any(player.has_usable_password() for player in players)
    assert study.settings["scripted_people"] == {"opens": [0.1, 0.9], "asks": [0.0, 0.6]}
    for run in Run.objects.filter(trajectories__live_session__in=sessions).distinct():
        assert verify_run(run=run).counts == {"same": 15}


@pytest.mark.usefixtures("few_tasks")
def test_loading_that_failed_can_be_taken_up(monkeypatch: pytest.MonkeyPatch) -> None:
    demo.ensure_demo()
    with monkeypatch.context() as broken:
        broken.setattr(demo, "ensure_demo_study", lambda *args: 1 / 0)
        assert load().status == "failed"
    demo.reload_demo()
    demo.reload_demo()
    again = Job.objects.get(status="queued")
    jobs.perform(job_id=again.pk, owner="worker")
    again.refresh_from_db()
    assert again.status == "done"
    assert Study.objects.count() == 8
    assert LiveSession.objects.count() == 32


def test_people_are_never_simulated(study: Study, ann: User) -> None:
    with pytest.raises(ValueError, match="is a person"):
        simulate_annotator(study=study, user=ann)
    Annotator.objects.create(user=ann, is_simulated=False)
    with pytest.raises(ValueError, match="is a person"):
        simulate_annotator(study=study, user=ann)
    assert not RatingEdit.objects.exists()
