"""Files of questions, files of answers, and the command that scores one by the other."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.core.problems import FileRefused
from benchmarks.systems.acpbench_hard import commands
from benchmarks.systems.acpbench_hard.commands import score_acpbench
from benchmarks.systems.acpbench_hard.questions import find_files, read_questions
from tests.benchmarks.systems.acpbench_hard.domains import tunnel
from tests.benchmarks.systems.acpbench_hard.public import rows
from tests.shared_data import shared_data

BIG = -(2**63) + 1


def item(**changes: Any) -> dict[str, Any]:
    texts = tunnel(2, 3, 0)
    return {
        "id": BIG,
        "group": "validation_gen",
        "context": "A grid.",
        "question": 'Which is the first inapplicable action of "(step c0-1 c0-0) (take-ray c0-0)"?',
        "PDDL_domain": texts.domain,
        "PDDL_problem": texts.problem,
        "answer": 1,
        **changes,
    }


def write(path: Path, items: Any) -> Path:
    text = json.dumps(items)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def test_both_naming_schemes_at_any_depth(tmp_path: Path) -> None:
    write(tmp_path / "flat" / "val.dev.gen.json.gz", [item()])
    write(tmp_path / "deep" / "dataset" / "val" / "test.gen.json", [item(id=2), item(id="3")])
    write(tmp_path / "deep" / "dataset" / "val" / "dev.gen.json", [item()])
    write(tmp_path / "deep" / "dataset" / "val" / "dev.bool.json", {"other": 1})
    found = read_questions(find_files(tmp_path))
    assert {(one.question_id, one.split) for one in found} == {
        (BIG, "dev"),
        (2, "test"),
        (3, "test"),
    }
    assert {(one.task, one.domain) for one in found} == {("val", "tunnel")}


def test_the_first_twenty_faults_are_named(tmp_path: Path) -> None:
    faulty = [
        item(id=2**70),
        item(id=True),
        item(group="other"),
        item(context=" "),
        item(answer="1"),
        item(group="progression_gen", answer={"pos": ["(a)"]}),
        item(group="applicable_actions_gen", answer=["(a)", 4]),
        item(group="goal_closer_gen", answer={"yes": [], "no": [], "maybe": [], "opt": "x"}),
        "text",
        *[item(question="")] * 20,
    ]
    path = write(tmp_path / "val.dev.gen.json", faulty)
    with pytest.raises(FileRefused) as refused:
        read_questions([path])
    lines = str(refused.value).splitlines()
    assert len(refused.value.problems) == 20 and lines[-1].startswith("… and ")
    assert lines[0].startswith("val.dev.gen.json, row 1, id: expected a whole number of 64 bits")
    for place in ("row 3, group", "row 4, context", "row 5, answer", "row 6, answer.neg"):
        assert any(place in line for line in lines)
    assert any("row 7, answer[1]" in line for line in lines)
    assert any("row 9: expected fields such as id" in line for line in lines)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1,", b"\xff\xfe", gzip.compress(b"[", mtime=0)[:-4]]
)
def test_broken_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "val.dev.gen.json"
    path.write_bytes(content)
    with pytest.raises(FileRefused, match=r"val\.dev\.gen\.json"):
        read_questions([path])


def test_one_id_for_two_questions_is_a_fault(tmp_path: Path) -> None:
    path = write(tmp_path / "val.dev.gen.json", [item(), item(answer=0)])
    with pytest.raises(FileRefused, match="row 2, id: expected an id of its own"):
        read_questions([path])
    with pytest.raises(FileRefused, match="at least one"):
        read_questions(find_files(tmp_path / "nothing"))


def answers(path: Path, *rows: Any) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def row(response: Any = "1", **changes: Any) -> dict[str, Any]:
    return {
        "task": "val", "split": "dev", "question_id": str(BIG), "response_text": response,
        "further": {"fields": "are ignored"}, **changes,
    }  # fmt: skip


def test_answers_are_scored_in_order_and_summed_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    write(data / "val.dev.gen.json", [item()])
    path = answers(tmp_path / "a.jsonl.gz", row(), row("0"), row("So l0, 1"), row("x", split=None))
    call_command("score_acpbench", str(path), data=data, as_json=True)
    found = json.loads(capsys.readouterr().out)
    keys = {"task", "question_id", "reference", "corrected", "reasons", "cpu_seconds"}
    assert all(set(one) == keys and one["question_id"] == str(BIG) for one in found["rows"])
    scores = [(one["reference"], one["corrected"]) for one in found["rows"]]
    assert scores == [(1, 1), (0, 0), (0, 1), (0, 0)]
    summary = found["by_task"]["val"]
    assert summary["reference"] == {"known": 4, "right": 1, "accuracy": 0.25, "undecided": 0}
    assert (summary["corrected"]["right"], summary["differ"]) == (2, 1)

    call_command("score_acpbench", str(path), data=data)
    assert "reference 1 of 4 right, corrected 2 of 4 right; 1 differ" in capsys.readouterr().out
    call_command("score_acpbench", str(path), data=data, differences=True)
    assert "| first_digits | val | tunnel | So l0, 1 | 0 | 1 |" in capsys.readouterr().out


def test_faults_of_answers_are_named_before_anything_is_scored(tmp_path: Path) -> None:
    data = tmp_path / "data"
    write(data / "val.dev.gen.json", [item()])
    path = answers(
        tmp_path / "a.jsonl", row(), row(task="x"), row(None), row(question_id=5),
        row(split="train"), row(split="test"), [1], row(question_id="5e3"),
    )  # fmt: skip
    with pytest.raises(CommandError) as refused:
        call_command("score_acpbench", str(path), data=data)
    lines = str(refused.value).splitlines()
    places = [line.split(":")[0] for line in lines]
    assert places == [
        "a.jsonl, line 2, task",
        "a.jsonl, line 3, response_text",
        "a.jsonl, line 4, question_id",
        "a.jsonl, line 5, split",
        "a.jsonl, line 6, question_id",
        "a.jsonl, line 7",
        "a.jsonl, line 8, question_id",
    ]


def test_unusable_pddl_leaves_scores_open_where_they_depend_on_it(tmp_path: Path) -> None:
    broken = {"PDDL_domain": "(define (domain broken)"}
    items = [
        item(**broken),
        item(**broken, id=1, group="reachable_atom_gen", answer=["on a"]),
        item(**broken, id=2, group="landmarks_gen", answer={"yes": ["(on a)"], "no": []}),
    ]
    write(tmp_path / "val.dev.gen.json", items)
    path = answers(
        tmp_path / "a.jsonl", row(), row("(on a)", task="reach", question_id=1),
        row("(on b)", task="reach", question_id=1), row("(on a)", task="land", question_id=2),
    )  # fmt: skip
    report = score_acpbench(path, tmp_path)
    scores = [(one.verdict.reference, one.verdict.corrected) for one in report.scored]
    assert scores == [(1, 1), (1, 1), (None, None), (1, 1)]
    assert "parentheses are not closed" in report.scored[2].verdict.reasons[-1]


def test_the_public_verdicts_by_the_command() -> None:
    path = shared_data("acpbench", "reference_verdicts_public.jsonl")
    report = score_acpbench(path, path.parent)
    theirs = [one["reference_score"] for one in rows()]
    assert [one.verdict.reference for one in report.scored] == theirs
    # The table there is what the command prints with --differences.
    readme = Path(commands.__file__).parent / "scoring" / "README.md"
    assert "\n".join(report.differences()) in readme.read_text(encoding="utf-8")
