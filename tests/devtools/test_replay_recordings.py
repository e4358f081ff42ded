"""The command that compares recordings with replays."""

import gzip
import io
import json
import shutil

import pytest
from django.core.management import CommandError, call_command

from tests.shared_data import shared_data


def replay(*arguments):
    out = io.StringIO()
    call_command("replay_recordings", *map(str, arguments), stdout=out)
    return out.getvalue()


def recordings():
    return shared_data("planbench_xl", "reference_runs_public.jsonl.gz")


def odd_folder(tmp_path):
    """The data at hand, with two tasks that give a data type that is not listed."""
    folder = tmp_path / "data"
    shutil.copytree(recordings().parent, folder)
    for name, numbers in (("tasks", (3, 7)), ("queries", ())):
        path = folder / f"{name}.json.gz"
        entries = json.loads(gzip.decompress(path.read_bytes()))
        for number in numbers:
            entries[number]["input_datatypes"].append("nickname")
        path.unlink()
        (folder / f"{name}.json").write_text(json.dumps(entries), encoding="utf-8")
    return folder


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


def test_odd_entries_are_named_and_the_rest_is_played(tmp_path):
    runs = one_recording(tmp_path / "runs.jsonl")
    arguments = ["planbench_xl", str(runs), "--data", str(odd_folder(tmp_path)), "--json"]
    out, err = io.StringIO(), io.StringIO()
    call_command("replay_recordings", *arguments, stdout=out, stderr=err)

    found = json.loads(out.getvalue())
    assert (found["matches"], found["mismatches"]) == (1, 0)
    assert [warning.split(",")[1].split()[1] for warning in found["warnings"]] == ["3", "7"]
    assert err.getvalue().count("warning: tasks.json, entry") == 2
    assert err.getvalue().count("'nickname'") == 2


def test_conditions_of_a_file(tmp_path):
    """The same recording under a name of its own, and under one whose knob nobody knows."""
    conditions = tmp_path / "conditions.json"
    entries = {
        "mine": {"base": "blocker", "override": {"blocker.enable_block": False}},
        "odd": {"base": "default", "override": {"noise.loudness": 1}},
    }
    conditions.write_text(json.dumps(entries))
    lines = []
    for setting in ("mine", "odd", "nobody's"):
        path = one_recording(tmp_path / "one.jsonl", lambda r, s=setting: r.update(setting=s))
        lines.append(path.read_text())
    runs = tmp_path / "runs.jsonl"
    runs.write_text("".join(lines))

    found = json.loads(
        replay(
            "planbench_xl", runs, "--data", recordings().parent,
            "--conditions", conditions, "--json",
        )
    )  # fmt: skip
    assert (found["episodes"], found["matches"], found["mismatches"]) == (3, 1, 0)
    assert found["not_replayable_because"] == {
        "condition 'odd': unknown knob 'noise.loudness'": 1,
        'unknown condition "nobody\'s"': 1,
    }


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
    with pytest.raises(
        CommandError, match=r"runs\.gz: expected a file that can be read, found Not a"
    ):
        replay("planbench_xl", tmp_path / "runs.gz", "--data", recordings().parent)
    packed = gzip.compress(b"{}" * 5000)
    (tmp_path / "runs.gz").write_bytes(packed[:15] + b"\xff" * 9 + packed[24:])
    with pytest.raises(CommandError, match=r"runs\.gz: expected a file that can be read, found"):
        replay("planbench_xl", tmp_path / "runs.gz", "--data", recordings().parent)
    with pytest.raises(CommandError, match=r"absent: expected a file that can be read, found No"):
        replay("planbench_xl", tmp_path / "absent", "--data", recordings().parent)
