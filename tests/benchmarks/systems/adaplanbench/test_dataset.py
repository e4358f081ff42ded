"""The published file format: what is read from it, what is refused, and that memory is bounded."""

import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.core.problems import SHOWN, FileRefused
from benchmarks.core.types import Constraint, Profile, Task
from benchmarks.systems.adaplanbench.dataset import ROUND, check_file, read_tasks, write_tasks

Write = Callable[[Any], Path]


def pool(place: int, tools: list[Any], prefs: list[Any]) -> dict[str, Any]:
    return {"tools": tools, "prefs": prefs, "metadata": {ROUND: place, "planner": "x"}}


def query(name: Any = "q1", **changes: Any) -> dict[str, Any]:
    row = {
        "query_id": name,
        "query": "Get the kite out of the tree.",
        "ban_pool": [
            pool(2, ["No ladder.", "No rake."], [{"text": "No climbing."}]),
            pool(1, ["No ladder."], ["No climbing."]),
        ],
    }
    return {**row, **changes}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(data: Any) -> Path:
        path = tmp_path / "adaplanbench_queries.json"
        if isinstance(data, list):
            data = {"metadata": {"any": ["thing"]}, "data": data}
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        return path

    return write


def faults(path: Path) -> list[str]:
    with pytest.raises(FileRefused) as refused:
        check_file(path)
    return [str(problem) for problem in refused.value.problems]


def test_rounds_become_levels_and_a_text_keeps_its_key(write: Write) -> None:
    path = write([query(), query(7)])
    checked = check_file(path)
    (task, profiles), (other, _) = read_tasks(path)
    assert (task.id, other.id) == ("q1", "7")
    assert task.prompt == "Get the kite out of the tree."
    assert [p.level for p in profiles] == ["low", "mid"]
    assert profiles[0].constraints == (
        Constraint("w1", "world", "No ladder."),
        Constraint("u1", "user", "No climbing."),
    )
    assert [c.key for c in profiles[1].constraints] == ["w1", "w2", "u1"]
    assert (checked.tasks, checked.profiles, checked.constraints, checked.repeated) == (2, 4, 10, 0)


def test_later_rounds_have_names_of_their_own(write: Write) -> None:
    pools = [pool(place, ["No ladder."], []) for place in range(1, 7)]
    ((_, profiles),) = read_tasks(write([query(ban_pool=pools)]))
    assert [p.level for p in profiles] == ["low", "mid", "high", "round-4", "round-5", "round-6"]


def test_a_constraint_that_stands_twice_is_taken_once_and_counted(write: Write) -> None:
    path = write([query(ban_pool=[pool(1, ["No ladder.", " No ladder."], [])])])
    ((_, (profile,)),) = read_tasks(path)
    assert [c.key for c in profile.constraints] == ["w1"]
    assert check_file(path).repeated == 1


def test_the_checksum_is_that_of_the_bytes(write: Write) -> None:
    import hashlib

    path = write([query()])
    assert check_file(path).checksum == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"query_id": None}, "query_id: expected a text or a whole number, found nothing"),
        ({"query_id": True}, "query_id: expected a text or a whole number, found true"),
        ({"query": 5}, "query: expected a text, found the number 5"),
        ({"query": "  "}, "query: expected a text that is not blank, found the text '  '"),
        ({"query": "a\x00b"}, "query: expected a text without NUL"),
        ({"ban_pool": []}, "ban_pool: expected a list with at least one pool, found a list of 0"),
        ({"ban_pool": [3]}, "ban_pool[0]: expected an object, found the number 3"),
        ({"ban_pool": [pool(7, [], [])]}, f"ban_pool[0].metadata.{ROUND}: expected a whole number"),
        (
            {"ban_pool": [{"tools": [], "prefs": []}]},
            "expected a whole number from 1 to 6, found n",
        ),
        ({"ban_pool": [pool(1, [], [])] * 2}, "expected each round once, found the number 1"),
        ({"ban_pool": [pool(1, "tools", [])]}, "ban_pool[0].tools: expected a list of at most"),  # type: ignore[arg-type]
        ({"ban_pool": [pool(1, ["a", 4], [])]}, "ban_pool[0].tools[1]: expected a text, or an obj"),
        (
            {"ban_pool": [pool(1, [], [{"t": 1}])]},
            "prefs[0]: expected a text, or an object with su",
        ),
        ({"ban_pool": [pool(1, [], [{"text": []}])]}, "prefs[0]: expected a text, or an object wi"),
    ],
)
def test_a_fault_is_named_with_its_place(write: Write, change: dict[str, Any], said: str) -> None:
    (fault,) = faults(write([query(), query("q2", **change)]))
    assert fault.startswith("adaplanbench_queries.json, data[1] (")
    assert said in fault


