"""Files of problems: what is read, and that malformed ones are refused in words."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.systems.adaplanbench_construction.problem_files import read_problem_files
from benchmarks.systems.adaplanbench_construction.problems import macgyver_problems
from tests.benchmarks.systems.adaplanbench.macgyver_problems import (
    results,
    row,
    write_results,
    write_workbook,
)
from tests.shared_data import shared_data

KITE = {"problem": "A kite hangs in a tree.", "solution": "1. Fetch a rake.\n2. Lift it down."}
CSV = 'problem,solution,category\n"A kite hangs, high.",1. Fetch a rake.,garden\n'


def write(path: Path, data: Any) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return path


@pytest.mark.parametrize("wrapped", [True, False])
def test_rows_of_json(tmp_path: Path, wrapped: bool) -> None:
    rows = [KITE, {**KITE, "id": 7, "category": "garden"}]
    read = read_problem_files(write(tmp_path / "p.json", {"data": rows} if wrapped else rows))
    assert [(t.id, t.prompt, t.category) for t in read.tasks] == [
        ("problem-1", KITE["problem"], ""),
        ("7", KITE["problem"], "garden"),
    ]
    assert read.tasks[0].payload == {"solution": KITE["solution"]}
    assert (read.source, read.notes) == ("p.json", "2 problems.")


def test_rows_of_csv(tmp_path: Path) -> None:
    read = read_problem_files(write(tmp_path / "p.csv", b"\xef\xbb\xbf" + CSV.encode()))
    (task,) = read.tasks
    assert (task.prompt, task.category) == ("A kite hangs, high.", "garden")
    again = read_problem_files(write(tmp_path / "q.csv", CSV.encode() + b"B,Do it.,\n"))
    assert again.checksum != read.checksum


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("p.json", b"{", "p.json: expected JSON"),
        ("p.json", b'{"rows": []}', "expected a list of problems"),
        ("p.json", [], "expected at least one problem"),
        ("p.json", [3], "[0]: expected an object with a problem and its solution"),
        ("p.json", [{"problem": "A."}], "[0], solution: expected a text, found nothing"),
        ("p.json", [{**KITE, "problem": " "}], "[0], problem: expected a text that is not blank"),
        ("p.json", [{**KITE, "answer": "A."}], "[0], answer: expected one of id, problem"),
        ("p.json", [KITE, {**KITE, "id": "problem-1"}], "[1], id: expected an id of its own"),
        ("p.json", [{**KITE, "id": True}], "[0], id: expected a text, found true"),
        ("p.csv", b"\xff", "p.csv: expected text in UTF-8"),
        ("p.csv", b"problem,solution\nA.\n", "line 2, solution: expected a text"),
        ("p.xlsx", b"no zip", "p.xlsx: expected an xlsx workbook"),
    ],
)
def test_what_is_wrong_is_told_by_place(tmp_path: Path, name: str, data: Any, said: str) -> None:
    with pytest.raises(FileRefused) as refused:
        read_problem_files(write(tmp_path / name, data))
    assert said in str(refused.value)


def test_a_workbook_needs_no_answers(tmp_path: Path) -> None:
    book = write_workbook(tmp_path / "p.xlsx", [row(), row(ID=18, **{"Solvable?": "No"})])
    alone = read_problem_files(book)
    both = read_problem_files(book, write_results(tmp_path / "r.json", results()))
    assert [task.id for task in alone.tasks] == [task.id for task in both.tasks] == ["macgyver-17"]
    assert not alone.tasks[0].payload["plans"] and both.tasks[0].payload["plans"]
    assert alone.checksum != both.checksum
    assert "1 without a solution that is a plan were left out" in both.notes
    assert both.licence == "Apache-2.0"


def test_answers_without_a_workbook_are_refused(tmp_path: Path) -> None:
    rows = write(tmp_path / "p.json", [KITE])
    with pytest.raises(FileRefused, match="a MacGyver workbook"):
        read_problem_files(rows, write_results(tmp_path / "r.json", results()))


def test_real_problems_bring_their_answers() -> None:
    files = ("problem_solution_pair.slice.xlsx", "benchmark_results.slice.json")
    found = macgyver_problems(*(shared_data("macgyver", name) for name in files))
    for task in islice(found, 2):
        assert task.payload["solution"].startswith("1. ")
        assert {plan["author"] for plan in task.payload["plans"]} >= {"Prolific"}
