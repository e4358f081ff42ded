"""Tests that an export can be imported again, and is the same."""

import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from django.core.management import CommandError, call_command

from benchmarks.core.errors import ExportRefused, UnknownName
from benchmarks.exports import ratings
from benchmarks.exports.ratings import PersonRating, rating_source
from benchmarks.exports.selectors import exported
from benchmarks.exports.services import export_run, rating_rows
from benchmarks.formats.registry import FORMATS
from benchmarks.formats.trajectory import ImportedMessage
from benchmarks.imports.services import import_trajectories
from benchmarks.models import Run
from tests.benchmarks.formats import samples
from tests.benchmarks.formats.reading import read_whole
from tests.shared_data import shared_data

pytestmark = [pytest.mark.django_db, pytest.mark.either]


def told(messages: tuple[ImportedMessage, ...]) -> list[ImportedMessage]:
    """Messages without ``extra``, which formats keep differently."""
    return [replace(message, extra={}) for message in messages]


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_stored_is_what_was_read(name: str, tmp_path: Path) -> None:
    path = samples.write_sample(tmp_path, name)
    (run,) = import_trajectories(path=path, format=name).runs
    for before, after in zip(read_whole(path, name), exported(run), strict=True):
        assert after.messages == before.messages
        assert after.task.hidden == before.task.hidden
        assert after.metadata == before.metadata and after.tools == before.tools
        assert after.termination == before.termination


def test_the_real_slice_goes_round(tmp_path: Path) -> None:
    path = shared_data("tau_bench", "gpt-4o-airline.slice.json.gz")
    (run,) = import_trajectories(path=path, format="tau-bench").runs
    assert export_run(run=run, format="openai-chat", target=tmp_path / "out.jsonl") == 48
    again = read_whole(tmp_path / "out.jsonl", "openai-chat")
    for before, after in zip(read_whole(path, "tau-bench"), again, strict=True):
        assert told(after.messages) == told(before.messages)
        assert (after.task.id, after.task.hidden) == (before.task.id, before.task.hidden)
        assert (after.attempt, after.termination) == (before.attempt, before.termination)
        assert after.scores["reward"] == before.scores["reward"]
    export_run(run=run, format="atif", target=tmp_path / "atif")
    files = sorted((tmp_path / "atif").iterdir())
    assert len(files) == 48
    for before, file in zip(read_whole(path, "tau-bench"), files, strict=True):
        (after,) = read_whole(file, "atif")
        assert told(after.messages) == told(before.messages)
        assert after.task.hidden == before.task.hidden
        assert after.scores["reward"] == before.scores["reward"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_goes_round_as_chats(name: str, tmp_path: Path) -> None:
    path = samples.write_sample(tmp_path, name)
    (run,) = import_trajectories(path=path, format=name).runs
    export_run(run=run, format="huggingface", target=tmp_path / "set")
    assert "format:agent-traces" in (tmp_path / "set" / "README.md").read_text()
    again = read_whole(tmp_path / "set" / "trajectories.jsonl", "openai-chat")
    for before, after in zip(exported(run), again, strict=True):
        assert told(after.messages) == told(before.messages)
        assert after.task.hidden == before.task.hidden


def test_a_run_made_here(played: Run, tmp_path: Path) -> None:
    export_run(run=played, format="openai-chat", target=tmp_path / "out.jsonl")
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()
    ]
    assert len(rows) == played.trajectories.count()
    for row in rows:
        assert row["hidden"]["world"] and row["hidden"]["user"]
        turns = [m for m in row["messages"] if m["role"] == "assistant"]
        assert len(turns) >= 1
    assert len(read_whole(tmp_path / "out.jsonl", "openai-chat")) == len(rows)


