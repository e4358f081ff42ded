"""Whole episodes against recordings of the reference runtime."""

import gzip
import hashlib
import json
from dataclasses import replace

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.systems.planbench_xl.actions import parse_tagged, read_request
from benchmarks.systems.planbench_xl.metrics import evaluation_report, summarise
from benchmarks.systems.planbench_xl.query import Query
from benchmarks.systems.planbench_xl.replay import (
    read_recordings,
    replay,
    replay_recordings,
    why_not,
)
from benchmarks.systems.planbench_xl.retrieval import check_request, select
from benchmarks.systems.planbench_xl.settings import resolve
from tests.benchmarks.systems.planbench_xl import slice
from tests.shared_data import shared_data


def recordings():
    return shared_data("planbench_xl", "reference_runs_public.jsonl.gz")


@pytest.fixture(scope="module")
def report():
    return replay_recordings(recordings(), slice.folder())


def first(**wanted):
    for recording in read_recordings(recordings()):
        if all(recording[key] == value for key, value in wanted.items()):
            return recording
    raise AssertionError(f"no recording with {wanted}")


def task_of(recording):
    return next(task for task in slice.dataset().tasks if task.id == recording["query_id"])


def test_every_recording_on_these_data_agrees(report):
    assert report.differences == []
    assert (report.episodes, report.matches, report.mismatches) == (480, 240, 0)
    assert report.steps == sum(
        len(r["steps"]) for r in read_recordings(recordings()) if r["data"] == "slice"
    )


def test_recordings_on_other_data_are_no_matches(report):
    assert report.record()["not_replayable"] == 240
    assert list(report.not_replayable) == ["made on other data (full)"]


def test_aggregates_agree(report):
    path = shared_data("planbench_xl", "evaluation_public.json")
    wanted = {key: value for key, value in json.loads(path.read_text()).items() if "slice" in key}
    assert set(report.outcomes) == set(wanted)
    for group, outcomes in report.outcomes.items():
        found = evaluation_report(outcomes)
        assert found["evaluated_count"] == wanted[group]["n"]
        assert found["metrics"] == wanted[group]["metrics"], group
        assert summarise(list(outcomes.values()))["failures"] == wanted[group]["outcomes"], group


@pytest.mark.parametrize(
    ("agent", "spoil", "field"),
    [
        ("oracle", lambda o: o["tools"].reverse(), "tools"),
        ("oracle", lambda o: o.update(tool_count=1), "tool_count"),
        ("oracle", lambda o: o.update(note="no_io_match"), "note"),
        ("oracle", lambda o: o.update(cat="err_label"), "cat"),
    ],
)
def test_a_difference_in_a_step_is_found(agent, spoil, field):
    recording = first(agent=agent, data="slice")
    spoil(recording["steps"][0]["o"])

    (difference,), _ = replay(recording, task_of(recording))

    assert (difference.step, difference.field) == (1, field)


def test_a_difference_at_the_end_is_found():
    recording = first(agent="naive", data="slice")
    recording["result"]["discovered"] += 1
    recording["eval"]["turn_count"] += 1

    found, _ = replay(recording, task_of(recording))

    assert {one.field for one in found} == {"result.discovered", "eval.turn_count"}


def test_a_recording_that_ends_early_or_late_is_found():
    recording = first(agent="oracle", data="slice")
    short = {**recording, "steps": recording["steps"][:-1]}
    long = {**recording, "steps": [*recording["steps"], recording["steps"][0]]}

    assert [one.field for one in replay(short, task_of(recording))[0]] == ["end"]
    assert [one.field for one in replay(long, task_of(recording))[0]] == ["end"]


def test_names_may_be_recorded_by_their_hash():
    """As recordings on the complete data have them; 8 digits of another name do not do."""
    recording = first(agent="oracle", data="slice")
    tools = recording["steps"][0]["o"]["tools"]
    tools[:] = [hashlib.sha256(name.encode()).hexdigest()[:8] for name in tools]
    assert replay(recording, task_of(recording))[0] == []

    tools[0] = hashlib.sha256(b"another").hexdigest()[:8]
    assert [one.field for one in replay(recording, task_of(recording))[0]] == ["tools"]


def test_a_query_that_the_data_lack_is_not_replayable():
    dataset = slice.dataset()
    recording = first(agent="oracle", data="slice")
    others = replace(dataset, tasks=tuple(t for t in dataset.tasks if t != task_of(recording)))

    tasks = {task.id: task for task in others.tasks}
    assert why_not(recording, others, tasks) == "the data do not hold its query"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("nonsense", "a JSON object"),
        ("[]", "a JSON object"),
        ('{"data": "slice"}', "a text under 'setting'"),
        (
            '{"data": "", "setting": "", "agent": "", "query_id": "", "steps": [{"a": "x"}], '
            '"result": {}, "eval": {}}',
            "an action (a) and an observation (o) in step 1",
        ),
    ],
)
def test_a_file_that_holds_no_recordings_is_refused(tmp_path, line, wanted):
    path = tmp_path / "runs.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write(f"{line}\n")

    with pytest.raises(FileRefused) as refused:
        list(read_recordings(path))
    assert str(refused.value) == f"runs.jsonl.gz, line 1: expected {wanted}, found none"


def test_what_can_be_told_of_recordings_on_the_complete_data():
    """Without these data: what phrases mean where it is a data type of the part, notes, and lists
    that hold tools of the part alone, in their order."""
    dataset = slice.dataset()
    world = slice.world()
    tasks = {task.id: task for task in dataset.tasks}
    known = {datatype.name for datatype in world.datatypes}
    named = {hashlib.sha256(name.encode()).hexdigest()[:8]: name for name in world.tools}
    matches = lists = 0
    for recording in read_recordings(recordings()):
        if recording["data"] != "full":
            continue
        query = Query(world, tasks[recording["query_id"]], resolve_setting(recording))
        for step in recording["steps"]:
            read = parse_tagged(step["a"], {})
            seen = step["o"]
            assert (read["kind"] == "label_error") == (seen["cat"] == "err_label")
            if seen["cat"] != "retrieve_ok":
                continue
            found = select(world, check_request(read_request(read["content"]), "retail"))
            meant = [seen["matched"].get("output_information")]
            meant += seen["matched"].get("input_information", [])
            if known.issuperset(filter(None, meant)):
                assert found.matched == seen["matched"]
                matches += 1
            if seen["tools"] and named.keys() >= set(seen["tools"]):
                tools = query.arrangement.arrange(world, found)
                assert [tool.name for tool in tools] == [named[one] for one in seen["tools"]]
                lists += 1
    assert (matches, lists) == (1903, 465)


def resolve_setting(recording):
    return resolve({"condition": recording["setting"]})
