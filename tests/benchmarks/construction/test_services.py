"""Datasets that are constructed: from runs that ended so, and the whole way with scripts."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks import visibility as blinding
from benchmarks.construction.selectors import count_constructed, planner_titles, task_growth
from benchmarks.construction.services import (
    ConstructionError,
    make_dataset,
    start_construction,
)
from benchmarks.core.errors import ExportRefused
from benchmarks.datasets.files import export_published, import_dataset
from benchmarks.datasets.selectors import level_sizes
from benchmarks.models import Candidate, Constraint, Dataset, Run, Task, Trajectory
from benchmarks.systems.adaplanbench_construction.making import MAKING
from tests.benchmarks.constructions import (
    CANDIDATES,
    PROBLEMS,
    add_trajectory,
    candidate,
    import_demo_problems,
    make_construction,
)
from tests.factories.benchmarks import TaskFactory, make_user, play, start_sample_runs

pytestmark = [pytest.mark.django_db, pytest.mark.either]


def texts(dataset: Dataset) -> list[tuple[str, str, str]]:
    rows = Constraint.objects.filter(profile__task__dataset=dataset).order_by("pk")
    return list(rows.values_list("profile__level", "key", "text"))


class TestMaking:
    def test_tasks_profiles_candidates_and_where_they_came_from(self) -> None:
        run = make_construction("constructed", "filtered_out", None, "checker_unreadable")
        made = make_dataset(run=run, name="Made")
        dataset = made.saved.dataset
        assert (made.counts.made, made.counts.left_out, made.counts.missing) == (1, 1, 2)
        assert (dataset.system, dataset.made_by, dataset.licence) == ("adaplanbench", run, "CC0")
        assert "1 of 4 problems; 1 left out by the filter, 2 not constructed" in dataset.notes
        # Low has one world constraint, mid one of each kind, where Table 2 has 9.76 to 21.78.
        assert (
            "lacked candidates, on average per task low 8.8 world and 10.9 user, " in dataset.notes
        )
        assert "mid 18.6 world and 20.8 user." in dataset.notes
        (task,) = dataset.tasks.all()
        assert (task.external_id, task.prompt) == ("kite-1", "How do I get kite-1 down?")
        assert texts(dataset) == [
            ("low", "w1", "There is no ladder."),
            ("mid", "w1", "There is no ladder."),
            ("mid", "u1", "I will not climb."),
        ]
        removed = task.candidates.get(decision="removed")
        assert (removed.round, removed.reason) == (1, "It is needed.")
        assert removed.decided_by == "Guards the reference (lexicon)"

    def test_the_same_again_adds_nothing_and_other_results_are_a_version(self) -> None:
        run = make_construction("constructed", None)
        first = make_dataset(run=run, name="Made").saved
        assert not make_dataset(run=run, name="Another name").saved.created
        Trajectory.objects.filter(status="pending").delete()
        add_trajectory(run, Task.objects.get(external_id="kite-2"), "constructed", CANDIDATES)
        second = make_dataset(run=run, name="Made").saved
        assert (first.dataset.version, second.dataset.version, second.tasks) == ("1", "2", 2)
        assert Dataset.objects.filter(made_by=run).count() == 2
        assert Candidate.objects.count() == 9

    def test_only_the_last_attempt_at_a_problem_counts(self) -> None:
        run = make_construction("planner_unreadable")
        row = candidate("w-z", "world", "There is no rope.")
        add_trajectory(run, Task.objects.get(), "constructed", [row], attempt=2)
        assert count_constructed(run, MAKING).missing == 0
        assert texts(make_dataset(run=run, name="Made").saved.dataset)[0][2] == "There is no rope."

    def test_nothing_is_made_of_nothing(self) -> None:
        with pytest.raises(ConstructionError, match="left out 1, and 1 are not finished or failed"):
            make_dataset(run=make_construction("filtered_out", None), name="Made")
        (run,) = start_sample_runs()
        with pytest.raises(ConstructionError, match="constructs nothing"):
            make_dataset(run=run, name="Made")
        assert not Dataset.objects.filter(name="Made").exists()


class TestFiles:
    def test_what_is_exported_comes_back(self, tmp_path: Path) -> None:
        run = make_construction("constructed", "constructed")
        dataset = make_dataset(run=run, name="A").saved.dataset
        path = tmp_path / "queries.json"
        call_command("export_adaplanbench", dataset="A", out=path, stdout=io.StringIO())
        back = import_dataset(system="adaplanbench", paths=[path], name="B").saved.dataset
        assert texts(back) == texts(dataset)
        assert back.licence == dataset.licence == "CC0"
        assert back.source == f"queries.json: {dataset.source}; Tasks constructed by scripts"
        queries = dataset.tasks.values_list("external_id", "prompt")
        assert list(back.tasks.values_list("external_id", "prompt")) == list(queries)
        again = io.StringIO()
        assert export_published(dataset=back, file=again) == 2
        assert json.loads(again.getvalue())["data"] == json.loads(path.read_text())["data"]
        with pytest.raises(CommandError, match="name a new file"):
            call_command("export_adaplanbench", dataset="A", out=path)

    def test_only_what_the_format_can_hold(self) -> None:
        with pytest.raises(ExportRefused, match="has no published format"):
            export_published(dataset=make_construction().dataset, file=io.StringIO())


def test_how_profiles_grew_is_told_by_round() -> None:
    run = make_construction("constructed")
    task = make_dataset(run=run, name="Made").saved.dataset.tasks.get()
    first, second = task_growth(task)
    assert (first.number, first.level, second.level) == (1, "low", "mid")
    world, user = first.kinds
    assert (world.kept, world.removed, world.size, user.size) == (1, 1, 1, 0)
    kept, removed = world.rows
    assert (kept.planners, kept.merged, kept.about) == (("1", "3"), ("No ladder.",), "ladder")
    assert (removed.kept, removed.reason) == (False, "It is needed.")
    assert [kind.size for kind in second.kinds] == [1, 1]
    assert planner_titles(run)["2"] == "Takes what is at hand"


def test_sizes_stand_beside_the_published_ones() -> None:
    """One world constraint in each of two profiles; the paper has 9.76 at this level."""
    run = make_construction("constructed", "constructed")
    sizes = level_sizes(make_dataset(run=run, name="Made").saved.dataset)
    low = sizes.rows[0].sizes[0]
    assert (low.mean, low.sd, low.published, sizes.published) == (1.0, 0.0, 9.76, "Table 2")


def test_who_decides_about_candidates_does_not_see_how_they_were_constructed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = make_construction("constructed", None)
    task = make_dataset(run=run, name="Made").saved.dataset.tasks.get()
    TaskFactory(dataset=task.dataset)
    add_trajectory(
        run, Task.objects.get(external_id="kite-2"), "constructed", CANDIDATES, attempt=2
    )
    other = make_dataset(run=run, name="Made").saved.dataset
    monkeypatch.setattr(blinding, "_rules", [lambda user: blinding.ClosedRows(tasks=[task.pk])])
    seen = blinding.Visibility.to(make_user("ann"))
    assert not seen.of(Run.objects.all()).exists()
    assert not seen.of(Trajectory.objects.all()).exists()
    assert [row.external_id for row in seen.of(other.tasks.all())] == ["kite-2"]
    assert not seen.of(run.dataset.tasks.all()).filter(external_id="kite-1").exists()


class TestTheWholeWay:
    @pytest.fixture
    def problems(self, tmp_path: Path) -> Dataset:
        return import_demo_problems(tmp_path)

    def test_two_problems_are_constructed_and_played(self, problems: Dataset) -> None:
        said = io.StringIO()
        call_command("construct_dataset", "Problems", wait=True, rounds=2, stdout=said,
                     set=["plans_per_ask=1"])  # fmt: skip
        run = Run.objects.get()
        assert (run.kind, run.settings["rounds"]) == (Run.Kind.CONSTRUCTION, 2)
        assert "2 of 2 problems constructed, 0 left out by the filter, 0 missing" in said.getvalue()
        made = Dataset.objects.get(made_by=run)
        sizes = level_sizes(made).rows
        assert [row.level for row in sizes] == ["low", "mid"]
        assert 0 < sizes[0].total < sizes[1].total
        (tried,) = start_sample_runs("careful-tracker", dataset=made, level="low")
        play(tried)
        ends = tried.trajectories.values_list("status", "termination")
        assert set(ends) == {("done", "valid_plan")}
        said = io.StringIO()
        call_command("construct_dataset", run=run.pk, stdout=said)
        assert "was stored already, nothing added" in said.getvalue()

    def test_planners_are_named_alike_whichever_stands_first(self, problems: Dataset) -> None:
        run = start_construction(
            dataset=problems, planners=["roaming-planner", "handy-planner"], wake=False,
            settings={"rounds": 1, "planners": 3},
        )  # fmt: skip
        assert run.agent.name == "roaming-first-planner"
        assert [row["policy"] for row in run.roles["planner"]] == [
            "handy-planner", "roaming-planner",
        ]  # fmt: skip

    def test_the_command_says_what_is_missing(self, problems: Dataset) -> None:
        said = io.StringIO()
        call_command("construct_dataset", "Problems", role=["planner=human"], stdout=said)
        assert f"construct_dataset --run {Run.objects.get().pk}" in said.getvalue()
        for given, words in (
            ({}, "name a dataset of problems"),
            ({"run": 0}, "there is no run 0"),
            ({"run": Run.objects.get().pk}, "has constructed no task yet"),
            ({"dataset": "nothing"}, "unknown dataset"),
        ):
            with pytest.raises(CommandError, match=words):
                _construct(**given)

    def test_problems_come_in_by_command(self, tmp_path: Path) -> None:
        path = tmp_path / "p.csv"
        path.write_text("problem,solution\nA kite hangs.,1. Fetch a rake.\n")
        said = io.StringIO()
        for _ in range(2):
            call_command("import_problems", path, name="Kites", stdout=said)
        first, second = said.getvalue().splitlines()
        assert first == "Kites 1: 1 problem."
        assert second == "already imported as Kites 1, nothing added"
        assert Dataset.objects.get().system == PROBLEMS
        with pytest.raises(CommandError, match="nothing imported"):
            call_command("import_problems", tmp_path / "none.csv")


def _construct(dataset: str | None = None, **given: Any) -> None:
    call_command("construct_dataset", *([dataset] if dataset else []), **given)