def test_an_id_may_stand_once(write: Write) -> None:
    (fault,) = faults(write([query("1"), query(1)]))
    assert "data[1] (query_id 1), query_id: expected an id of its own" in fault


def test_all_faults_are_counted_and_twenty_are_told(write: Write) -> None:
    path = write([query(n, query=None) for n in range(33)])
    with pytest.raises(FileRefused) as refused:
        check_file(path)
    assert refused.value.total == 33
    assert len(refused.value.problems) == SHOWN == 20
    assert str(refused.value).endswith("… and 13 more")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "expected JSON"),
        (b"\xff\xfe\x00", "expected JSON"),
        (b"query_id,query\n1,2\n", "expected JSON"),
        (b"[1, 2]", "expected an object, found a list"),
        (b"{}", "expected an object with the field 'data', found none"),
        (b'{"data": {"a": 1}}', "expected a list under 'data', found an object"),
        (b'{"data": []}', "expected at least one query"),
        (b'{"data": [3]}', "expected an object, found the number 3"),
        (b'{"data": [{"query_id": 1', "expected JSON, found parse error: premature EOF"),
        (b'{"data": [1e99999999999999999999]}', "a number out of range"),
        (b'{"data": [' + b"9" * 5000 + b"]}", "expected numbers of less than 2000 digits"),
        (b'{"data": ' + b"[" * 100_000, "expected at most 40 levels"),
        (b'{"other": ' + b'{"a":' * 100_000, "expected at most 40 levels"),
        (b'{"data": ["' + b"a" * (5 << 20) + b'"]}', "expected texts of at most 4 MB"),
        (b'{"data": [[' + b"1," * 300_000 + b"1]]}", "expected items of at most 200000 parts"),
    ],
)
def test_what_is_no_such_file_is_refused_in_words(write: Write, content: bytes, said: str) -> None:
    assert said in faults(write(content))[0]


def test_a_truncated_file_names_the_lines_where_it_ends(write: Write) -> None:
    whole = json.dumps({"data": [query(n) for n in range(500)]}, indent=1).encode()
    (fault,) = faults(write(whole[:-300]))
    assert "expected JSON, found parse error: premature EOF" in fault
    assert "(bytes " in fault


def test_a_missing_file_is_a_fault_too(tmp_path: Path) -> None:
    assert "expected a file to read" in faults(tmp_path / "none.json")[0]


def test_memory_does_not_grow_with_the_file(write: Write) -> None:
    row = query(ban_pool=[pool(1, [f"No tool number {n}." for n in range(40)], [])])

    def peak(queries: int) -> int:
        path = write([{**row, "query_id": n} for n in range(queries)])
        tracemalloc.start()
        check_file(path)
        for _ in read_tasks(path):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # Ten times the queries need next to nothing more: only their ids are remembered.
    assert peak(600) < peak(60) + 300_000


def test_what_is_written_is_read_again(write: Write, tmp_path: Path) -> None:
    tasks = list(read_tasks(write([query(), query("q2")])))
    path = tmp_path / "again.json"
    with path.open("w", encoding="utf-8") as file:
        assert write_tasks(tasks, file, {"made by": "a test"}) == 2
    assert list(read_tasks(path)) == tasks


def test_levels_that_are_no_round_are_not_written() -> None:
    file = io.StringIO()
    write_tasks([(Task("a", "Do it."), [Profile("easy", ())])], file, {})
    assert json.loads(file.getvalue())["data"] == [
        {"query_id": "a", "query": "Do it.", "ban_pool": []}
    ]
