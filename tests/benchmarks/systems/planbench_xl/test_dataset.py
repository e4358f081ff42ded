"""Loading a folder: what is sound is loaded whole, what is not is refused with its faults."""

import copy
import gzip
import json
import re

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.systems.planbench_xl.dataset import load_dataset
from benchmarks.systems.planbench_xl.environment.catalogue import world_of
from benchmarks.systems.planbench_xl.environment.query import Query
from benchmarks.systems.planbench_xl.files import NAMES
from benchmarks.systems.planbench_xl.settings import resolve
from benchmarks.systems.planbench_xl.system import SYSTEM
from benchmarks.systems.planbench_xl.world import DATA, DOMAIN, load_world
from benchmarks.systems.planbench_xl.world.build import build, text_of_file
from tests.benchmarks.systems.planbench_xl import slice
from tests.benchmarks.systems.planbench_xl.stage import run


@pytest.fixture(scope="module")
def built():
    return build()


@pytest.fixture
def content(built):
    return copy.deepcopy(built)


def save(folder, content):
    for name, value in content.items():
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder


def faults(folder, content, **options):
    with pytest.raises(FileRefused) as refused:
        load_dataset(save(folder, content), DOMAIN, **options)
    return refused.value


def test_the_shipped_files_are_what_the_rules_build(built):
    for name in NAMES:
        packed = (DATA / f"{name}.json.gz").read_bytes()
        assert gzip.decompress(packed).decode() == text_of_file(built[name]), name


def test_the_shipped_world():
    dataset = load_world()
    sizes = {kind: len(tools) for kind, tools in dataset.shared["tools"].items()}

    assert sizes == {"baseline": 45, "noisy": 225, "blocker": 135}
    assert len(dataset.tasks) == 15
    assert not dataset.has_full_catalogue
    for task in dataset.tasks:
        assert task.shared is dataset.shared
        assert task.payload["example_path"]
        assert sorted(task.payload["example_path"]) in task.payload["paths"]


def test_plain_and_packed_are_the_same(tmp_path, content):
    for name, value in content.items():
        text = text_of_file(value)
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")

    loaded = load_dataset(tmp_path, DOMAIN)

    assert loaded.checksum == load_world().checksum
    assert loaded.shared == load_world().shared
    assert load_dataset(tmp_path, "another").checksum != loaded.checksum


def test_the_published_part_loads():
    dataset = slice.dataset()

    assert len(dataset.tasks) == 20
    assert dataset.tasks[0].id == "retail_query_0018"
    assert not dataset.has_full_catalogue
    # as SOURCE.md has it
    assert dataset.checksums["queries"].startswith("8ab6722b03370ca9")


def test_checksums_are_compared(tmp_path, content):
    save(tmp_path, content)
    loaded = load_dataset(tmp_path, DOMAIN)

    assert load_dataset(tmp_path, DOMAIN, loaded.checksums).checksum == loaded.checksum
    wrong = {**loaded.checksums, "queries": "0" * 64}
    refused = faults(tmp_path, content, checksums=wrong)
    assert [p.where for p in refused.problems] == ["queries.json"]
    assert "SHA-256 0000" in refused.problems[0].expected


def test_missing_files_are_named(tmp_path, content):
    del content["tasks"], content["queries"]

    refused = faults(tmp_path, content)

    assert [p.expected for p in refused.problems] == [
        "a file tasks.json or tasks.json.gz",
        "a file queries.json or queries.json.gz",
    ]
    with pytest.raises(FileRefused, match="expected a folder"):
        load_dataset(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"[1, 2", "JSON in UTF-8"),
        (b"\xff\xfe[]", "JSON in UTF-8"),
        (b"[NaN]", "NaN, which is no JSON"),
        (b"{}", "expected a list with at least one entry"),
        (b"[]", "expected a list with at least one entry"),
    ],
)
def test_files_that_are_no_lists(tmp_path, content, data, found):
    save(tmp_path, content)
    (tmp_path / "tasks.json").write_bytes(data)

    with pytest.raises(FileRefused, match=re.escape(found)) as refused:
        load_dataset(tmp_path, DOMAIN)
    assert refused.value.problems[0].where == "tasks.json"


def test_packed_files_that_are_cut_off(tmp_path, content):
    save(tmp_path, content)
    packed = gzip.compress((tmp_path / "tasks.json").read_bytes())
    (tmp_path / "tasks.json").unlink()
    (tmp_path / "tasks.json.gz").write_bytes(packed[:-20])

    with pytest.raises(FileRefused, match=r"tasks\.json\.gz: expected a file that can be read"):
        load_dataset(tmp_path, DOMAIN)


