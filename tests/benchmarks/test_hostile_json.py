"""JSON files of valid form with hostile values: each is read, or refused with its faults."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.core.errors import CoreError
from benchmarks.core.problems import FileRefused
from benchmarks.formats import registry as formats
from benchmarks.systems.adaplanbench import dataset
from benchmarks.systems.adaplanbench.macgyver.reader import check_files
from benchmarks.systems.adaplanbench_construction.problem_files import read_problem_files
from tests.benchmarks.hostile_workbooks import plain
from tests.hostile_values import changed, places

CHAT = {
    "messages": [
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "a", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "r"},
    ],
    "model": "m", "metadata": {"k": 1},
}  # fmt: skip
QUERIES = {"data": [{"query_id": "q1", "query": "How?", "ban_pool": [
    {"tools": ["No rope."], "prefs": [], "metadata": {dataset.ROUND: 1}}]}]}  # fmt: skip
ANSWERS = {"1": [{"model": "a", "annotation": "correct_efficient", "solution": "Step1: x"}]}
PROBLEMS = [{"id": "1", "problem": "p", "solution": "1. x", "category": "c"}]
VALUES: list[Any] = [
    None, True, 0, -1, 10**30, 2**63, 1.5, 1e308, float("nan"), float("inf"), "", "x", "\ud800",
    "\x00", "a" * 5000, [], {}, [[]], [1, "a", None], [["deep"]], {"a": {"b": [1]}}, {"": 1},
    "2001-99-99", "0001-01-01T00:00:00+14:00", "[", '{"a":',
]  # fmt: skip
RAW = [
    "[" * 100_000, '{"a":' * 50_000, "9" * 100_000, "1e999999999", "-", '"\\ud800"',
    '"' + "a" * 100_000, "NaN", "\x00", "", "[1,]", "\ufeff[]", "{}" * 1000,
]  # fmt: skip


def check_answers(path: Path) -> object:
    workbook = path.with_name("problems.xlsx")
    workbook.write_bytes(plain())
    return check_files(workbook, path)


READERS: dict[str, tuple[Any, Callable[[Path], object]]] = {
    "chat": (CHAT, lambda path: formats.check_file(path, "")),
    "dataset": (QUERIES, dataset.check_file),
    "answers": (ANSWERS, check_answers),
    "problems": (PROBLEMS, read_problem_files),
}


@pytest.mark.parametrize("name", READERS)
def test_a_hostile_value_in_any_place_is_read_or_refused(name: str, tmp_path: Path) -> None:
    document, read = READERS[name]
    path, rng = tmp_path / "file.json", random.Random(7)
    for place in places(document)[1:]:
        for value in rng.sample(VALUES, 6):
            path.write_text(json.dumps(changed(document, place, value)), encoding="utf-8")
            try:
                read(path)
            except CoreError as refused:
                assert str(refused)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("number", range(len(RAW)))
def test_text_that_is_no_such_file_is_refused(name: str, number: int, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(RAW[number], encoding="utf-8")
    with pytest.raises(CoreError):
        READERS[name][1](path)


@pytest.mark.parametrize("verdict", [["correct_efficient"], {"correct_efficient": 1}, 3, [[]]])
def test_a_list_where_a_verdict_belongs_is_a_fault(verdict: Any, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(changed(ANSWERS, ("1", 0, "annotation"), verdict)))
    with pytest.raises(FileRefused, match="annotation: expected nothing, or one of"):
        check_answers(path)
