"""Storing trajectories made elsewhere."""

import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from benchmarks.core.errors import ImportRefused
from benchmarks.core.problems import FileRefused
from benchmarks.formats.registry import FORMATS
from benchmarks.imports import rows as import_rows
from benchmarks.imports import services as import_services
from benchmarks.imports import unfinished
from benchmarks.imports.services import import_trajectories, plain_stem
from benchmarks.models import Agent, Dataset, Run, StoredMessage, Task, Trajectory, Turn
from benchmarks.visibility import EVERYTHING
from tests.benchmarks.formats import samples
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db


def counts() -> list[int]:
    """Count the rows of an import but for system prompts, which others may share by then."""
    models = (Dataset, Task, Agent, Run, Trajectory, Turn)
    return [model.objects.count() for model in models]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_stored_whole(name: str, tmp_path: Path) -> None:
    saved = import_trajectories(path=samples.write_sample(tmp_path, name), format=name)
    assert saved.created and saved.trajectories == Trajectory.objects.count()
    assert saved.turns == Turn.objects.count()
    for run in saved.runs:
        assert (run.kind, run.status, run.dataset.system) == ("imported", "done", "external")
        assert run.agent.kind == "imported" and len(run.checksum) == 64
    for row in Trajectory.objects.all():
        assert row.status == "done" and row.turn_count == row.turns.count() > 0
        assert [turn.is_final for turn in row.turns.all()][-1]
        assert all(row.metrics[n] is not None or row.undefined[n] for n in row.metrics)


def test_the_same_file_twice_adds_nothing(tmp_path: Path) -> None:
    path = samples.write_sample(tmp_path, "tau2")
    first = import_trajectories(path=path, format="tau2")
    before = counts()
    second = import_trajectories(path=path, format="tau2", name="Another name")
    assert not second.created and second.runs == first.runs
    assert counts() == before


def test_nothing_of_a_bad_file_is_stored(tmp_path: Path) -> None:
    rows = samples.tau_bench()
    rows[-1]["traj"] = [{"role": "narrator", "content": "x"}]
    with pytest.raises(FileRefused, match="narrator"):
        import_trajectories(path=samples.write(tmp_path / "t.json", rows), format="tau-bench")
    assert counts() == [0] * 6


def test_a_failure_while_storing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_rows, "CHUNK", 1)
    rows = samples.tau_bench()
    rows[-1]["info"] = {"task": {"instruction": "You lost something else."}}
    with pytest.raises(ImportRefused, match="task 1 was stored"):
        import_trajectories(path=samples.write(tmp_path / "t.json", rows), format="tau-bench")
    assert counts() == [0] * 6


def test_files_under_one_name_share_their_tasks(tmp_path: Path) -> None:
    path = samples.write(tmp_path / "one.json", samples.tau_bench())
    import_trajectories(path=path, format="tau-bench", name="Bags")
    other = samples.write(tmp_path / "two.json", samples.tau_bench()[:2])
    saved = import_trajectories(path=other, format="tau-bench", name="Bags", agent="model two")
    assert Dataset.objects.count() == 1 and Task.objects.count() == 2
    assert [run.agent.title for run in Run.objects.order_by("pk")] == ["one", "model two"]
    with pytest.raises(ImportRefused, match="holds tasks of tau-bench"):
        path = samples.write_sample(tmp_path, "tau2")
        import_trajectories(path=path, format="tau2", name=saved.dataset.name)


def test_each_agent_of_a_file_has_a_run(tmp_path: Path) -> None:
    lines = samples.chat_lines()
    lines[1]["model"] = "another"
    path = samples.write_lines(tmp_path / "chat.jsonl", lines)
    saved = import_trajectories(path=path, format="openai-chat")
    assert [run.agent.title for run in saved.runs] == ["m", "another"]


def test_what_was_hidden_stays_marked(tmp_path: Path) -> None:
    import_trajectories(path=samples.write_sample(tmp_path, "tau2"), format="tau2")
    task = Task.objects.get()
    assert task.payload["hidden"] == {"user_scenario": {"instructions": "phone off"}}
    assert "phone off" not in task.prompt
    messages = [m for turn in Turn.objects.all() for m in turn.payload["messages"]]
    assert [m.get("hidden", False) for m in messages].count(True) == 2
    assert "it is on" not in "".join(turn.feedback for turn in Turn.objects.all())


def test_a_system_prompt_is_stored_once(tmp_path: Path) -> None:
    path = samples.write(tmp_path / "t.json", samples.tau_bench())
    import_trajectories(path=path, format="tau-bench")
    assert StoredMessage.objects.get().text == "Be brief."
    opening = Turn.objects.filter(index=1).first().payload["opening"]  # type: ignore[union-attr]
    assert [m["speaker"] for m in opening] == ["system", "user"]


