"""The command that compares recordings with replays."""

import gzip
import io
import json

import pytest
from django.core.management import CommandError, call_command

from tests.shared_data import shared_data


def replay(*arguments):
    out = io.StringIO()
    call_command("replay_recordings", *map(str, arguments), stdout=out)
    return out.getvalue()


def recordings():
    return shared_data("planbench_xl", "reference_runs_public.jsonl.gz")


def one_recording(path, change=lambda recording: None):
    with gzip.open(recordings(), "rt", encoding="utf-8") as file:
        recording = json.loads(file.readline())
    change(recording)
    path.write_text(json.dumps(recording) + "\n", encoding="utf-8")
    return path


def test_what_agrees(tmp_path):
    runs = one_recording(tmp_path / "runs.jsonl")
    found = json.loads(replay("planbench_xl", runs, "--data", recordings().parent, "--json"))

    assert found["episodes"] == found["matches"] == 1
    assert found["mismatches"] == found["not_replayable"] == 0
    assert found["differences"] == []


def test_what_differs_makes_it_fail(tmp_path):
    def change(recording):
        recording["steps"][2]["o"]["tool_count"] = 99

    runs = one_recording(tmp_path / "runs.jsonl", change)
    out = io.StringIO()
    with pytest.raises(SystemExit) as end:
        call_command(
            "replay_recordings", "planbench_xl", str(runs), "--data", str(recordings().parent),
            stdout=out,
        )  # fmt: skip

    assert end.value.code == 1
    assert "1 differ" in out.getvalue()
    assert "step 3, tool_count: recorded 99, replayed 6" in out.getvalue()


def test_what_cannot_be_replayed_is_said(tmp_path):
    runs = one_recording(tmp_path / "runs.jsonl", lambda r: r.update(data="full"))
    assert "1 cannot be replayed here" in replay(
        "planbench_xl", runs, "--data", recordings().parent
    )


def test_refusals(tmp_path):
    runs = tmp_path / "runs.jsonl"
    runs.write_text("nonsense\n")
    with pytest.raises(CommandError, match="unknown system with recordings 'adaplanbench'"):
        replay("adaplanbench", runs, "--data", tmp_path)
    with pytest.raises(CommandError, match=r"expected a file datatypes\.json"):
        replay("planbench_xl", runs, "--data", tmp_path)
    with pytest.raises(CommandError, match=r"runs\.jsonl, line 1: expected a JSON object"):
        replay("planbench_xl", runs, "--data", recordings().parent)
    (tmp_path / "runs.gz").write_text("not packed")
    with pytest.raises(CommandError, match=r"runs\.gz: Not a gzipped file"):
        replay("planbench_xl", tmp_path / "runs.gz", "--data", recordings().parent)
    with pytest.raises(CommandError, match="absent: No such file"):
        replay("planbench_xl", tmp_path / "absent", "--data", recordings().parent)