def test_a_folder_states_its_licence(played: Run, tmp_path: Path) -> None:
    named = tmp_path / "named"
    export_run(run=played, format="huggingface", target=named, licence="cc-by-4.0")
    assert "license: cc-by-4.0\n" in (named / "README.md").read_text()
    assert json.loads((named / ".zenodo.json").read_text())["license"] == "cc-by-4.0"
    export_run(run=played, format="huggingface", target=tmp_path / "open")
    assert "license: unknown\n" in (tmp_path / "open" / "README.md").read_text()
    for wrong in ("", "free: yes\ndoi: 1", "as you like"):
        with pytest.raises(ExportRefused, match="is no licence as the Hugging Face Hub names them"):
            export_run(run=played, format="huggingface", target=tmp_path / "x", licence=wrong)
    assert not (tmp_path / "x").exists()


WAYS = {
    "openai-chat": "",
    "huggingface": "trajectories.jsonl",
    "huggingface-parquet": "trajectories.parquet",
}


def goes_round(run: Run, format: str, folder: Path) -> None:
    """Export, read and import again: the same trajectories at every station."""
    before = list(exported(run))
    target = folder / "out"
    assert export_run(run=run, format=format, target=target) == len(before) > 0
    path = target / WAYS[format] if WAYS[format] else target
    assert read_whole(path, "openai-chat") == before
    saved = import_trajectories(path=path, name="again", agent="nobody")
    assert saved.format == "openai-chat" and saved.trajectories == len(before)
    (again,) = saved.runs
    assert again.agent.title == run.agent.title
    assert list(exported(again)) == before
    export_run(run=again, format="openai-chat", target=folder / "second.jsonl")
    assert read_whole(folder / "second.jsonl", "openai-chat") == before


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FORMATS)
def test_imported_runs_go_round_whole(name: str, way: str, tmp_path: Path) -> None:
    path = samples.write_sample(tmp_path, name)
    (run,) = import_trajectories(path=path, format=name).runs
    goes_round(run, way, tmp_path)


@pytest.mark.parametrize("way", WAYS)
def test_runs_made_here_go_round_whole(played: Run, way: str, tmp_path: Path) -> None:
    found = list(exported(played))
    assert all(one.rubric and one.messages[0].speaker == "system" for one in found)
    assert {score.kind for one in found for score in one.rubric} == {"scripted"}
    turns = {score.turn for score in found[0].rubric}
    said = [m for m in found[0].messages if m.speaker == "assistant"]
    assert turns and turns <= set(range(1, len(said) + 1))
    goes_round(played, way, tmp_path)


@pytest.mark.parametrize("way", WAYS)
def test_the_real_slice_goes_round_whole(way: str, tmp_path: Path) -> None:
    path = shared_data("tau_bench", "gpt-4o-airline.slice.json.gz")
    goes_round(import_trajectories(path=path).runs[0], way, tmp_path)


def test_a_folder_of_atif_files_is_one_import(tmp_path: Path) -> None:
    path = shared_data("tau_bench", "gpt-4o-airline.slice.json.gz")
    (run,) = import_trajectories(path=path).runs
    export_run(run=run, format="atif", target=tmp_path / "atif")
    saved = import_trajectories(path=tmp_path / "atif", name="again")
    assert (saved.format, saved.trajectories) == ("atif", 48)
    for before, after in zip(exported(run), exported(saved.runs[0]), strict=True):
        assert told(after.messages) == told(before.messages)
        assert (after.task.id, after.attempt) == (before.task.id, before.attempt)
        assert after.termination == before.termination


@pytest.fixture
def rated(played: Run) -> Iterator[Run]:
    """A run of which somebody, and a program, has said something."""

    def source(run: Run) -> Iterator[PersonRating]:
        for rater, simulated in (("rater-1", False), ("rater-2", True)):
            yield PersonRating(
                "t", 1, "A study", rater, simulated, None, "q1", "clarity", 4, "good"
            )

    rating_source(source)
    yield played
    ratings._sources.remove(source)


