"""The two MacGyver files: what is read, and that malformed ones are refused in words."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.core import workbooks
from benchmarks.core.problems import FileRefused
from benchmarks.systems.adaplanbench.macgyver.reader import (
    COLUMNS,
    check_files,
    read_macgyver_problems,
)
from tests.benchmarks.systems.adaplanbench.macgyver_problems import (
    ANSWERS,
    ENTRY,
    results,
    row,
    write_results,
    write_workbook,
)
from tests.shared_data import shared_data

Files = Callable[..., tuple[Path, Path]]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    def files(rows: Any = None, answers: Any = None, header: Any = COLUMNS) -> tuple[Path, Path]:
        workbook = tmp_path / "problems.xlsx"
        if isinstance(rows, bytes):
            workbook.write_bytes(rows)
        else:
            write_workbook(workbook, [row()] if rows is None else rows, header)
        found = write_results(tmp_path / "results.json", results() if answers is None else answers)
        return workbook, found

    return files


def faults(paths: tuple[Path, Path]) -> list[str]:
    with pytest.raises(FileRefused) as refused:
        check_files(*paths)
    return [str(problem) for problem in refused.value.problems]


def test_a_problem_comes_with_its_answers(files: Files) -> None:
    paths = files()
    assert list(read_macgyver_problems(*paths)) == [(ENTRY, ANSWERS)]
    checked = check_files(*paths)
    assert (checked.problems, checked.answers) == (1, 8)
    assert (checked.without_verdict, checked.without_answers) == (2, 0)


def test_problems_without_answers_come_last(files: Files) -> None:
    paths = files([row(ID="3"), row(), row(ID=4.0, Label=None)])
    assert check_files(*paths).without_answers == 2
    assert [(entry.id, len(rows)) for entry, rows in read_macgyver_problems(*paths)] == [
        (17, 8),
        (3, 0),
        (4, 0),
    ]


def test_columns_may_stand_in_any_order_and_blank_rows_do_not_matter(files: Files) -> None:
    header = ("Comment", *reversed(COLUMNS))
    paths = files([row(Comment="fine"), {}, row(ID=18)], header=header)
    assert check_files(*paths).problems == 2


def test_the_checksum_depends_on_both_files(files: Files) -> None:
    first = check_files(*files()).checksum
    assert check_files(*files(answers={"17": []})).checksum != first


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row(ID=None)], "row 2, ID: expected a whole number, found nothing"),
        ([row(ID="x")], "row 2, ID: expected a whole number, found the text 'x'"),
        ([row(ID=1.5)], "row 2, ID: expected a whole number, found the number 1.5"),
        ([row(), row()], "row 3, ID: expected an id of its own, found 17, which stands above"),
        ([row(Problem=None)], "row 2 (ID 17), Problem: expected a text, found nothing"),
        ([row(Problem=12)], "row 2 (ID 17), Problem: expected a text, found the number 12"),
        ([row(Solution=" ")], "row 2 (ID 17), Solution: expected a text that is not blank"),
        ([row(**{"Solvable?": "maybe"})], "Solvable?: expected Yes or No, found the text 'maybe'"),
        ([row(Label=3)], "row 2 (ID 17), Label: expected nothing, or a text, found the number 3"),
        ([row(Problem="x" * 30_000)], "Problem: expected a text of at most 20000 characters"),
        ([], "problems.xlsx: expected at least one problem, found none"),
    ],
)
def test_a_fault_of_a_row_is_named_with_its_place(
    files: Files, rows: list[dict[str, Any]], said: str
) -> None:
    assert any(said in fault for fault in faults(files(rows, answers={})))


def test_missing_columns_are_named(files: Files) -> None:
    (fault,) = faults(files([{}], header=("ID", "Problem", "Label"), answers={}))
    assert "row 1: expected the columns Solvable?, Unconventional?, Solution, found ID" in fault


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"x": []}, "problem 'x': expected the number of a problem"),
        ({"18": []}, "problem '18': expected an ID that the workbook holds"),
        (b'{"17": [], "17": []}', "problem '17': expected each problem once"),
        ({"17": {}}, "problem '17': expected a list of at most 1000 answers, found an object"),
        ({"17": [4]}, "'17'[0]: expected an object with model, annotation and solution"),
        ({"17": [{"model": 1, "solution": "x"}]}, "'17'[0].model: expected a text, found the nu"),
        ({"17": [{"model": "m", "solution": None}]}, "'17'[0].solution: expected a text, found no"),
        (
            {"17": [{"model": "m", "solution": "x", "annotation": "good"}]},
            "'17'[0].annotation: expected nothing, or one of correct_efficient",
        ),
        (b"[]", "expected an object, found a list"),
        (b"", "expected JSON"),
        (b'{"17": [{"model": "m"', "expected JSON, found parse error: premature EOF"),
        (b'{"17": ' + b"[" * 50_000, "expected at most 40 levels"),
        (b"PK\x03\x04", "expected JSON"),
    ],
)
def test_a_fault_of_an_answer_is_named_with_its_place(
    files: Files, answers: Any, said: str
) -> None:
    (fault,) = faults(files(answers=answers))
    assert fault.startswith("results.json, ")
    assert said in fault


def test_faults_of_both_files_are_told_at_once(files: Files) -> None:
    found = faults(files([row(ID=None)], answers={"17": 5}))
    assert [fault.split(",")[0] for fault in found] == ["problems.xlsx", "results.json"]


def test_what_is_no_zip_archive_is_refused(files: Files) -> None:
    assert (
        "expected an xlsx workbook, found a file that is no zip" in faults(files(b"ID,Problem"))[0]
    )
    assert "expected a file to read" in faults((Path("none.xlsx"), files()[1]))[0]


def zipped(path: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_another_archive_is_refused(files: Files, tmp_path: Path) -> None:
    other = zipped(tmp_path / "other.xlsx", {"readme.txt": b"hello"})
    assert "found another kind of zip archive" in faults((other, files()[1]))[0]
    half = zipped(tmp_path / "half.xlsx", {"[Content_Types].xml": b"<Types/>"})
    assert "expected a readable xlsx workbook" in faults((half, files()[1]))[0]


def test_archives_that_would_unpack_to_very_much_are_refused(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = files()[1]
    bomb = zipped(tmp_path / "bomb.xlsx", {"[Content_Types].xml": b"0" * (20 << 20)})
    assert "expected contents packed at most 200 to 1" in faults((bomb, answers))[0]
    parts = {f"part{n}": b"" for n in range(600)}
    assert "at most 500 parts" in faults((zipped(tmp_path / "many.xlsx", parts), answers))[0]
    monkeypatch.setattr(workbooks, "MOST_UNPACKED", 1 << 20)
    assert "expected a workbook of at most 1 MB unpacked" in faults((bomb, answers))[0]


def test_entities_that_expand_are_refused(files: Files, tmp_path: Path) -> None:
    workbook, answers = files()
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    bomb = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "lol">{entities}]><worksheet>&e8;'
    changed = tmp_path / "entities.xlsx"
    with zipfile.ZipFile(workbook) as old, zipfile.ZipFile(changed, "w") as new:
        for part in old.infolist():
            sheet = part.filename.startswith("xl/worksheets/")
            new.writestr(part.filename, bomb if sheet else old.read(part.filename))
    (fault,) = faults((changed, answers))
    assert "expected a readable xlsx workbook, found EntitiesForbidden" in fault


def test_the_real_slice_is_sound() -> None:
    checked = check_files(
        shared_data("macgyver", "problem_solution_pair.slice.xlsx"),
        shared_data("macgyver", "benchmark_results.slice.json"),
    )
    assert (checked.problems, checked.answers, checked.without_verdict) == (120, 1740, 1)


def test_a_file_of_many_answers_is_not_held_in_memory(files: Files) -> None:
    import tracemalloc

    def peak(count: int) -> int:
        rows = [row(ID=n) for n in range(1, count + 1)]
        answers = {str(n): results()["17"] * 20 for n in range(1, count + 1)}
        paths = files(rows, json.dumps(answers).encode())
        del answers
        tracemalloc.start()
        for _ in read_macgyver_problems(*paths):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # Sixty more problems are held (some 2 KB each), their 9600 answers are not.
    assert peak(80) < peak(20) + 600_000


@pytest.mark.parametrize("field", ["model", "annotation", "solution"])
@pytest.mark.parametrize("wrong", [["a", "b"], {"a": "b"}], ids=["list", "object"])
def test_a_list_where_a_text_belongs_is_named_with_file_entry_and_field(
    files: Files, field: str, wrong: Any
) -> None:
    entry = {"model": "m", "annotation": "correct_efficient", "solution": "1. Pull it."}
    (fault,) = faults(files(answers={"17": [entry, {**entry, field: wrong}]}))
    assert fault.startswith(f"results.json, problem '17'[1].{field}: expected")
    assert fault.endswith("found a list of 2" if isinstance(wrong, list) else "an object with a")