def test_queries_do_not_grow_with_the_trajectories(
    tmp_path: Path, django_assert_max_num_queries: object
) -> None:
    rows = [{**row, "trial": n} for n in range(100) for row in samples.tau_bench()[:1]]
    path = samples.write(tmp_path / "t.json", rows)
    with django_assert_max_num_queries(34):  # type: ignore[operator]
        import_trajectories(path=path, format="tau-bench")


def test_the_real_slice() -> None:
    path = shared_data("tau_bench", "gpt-4o-airline.slice.json.gz")
    saved = import_trajectories(path=path, format="tau-bench")
    assert (saved.trajectories, Task.objects.count(), Run.objects.count()) == (48, 12, 1)
    assert saved.runs[0].created_trajectories == 48
    assert plain_stem(path) == saved.runs[0].agent.title == "gpt-4o-airline"
    stored = sum(
        len(turn.payload["messages"]) + len(turn.payload.get("opening", ()))
        for turn in Turn.objects.all()
    )
    assert stored == 1492
    assert StoredMessage.objects.count() == 1
    hidden = Task.objects.get(external_id="0").payload["hidden"]
    assert hidden["instruction"].startswith("You are mia_li_3668")


def test_the_command_says_what_it_did(tmp_path: Path) -> None:
    path = samples.write_sample(tmp_path, "atif")
    out = io.StringIO()
    call_command("import_trajectories", str(path), format="atif", stdout=out)
    call_command("import_trajectories", str(path), format="atif", stdout=out)
    first, second = out.getvalue().splitlines()
    assert first.startswith(
        "atif.json: 1 trajectories with 1 turns (ATIF (Harbor)) on atif 1: run "
    )
    assert "already imported, nothing added" in second


def test_the_command_refuses_in_words(tmp_path: Path) -> None:
    path = samples.write_sample(tmp_path, "atif")
    for name, words in (
        ("tau2", "use --format atif"),
        ("x", f"known: {', '.join(sorted(FORMATS))}"),
    ):
        err = io.StringIO()
        with pytest.raises(CommandError, match="1 of 1 files were not imported"):
            call_command("import_trajectories", str(path), format=name, stderr=err)
        assert words in err.getvalue()
    assert counts() == [0] * 6


def test_odd_values_can_be_stored(tmp_path: Path) -> None:
    chat = json.loads(json.dumps(samples.CHAT))
    chat[1]["content"] = "a\x00b"
    chat[1]["seed"] = 10**30
    path = samples.write(tmp_path / "chat.json", chat)
    import_trajectories(path=path, format="openai-chat")
    assert Task.objects.get().prompt == "a\ufffdb"


@pytest.mark.django_db(transaction=True)
def test_the_same_file_at_the_same_time_is_imported_once(tmp_path: Path) -> None:
    path = samples.write_sample(tmp_path, "openai-chat")
    start = threading.Barrier(4)

    def work(number: int) -> bool:
        start.wait()
        try:
            saved = import_trajectories(path=path, name=f"set {number}", agent=f"agent {number}")
            assert len(saved.runs) == 1 and saved.trajectories == 2
            return saved.created
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        created = list(pool.map(work, range(4)))
    assert sorted(created) == [False, False, False, True]
    assert (Dataset.objects.count(), Run.objects.count(), Trajectory.objects.count()) == (1, 1, 2)


def test_the_database_keeps_a_second_import_out(tmp_path: Path) -> None:
    (run,) = import_trajectories(path=samples.write_sample(tmp_path, "tau2")).runs
    run.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        run.save(force_insert=True)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_need_not_be_named(name: str, tmp_path: Path) -> None:
    heard: list[int] = []
    path = samples.write_sample(tmp_path, name)
    saved = import_trajectories(path=path, progress=heard.append)
    assert saved.format == name and heard == [saved.turns]
    again = import_trajectories(path=path)
    assert (again.format, again.trajectories, again.turns) == (
        name,
        saved.trajectories,
        saved.turns,
    )


def test_what_is_of_no_format_is_refused_with_their_names(tmp_path: Path) -> None:
    path = samples.write(tmp_path / "x.json", {"a": 1})
    with pytest.raises(FileRefused, match=", ".join(sorted(FORMATS))):
        import_trajectories(path=path)


def test_agents_that_are_one_after_shortening_share_a_run(tmp_path: Path) -> None:
    lines = samples.chat_lines()
    for line, end in zip(lines, "ab", strict=True):
        line["model"] = "m" * 120 + end
    (run,) = import_trajectories(path=samples.write_lines(tmp_path / "c.jsonl", lines)).runs
    assert run.trajectories.count() == 2
    lines = [{"messages": samples.CHAT, "id": "a", "attempt": 1, "model": m} for m in ("", "me")]
    path = samples.write_lines(tmp_path / "d.jsonl", lines)
    with pytest.raises(FileRefused, match="each attempt once"):
        import_trajectories(path=path, agent="me")