def test_what_people_said_is_a_second_file(rated: Run, tmp_path: Path) -> None:
    export_run(run=rated, format="huggingface", target=tmp_path / "a")
    lines = (tmp_path / "a" / "ratings.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [(r["rater"], r["simulated"], r["value"]) for r in rows] == [
        ("rater-1", False, 4),
        ("rater-2", True, 4),
    ]
    export_run(run=rated, format="huggingface-parquet", target=tmp_path / "b")
    table = pyarrow.parquet.read_table(tmp_path / "b" / "ratings.parquet")
    assert table.to_pylist() == rows
    for folder, ending in (("a", "jsonl"), ("b", "parquet")):
        card = (tmp_path / folder / "README.md").read_text()
        assert f"data_files: ratings.{ending}" in card and "config_name: ratings" in card


def test_chosen_trajectories_bring_their_own_ratings_alone(rated: Run) -> None:
    first, second = rated.trajectories.order_by("pk")[:2]

    def source(run: Run) -> Iterator[PersonRating]:
        for row in (first, second):
            task = row.task.external_id
            yield PersonRating(task, row.attempt, "A study", "r", False, None, "q", "", 2, "")

    rating_source(source)
    try:
        rows = list(rating_rows(rated, [second.pk]) or ())
    finally:
        ratings._sources.remove(source)
    assert [row["task_id"] for row in rows] == [second.task.external_id]
    (only,) = exported(rated, [second.pk])
    assert only.task.id == second.task.external_id


def test_without_ratings_there_is_no_second_file(played: Run, tmp_path: Path) -> None:
    export_run(run=played, format="huggingface", target=tmp_path / "a")
    folder = tmp_path / "a"
    assert {path.name for path in folder.rglob("*") if path.is_file()} == {
        "README.md", "trajectories.jsonl", "codebook.csv", "trajectory-row.v1.json",
        ".zenodo.json", "SHA256SUMS",
    }  # fmt: skip
    assert "ratings" not in (folder / "README.md").read_text()


def test_the_columns_of_parquet_are_typed(played: Run, tmp_path: Path) -> None:
    export_run(run=played, format="huggingface-parquet", target=tmp_path / "a")
    table = pyarrow.parquet.read_table(tmp_path / "a" / "trajectories.parquet")
    (first, *_) = table.to_pylist()
    assert first["messages"][0]["role"] == "system" and first["system"]
    assert json.loads(first["hidden"])["world"]
    assert first["rubric"][0]["kind"] == "scripted"


def test_without_pyarrow_the_extra_is_named(
    played: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    args = (str(played.pk), str(tmp_path / "a"))
    with pytest.raises(CommandError, match="extra 'parquet'"):
        call_command("export_trajectories", *args, format="huggingface-parquet")
    assert not (tmp_path / "a").exists()
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(CommandError):
        call_command("import_trajectories", str(tmp_path / "x.parquet"), stderr=io.StringIO())


def test_a_trajectory_without_a_turn_goes_round(played: Run, tmp_path: Path) -> None:
    row = played.trajectories.first()
    assert row
    row.turns.all().delete()
    goes_round(played, "openai-chat", tmp_path)


def test_nothing_is_overwritten(played: Run, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("mine")
    with pytest.raises(ExportRefused, match="exists"):
        export_run(run=played, format="openai-chat", target=target)
    assert target.read_text() == "mine"
    with pytest.raises(
        UnknownName, match="atif, huggingface, huggingface-parquet, inspect, openai-chat"
    ):
        export_run(run=played, format="csv", target=target)


def test_the_command(played: Run, tmp_path: Path) -> None:
    out = io.StringIO()
    args = (str(played.pk), str(tmp_path / "a"))
    call_command("export_trajectories", *args, format="atif", stdout=out)
    assert "3 trajectories written" in out.getvalue()
    with pytest.raises(CommandError, match="there is no run 999"):
        call_command("export_trajectories", "999", "x", format="atif")
