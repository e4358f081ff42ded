"""Whatever stands where something else belongs in a dataset's file, it is refused in words.

Every value of a sound file is replaced in turn by values of every other kind.
"""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.core import candidates
from benchmarks.core.problems import FileRefused
from benchmarks.systems.adaplanbench import dataset
from benchmarks.systems.adaplanbench.macgyver import reader
from benchmarks.systems.adaplanbench_construction.problem_files import read_problem_files
from tests.benchmarks.systems.adaplanbench.macgyver_problems import row, write_workbook

WRONG: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, float("inf"), "", " ", "\x00", "\ud800", "x" * 30_000,
    [], ["a"], [[]], {}, {"a": 1}, [{}],
)  # fmt: skip
RESULTS = {"17": [{"model": "m", "annotation": "correct_efficient", "solution": "1. Pull it."}]}
QUERIES = {
    "metadata": {"licence": "none"},
    "data": [
        {
            "query_id": "q",
            "query": "How?",
            "ban_pool": [
                {
                    "tools": ["No rope.", {"text": "No tape."}],
                    "prefs": ["No noise."],
                    "metadata": {"candidate_iterative_sample_num": 1},
                }
            ],
        }
    ],
}
CANDIDATES = {
    "data": [
        {
            "query_id": "q",
            "candidates": [
                {"key": "k", "text": "No rope.", "kind": "world", "round": 1,
                 "decision": "removed", "reason": "Vague.", "decided_by": "m", "payload": {"a": 1}}
            ],
        }
    ]
}  # fmt: skip
PROBLEMS = {"data": [{"id": "a", "problem": "How?", "solution": "1. Pull it.", "category": "c"}]}


def read_results(path: Path) -> None:
    workbook = path.with_suffix(".xlsx")
    if not workbook.exists():
        write_workbook(workbook, [row()])
    reader.check_files(workbook, path)
    list(reader.read_macgyver_problems(workbook, path))


def read_queries(path: Path) -> None:
    dataset.check_file(path)
    dataset.read_about(path)
    list(dataset.read_tasks(path))


def read_candidates(path: Path) -> None:
    candidates.check_candidates(path)
    list(candidates.read_candidates(path))


def read_problems(path: Path) -> None:
    read_problem_files(path)


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every value in a value, itself included."""
    yield above
    keys = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    for key in keys:
        yield from places(value[key], (*above, key))


def replaced(value: Any, place: tuple[Any, ...], by: Any) -> Any:
    if not place:
        return by
    value = copy.deepcopy(value)
    inner = value
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = by
    return value


@pytest.mark.parametrize(
    ("sound", "read"),
    [
        pytest.param(RESULTS, read_results, id="macgyver"),
        pytest.param(QUERIES, read_queries, id="queries"),
        pytest.param(CANDIDATES, read_candidates, id="candidates"),
        pytest.param(PROBLEMS, read_problems, id="problems"),
    ],
)
def test_a_wrong_value_is_read_or_refused_and_nothing_else(
    sound: Any, read: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "file.json"
    refused = 0
    for place in places(sound):
        for wrong in WRONG:
            path.write_text(json.dumps(replaced(sound, place, wrong)))
            try:
                read(path)
            except FileRefused as error:
                refused += 1
                assert all(problem.where.startswith("file") for problem in error.problems)
    assert refused > 50
