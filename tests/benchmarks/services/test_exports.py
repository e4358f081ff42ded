"""What is exported can be imported again, and is the same."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.core.errors import UnknownName
from benchmarks.importers.formats import FORMATS, check_file, read_file
from benchmarks.importers.values import ImportedMessage, ImportedTrajectory
from benchmarks.models import Run
from benchmarks.selectors.exports import exported
from benchmarks.services.exports import ExportRefused, export_run
from benchmarks.services.imports import import_trajectories
from tests.benchmarks.importers import samples
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db


def read(path: Path, name: str) -> list[ImportedTrajectory]:
    return list(read_file(path, check_file(path, name)))


def told(messages: tuple[ImportedMessage, ...]) -> list[ImportedMessage]:
    """Messages without ``extra``, which formats keep differently."""
    return [replace(message, extra={}) for message in messages]


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_stored_is_what_was_read(name: str, tmp_path: Path) -> None:
    path = samples.write_sample(tmp_path, name)
    (run,) = import_trajectories(path=path, format=name).runs
    for before, after in zip(read(path, name), exported(run), strict=True):
        assert after.messages == before.messages
        assert after.task.hidden == before.task.hidden
        assert after.metadata == before.metadata and after.tools == before.tools
        assert after.termination == before.termination


def test_the_real_slice_goes_round(tmp_path: Path) -> None:
    path = shared_data("tau_bench", "gpt-4o-airline.slice.json.gz")
    (run,) = import_trajectories(path=path, format="tau-bench").runs
    assert export_run(run=run, format="openai-chat", target=tmp_path / "out.jsonl") == 48
    again = read(tmp_path / "out.jsonl", "openai-chat")
    for before, after in zip(read(path, "tau-bench"), again, strict=True):
        assert told(after.messages) == told(before.messages)
        assert (after.task.id, after.task.hidden) == (before.task.id, before.task.hidden)
        assert (after.attempt, after.termination) == (before.attempt, before.termination)
        assert after.scores["reward"] == before.scores["reward"]
    export_run(run=run, format="atif", target=tmp_path / "atif")
    files = sorted((tmp_path / "atif").iterdir())
    assert len(files) == 48
    for before, file in zip(read(path, "tau-bench"), files, strict=True):
        (after,) = read(file, "atif")
        assert told(after.messages) == told(before.messages)
        assert after.task.hidden == before.task.hidden
        assert after.scores["reward"] == before.scores["reward"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_goes_round_as_chats(name: str, tmp_path: Path) -> None:
    path = samples.write_sample(tmp_path, name)
    (run,) = import_trajectories(path=path, format=name).runs
    export_run(run=run, format="huggingface", target=tmp_path / "set")
    assert "format:agent-traces" in (tmp_path / "set" / "README.md").read_text()
    again = read(tmp_path / "set" / "trajectories.jsonl", "openai-chat")
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
    assert len(read(tmp_path / "out.jsonl", "openai-chat")) == len(rows)


def test_nothing_is_overwritten(played: Run, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("mine")
    with pytest.raises(ExportRefused, match="exists"):
        export_run(run=played, format="openai-chat", target=target)
    assert target.read_text() == "mine"
    with pytest.raises(UnknownName, match="atif, huggingface, openai-chat"):
        export_run(run=played, format="csv", target=target)


def test_the_command(played: Run, tmp_path: Path) -> None:
    out = io.StringIO()
    args = (str(played.pk), str(tmp_path / "a"))
    call_command("export_trajectories", *args, format="atif", stdout=out)
    assert "3 trajectories written" in out.getvalue()
    with pytest.raises(CommandError, match="there is no run 999"):
        call_command("export_trajectories", "999", "x", format="atif")
