"""A run that was changed with all that follows from it: designs, marks, versions, and seals."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from benchmarks.jobs.services import perform
from benchmarks.models import (
    Dataset,
    Exchange,
    Experiment,
    JudgeScore,
    Profile,
    Run,
    StoredMessage,
    Task,
    Trajectory,
)
from benchmarks.verification.seals import seal_run
from benchmarks.verification.services import start_verification, verify_run
from tests.factories.benchmarks import make_user, play, save_sample_dataset, start_sample_runs

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def run() -> Run:
    """Two short trajectories, carried to their ends."""
    settings = {"max_turns": 2, "rubric_judges": 1}
    (run,) = start_sample_runs("explorer", dataset=save_sample_dataset(2), settings=settings)
    play(run)
    return again(run)


def again(run: Run) -> Run:
    return Run.objects.select_related("dataset", "agent", "experiment").get(pk=run.pk)


def verify(*runs: int, **options: Any) -> tuple[int, str]:
    """Return how the command ended, and what it printed."""
    out = StringIO()
    try:
        call_command("verify", *runs, stdout=out, **options)
    except CommandError as error:
        return error.returncode, f"{out.getvalue()}{error}"
    return 0, out.getvalue()


def change(run: Run, **values: Any) -> None:
    Run.objects.filter(pk=run.pk).update(**values)


def _delete_unnoticed(run: Run) -> None:
    """Delete a trajectory with all that it left, and lower the number of created ones."""
    gone = run.trajectories.order_by("-pk")[0]
    JudgeScore.objects.filter(trajectory=gone).delete()
    gone.exchanges.all().delete()
    gone.delete()
    change(run, created_trajectories=1)


def _renumber(run: Run) -> None:
    Trajectory.objects.filter(pk=run.trajectories.order_by("pk")[0].pk).update(attempt=2)


def _move_to_another_design(run: Run) -> None:
    task = run.trajectories.order_by("pk")[0].task.external_id
    Experiment.objects.filter(pk=run.experiment_id).update(
        design={"agents": ["explorer"], "dataset": "x"}
    )
    change(run, design_tasks=[task])


# What was changed, how `verify` ends, and what it says.
TAMPERED: dict[str, tuple[Callable[[Run], Any], int, str]] = {
    "a version that is not here": (
        lambda run: change(run, pins={**run.pins, "protocol": "9"}),
        2,
        "not available: protocol version 9",
    ),
    "the version of the scorer": (
        lambda run: change(run, pins={**run.pins, "scorer": "9"}),
        1,
        "the run: pinned scorer",
    ),
    "pins that are gone": (lambda run: change(run, pins={}), 1, "the run: pinned versions"),
    "a deleted trajectory, with the counter lowered": (
        _delete_unnoticed,
        1,
        "the run: tasks of the design\n    stored      1 of 2",
    ),
    "the design made smaller, too": (
        lambda run: (_delete_unnoticed(run), change(run, design_tasks=[])),
        2,
        "not verified: which tasks the run's design demands is not stored",
    ),
    "a design that says less than the experiment's": (
        _move_to_another_design,
        1,
        "all, by the experiment's design",
    ),
    "an attempt renumbered": (_renumber, 1, "the run: attempts at "),
    "the demo mark": (lambda run: change(run, is_demo=False), 1, "the run: demo mark of the run"),
    "the kind": (
        lambda run: change(run, kind=Run.Kind.IMPORTED),
        1,
        "made here: it has a log",
    ),
    "a bad result taken out of those that count": (
        lambda run: Trajectory.objects.filter(pk=run.trajectories.order_by("pk")[0].pk).update(
            status=Trajectory.Status.CANCELLED
        ),
        1,
        "no attempt has ended",
    ),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_what_was_changed_in_a_run_is_noticed(run: Run, name: str) -> None:
    assert verify(run.pk)[0] == 0
    tamper, code, words = TAMPERED[name]
    tamper(run)
    found, text = verify(run.pk)
    assert words in text
    assert found == code


def test_runs_on_a_part_of_the_tasks_demand_that_part() -> None:
    dataset = save_sample_dataset(3)
    names = sorted(dataset.tasks.values_list("external_id", flat=True))[:2]
    (run,) = start_sample_runs("explorer", dataset=dataset, tasks=names)
    play(run)
    run = again(run)
    assert run.design_tasks == names and verify(run.pk)[0] == 0
    _delete_unnoticed(run)
    assert "1 of 2" in verify(run.pk)[1]


def test_imported_runs_cannot_be_verified(run: Run) -> None:
    JudgeScore.objects.filter(run=run).delete()
    Exchange.objects.filter(trajectory__run=run).delete()
    change(run, kind=Run.Kind.IMPORTED)
    code, text = verify(run.pk)
    assert code == 2 and "an imported run has no log" in text


# What no replay can notice: nothing that is derived depends on it, or all of it was changed.
UNDERIVED: dict[str, tuple[Callable[[Run], Any], str]] = {
    "latency": (
        lambda run: Exchange.objects.filter(trajectory__run=run).update(latency=9),
        "log",
    ),
    "reasoning": (
        lambda run: Exchange.objects.filter(trajectory__run=run).update(reasoning="x"),
        "log",
    ),
    "a task's category": (
        lambda run: Task.objects.filter(dataset=run.dataset_id).update(category="x"),
        "dataset",
    ),
    "the digest of the dataset": (
        lambda run: Dataset.objects.filter(pk=run.dataset_id).update(checksum="y" * 64),
        "dataset",
    ),
    "both demo marks": (
        lambda run: (
            Dataset.objects.filter(pk=run.dataset_id).update(is_demo=False),
            change(run, is_demo=False),
        ),
        "run",
    ),
    "a whole run on fewer tasks": (
        lambda run: (
            _delete_unnoticed(run),
            change(run, design_tasks=[run.trajectories.get().task.external_id]),
        ),
        "run",
    ),
}


@pytest.mark.parametrize("name", UNDERIVED)
def test_a_seal_notices_what_follows_from_nothing(run: Run, name: str, tmp_path: Path) -> None:
    code, text = verify(run.pk, seal=True)
    digest = seal_run(run).digest
    assert code == 0 and f"seal: sha256:{digest}" in text
    kept = tmp_path / "seals.json"
    kept.write_text(verify(run.pk, seal=True, as_json=True)[1])
    assert verify(run.pk, sealed=digest)[0] == verify(sealed=str(kept))[0] == 0

    tamper, part = UNDERIVED[name]
    tamper(run)
    code, text = verify(run.pk, sealed=f"sha256:{digest}")
    assert code == 1 and "the run: seal of the run" in text
    assert f"\n    sealed      {digest}" in text and "recomputed" not in text
    code, text = verify(sealed=str(kept))
    assert code == 1 and "seal of the run, changed: " in text
    (line,) = [line for line in text.splitlines() if "seal of the run" in line]
    assert part in line


def test_a_message_that_does_not_fit_its_digest_changes_the_seal(run: Run) -> None:
    before = seal_run(run).parts
    told = Exchange.objects.filter(trajectory__run=run, role="agent").order_by("pk")[0].messages[0]
    StoredMessage.objects.filter(pk=told).update(text="Another system text.")
    after = seal_run(run).parts
    assert [name for name in before if before[name] != after[name]] == ["log"]


def test_a_seal_is_the_same_for_the_same_rows(run: Run) -> None:
    before = seal_run(run)
    # What pages and people may change of a run is not sealed.
    change(run, data_version=99, problem="paused once", cost_cap=5)
    Profile.objects.filter(task__dataset=run.dataset_id, level="high").delete()
    assert seal_run(again(run)) == before


def test_a_run_that_differs_is_not_sealed(run: Run) -> None:
    Trajectory.objects.filter(run=run).update(termination="max_turns_")
    code, text = verify(run.pk, seal=True)
    assert code == 1 and "seal:" not in text


def test_seals_that_cannot_be_read(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "seals.json"
    broken.write_text("[" * 100_000)
    for wanted in ("none.json", str(broken)):
        code, text = verify(run.pk, sealed=wanted)
        assert (
            code == 1
            and "--sealed: expected a digest (sha256: and 64 hexadecimal digits), or a file" in text
        )
    broken.write_text(json.dumps({"runs": []}))
    assert "holds no seal" in verify(run.pk, sealed=str(broken))[1]
    assert "a digest is of one run" in verify(all=True, sealed="0" * 64)[1]
    assert "leave out --since" in verify(run.pk, seal=True, since="2026-01-01")[1]


def test_the_pages_show_the_seal_until_the_run_changes(run: Run, client: Client) -> None:
    job = start_verification(run=run)
    perform(job_id=job.pk, owner="test")
    client.force_login(make_user("reader", ["view_results"]))
    seal = f"sha256:{seal_run(run).digest}"
    pages = (f"/runs/{run.pk}/", f"/runs/{run.pk}/verification/")
    for address in pages:
        assert seal in client.get(address).content.decode()
    change(run, data_version=run.data_version + 1)
    for address in pages:
        assert seal not in client.get(address).content.decode()


def test_what_cannot_be_verified_is_said_on_the_page(run: Run, client: Client) -> None:
    change(run, design_tasks=[])
    found = verify_run(run=again(run))
    assert found.incomplete and not found.differs
    job = start_verification(run=run)
    perform(job_id=job.pk, owner="test")
    client.force_login(make_user("reader", ["view_results"]))
    page = client.get(f"/runs/{run.pk}/verification/").content.decode()
    assert "cannot be verified" in page and "design demands is not stored" in page
