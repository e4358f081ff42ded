"""Whatever was imported comes back from each format, but for what the format cannot hold."""

import io
import json
import os
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from benchmarks.exports.limits import LIMITS
from benchmarks.exports.selectors import exported
from benchmarks.exports.services import WRITERS, export_run
from benchmarks.exports.streams import STREAMS
from benchmarks.formats.attachments import contained_images
from benchmarks.formats.counts import trajectory_counts
from benchmarks.formats.registry import FORMATS, detect
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory
from benchmarks.imports.services import import_trajectories
from benchmarks.models import Run
from tests.benchmarks.formats import samples
from tests.benchmarks.formats.reading import read_whole
from tests.shared_data import ROOT, shared_data

pytestmark = [pytest.mark.django_db]

PNG = b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 40).decode()
# The name of what is written, and the format as which it is read again.
WRITTEN = {
    "openai-chat": ("x.jsonl", "openai-chat"),
    "atif": ("x", "atif"),
    "inspect": ("x.eval", "inspect"),
    "session-traces": ("x", "pi"),
}
SHARED = os.environ.get("PLANJURY_SHARED_DATA") or ROOT.parent / "shared" / "data"
REAL = sorted(Path(SHARED, "sessions").glob("*/*"))


def imported(path: Path, format: str = "") -> Run:
    return import_trajectories(path=path, format=format).runs[0]


def comes_back(run: Run, format: str, folder: Path) -> list[ImportedTrajectory]:
    """Export a run, read it again as the format that the file is recognised as, and compare it."""
    name, reader = WRITTEN[format]
    before = list(exported(run))
    assert export_run(run=run, format=format, target=folder / name) == len(before)
    assert detect(folder / name) in (reader, None)  # a folder of files is recognised file by file
    after = read_whole(folder / name, reader)
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        COMPARED[format](old, new)
    return after


def without_data(message: ImportedMessage) -> ImportedMessage:
    """A message without the content of its images."""
    given = message.extra.get("attachments")
    extra = {name: value for name, value in message.extra.items() if name != "content"}
    if isinstance(given, list):
        extra["attachments"] = [{n: v for n, v in one.items() if n != "data"} for one in given]
    return replace(message, extra=extra)


def whole(old: ImportedTrajectory, new: ImportedTrajectory) -> None:
    assert new == old


def but_images(old: ImportedTrajectory, new: ImportedTrajectory) -> None:
    assert tuple(map(without_data, new.messages)) == tuple(map(without_data, old.messages))
    assert replace(new, messages=()) == replace(old, messages=())


def but_places(old: ImportedTrajectory, new: ImportedTrajectory) -> None:
    """Results may have moved to their calls, and hidden messages are kept apart."""
    visible = [named(without_data(m)) for m in old.messages if not m.hidden]
    back = [named(without_data(m)) for m in new.messages]
    assert sorted(map(repr, back)) == sorted(map(repr, visible))
    spoken = ("user", "assistant", "system")
    assert [m for m in back if m.speaker in spoken] == [m for m in visible if m.speaker in spoken]
    assert replace(new, messages=(), rubric=()) == replace(
        old, messages=(), rubric=(), hidden={},
        task=replace(old.task, hidden={**old.task.hidden, **old.hidden}),
    )  # fmt: skip


def named(message: ImportedMessage) -> ImportedMessage:
    """A result may have got the name of its call's tool."""
    return replace(message, name="") if message.speaker == "tool" else message


def but_undefined(old: ImportedTrajectory, new: ImportedTrajectory) -> None:
    visible, back = list(map(plain, old.messages)), list(map(plain, new.messages))
    assert back == visible
    stated = ("session", "scores")
    assert new.session == old.session and set(new.metadata) >= set(stated) & set(old.metadata)
    assert (new.task.id, new.task.prompt, new.attempt) == (
        old.task.id,
        old.task.prompt,
        old.attempt or 1,
    )
    known = {name: value for name, value in old.scores.items() if value is not None}
    assert {name: new.scores[name] for name in known} == known
    assert new.tools == old.tools
    lost = ("id",) if not old.session else ()
    ours, theirs = trajectory_counts(old), trajectory_counts(new)
    assert {n: v for n, v in ours.items() if n not in lost} == {
        n: v for n, v in theirs.items() if n not in lost
    }


def plain(message: ImportedMessage) -> ImportedMessage:
    """A message as Inspect knows it: each call has an id."""
    return replace(without_data(message), calls=tuple(replace(c, id="") for c in message.calls))


COMPARED: dict[str, Any] = {
    "openai-chat": whole,
    "atif": but_places,
    "inspect": but_undefined,
    "session-traces": but_images,
}


@pytest.mark.parametrize("format", WRITTEN)
@pytest.mark.parametrize("name", FORMATS)
def test_every_sample_comes_back(name: str, format: str, tmp_path: Path) -> None:
    comes_back(imported(samples.write_sample(tmp_path, name), name), format, tmp_path)