def test_all_faults_are_told_and_nothing_is_stored(tmp_path: Path) -> None:
    rows = samples.tau_bench()
    rows[1]["reward"] = rows[3]["trial"] = "x"
    with pytest.raises(FileRefused) as refused:
        import_trajectories(path=samples.write(tmp_path / "t.json", rows))
    assert [p.where for p in refused.value.problems] == ["t.json, [1].reward", "t.json, [3].trial"]
    assert counts() == [0] * 6


def test_a_file_that_changes_meanwhile_is_refused(tmp_path: Path) -> None:
    path = samples.write(tmp_path / "t.json", samples.tau_bench())

    def change(turns: int) -> None:
        samples.write(path, samples.tau_bench()[:1])

    with pytest.raises(FileRefused, match="changed meanwhile"):
        import_trajectories(path=path, progress=change)
    assert counts() == [0] * 6


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.django_db(transaction=True)
def test_others_write_and_see_nothing_while_a_file_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_rows, "CHUNK", 1)
    path = samples.write(tmp_path / "t.json", samples.tau_bench())
    seen: list[tuple[int, int, int]] = []

    def write() -> None:
        try:
            Agent.objects.create(name=f"other-{len(seen)}", title="x", system="external")
            rows = (Run.objects, Trajectory.objects, Dataset.objects)
            seen.append(tuple(EVERYTHING.of(row.all()).count() for row in rows))  # type: ignore[misc, arg-type]
        finally:
            connection.close()

    def other(_: int) -> None:
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()

    saved = import_trajectories(path=path, format="tau-bench", progress=other)
    assert len(seen) > 2 and set(seen) == {(0, 0, 0)}
    assert EVERYTHING.of(Trajectory.objects.all()).count() == saved.trajectories
    assert EVERYTHING.of(Dataset.objects.all()).get() == saved.dataset


def test_what_a_killed_import_left_is_deleted_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_rows, "CHUNK", 1)
    path = samples.write(tmp_path / "t.json", samples.tau_bench())
    with monkeypatch.context() as patch:
        patch.setattr(import_services, "delete_imports", lambda runs: None)

        def kill(turns: int) -> None:
            raise Killed

        with pytest.raises(Killed):
            import_trajectories(path=path, format="tau-bench", progress=kill)
    (left,) = Run.objects.all()
    assert left.removed_at is not None and Trajectory.objects.exists()
    monkeypatch.setattr(unfinished, "SILENT", timedelta(0))
    saved = import_trajectories(path=path, format="tau-bench")
    assert saved.created and Run.objects.get() == saved.runs[0] != left
    assert Trajectory.objects.count() == saved.trajectories


@pytest.mark.parametrize("end", ["killed", "failed"])
def test_a_session_is_stored_in_portions_and_seen_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(import_rows, "CHUNK", 2)
    steps = [{"role": r, "content": f"{r} {n}"} for n in range(9) for r in ("user", "assistant")]
    path = samples.write_lines(tmp_path / "long.jsonl", [{"messages": steps, "model": "m"}])
    store, stored = Turn.objects.bulk_create, []

    def stop_at_the_third(rows: list[Turn]) -> None:
        if len(stored) == 2:
            raise Killed
        stored.append([turn.index for turn in store(rows)])

    before = counts()
    with monkeypatch.context() as patch:
        patch.setattr(Turn.objects, "bulk_create", stop_at_the_third)
        if end == "killed":
            patch.setattr(import_services, "delete_imports", lambda runs: None)
        with pytest.raises(Killed):
            import_trajectories(path=path)
    assert len(stored) == 2 and len(stored[0]) < 9
    assert not EVERYTHING.of(Run.objects.all()).exists()
    if end == "failed":
        assert counts() == before
    else:
        assert Trajectory.objects.get().turn_count == 9 > Turn.objects.count() > 0
        monkeypatch.setattr(unfinished, "SILENT", timedelta(0))
    saved = import_trajectories(path=path)
    assert saved.created and Run.objects.get() == saved.runs[0]
    assert [turn.index for turn in Trajectory.objects.get().turns.order_by("index")] == [
        *range(1, 10)
    ]


def test_a_failed_import_leaves_the_tasks_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_rows, "CHUNK", 1)
    first = samples.write(tmp_path / "a.json", samples.tau_bench()[:1])
    saved = import_trajectories(path=first, format="tau-bench", name="Bags")
    saved.runs[0].trajectories.all().delete()  # its task stays without trajectories
    before = counts()
    rows = samples.tau_bench()
    rows[-1]["info"] = {"task": {"instruction": "You lost something else."}}
    with pytest.raises(ImportRefused):
        import_trajectories(
            path=samples.write(tmp_path / "t.json", rows), format="tau-bench", name="Bags"
        )
    assert counts() == before and EVERYTHING.of(Dataset.objects.all()).exists()
