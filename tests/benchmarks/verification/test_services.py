"""Whatever is changed in what is stored of a trajectory is found, and named."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.models import F

from benchmarks.models import (
    Agent,
    Exchange,
    Job,
    JudgeScore,
    Run,
    StoredMessage,
    Trajectory,
    Turn,
)
from benchmarks.models import Violation as ViolationRow
from benchmarks.runs.services import restart_trajectory, start_runs
from benchmarks.verification.selectors import latest_verification
from benchmarks.verification.services import (
    DIFFERS,
    IMPORTED,
    MISSING,
    SAME,
    UNENDED,
    RunReport,
    start_verification,
    verify_run,
)
from tests.factories.benchmarks import make_user, play, save_sample_dataset, start_sample_runs
from tests.factories.planbench_xl import save_small_world

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def run() -> Run:
    """One short trajectory with violations, carried to its end."""
    settings = {"max_turns": 2, "rubric_judges": 1}
    (run,) = start_sample_runs(
        "creature-of-habit", dataset=save_sample_dataset(1), settings=settings
    )
    play(run)
    return run


def difference(run: Run) -> tuple[str, str, str]:
    """Return where a run differs, what is stored there, and what should be."""
    found = verify_run(run=run)
    assert found.differs and found.counts == {DIFFERS: 1}
    (finding,) = found.findings
    return finding.difference.where, finding.difference.stored, finding.difference.recomputed


def test_runs_of_both_systems_follow_from_their_logs(run: Run) -> None:
    (tools,) = start_runs(
        dataset=save_small_world(),
        agents=[Agent.objects.get(name="gullible")],
        tasks=["grower-of-entry"],
        wake=False,
    )
    play(tools)
    for each in (run, tools):
        found = verify_run(run=each)
        assert not found.differs, found.findings
        assert found.counts == {SAME: 1}
        assert found.figures == SAME
        exchanges = Exchange.objects.filter(trajectory__run=each)
        assert found.exchanges == exchanges.count() >= found.turns > 1
    assert JudgeScore.objects.filter(run=run).count() == verify_run(run=run).scores > 0


def _exchange(run: Run, role: str) -> Any:
    row = Exchange.objects.filter(trajectory__run=run, role=role).order_by("step", "slot").first()
    assert row is not None
    return Exchange.objects.filter(pk=row.pk)


def _score(run: Run, **values: Any) -> None:
    row = JudgeScore.objects.filter(run=run).order_by("pk").first()
    assert row is not None
    JudgeScore.objects.filter(pk=row.pk).update(**values)


def _message(run: Run) -> None:
    told = _exchange(run, "agent").get().messages[-1]
    StoredMessage.objects.filter(pk=told).update(text="Something else was asked.")


TAMPERED: dict[str, tuple[Callable[[Run], Any], str, str]] = {
    "reply of the agent": (
        lambda run: _exchange(run, "agent").update(text="1. Call a plumber."),
        "step 0, slot 0, value",
        "1. Call a plumber.",
    ),
    "value that was read": (
        lambda run: _exchange(run, "world_judge").update(value={"violated": [], "reasons": {}}),
        "step 1, slot 0, value",
        "violated",
    ),
    "seed of a call": (
        lambda run: _exchange(run, "agent").update(seed=F("seed") + 1),
        "step 0, slot 0, seed",
        "",
    ),
    "role that was asked": (
        lambda run: _exchange(run, "world_judge").update(role="user_judge"),
        "digest of the ask",
        "",
    ),
    "message": (_message, "step 0, slot 0, message 2, digest", ""),
    "exchange that is gone": (
        lambda run: _score(run, exchange=None) or _gone(run),
        "step 1, slot 0",
        "an ask of world_judge",
    ),
    "score": (
        lambda run: _score(run, value=F("value") % 5 + 1),
        "score 1 (feasibility), value",
        "",
    ),
    "judge of a score": (
        lambda run: _score(run, judge=_exchange(run, "agent").get().answerer_id),
        "score 1 (feasibility), answerer",
        "",
    ),
    "level of a score": (
        lambda run: _score(run, level="high"),
        "turn 1, what scores are grouped by",
        "mid",
    ),
    "violation": (
        lambda run: ViolationRow.objects.filter(turn__trajectory__run=run).update(new=False),
        "violation 1",
        "true",
    ),
    "text of a turn": (
        lambda run: Turn.objects.filter(trajectory__run=run, index=2).update(text="Another plan."),
        "turn 2, text",
        "1. ",
    ),
    "metric": (
        lambda run: Trajectory.objects.filter(run=run).update(metrics={"valid": 1.0}),
        "metric, ",
        "",
    ),
    "ending": (
        lambda run: Trajectory.objects.filter(run=run).update(termination="max_turns_"),
        "ending",
        "_",
    ),
    "seed of the trajectory": (
        lambda run: Trajectory.objects.filter(run=run).update(seed=1),
        "seed of the trajectory",
        "",
    ),
}


def _gone(run: Run) -> None:
    row = _exchange(run, "world_judge").get()
    Exchange.objects.filter(pk=row.pk).delete()


@pytest.mark.parametrize("name", TAMPERED)
def test_what_was_changed_is_found(run: Run, name: str) -> None:
    change, where, recomputed = TAMPERED[name]
    change(run)
    found, stored, now = difference(run)
    assert where in found
    assert recomputed in now
    assert stored != now


def test_what_cannot_be_derived_is_told_apart(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(pins={**run.pins, "protocol": "0"})
    run.refresh_from_db()
    found = verify_run(run=run)
    assert (found.counts, found.missing) == ({MISSING: 1}, "protocol version 0 (available is 1)")
    files = dict.fromkeys(run.pins["prompt_files"], "0" * 32)
    Run.objects.filter(pk=run.pk).update(pins={**run.pins, "protocol": "1", "prompt_files": files})
    run.refresh_from_db()
    found = verify_run(run=run)
    assert found.counts == {MISSING: 1}
    assert "agent.v1.txt has changed" in found.missing
    Trajectory.objects.filter(run=run).update(status=Trajectory.Status.FAILED)
    assert verify_run(run=run).counts[UNENDED] == 1
    Run.objects.filter(pk=run.pk).update(kind=Run.Kind.IMPORTED)
    run.refresh_from_db()
    assert verify_run(run=run).counts == {IMPORTED: 1}


def test_the_command_counts_and_ends_with_1_where_something_differs(run: Run) -> None:
    out = StringIO()
    call_command("verify", all=True, as_json=True, stdout=out)
    total = json.loads(out.getvalue())["total"]
    assert total["trajectories"] == sum(total["counts"].values()) == total["counts"][SAME] == 1
    _score(run, value=None)
    with pytest.raises(CommandError, match="differ from what follows") as failed:
        call_command("verify", run.pk, stdout=(out := StringIO()))
    assert failed.value.returncode == 1
    trajectory = run.trajectories.get()
    assert f"trajectory {trajectory.pk}: turn 1, score 1" in out.getvalue()
    call_command("verify", run.pk, since="2999-01-01", stdout=(out := StringIO()))
    assert "0 trajectories" in out.getvalue()


def test_a_difference_in_a_metric_shows_in_the_metrics_of_the_run(run: Run) -> None:
    row = run.trajectories.get()
    row.metrics["turns"] += 1
    row.save(update_fields=["metrics"])
    found: RunReport = verify_run(run=run)
    assert found.figures == "differs: turns"


def _delete(trajectory: Trajectory) -> None:
    JudgeScore.objects.filter(trajectory=trajectory).delete()
    trajectory.exchanges.all().delete()
    trajectory.delete()


def _relabel(run: Run, role: str, **changes: object) -> None:
    roles = {**run.roles, role: [{**run.roles[role][0], **changes}, *run.roles[role][1:]]}
    Run.objects.filter(pk=run.pk).update(roles=roles)
    run.refresh_from_db()


def _another_agent(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(agent=Agent.objects.get(name="forgetful"))
    run.refresh_from_db()


def test_a_deleted_trajectory_is_found_and_named() -> None:
    (run,) = start_sample_runs("explorer", dataset=save_sample_dataset(2))
    play(run)
    assert not verify_run(run=run).differs
    gone = run.trajectories.order_by("pk")[1]
    task = gone.task.external_id
    _delete(gone)
    found = verify_run(run=run)
    number, tasks = found.of_run
    assert found.differs and found.counts == {SAME: 1}
    assert (number.where, number.stored) == ("number of trajectories", "1 exist")
    assert (tasks.stored, tasks.recomputed) == ("1 of 2", f"missing: {task}")
    with pytest.raises(CommandError, match="differ from what follows"):
        call_command("verify", run.pk, stdout=(out := StringIO()))
    assert "the run: number of trajectories\n    stored      1 exist" in out.getvalue()
    assert f"recomputed  missing: {task}" in out.getvalue()


def test_a_further_attempt_is_counted(run: Run) -> None:
    Trajectory.objects.filter(run=run).update(status=Trajectory.Status.FAILED)
    restart_trajectory(trajectory=run.trajectories.get())
    play(run)
    assert not verify_run(run=Run.objects.get(pk=run.pk)).of_run
    _delete(run.trajectories.get(attempt=1))
    number, attempts = verify_run(run=Run.objects.get(pk=run.pk)).of_run
    # No task is without a trajectory, so none can be named.
    assert (number.stored, number.recomputed) == ("1 exist", "2 were created")
    assert attempts.where.startswith("attempts at ")
    assert (attempts.stored, attempts.recomputed) == ("2", "1 to 2")


RELABELLED: dict[str, tuple[Callable[[Run], Any], str, str, str]] = {
    "another script": (
        lambda run: _relabel(run, "agent", policy="forgetful"),
        "roles of the run, agent",
        "scripted forgetful 4",
        "scripted creature-of-habit 4",
    ),
    "another version": (
        lambda run: _relabel(run, "agent", version="9"),
        "roles of the run, agent",
        "scripted creature-of-habit 9",
        "scripted creature-of-habit 4",
    ),
    "a script that never was": (
        lambda run: _relabel(run, "agent", policy="a-large-model"),
        "roles of the run, agent",
        "scripted a-large-model 4",
        "scripted creature-of-habit 4",
    ),
    "a person": (
        lambda run: _relabel(run, "rubric_judge", kind="human"),
        "roles of the run, rubric_judge, seat 1",
        "human judge-even 1",
        "scripted judge-even 1",
    ),
    "nobody": (
        lambda run: Run.objects.filter(pk=run.pk).update(roles={**run.roles, "agent": []}),
        "roles of the run, agent",
        "nobody",
        "scripted creature-of-habit 4",
    ),
}


@pytest.mark.parametrize("name", RELABELLED)
def test_another_answerer_of_a_role_is_found(run: Run, name: str) -> None:
    change, *wanted = RELABELLED[name]
    change(run)
    assert list(difference(Run.objects.get(pk=run.pk))) == wanted


def test_another_label_or_agent_of_a_run_is_found(run: Run) -> None:
    _relabel(run, "agent", label="recorded")
    (label,) = verify_run(run=run).of_run
    assert label.where == "roles of the run, label of creature-of-habit"
    assert (label.stored, label.recomputed) == ("recorded", "scripted")
    _relabel(run, "agent", label="scripted")
    assert not verify_run(run=run).differs
    JudgeScore.objects.filter(run=run).update(agent=Agent.objects.get(name="forgetful"))
    _another_agent(run)
    (agent,) = verify_run(run=run).of_run
    assert agent.where == "agent of the run" and agent.recomputed == "scripted creature-of-habit"


def test_the_page_shows_what_is_missing(run: Run, client: Any) -> None:
    _delete(run.trajectories.get())
    found = verify_run(run=run).as_json()
    job = start_verification(run=run)
    Job.objects.filter(pk=job.pk).update(
        status=Job.Status.DONE, payload={**job.payload, "result": found, "data_version": 0}
    )
    view = latest_verification(run)
    assert view is not None and view.state == ("the run differs", "bad")
    client.force_login(make_user("reader", ["view_results"]))
    page = client.get(f"/runs/{run.pk}/verification/").content.decode()
    assert "Differences in the run itself" in page and "missing: " in page
