"""Whole episodes against recordings of the reference runtime."""

import gzip
import hashlib
import json

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.systems.planbench_xl.environment.actions import parse_tagged, read_request
from benchmarks.systems.planbench_xl.environment.query import Query
from benchmarks.systems.planbench_xl.environment.retrieval import check_request, select
from benchmarks.systems.planbench_xl.metrics import evaluation_report, summarise
from benchmarks.systems.planbench_xl.settings import resolve
from devtools.recordings.replay import (
    ReplayReport,
    group_of,
    read_recordings,
    read_tool_index,
    replay,
    replay_recordings,
    replayed,
    why_not,
)
from tests.benchmarks.systems.planbench_xl import slice
from tests.shared_data import shared_data


def recordings():
    return shared_data("planbench_xl", "reference_runs_public.jsonl.gz")


@pytest.fixture(scope="module")
def played():
    report, outcomes = ReplayReport(), {}
    for one in replayed(read_recordings(recordings()), slice.dataset()):
        report.add(one)
        if one.outcome is not None:
            group = outcomes.setdefault(group_of(one.recording), {})
            group[one.recording["query_id"]] = one.outcome
    return report, outcomes


@pytest.fixture(scope="module")
def report(played):
    return played[0]


def written(**changes):
    """A line with a recording that has the right form, but for changes."""
    fields = {"data": "", "setting": "", "agent": "", "query_id": "", "steps": []}
    return json.dumps({**fields, "result": {}, "eval": {}, **changes})


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


def test_aggregates_agree(played):
    path = shared_data("planbench_xl", "evaluation_public.json")
    wanted = {key: value for key, value in json.loads(path.read_text()).items() if "slice" in key}
    assert set(played[1]) == set(wanted)
    for group, outcomes in played[1].items():
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
    others = dataset._replace(tasks=tuple(t for t in dataset.tasks if t != task_of(recording)))

    tasks = {task.id: task for task in others.tasks}
    assert why_not(recording, others, tasks) == "the data do not hold its query"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("nonsense", "a JSON object, found none"),
        ("[]", "a JSON object, found none"),
        ("[" * 100_000, "a JSON object, found none"),
        ('{"n": ' + "9" * 5000 + "}", "a JSON object, found none"),
        ('{"data": "slice"}', "a text under 'setting', found nothing"),
        (written(data=5), "a text under 'data', or no such field, found the number 5"),
        (
            written(steps=[{"a": "x"}]),
            "an action (a) and an observation (o) in step 1, found an object with a",
        ),
    ],
)
def test_a_file_that_holds_no_recordings_is_refused(tmp_path, line, wanted):
    path = tmp_path / "runs.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write(f"{line}\n")

    with pytest.raises(FileRefused) as refused:
        list(read_recordings(path))
    assert str(refused.value) == f"runs.jsonl.gz, line 1: expected {wanted}"


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


# --- other forms of recordings ---------------------------------------------------------------


def numbered(recording, names):
    """A recording with numbers for tools and without the name of its data."""
    places = {name: number for number, name in enumerate(names)}
    recording.pop("data")
    for step in recording["steps"]:
        seen = step["o"]
        if "tools" in seen:
            seen["tools"] = [places[name] for name in seen["tools"]]
        if "tool" in seen:
            seen["tool"] = places[seen["tool"]]
    return recording


@pytest.mark.parametrize("packed", [False, True])
def test_numbers_stand_for_tools_of_an_index(tmp_path, packed):
    names = sorted(slice.world().tools)
    index, runs = tmp_path / "index.json", tmp_path / "runs.jsonl"
    text = json.dumps(names).encode()
    index.write_bytes(gzip.compress(text) if packed else text)
    agents = ("oracle", "naive")
    lines = [json.dumps(numbered(first(agent=a, data="slice"), names)) for a in agents]
    runs.write_text("\n\n".join(lines) + "\n")

    report = replay_recordings(runs, slice.folder(), tool_index=index)
    assert (report.matches, report.mismatches, report.differences) == (2, 0, [])

    names[0], names[1:] = names[-1], names[:-1]
    index.write_text(json.dumps(names))
    assert replay_recordings(runs, slice.folder(), tool_index=index).mismatches == 2


@pytest.mark.parametrize(
    ("seen", "named", "wanted"),
    [
        ({"tools": [0, 9]}, True, "a number below 2, as many names as the tool index has,"),
        ({"tools": [-1]}, True, "in tools[0], found the number -1"),
        ({"tools": [True]}, True, "a name or a number in tools[0], found true"),
        ({"tools": {"a": 1}}, True, "a list under 'tools', found an object with a"),
        ({"tools": ["x", 0]}, False, "a name (numbers need --tool-index FILE) in tools[1]"),
        ({"tool": 2}, True, "under 'tool', found the number 2"),
        ({"tool": [0]}, True, "a name or a number under 'tool', found a list of 1"),
    ],
)
def test_numbers_that_stand_for_no_tool_are_faults(tmp_path, seen, named, wanted):
    runs = tmp_path / "runs.jsonl"
    runs.write_text(written(steps=[{"a": "", "o": {}}, {"a": "", "o": seen}]) + "\n")
    with pytest.raises(FileRefused) as refused:
        list(read_recordings(runs, ["x", "y"] if named else None))
    assert str(refused.value).startswith("runs.jsonl, line 1, step 2: expected")
    assert wanted in str(refused.value)


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("{}", "index.json: expected a list of at most 1,000,000 tool names"),
        ('["a", 5]', "index.json, entry 1: expected a text, found the number 5"),
        ('["a", ""]', "index.json, entry 1: expected a text that is not blank"),
        ("[", "index.json: expected JSON in UTF-8"),
    ],
)
def test_a_tool_index_of_another_form_is_refused(tmp_path, content, wanted):
    path = tmp_path / "index.json"
    path.write_text(content)
    with pytest.raises(FileRefused) as refused:
        read_tool_index(path)
    assert wanted in str(refused.value)


def test_recordings_that_break_off_name_the_line(tmp_path):
    runs = tmp_path / "runs.jsonl.gz"
    packed = gzip.compress(f"{written()}\n{written()}\n".encode())
    runs.write_bytes(packed[:-4])
    with pytest.raises(FileRefused, match=r"runs\.jsonl\.gz, after line \d: expected a file that"):
        list(read_recordings(runs))


def test_odd_characters_in_actions_do_no_harm(tmp_path):
    recording = first(agent="oracle", data="slice")
    action = '<retrieve_tools>{"meta_tool": "by_output_info", "output_information": "\ud800"}'
    recording["steps"][0]["a"] = f"{action}</retrieve_tools>"
    runs = tmp_path / "runs.jsonl"
    runs.write_text(json.dumps(recording) + "\n")
    assert replay_recordings(runs, slice.folder()).mismatches == 1


def test_reasons_are_counted_apart_up_to_a_limit():
    report = ReplayReport()
    recordings = ({"setting": f"s{n}", "query_id": "", "steps": []} for n in range(500))
    dataset = slice.dataset()
    known = dataset.tasks[0].id
    for one in replayed(({**r, "query_id": known} for r in recordings), dataset):
        report.add(one)
    assert len(report.not_replayable) == 101
    assert report.record()["not_replayable"] == 500