def first(content, name):
    return content[name][0]


SPOILT = {
    "alias": (
        lambda c: first(c, "datatypes").update(aliases="one"),
        "datatypes.json, entry 0 (customer_number), aliases: expected a list of texts",
    ),
    "value type": (
        lambda c: first(c, "datatypes").update(value_type="date"),
        "datatypes.json, entry 0 (customer_number), value_type: "
        "expected one of string, number, timestamp",
    ),
    "twice": (
        lambda c: c["datatypes"].append(first(c, "datatypes")),
        "datatypes.json, entry 33 (customer_number), name: expected each one once",
    ),
    "row field": (
        lambda c: c["database"]["order_cases"]["case-02"].pop("pot_size"),
        "database.json, row case-02, pot_size: expected a value or null, found no such field",
    ),
    "row value": (
        lambda c: c["database"]["order_cases"]["case-02"].update(pot_size=["x"]),
        "database.json, row case-02, pot_size: expected a text, a number, true, false or null",
    ),
    "rows": (
        lambda c: c.update(database={"orders": {}}),
        "database.json, order_cases: expected an object with rows, found nothing",
    ),
    "input": (
        lambda c: first(c, "baseline_tools").update(input_datatypes=["hue"]),
        "input_datatypes[0]: expected one of the known data types, found the text 'hue'",
    ),
    "output": (
        lambda c: first(c, "baseline_tools").update(output_datatype="hue"),
        "output_datatype: expected a known data type, found the text 'hue'",
    ),
    "arguments": (
        lambda c: first(c, "baseline_tools").update(surface_argument_to_datatype={}),
        "surface_argument_to_datatype: "
        "expected an object from argument names to the input data types",
    ),
    "parameters": (
        lambda c: first(c, "baseline_tools")["parameters"].update(properties={"hue": {}}),
        "parameters.properties: expected the argument names of surface_argument_to_datatype",
    ),
    "strict": (
        lambda c: first(c, "baseline_tools").update(strict="yes"),
        "strict: expected true or false, found the text 'yes'",
    ),
    "name taken": (
        lambda c: c["blocker_tools"][0].update(name=first(c, "noisy_tools")["name"]),
        "name: expected a name that no other tool has",
    ),
    "base": (
        lambda c: first(c, "noisy_tools").update(baseline_tool_name="nobody"),
        "baseline_tool_name: expected the name of a baseline tool, found the text 'nobody'",
    ),
    "noise": (
        lambda c: first(c, "noisy_tools").update(noise_type="loud"),
        "noise_type: expected one of deprecated, condition_limited",
    ),
    "noise twice": (
        lambda c: first(c, "noisy_tools").update(noise_type="stale"),
        "noise_type: expected each type once for look_up_customer_number_by_loyalty_card",
    ),
    "noisy output": (
        lambda c: first(c, "noisy_tools").update(output_datatype="pot_size"),
        "output_datatype: expected what look_up_customer_number_by_loyalty_card has",
    ),
    "return value": (
        lambda c: first(c, "blocker_tools").pop("return_value"),
        "return_value: expected a value or null, found no such field",
    ),
    "blocker missing": (
        lambda c: c["blocker_tools"].pop(0),
        "blocker_tools.json: expected a tool of type 'explicit failures' for "
        "look_up_customer_number_by_loyalty_card, found none",
    ),
    "example": (
        lambda c: first(c, "tasks").update(one_available_path=["nothing"]),
        "one_available_path[0]: expected one of the known baseline tools",
    ),
    "query's task": (
        lambda c: first(c, "queries").update(task_id="task-none"),
        "queries.json, entry 0 (grower-of-entry), task_id: expected the id of a task",
    ),
    "task asked twice": (
        lambda c: c["queries"][1].update(
            {k: first(c, "queries")[k] for k in ("task_id", "target_datatype")}
        ),
        "queries.json, entry 1 (depot-of-entry), task_id: expected one query for each task",
    ),
    "query's target": (
        lambda c: first(c, "queries").update(target_datatype="pot_size"),
        "target_datatype: expected what task-grower-of-entry has, found the text 'pot_size'",
    ),
    "answer": (
        lambda c: first(c, "queries").update(correct_answer=5),
        "correct_answer: expected a text, found the number 5",
    ),
    "path tool": (
        lambda c: c["paths_set_catalog"]["task-grower-of-entry"][0].update(tool_set=["nothing"]),
        "paths_set_catalog.json, task-grower-of-entry[0], tool_set[0]: "
        "expected one of the known baseline tools",
    ),
    "path length": (
        lambda c: c["paths_set_catalog"]["task-grower-of-entry"][0].update(steps=50),
        "steps: expected the number of tools, 3, found the number 50",
    ),
    "no paths": (
        lambda c: c["paths_set_catalog"].pop("task-grower-of-entry"),
        "paths_set_catalog.json: expected the paths of task task-grower-of-entry, found none",
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_faults_name_file_entry_field_and_what_was_expected(tmp_path, content, name):
    spoil, said = SPOILT[name]
    spoil(content)

    refused = faults(tmp_path, content)

    assert any(said in str(problem) for problem in refused.problems), str(refused)


UNLISTED = "nickname"


def give_unlisted(content, *numbers):
    """Let some tasks, and the queries about them, give a data type that is not listed."""
    for number in numbers:
        task = content["tasks"][number]
        task["input_datatypes"] = [*task["input_datatypes"], UNLISTED]
        query = next(q for q in content["queries"] if q["task_id"] == task["task_id"])
        query["input_datatypes"] = list(task["input_datatypes"])
    return content


def test_a_given_data_type_that_is_not_listed_is_a_warning(tmp_path, content):
    loaded = load_dataset(save(tmp_path, give_unlisted(content, 1, 3)), DOMAIN)

    said = "input_datatypes: expected a known data type, found the text 'nickname'"
    assert [warning for warning in loaded.warnings if warning.startswith("tasks")] == [
        f"tasks.json, entry 1 (task-depot-of-entry), {said}",
        f"tasks.json, entry 3 ({content['tasks'][3]['task_id']}), {said}",
    ]
    assert len(loaded.warnings) == 4 and all("nickname" in one for one in loaded.warnings)
    assert UNLISTED in loaded.tasks[1].payload["input_datatypes"]
    assert load_world().warnings == ()


def test_a_task_and_its_query_may_differ_in_what_is_not_listed(tmp_path, content):
    task = content["tasks"][0]
    task["input_datatypes"] = [*task["input_datatypes"], UNLISTED]
    (warning,) = load_dataset(save(tmp_path, content), DOMAIN).warnings
    assert warning.startswith("tasks.json, entry 0 (task-grower-of-entry), input_datatypes")

    task["input_datatypes"].append("pot_size")
    assert "expected what task-grower-of-entry has" in str(faults(tmp_path, content))


@pytest.mark.parametrize("field", ["input_datatypes", "target_datatype", "output_datatype"])
def test_elsewhere_a_data_type_must_be_listed(tmp_path, content, field):
    if field == "target_datatype":
        content["tasks"][0][field] = content["queries"][0][field] = UNLISTED
    else:
        first(content, "baseline_tools")[field] = ["hue"] if "input" in field else "hue"
    assert field in str(faults(tmp_path, content))


@pytest.mark.parametrize("agent", sorted(SYSTEM.scripted))
def test_tasks_that_give_an_unlisted_data_type_are_played_like_others(tmp_path, content, agent):
    plain = load_world().tasks[1]
    odd = load_dataset(save(tmp_path, give_unlisted(content, 1)), DOMAIN).tasks[1]
    outcomes = [run(agent, task) for task in (plain, odd)]

    assert outcomes[0].metrics == outcomes[1].metrics
    held = [outcome.payload["result"]["current_datatypes"] for outcome in outcomes]
    assert set(held[1]) - set(held[0]) == {UNLISTED}


def test_values_that_a_query_states_are_reliable(tmp_path, content):
    """Also where an unreliable tool has returned the same value before."""
    given = first(content, "tasks")["input_datatypes"][0]
    first(content, "queries")["input_values"] = {given: 42}
    task = load_dataset(save(tmp_path, content), DOMAIN).tasks[0]
    holdings = Query(world_of(task.shared), task, resolve({})).holdings
    assert holdings.trusted == {given: {"42"}}
    holdings.distrust(given, 42, "noisy")
    holdings.distrust(given, 43, "noisy")
    assert not holdings.is_untrusted(given, 42) and holdings.is_untrusted(given, 43)


def test_no_more_than_twenty_faults_are_told(tmp_path, content):
    for entry in content["noisy_tools"]:
        entry["noise_type"] = "loud"

    refused = faults(tmp_path, content)

    assert len(refused.problems) == 20
    assert refused.total > 225
    assert str(refused).endswith(f"… and {refused.total - 20} more")


def test_entries_of_the_wrong_kind_are_faults_not_crashes(tmp_path, content):
    for name in NAMES:
        if isinstance(content[name], list):
            content[name] += [None, 5, [], {}, {"name": 3, "task_id": [], "query_id": {}}]
    content["paths_set_catalog"] |= {"task-grower-of-entry": [None, {"tool_set": 4}], "x": 1}

    assert faults(tmp_path, content).total > 20
