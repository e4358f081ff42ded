"""Runs that leave the database for a file and come back as they were."""

import gzip
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from annotation.remarks.services import add_remark
from benchmarks.judging.selectors import TrajectoryChoice
from benchmarks.judging.services import start_judging
from benchmarks.models import Exchange, JudgeScore, Run, StoredMessage, Trajectory, Violation
from benchmarks.verification.services import RunReport, verify_run
from config.backups import detaching
from config.backups.rows import column_fields, select_column
from tests.annotation.judged import make_judged
from tests.factories.benchmarks import RunFactory, make_user, play

pytestmark = pytest.mark.django_db


def manage(*words: object) -> str:
    out = StringIO()
    call_command(*map(str, words), stdout=out)
    return out.getvalue()


def detached_rows() -> dict[str, list[Any]]:
    """Every row that goes with trajectories, column by column, as the database has it."""
    return {
        model._meta.label: list(
            model._base_manager.order_by("pk").values_list(
                *map(select_column, column_fields(model))
            )
        )
        for model in detaching.detached_models()
    }


@pytest.fixture
def judged_again(played: Run) -> Run:
    """A run with a re-judging, and a note beside one of its trajectories."""
    (anew,) = start_judging(
        chosen=TrajectoryChoice((played.pk,)), roles={"rubric_judge": ["judge-strict"]},
        name="Strict", wake=False,
    )  # fmt: skip
    play(anew)
    author = make_user("author", ["view_results"])
    row = played.trajectories.order_by("pk")[0]
    add_remark(trajectory=row, by=author, text="A note.")
    # JSON's null and no value are two things, and stay so.
    pks = list(Exchange.objects.filter(trajectory__run=played).values_list("pk", flat=True)[:2])
    with connection.cursor() as cursor:
        for value, pk in zip(("null", None), pks, strict=True):
            cursor.execute("UPDATE benchmarks_exchange SET value = %s WHERE id = %s", [value, pk])
    return anew


def test_a_run_comes_back_exactly_as_it_was(
    played: Run, judged_again: Run, tmp_path: Path, researcher: Client
) -> None:
    other = play_another(played)
    before, messages = detached_rows(), StoredMessage.objects.count()
    report = verify_run(run=played)
    assert before["benchmarks.Violation"] and before["annotation.Remark"]

    said = manage("detach_runs", played.pk, "--folder", tmp_path)
    assert "Runs: 2" in said and "Add --yes" in said
    assert detached_rows() == before

    said = manage("detach_runs", played.pk, "--folder", tmp_path, "--yes")
    file = tmp_path / f"run-{played.pk}.jsonl.gz"
    assert str(file) in said and file.stat().st_mode & 0o077 == 0
    assert set(Trajectory.objects.values_list("run", flat=True)) == {other.pk}
    assert not JudgeScore.objects.filter(run=played).exists()
    assert StoredMessage.objects.count() == messages

    # Every page that it had says where it is; others count it no more.
    first = before["benchmarks.Trajectory"][0][0]
    for url in (f"/runs/{played.pk}/", f"/trajectories/{first}/", f"/runs/{judged_again.pk}/"):
        page = researcher.get(url)
        assert page.status_code == 404
        assert f"attach_runs {file} --yes" in page.content.decode(), url
    assert "2 runs are detached into files" in researcher.get("/runs/").content.decode()
    assert f"/trajectories/{first}/" not in researcher.get("/trajectories/").content.decode()
    with pytest.raises(CommandError, match="nothing was deleted"):
        manage("delete", "run", played.pk)

    assert f"holds runs {played.pk}, {judged_again.pk}: " in manage("attach_runs", file)
    said = manage("attach_runs", file, "--yes")
    assert "rows are back" in said
    assert detached_rows() == before
    assert counts(verify_run(run=played)) == counts(report)
    assert researcher.get(f"/runs/{played.pk}/").status_code == 200
    with pytest.raises(CommandError, match="was not detached into"):
        manage("attach_runs", file, "--yes")


def counts(report: RunReport) -> dict[str, Any]:
    return {**report.as_json(), "seconds": 0}


def play_another(run: Run) -> Run:
    """Another run of the same dataset and agent."""
    other: Run = RunFactory(dataset=run.dataset, agent=run.agent)
    task = run.trajectories.order_by("pk")[0].task
    Trajectory.objects.create(run=other, task=task, status="done")
    return other


def test_a_re_judging_leaves_alone_and_comes_back(
    played: Run, judged_again: Run, tmp_path: Path
) -> None:
    before = detached_rows()
    manage("detach_runs", judged_again.pk, "--folder", tmp_path, "--yes")
    assert JudgeScore.objects.filter(run=played).exists()
    assert not JudgeScore.objects.filter(judging__made_by=judged_again).exists()
    manage("attach_runs", tmp_path / f"run-{judged_again.pk}.jsonl.gz", "--yes")
    assert detached_rows() == before


