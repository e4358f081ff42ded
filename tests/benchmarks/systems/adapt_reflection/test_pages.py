"""Pages of the builder and its export, from a run in the database."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from benchmarks.datasets.services import save_dataset
from benchmarks.models import Agent, Run
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.systems.adapt.dataset import load_personas
from tests.factories.benchmarks import play

TASKS = ("persona_02-cereal", "persona_10-tea_eggs")
FILES = ("preference", "sft", "teacher_only", "star_gate")


@pytest.fixture
def run(db: None) -> Run:
    file = load_personas()
    dataset = save_dataset(
        system="adapt_reflection", name="Kitchen", version="", source="tests", licence="",
        checksum="x", tasks=[row for row in file.tasks if row[0].id in TASKS], shared=file.shared,
    ).dataset  # fmt: skip
    ensure_scripted_agents()
    agent = Agent.objects.get(system="adapt_reflection", policy="reflecting-cook")
    (made,) = start_runs(dataset=dataset, agents=[agent], wake=False)
    play(made)
    made.refresh_from_db()
    return made


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_pages(researcher: Client, run: Run) -> None:
    row = run.trajectories.get(task__external_id=TASKS[1])
    page = researcher.get(reverse("analysis:trajectory", args=[row.pk]), follow=True)
    text = page.content.decode()
    for words in (
        "The student’s action",
        "What the teacher would have done",
        "Decision",
        "chosen:",
        "rejected:",
    ):
        assert words in text, words
    text = researcher.get(reverse("benchmarks:run", args=[run.pk])).content.decode()
    for words in ("Decisions", "Likely teacher", "With other thresholds", "this run",
                  "Questions among the rows", "would teach silence", "Leaked",
                  "say nothing about a model", f"export_reflection {run.pk}"):  # fmt: skip
        assert words in text, words
    text = researcher.get(reverse("benchmarks:task", args=[row.task_id])).content.decode()
    assert "What is expected" in text


def test_export(run: Run, tmp_path: Path) -> None:
    told, warned = StringIO(), StringIO()
    call_command("export_reflection", str(run.pk), out=tmp_path / "a", stdout=told, stderr=warned)
    about = json.loads((tmp_path / "a" / "about.json").read_text())
    assert about["trajectories"] == 2 and about["runs"][0]["run"] == run.pk
    assert "word-table" in json.dumps(about["runs"][0]["roles"])
    for name in FILES:
        rows, side = (lines(tmp_path / "a" / f"{name}{end}.jsonl") for end in ("", ".meta"))
        assert len(rows) == len(side) == about["rows"][name] > 0
    chosen = about["decisions"]
    made = sum(chosen[kind] for kind in ("question", "teacher", "likely_teacher"))
    assert made == about["rows"]["preference"] == about["rows"]["sft"]
    rows = lines(tmp_path / "a" / "preference.jsonl")
    asked = {
        part: sum(row[part][0]["content"].startswith("Ask ") for row in rows)
        for part in ("chosen", "rejected")
    }
    assert asked.items() <= about["questions"].items() and asked["rejected"] > asked["chosen"]
    assert f"{asked['rejected']} of {len(rows)} rejected ones" in told.getvalue()
    assert "would teach silence" in warned.getvalue()
    row = rows[0]
    assert set(row) == {"prompt", "chosen", "rejected"} and row["prompt"][-1]["role"] == "user"

    calls = run.trajectories.count(), run.data_version
    call_command("export_reflection", str(run.pk), out=tmp_path / "b", tau_u=1.0, mean="geometric")
    other = json.loads((tmp_path / "b" / "about.json").read_text())
    assert other["thresholds"] == {"tau_u": 1.0, "tau_d": 0.3, "mean": "geometric"}
    assert other["decisions"]["question"] == 0 and other["steps"] == about["steps"]
    run.refresh_from_db()
    assert calls == (run.trajectories.count(), run.data_version)

    call_command("export_reflection", str(run.pk), out=tmp_path / "c", held_out_fold=0)
    third = json.loads((tmp_path / "c" / "about.json").read_text())
    assert (third["trajectories"], third["left_out"]) == (1, 1)
    datasets = pytest.importorskip("datasets", reason="the extra with datasets is not installed")
    loaded = datasets.load_dataset("json", data_files=str(tmp_path / "a" / "preference.jsonl"))
    assert loaded["train"].num_rows == about["rows"]["preference"]


def test_refusals(run: Run, tmp_path: Path) -> None:
    call_command("export_reflection", str(run.pk), out=tmp_path / "a")
    before = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    with pytest.raises(CommandError, match="already holds"):
        call_command("export_reflection", str(run.pk), out=tmp_path / "a")
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    for options, words in (
        ({"mean": "harmonic"}, "setting 'mean'"),
        ({"tau_d": -1.0}, "setting 'tau_d'"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("export_reflection", str(run.pk), out=tmp_path / "b", **options)
    with pytest.raises(CommandError, match="there is no run"):
        call_command("export_reflection", "999999", out=tmp_path / "b")
    folds = {row.task.payload["fold"] for row in run.trajectories.select_related("task")}
    run.trajectories.exclude(task__payload__fold=min(folds)).update(status="failed")
    with pytest.raises(CommandError, match=rf"in fold {min(folds)}, which is held out"):
        call_command("export_reflection", str(run.pk), out=tmp_path / "b", held_out_fold=min(folds))
    run.trajectories.update(status="failed")
    with pytest.raises(CommandError, match="no trajectory has ended"):
        call_command("export_reflection", str(run.pk), out=tmp_path / "b")
    assert not (tmp_path / "b").exists()
