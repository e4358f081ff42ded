"""Folders of sessions: a dry run, and an import of each format in them."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from benchmarks.exports.selectors import exported
from benchmarks.formats.counts import trajectory_counts
from benchmarks.models import Dataset, Run, Trajectory, Turn
from tests.benchmarks.formats import samples

pytestmark = pytest.mark.django_db


def call(*args: object) -> str:
    out = io.StringIO()
    call_command("import_trajectories", *map(str, args), stdout=out)
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "agents"
    folder.mkdir()
    for name in ("codex", "claude-code", "openinference"):
        samples.write_sample(folder, name)
    samples.write(folder / "settings.json", {"theme": "dark"})
    return folder


def test_a_dry_run_stores_nothing(folder: Path) -> None:
    files = json.loads(call("--dry-run", "--json", folder))["files"]
    assert {Path(file["path"]).name: file["format"] for file in files} == {
        "claude-code.jsonl": "claude-code",
        "codex.jsonl": "codex",
        "openinference.json": "openinference",
        "settings.json": None,
    }
    by_format = {file["format"]: file for file in files}
    assert by_format["codex"]["trajectories"][0]["tool_calls"] == 2
    assert by_format["claude-code"]["left_out"]["file-history-snapshot"] == 1
    assert "settings.json" in call("--dry-run", folder)
    assert not Run.objects.exists()
    with pytest.raises(CommandError, match="--json goes with --dry-run"):
        call("--json", folder)


def test_a_folder_is_imported_format_by_format(folder: Path) -> None:
    written = call(folder)
    assert written.count("left out: ") == 1
    assert "left out: settings.json: no format that can be imported" in written
    assert {dataset.name for dataset in Dataset.objects.all()} == {
        "agents (Claude Code session)",
        "agents (Codex rollout)",
        "agents (OpenInference spans)",
    }
    parents = [row.payload["metadata"]["session"].get("parent") for row in Trajectory.objects.all()]
    assert sorted(filter(None, parents)) == ["s1", "t1"]
    assert "nothing added" in call(folder)


def test_each_step_of_the_agent_may_be_a_turn(tmp_path: Path) -> None:
    """A coding session has many steps, and one message of its user."""
    path = samples.write_sample(tmp_path, "mini-swe-agent")
    call(path, "--turns", "step")
    run = Run.objects.get()
    assert run.settings["turns"] == "step"
    turns = Turn.objects.order_by("index")
    assert [turn.index for turn in turns] == [1, 2, 3]
    assert [row["speaker"] for row in turns[0].payload["messages"]] == ["assistant", "tool"]
    (trajectory,) = exported(run)
    assert trajectory_counts(trajectory)["turns"] == 1