@pytest.mark.parametrize("format", WRITTEN)
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_every_real_session_comes_back(path: Path, format: str, tmp_path: Path) -> None:
    comes_back(imported(path), format, tmp_path)


@pytest.mark.parametrize("format", WRITTEN)
def test_the_real_slice_comes_back(format: str, tmp_path: Path) -> None:
    comes_back(imported(shared_data("tau_bench", "gpt-4o-airline.slice.json.gz")), format, tmp_path)


def test_runs_made_here_come_back_as_session_traces(played: Run, tmp_path: Path) -> None:
    comes_back(played, "session-traces", tmp_path)


def pictured(folder: Path) -> Run:
    """A session in which the user and a tool show an image, and a file is only named."""
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    shown = {"type": "image", "source": source}
    chat = [
        {"role": "user", "content": [{"type": "text", "text": "Look:"}, shown]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "c1", "name": "screenshot", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": [shown]},
            {"type": "document", "title": "a.pdf", "source": {**source, "data": "QUJD"}}]},
        {"role": "assistant", "content": "A black page."},
    ]  # fmt: skip
    return imported(samples.write(folder / "seen.json", {"messages": chat}))


@pytest.mark.parametrize("format", WRITTEN)
def test_images_are_in_the_formats_that_can_hold_them(format: str, tmp_path: Path) -> None:
    run = pictured(tmp_path)
    (trajectory,) = exported(run)
    counts = [bool(contained_images(m.extra)) for m in trajectory.messages]
    assert sum(counts) == 2 and run.trajectories.get().images.count() == 1
    (back,) = comes_back(run, format, tmp_path)
    again = [bool(contained_images(m.extra)) for m in back.messages]
    assert sum(again) == (0 if format == "session-traces" else 2)
    if format == "atif":
        seen = [contained_images(m.extra) for m in trajectory.messages]
        assert [contained_images(m.extra) for m in back.messages] == seen
        (file,) = (tmp_path / "x" / "images").iterdir()
        assert file.suffix == ".png" and b64encode(file.read_bytes()).decode() == PNG
        document = json.loads((tmp_path / "x" / "000001.json").read_text())
        assert f"images/{file.name}" in json.dumps(document["steps"][0]["message"])
    if format == "session-traces":
        assert PNG not in (tmp_path / "x" / "000001.jsonl").read_text()
    elif format == "openai-chat":
        second = import_trajectories(path=tmp_path / "x.jsonl", name="again").runs[0]
        assert list(exported(second)) == [trajectory]
        assert PNG not in json.dumps([t.payload for t in second.trajectories.get().turns.all()])


def test_a_session_trace_is_what_the_hub_describes(tmp_path: Path) -> None:
    run = imported(samples.write_sample(tmp_path, "codex"))
    export_run(run=run, format="session-traces", target=tmp_path / "x")
    first, *rest = map(json.loads, (tmp_path / "x" / "000001.jsonl").read_text().splitlines())
    assert first["type"] == "session" and first["harness"] == "planjury" and first["id"]
    fields = {
        "role", "content", "reasoningContent", "toolCalls", "toolCallId", "timestamp", "model"
    }  # fmt: skip
    calls = []
    for line in rest:
        message = line["message"]
        assert line["type"] == "message" and set(message) <= fields
        assert message["role"] in ("user", "assistant", "system", "tool")
        assert isinstance(message["content"], str)
        calls += message.get("toolCalls", [])
    assert calls and all(isinstance(call["function"]["arguments"], str) for call in calls)
    (read,) = read_whole(tmp_path / "x" / "000001.jsonl")
    kept = [{name: value for name, value in first.items() if name != "planjury"}, *rest]
    (other,) = read_whole(samples.write_lines(tmp_path / "other.jsonl", kept))
    ours, theirs = trajectory_counts(read), trajectory_counts(other)
    assert theirs["tool_calls"] == ours["tool_calls"] + ours["hosted_calls"]
    for name in ("matched", "assistant_texts", "thinking", "last_assistant"):
        assert theirs[name] == ours[name]


def test_a_trace_with_a_line_too_few_is_refused(tmp_path: Path) -> None:
    run = imported(samples.write_sample(tmp_path, "codex"))
    export_run(run=run, format="session-traces", target=tmp_path / "x")
    path = tmp_path / "x" / "000001.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(Exception, match="messages, or no 'planjury' in the first line"):
        read_whole(path)


def test_each_format_says_what_it_cannot_hold_before_it_is_written(tmp_path: Path) -> None:
    assert set(LIMITS) == set(WRITERS) >= set(STREAMS)
    run = imported(samples.write_sample(tmp_path, "codex"))
    err = io.StringIO()
    target = tmp_path / "x"
    call_command(
        "export_trajectories", str(run.pk), str(target), format="atif",
        stderr=err, stdout=io.StringIO(),
    )  # fmt: skip
    assert LIMITS["atif"] in err.getvalue()
