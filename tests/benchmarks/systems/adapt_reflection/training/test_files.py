"""Rows with their side file, the split by trajectory, and what is refused before training."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from benchmarks.systems.adapt_reflection.training.files import RowsRefused, read_rows, split_rows
from tests.benchmarks.systems.adapt_reflection.training.exported import write_rows


def test_rows_with_their_trajectories(tmp_path: Path) -> None:
    file = read_rows(write_rows(tmp_path, 8))
    assert [row.trajectory for row in file.rows] == [str(n // 2) for n in range(8)]
    assert [row.fold for row in file.rows] == [n % 4 for n in range(8)]
    assert file.rows[0].row["rejected"][0]["content"] == "Move bowl_0 to table_0"
    assert read_rows(tmp_path / "preference.jsonl") == file and file.about == {}


def test_no_trajectory_is_on_both_sides(tmp_path: Path) -> None:
    rows = read_rows(write_rows(tmp_path, 40)).rows
    split = split_rows(rows, 0.25, 3)
    trained, apart = ({row.trajectory for row in part} for part in (split.train, split.held_out))
    assert (len(trained), len(apart)) == (15, 5) and not trained & apart
    assert len(split.train) + len(split.held_out) == 40
    assert split_rows(rows, 0.25, 3) == split != split_rows(rows, 0.25, 4)
    assert not split_rows(rows, 0, 3).held_out
    assert len({row.trajectory for row in split_rows(rows, 0.01, 3).held_out}) == 1
    # The last trajectory is trained on.
    assert not split_rows(rows[:2], 0.5, 3).held_out


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("preference.jsonl", "{", "preference.jsonl, line 3: expected a JSON object"),
        ("preference.jsonl", "[1]", "line 3: expected a JSON object"),
        ("preference.jsonl", '{"prompt": "x"}', "line 3, prompt: expected a list of messages"),
        ("preference.jsonl", '{"prompt": [{"role": "user", "content": 1}]}', "line 3, prompt"),
        ("preference.meta.jsonl", '{"trajectory": 1}', "line 3, trajectory: expected a name"),
        ("preference.meta.jsonl", '{"trajectory": "1", "fold": "a"}', "line 3, fold"),
        ("preference.meta.jsonl", None, "has 3 lines for 4 rows"),
    ],
)
def test_a_fault_is_named_by_file_and_line(
    tmp_path: Path, name: str, line: str | None, words: str
) -> None:
    write_rows(tmp_path, 4)
    lines = (tmp_path / name).read_text().splitlines()
    lines[2:3] = [] if line is None else [line]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    with pytest.raises(RowsRefused, match=words):
        read_rows(tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"learning_rate": "2"}, "'learning_rate'"),
        ({"batch": "8", "micro_batch": "3"}, "divisor of the batch 8"),
        ({"seed": "-1"}, "'seed'"),
        ({"rows": Path("/nowhere")}, "No such file"),
        ({"fold": 0}, "no row outside fold 0"),
    ],
)
def test_what_is_wrong_is_said_first(
    tmp_path: Path, options: dict[str, object], words: str
) -> None:
    # One row, of fold 0; no model stands at that place, and none is looked for.
    rows = write_rows(tmp_path / "rows", 1)
    given = {"rows": rows, "base": "nowhere", "out": tmp_path / "out", **options}
    with pytest.raises(CommandError, match=words):
        call_command("train_reflection_dpo", **given)
    assert not (tmp_path / "out").exists()


def test_nothing_is_replaced(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, 2)
    with pytest.raises(CommandError, match="is not empty"):
        call_command("train_reflection_dpo", rows=rows, base="nowhere", out=tmp_path)


def test_the_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.systems.adapt_reflection.training import commands

    monkeypatch.setattr(commands, "TRAINING", ("json", "no_such_package"))
    monkeypatch.setattr(commands, "SCORING", ("no_such_package",))
    words = "not installed: no_such_package.*requirements/train.lock"
    with pytest.raises(CommandError, match=words):
        rows = write_rows(tmp_path / "rows", 2)
        call_command("train_reflection_dpo", rows=rows, base="nowhere", out=tmp_path / "out")
    with pytest.raises(CommandError, match=words):
        call_command("serve_scorer", "nowhere")


def test_rows_by_the_word_table_are_named(tmp_path: Path) -> None:
    from benchmarks.systems.adapt_reflection.training.commands import decided_by_table

    rows = write_rows(tmp_path, 2)
    about = {"runs": [{"roles": {"scorer": [{"name": "word-table"}]}}]}
    (rows / "about.json").write_text(json.dumps(about))
    assert decided_by_table(read_rows(rows).about)
    assert not decided_by_table({"runs": [{"roles": {"scorer": [{"name": "student"}]}}]})