def test_a_detaching_that_was_stopped_is_called_again(
    played: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = detached_rows()

    def killed(*args: object) -> None:
        raise KeyboardInterrupt

    command = ("detach_runs", played.pk, "--folder", tmp_path, "--yes")
    with monkeypatch.context() as patch, pytest.raises(CommandError, match="was not detached"):
        patch.setattr(detaching, "put_in_place", killed)
        manage(*command)
    assert detached_rows() == before and not list(tmp_path.iterdir())
    assert Run.objects.get(pk=played.pk).removed_at is None

    with monkeypatch.context() as patch, pytest.raises(CommandError, match="was not detached"):
        patch.setattr(detaching, "delete_trajectories", killed)
        manage(*command)
    file = tmp_path / f"run-{played.pk}.jsonl.gz"
    with pytest.raises(CommandError, match="not detached to its end"):
        manage("attach_runs", file, "--yes")
    manage(*command)
    assert not Trajectory.objects.exists()
    manage("attach_runs", file, "--yes")
    assert detached_rows() == before


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_a_damaged_file_changes_nothing(played: Run, tmp_path: Path, kept: float) -> None:
    manage("detach_runs", played.pk, "--folder", tmp_path, "--yes")
    file = tmp_path / f"run-{played.pk}.jsonl.gz"
    content = file.read_bytes()
    file.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(CommandError, match="damaged or cut off"):
        manage("attach_runs", file, "--yes")
    file.write_bytes(b"something else")
    with pytest.raises(CommandError, match="damaged or cut off"):
        manage("attach_runs", file)
    # A whole file that says something else.
    lines = gzip.decompress(content).splitlines(keepends=True)
    row = json.loads(lines[2])
    row[0] += 1000
    file.write_bytes(
        gzip.compress(b"".join([*lines[:2], f"{json.dumps(row)}\n".encode(), *lines[3:]]))
    )
    with pytest.raises(CommandError, match="was not detached into"):
        manage("attach_runs", file, "--yes")
    assert not Trajectory.objects.exists()
    file.write_bytes(content)
    manage("attach_runs", file, "--yes")
    assert Violation.objects.exists()


def test_columns_that_came_later_have_their_default_and_lost_ones_are_named(
    played: Run, tmp_path: Path
) -> None:
    manage("detach_runs", played.pk, "--folder", tmp_path, "--yes")
    file = tmp_path / f"run-{played.pk}.jsonl.gz"
    lines = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]

    def rewrite(columns: list[str], place: int | None) -> None:
        found = []
        trajectories = False
        for line in lines:
            if isinstance(line, dict):
                trajectories = line.get("table") == "benchmarks_trajectory"
                found.append({**line, "columns": columns} if trajectories else line)
            elif trajectories and place is not None:
                found.append([value for at, value in enumerate(line) if at != place])
            else:
                found.append(line)
        text = "".join(json.dumps(line) + "\n" for line in found)
        file.write_bytes(gzip.compress(text.encode()))
        run = Run.objects.get(pk=played.pk)
        assert run.archive is not None
        run.archive["sha256"] = detaching.digest_file(file)
        run.save(update_fields=["archive"])

    columns = list(lines[1]["columns"])
    place = columns.index("problem")
    rewrite([name if name != "problem" else "trouble" for name in columns], None)
    with pytest.raises(CommandError, match=r"benchmarks_trajectory\.trouble"):
        manage("attach_runs", file, "--yes")
    rewrite([name for name in columns if name != "problem"], place)
    manage("attach_runs", file, "--yes")
    assert set(Trajectory.objects.values_list("problem", flat=True)) == {""}


def test_what_a_study_needs_stays(tmp_path: Path) -> None:
    manager, rater = make_user("manager"), make_user("rater")
    study = make_judged([rater], manager, items=2)
    run = study.items.order_by("pk")[0].trajectory.run
    said = StringIO()
    with pytest.raises(CommandError, match="nothing was detached"):
        call_command("detach_runs", str(run.pk), "--folder", str(tmp_path), stdout=said)
    assert "Refused: " in said.getvalue()
    with pytest.raises(CommandError, match="was not detached"):
        manage("detach_runs", run.pk, "--folder", tmp_path, "--yes")
    assert not list(tmp_path.iterdir())
    assert Run.objects.get(pk=run.pk).removed_at is None


def test_a_file_that_is_not_there_is_not_called_damaged(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"none\.gz: No such file or directory\. Nothing of "):
        call_command("attach_runs", str(tmp_path / "none.gz"))
