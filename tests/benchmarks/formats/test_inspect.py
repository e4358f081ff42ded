"""Inspect both ways: what it writes is read with its scores, and it opens what is written here."""

import json
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from benchmarks.exports.services import export_run
from benchmarks.formats.registry import detect
from benchmarks.formats.trajectory import ImportedTrajectory
from benchmarks.formats.writing.inspect import LogFacts, log_members
from benchmarks.models import Run
from tests.benchmarks.formats import samples
from tests.benchmarks.formats.packages import run_with
from tests.benchmarks.formats.reading import read_whole

HERE = Path(__file__).parent
STORED = HERE / "inspect_mock.eval"
OPEN = """
import json, sys
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries
log = read_eval_log(sys.argv[1])
print(json.dumps({
    "status": log.status, "model": log.eval.model, "samples": len(log.samples),
    "summaries": len(read_eval_log_sample_summaries(sys.argv[1])),
    "scores": {f"{one.scorer}/{one.name}": [one.scored_samples, one.unscored_samples,
        {name: metric.value for name, metric in one.metrics.items()}]
        for one in log.results.scores},
    "first": {name: score.value for name, score in log.samples[0].scores.items()},
    "roles": [message.role for message in log.samples[0].messages],
}))
"""


def load(path: Path) -> list[ImportedTrajectory]:
    return read_whole(path, "inspect")


def assert_scored(path: Path) -> None:
    """Check scores against make_inspect_log.py: letters as numbers, one value per dimension."""
    assert detect(path) == "inspect"
    assert {one.task.id: dict(one.scores) for one in load(path)} == {
        "bag": {"reward": 1.0, "match": 1.0, "rubric.brief": 5.0, "rubric.right": 5.0},
        "platform": {"reward": 0.0, "match": 0.0, "rubric.brief": 5.0, "rubric.right": 1.0},
    }
    assert [one.task.hidden for one in load(path)] == [{"target": "Oslo"}, {"target": "4"}]


def test_what_inspect_wrote_is_read_with_its_scores() -> None:
    assert_scored(STORED)


def test_what_inspect_writes_now_is_read_with_its_scores(tmp_path: Path) -> None:
    target = tmp_path / "log.eval"
    run_with("inspect_ai", HERE / "make_inspect_log.py", target)
    assert_scored(target)


def write(path: Path, trajectories: list[ImportedTrajectory]) -> Path:
    facts = LogFacts("1", "Bags", "m", "2026-01-01T00:00:00+00:00", "success", "", {})
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, texts in log_members(facts, trajectories):
            archive.writestr(name, "".join(texts))
    return path


@pytest.mark.parametrize("source", ["inspect_mock.eval", "otel_spans.jsonl"])
def test_what_is_written_is_read_again(source: str, tmp_path: Path) -> None:
    given = read_whole(HERE / source)
    for before, after in zip(given, load(write(tmp_path / "again.eval", given)), strict=True):
        assert after.task.id == before.task.id and after.task.prompt == before.task.prompt
        told = [[(m.speaker, m.text, m.call_id) for m in one.messages] for one in (before, after)]
        assert told[0] == told[1]
        calls = [[c for m in one.messages for c in m.calls] for one in (before, after)]
        assert calls[0] == calls[1]
        assert after.task.hidden == before.task.hidden
        known = {name: value for name, value in before.scores.items() if value is not None}
        assert known.items() <= after.scores.items()


def test_tools_are_read_from_the_events_of_models(tmp_path: Path) -> None:
    tool = {"name": "look_up", "description": "Finds a bag.", "parameters": {"type": "object"}}
    log = samples.inspect_log()
    log["samples"][0]["events"] = [{"event": "model", "tools": [tool]}, {"event": "model"}]
    (read,) = load(samples.write(tmp_path / "log.json", log))
    assert read.tools == (tool,)


def test_a_run_becomes_a_log_of_inspect(played: Run, tmp_path: Path) -> None:
    target = tmp_path / "run.eval"
    assert export_run(run=played, format="inspect", target=target) == 3
    with ZipFile(target) as archive:
        header = json.loads(archive.read("header.json"))
        (name, *_) = [one for one in archive.namelist() if one.startswith("samples/")]
        sample = json.loads(archive.read(name))
    scores = {f"{one['scorer']}/{one['name']}": one for one in header["results"]["scores"]}
    valid = scores["valid/valid"]
    assert valid["scored_samples"] + valid["unscored_samples"] == 3
    assert "rubric/safety" in scores
    assert sample["target"], "hidden conditions are the target"
    assert not any(condition in str(sample["messages"][:2]) for condition in sample["target"])
    (first, *_) = load(target)
    assert first.scores["rubric.safety"] == sample["scores"]["rubric"]["value"]["safety"]


def test_inspect_opens_the_log_of_a_run(played: Run, tmp_path: Path) -> None:
    target = tmp_path / "run.eval"
    export_run(run=played, format="inspect", target=target)
    told = json.loads(run_with("inspect_ai", OPEN, target))
    assert (told["status"], told["samples"], told["summaries"]) == ("success", 3, 3)
    assert told["model"] == played.agent.title
    assert told["roles"][-1] == "assistant"
    first = load(target)[0]
    assert told["first"]["rubric"]["safety"] == first.scores["rubric.safety"]
