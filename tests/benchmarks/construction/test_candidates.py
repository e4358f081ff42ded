"""Candidates: stored as a whole or not at all, and never changed; files that go out come back."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.construction.candidates import (
    DecisionCounts,
    SavedCandidates,
    candidates_of,
    core_candidate,
    dataset_decisions,
    save_candidates,
    tasks_with_candidates,
    with_decisions,
)
from benchmarks.core.candidates import CandidateRow, candidate_key
from benchmarks.core.problems import FileRefused
from benchmarks.core.types import Candidate as Value
from benchmarks.datasets import services as dataset_service
from benchmarks.models import Candidate, Constraint, Dataset
from benchmarks.systems.adaplanbench.demo import load_demo_tasks
from tests.factories.benchmarks import TaskFactory, save_sample_dataset
from tests.small_demo import save_household

pytestmark = pytest.mark.django_db

KEPT = Value("w1", "world", "No rope.", 1, "kept", decided_by="checker")
REMOVED = Value("u1", "user", "It should be nice.", 2, "removed", "Vague.", "checker", {"n": [1]})
OPEN = Value("u2", "user", "No noise.")


@pytest.fixture
def dataset() -> Dataset:
    task = TaskFactory(external_id="q1")
    TaskFactory(dataset=task.dataset, external_id="q2")
    return task.dataset


def save(dataset: Dataset, *values: Value, task: str = "q1") -> SavedCandidates:
    return save_candidates(dataset=dataset, rows=[CandidateRow(task, value) for value in values])


class TestSaving:
    def test_they_are_read_back_as_they_were(self, dataset: Dataset) -> None:
        assert save(dataset, KEPT, REMOVED, OPEN) == SavedCandidates(3, 0)
        (task,) = tasks_with_candidates(dataset)
        assert task.external_id == "q1"
        rows = candidates_of(dataset.tasks.all())
        assert [core_candidate(row) for row in rows[task.pk]] == [REMOVED, OPEN, KEPT]
        assert [len(found) for found in rows.values()] == [3, 0]

    def test_the_same_again_adds_nothing(self, dataset: Dataset) -> None:
        save(dataset, KEPT)
        assert save(dataset, KEPT, REMOVED) == SavedCandidates(1, 1)
        assert save(dataset, KEPT, task="q2") == SavedCandidates(1, 0)

    @pytest.mark.parametrize(
        ("field", "value"),
        [("text", "No string."), ("kind", "user"), ("round", 2), ("decision", "removed"),
         ("reason", "Why not."), ("decided_by", "another"), ("payload", {"truth": "keep"})],
    )  # fmt: skip
    def test_another_content_for_a_known_key_is_refused_by_row_and_field(
        self, dataset: Dataset, field: str, value: Any
    ) -> None:
        save(dataset, KEPT)
        changed = replace(KEPT, **{field: value})
        with pytest.raises(FileRefused) as refused:
            save(dataset, REMOVED, changed)
        (problem,) = refused.value.problems
        assert problem.where == f"rows[1] (task q1, key w1), {field}"
        assert "what is stored under the key w1" in problem.expected
        assert [core_candidate(row) for row in Candidate.objects.all()] == [KEPT]

    def test_a_text_has_one_key(self, dataset: Dataset) -> None:
        save(dataset, KEPT)
        with pytest.raises(FileRefused, match="found that of the stored candidate w1"):
            save(dataset, replace(KEPT, key="w2"))
        with pytest.raises(FileRefused, match="found that of the stored candidate u1"):
            save(dataset, REMOVED, replace(REMOVED, key="u9"))

    @pytest.mark.parametrize(
        ("field", "value", "expected"),
        [("key", "", "not blank"), ("key", "k" * 61, "at most 60"), ("kind", "w", "'world' or 'us"),
         ("text", " ", "not blank"), ("text", "a\x00b", "without NUL"), ("round", 0, "1 to 6"),
         ("round", True, "1 to 6"), ("decision", "maybe", "'kept', 'removed' or nothing"),
         ("decision", None, "nothing where nothing was decided"), ("reason", 7, "a text"),
         ("payload", [], "an object"), ("payload", {"a": "\x00"}, "without NUL"),
         ("payload", {"a": float("nan")}, "JSON values"),
         ("payload", {"a": "x" * 20_000}, "20000")],
    )  # fmt: skip
    def test_what_is_no_candidate_is_refused(
        self, dataset: Dataset, field: str, value: Any, expected: str
    ) -> None:
        with pytest.raises(FileRefused, match=expected):
            save(dataset, KEPT, replace(REMOVED, **{field: value}))
        assert not Candidate.objects.exists()

    def test_faults_are_found_over_all_chunks_and_nothing_is_stored(
        self, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dataset_service, "CHUNK", 2)
        rows = [CandidateRow("q1", replace(KEPT, key=f"w{n}", text=f"No {n}.")) for n in range(5)]
        rows.append(CandidateRow("q7", KEPT))
        with pytest.raises(FileRefused) as refused:
            save_candidates(dataset=dataset, rows=rows)
        assert str(refused.value).startswith("rows[5] (task q7, key w1), query_id: expected the id")
        assert not Candidate.objects.exists()
        assert save_candidates(dataset=dataset, rows=rows[:-1]) == SavedCandidates(5, 0)


def test_the_share_removed_counts_what_was_decided(dataset: Dataset) -> None:
    """Two kept, one removed, one undecided: one in three of the decided."""

    def decisions() -> DecisionCounts | None:
        return dataset_decisions(with_decisions(Dataset.objects.all()).get(pk=dataset.pk))

    assert decisions() is None
    save(dataset, OPEN)
    assert decisions().removed_share is None
    save(dataset, KEPT, REMOVED)
    save(dataset, KEPT, task="q2")
    found = decisions()
    assert (found.tasks, found.kept, found.removed, found.undecided) == (2, 2, 1, 1)
    assert found.removed_share == pytest.approx(1 / 3)


def call(command: str, *args: Any, **options: Any) -> str:
    out = io.StringIO()
    call_command(command, *map(str, args), stdout=out, **options)
    return out.getvalue().strip()


def write(path: Path, *candidates: Any, query_id: Any = "q1") -> Path:
    data = [{"query_id": query_id, "candidates": list(candidates)}]
    path.write_text(json.dumps({"metadata": {}, "data": data}))
    return path


class TestFiles:
    def test_a_short_file_is_enough(self, dataset: Dataset, tmp_path: Path) -> None:
        entry = {
            "text": " No rope. ",
            "kind": "world",
            "round": 1,
            "decision": "kept",
            "reason": None,
        }
        path = write(tmp_path / "c.json", entry, {"text": "No noise.", "kind": "user"})
        said = call("import_candidates", path, dataset=dataset.name, decided_by="gpt-x")
        assert said == f"{dataset}: 2 candidates of 1 queries added, 0 known already"
        noise, rope = Candidate.objects.order_by("kind")
        assert core_candidate(rope) == Value(
            candidate_key("world", "No rope."), "world", "No rope.", 1, "kept", decided_by="gpt-x"
        )
        assert (noise.decision, noise.round, noise.decided_by) == (None, None, "")

    def test_order_changes_no_key(self, dataset: Dataset, tmp_path: Path) -> None:
        entries = [{"text": f"No {n}.", "kind": "world"} for n in range(3)]
        call("import_candidates", write(tmp_path / "c.json", *entries), dataset=str(dataset.pk))
        path = write(tmp_path / "d.json", {"text": "No 9.", "kind": "world"}, *reversed(entries))
        said = call("import_candidates", path, dataset=str(dataset.pk))
        assert said.endswith("1 candidates of 1 queries added, 3 known already")

    def test_export_and_import_give_the_same_rows(self, tmp_path: Path) -> None:
        demo = save_household()
        told = call("export_candidates", dataset=str(demo.pk), out=tmp_path / "c.json")
        assert told.startswith(f"{Candidate.objects.count()} candidates written")
        other = save_sample_dataset(len(load_demo_tasks()))
        call("import_candidates", tmp_path / "c.json", dataset=str(other.pk))
        call("export_candidates", dataset=str(other.pk), out=tmp_path / "d.json")
        first, second = (json.loads((tmp_path / n).read_text()) for n in ("c.json", "d.json"))
        assert first["data"] == second["data"]
        assert first["metadata"]["dataset"] == demo.name
        with pytest.raises(CommandError, match="c.json exists"):
            call("export_candidates", dataset=str(demo.pk), out=tmp_path / "c.json")

    def test_a_dataset_without_candidates_makes_no_file(
        self, dataset: Dataset, tmp_path: Path
    ) -> None:
        with pytest.raises(CommandError, match="has no candidate constraints"):
            call("export_candidates", dataset=str(dataset.pk), out=tmp_path / "c.json")
        assert not (tmp_path / "c.json").exists()

    @pytest.mark.parametrize(
        ("entry", "said"),
        [("No rope.", "candidates[0]: expected an object"),
         ({"text": "No rope."}, "candidates[0].kind: expected 'world' or 'user', found nothing"),
         ({"kind": "world"}, "candidates[0].text: expected a text, found nothing"),
         ({"kind": [], "text": 3}, "candidates[0].text: expected a text, found the number 3"),
         ({"kind": "user", "text": "x", "rounds": 1}, "candidates[0].rounds: expected one of key"),
         ({"kind": "user", "text": "x", "key": 7}, "candidates[0].key: expected a text"),
         ({"kind": "user", "text": "x", "reason": "y"}, "expected nothing where nothing was deci"),
         ({"kind": "user", "text": "x", "round": 7}, "candidates[0].round: expected a whole")],
    )  # fmt: skip
    def test_faults_name_file_query_and_place(
        self, dataset: Dataset, tmp_path: Path, entry: Any, said: str
    ) -> None:
        path = write(tmp_path / "c.json", entry, {"text": "No noise.", "kind": "user"})
        with pytest.raises(CommandError) as refused:
            call("import_candidates", path, dataset=str(dataset.pk))
        assert "c.json, data[0] (query_id q1), " in str(refused.value)
        assert said in str(refused.value)
        assert not Candidate.objects.exists()

    @pytest.mark.parametrize(
        "second", [{"text": "x"}, {"text": "y", "key": candidate_key("user", "x")}]
    )
    def test_what_stands_twice_is_refused(
        self, dataset: Dataset, tmp_path: Path, second: dict[str, str]
    ) -> None:
        path = write(tmp_path / "c.json", {"text": "x", "kind": "user"}, {"kind": "user", **second})
        with pytest.raises(CommandError, match=r"of its own.*found that of candidates\[0\]"):
            call("import_candidates", path, dataset=str(dataset.pk))

    @pytest.mark.parametrize("text", ["", "[]", "{", '{"data": []}', '{"data": [{"query_id": 1}]}'])
    def test_what_is_no_such_file_is_refused(
        self, dataset: Dataset, tmp_path: Path, text: str
    ) -> None:
        path = tmp_path / "c.json"
        path.write_text(text)
        with pytest.raises(CommandError, match=r"nothing imported:\nc\.json"):
            call("import_candidates", path, dataset=str(dataset.pk))

    def test_an_unknown_query_or_dataset(self, dataset: Dataset, tmp_path: Path) -> None:
        path = write(tmp_path / "c.json", {"text": "x", "kind": "user"}, query_id="q9")
        with pytest.raises(CommandError, match=f"expected the id of a task of {dataset}"):
            call("import_candidates", path, dataset=str(dataset.pk))
        with pytest.raises(CommandError, match="unknown dataset 'nobody'"):
            call("import_candidates", path, dataset="nobody")


def test_the_demo_keeps_what_is_in_its_profiles() -> None:
    demo = save_household()
    before = Candidate.objects.count()
    save_household()
    assert Candidate.objects.count() == before
    kept = Candidate.objects.filter(decision="kept").values_list("task", "kind", "text")
    constraints = Constraint.objects.filter(profile__level="mid")
    assert set(kept) == set(constraints.values_list("profile__task", "kind", "text"))
    assert set(tasks_with_candidates(demo)) == set(demo.tasks.all())
    assert set(Candidate.objects.values_list("decided_by", flat=True)) == {"scripted"}
