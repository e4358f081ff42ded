"""The import commands: stored as a whole, refused as a whole, harmless a second time."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.models import Constraint, Dataset, Profile, Task
from tests.benchmarks.systems.adaplanbench.macgyver_problems import (
    results,
    row,
    write_results,
    write_workbook,
)

pytestmark = pytest.mark.django_db


def call(command: str, *args: Any, **options: Any) -> str:
    out = io.StringIO()
    call_command(command, *map(str, args), stdout=out, **options)
    return out.getvalue().strip()


def queries(path: Path, count: int = 2, **changes: Any) -> Path:
    pool = {
        "tools": ["No ladder."],
        "prefs": ["No noise."],
        "metadata": {"candidate_iterative_sample_num": 1},
    }
    row = {"query": "Do it.", "ban_pool": [pool], **changes}
    data = {"metadata": {}, "data": [{"query_id": n, **row} for n in range(count)]}
    path.write_text(json.dumps(data))
    return path


class TestAdaPlanBench:
    def test_a_file_is_stored(self, tmp_path):
        said = call("import_adaplanbench", queries(tmp_path / "q.json"), name="Published")
        assert said == "Published 1: 2 tasks, 2 profiles, 4 constraints"
        dataset = Dataset.objects.get()
        assert (dataset.system, dataset.source) == ("adaplanbench", "q.json")
        assert [t.external_id for t in dataset.tasks.all()] == ["0", "1"]
        assert [(c.key, c.kind) for c in Profile.objects.first().constraints.all()] == [
            ("w1", "world"),
            ("u1", "user"),
        ]

    def test_the_same_file_again_adds_nothing(self, tmp_path):
        path = queries(tmp_path / "q.json")
        call("import_adaplanbench", path)
        assert call("import_adaplanbench", path, name="Again") == (
            "already imported as AdaPlanBench 1, nothing added"
        )
        assert (Dataset.objects.count(), Task.objects.count()) == (1, 2)

    def test_another_file_under_the_name_is_the_next_version(self, tmp_path):
        call("import_adaplanbench", queries(tmp_path / "q.json"))
        assert call("import_adaplanbench", queries(tmp_path / "q.json", 3)).startswith(
            "AdaPlanBench 2: 3 tasks"
        )

    def test_faults_are_listed_and_nothing_is_stored(self, tmp_path):
        with pytest.raises(CommandError) as refused:
            call("import_adaplanbench", queries(tmp_path / "q.json", 30, query=7))
        lines = str(refused.value).splitlines()
        assert lines[0] == "nothing imported:"
        assert lines[1] == (
            "q.json, data[0] (query_id 0), query: expected a text, found the number 7"
        )
        assert len(lines) == 22 and lines[-1] == "… and 10 more"
        assert Dataset.objects.count() == 0

    def test_a_missing_file_is_said_to_be_missing(self, tmp_path):
        with pytest.raises(CommandError, match="expected a file to read, found"):
            call("import_adaplanbench", tmp_path / "none.json")


class TestMacGyver:
    @pytest.fixture
    def files(self, tmp_path):
        rows = [row(), row(ID=18, Problem="Dry a shoe. You have a fan, a towel and rice. How?")]
        return (
            write_workbook(tmp_path / "problems.xlsx", rows),
            write_results(tmp_path / "results.json", results()),
        )

    def test_problems_become_tasks_with_pools_and_judges(self, files):
        said = call("import_macgyver", *files).splitlines()
        assert said[0] == "MacGyver 1: 2 tasks from 8 recorded answers"
        dataset = Dataset.objects.get()
        assert dataset.licence == "Apache-2.0"
        assert dataset.roles["world_judge"] == ["lexicon-world"]
        assert "8 recorded answers, 2 of them without a verdict" in dataset.notes
        task = dataset.tasks.get(external_id="macgyver-17")
        assert [plan["author"] for plan in task.payload["plans"]][0] == "solutions_gpt4"
        assert [profile.level for profile in task.profiles.all()] == ["low", "mid", "high"]
        assert Constraint.objects.filter(about="tool:ladder").exists()

    def test_the_same_files_again_add_nothing_but_another_seed_is_another_dataset(self, files):
        call("import_macgyver", *files)
        assert call("import_macgyver", *files) == "already imported as MacGyver 1, nothing added"
        assert call("import_macgyver", *files, seed=2).startswith("MacGyver 2: 2 tasks")
        assert Dataset.objects.count() == 2

    def test_faults_of_both_files_are_listed_and_nothing_is_stored(self, files, tmp_path):
        write_results(tmp_path / "results.json", {"17": 1, "99": []})
        write_workbook(tmp_path / "problems.xlsx", [row(ID="?"), row()])
        with pytest.raises(CommandError) as refused:
            call("import_macgyver", *files)
        said = str(refused.value)
        assert "problems.xlsx, row 2, ID: expected a whole number" in said
        assert "results.json, problem '17': expected a list of at most 1000 answers" in said
        assert "results.json, problem '99': expected an ID that the workbook holds" in said
        assert Dataset.objects.count() == 0

    def test_a_household_filter_names_what_it_leaves_out(self, files, tmp_path):
        away = "You are hiking and the trail is blocked. You have a saw. How do you go on?"
        help_ = "Your sink is blocked. You have a spoon. Should you call a plumber to clear it?"
        rows = [row(), row(ID=18, Problem=away), row(ID=19, Problem=help_)]
        write_workbook(tmp_path / "problems.xlsx", rows)
        lines = call("import_macgyver", *files, household=True).splitlines()
        assert lines[0] == "MacGyver 1: 1 tasks from 8 recorded answers"
        assert lines[1].startswith("2 of 3 problems left out as no household tasks")
        assert lines[-2:] == [
            "  macgyver-18: household. It says “hiking”.",
            "  macgyver-19: self_reliant. It says “call a”.",
        ]
        (dataset,) = Dataset.objects.all()
        assert [task.external_id for task in dataset.tasks.all()] == ["macgyver-17"]
        assert "2 of 3 problems left out" in dataset.notes
        # without the option everything comes in, as another version
        assert call("import_macgyver", *files).startswith("MacGyver 2: 3 tasks")

    def test_constraints_that_contradict_a_task_are_counted(self, files, tmp_path):
        boat = "Your boat drifts on the lake. You have a rope, water and a sponge. How do you land?"
        write_workbook(tmp_path / "problems.xlsx", [row(), row(ID=18, Problem=boat)])
        said = call("import_macgyver", *files)
        assert "contradict what their task needs:" in said and "water 1" in said
        assert "water 1" in Dataset.objects.get().notes

    def test_a_list_where_a_text_belongs_is_told_and_nothing_is_stored(self, files, tmp_path):
        answer = {"model": "m", "annotation": ["correct_efficient"], "solution": "1. Pull it."}
        write_results(tmp_path / "results.json", {"17": [answer]})
        for command, given in (("import_macgyver", {}), ("import_problems", {"name": "P"})):
            with pytest.raises(CommandError, match=r"'17'\[0\]\.annotation: expected nothing, or"):
                call(command, *files, **given)
        assert Dataset.objects.count() == 0

    def test_files_in_the_wrong_order_are_told_apart(self, files):
        with pytest.raises(CommandError, match="expected an xlsx workbook"):
            call("import_macgyver", *reversed(files))
