"""The page on kinds of task: shares by group, agent and condition."""

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.filters.forms import unknown_values
from analysis.filters.page_filters import with_group
from analysis.pages.breakdown.rows import merge_counts
from analysis.reports.content import Report, Table
from benchmarks.datasets.files import import_dataset, save_task_file
from benchmarks.models import Agent, Dataset, Experiment, Run, Trajectory
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.reserved import make_shared_run, reserve_trajectory
from benchmarks.runs.services import start_runs
from benchmarks.systems.acpbench_hard.published import PRESETS
from benchmarks.systems.acpbench_hard.samples import sample_file
from tests.analysis.page_reports import report_of
from tests.benchmarks.systems.acpbench_hard.test_choices import repository
from tests.factories.benchmarks import play, save_sample_dataset

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def questions() -> Dataset:
    """Twelve questions, answered by two agents, by one of them under two context forms."""
    file = sample_file()
    chosen = [task for task, _ in file.tasks if task.payload["task"] in ("nexta", "val")]
    dataset = save_task_file(system="acpbench_hard", file=file, name="Questions").dataset
    ensure_scripted_agents()
    tasks = [task.id for task in chosen[:4] + chosen[-4:]]
    for name, settings in (
        ("acp-perfect", {}),
        ("acp-noisy", {}),
        ("acp-noisy", {"context": "pddl"}),
    ):
        agent = Agent.objects.get(name=name)
        for run in start_runs(dataset=dataset, agents=[agent], tasks=tasks, settings=settings):
            play(run)
    return dataset


def report(dataset: Dataset, **words: str) -> Report:
    chosen = select_runs(Filters(dataset=str(dataset.pk), **words), every_condition=True)
    return report_of("breakdown", with_group(chosen))


def lines(table: Table | None) -> list[dict[str, object]]:
    assert table is not None
    return [dict(zip(table.header, row, strict=True)) for row in table.records()]


def test_a_caution_stands_over_the_table_with_the_task_that_it_is_about() -> None:
    """What random guesses score on action reachability is told wherever its scores stand."""
    file = sample_file()
    dataset = save_task_file(system="acpbench_hard", file=file, name="Questions").dataset
    ensure_scripted_agents()
    tasks = [
        next(task.id for task, _ in file.tasks if task.payload["task"] == kind)
        for kind in ("areach", "val")
    ]
    agent = Agent.objects.get(name="acp-perfect")
    (run,) = start_runs(dataset=dataset, agents=[agent], tasks=tasks)
    play(run)

    table = report(dataset).table("breakdown")
    assert table is not None

    assert "Action reachability: Many actions that fit their types" in table.note
    assert "random guesses score 2.8 % by the reference" in table.note
    mean = {"value": 1.0, "n": 1}
    groups = {"task": {"areach": {"reference": mean, "corrected": mean}}}
    notes = render_to_string(
        "systems/acpbench_hard/_run_notes.html", {"metrics": {"accuracy_by_group": groups}}
    )
    assert "Action reachability: Many actions" in notes


def test_forms_of_the_same_task_stand_one_below_the_other(tmp_path: Path) -> None:
    """Figure 4 of the paper: a task in words of one's own, as yes or no, and as multiple choice."""
    folder = repository(tmp_path)
    saved = import_dataset(
        system="acpbench_hard", paths=[folder], name="Forms", options={"forms": "bool,mcq"}
    ).saved
    ensure_scripted_agents()
    (run,) = start_runs(
        dataset=saved.dataset, agents=[Agent.objects.get(name="acp-perfect")], levels=()
    )
    play(run)

    rows = lines(report(saved.dataset).table("breakdown"))

    assert [(row["group"], row["accurate"], row["accurate n"]) for row in rows] == [
        ("Applicability", 1.0, 1),
        ("Applicability, yes or no", 1.0, 2),
        ("Applicability, multiple choice", 1.0, 1),
    ]


def test_shares_stand_by_task_agent_and_condition(questions: Dataset) -> None:
    found = report(questions)
    rows = lines(found.table("breakdown"))

    assert [row["group"] for row in rows] == ["Next action"] * 3 + ["Validation"] * 3
    perfect = [row for row in rows if "Perfect by" in str(row["agent"])]
    assert [row["accurate"] for row in perfect] == [1.0, 1.0]
    assert {row["accurate n"] for row in rows} == {4}
    # 4 of 4: Wilson's lower end is 4/(4 + 1.96²).
    assert perfect[0]["accurate low"] == pytest.approx(4 / (4 + 3.8415), abs=1e-4)
    assert {str(row["condition"]) for row in rows} == {"Natural language", "PDDL"}
    assert "By task, no two kinds of task differ clearly in accuracy; it lies between" in (
        found.sentence
    )
    assert [figure.name for figure in found.figures] == ["grid", "breakdown"]
    assert any("task" in line and "95 % intervals: " in line for line in found.how)


def test_neighbouring_counts_are_put_together_until_each_kind_has_enough_tasks() -> None:
    counts = dict.fromkeys(range(8), 2) | {8 + place: 3 + place for place in range(9)}
    counts |= {17: 20, 18: 24}
    kinds = merge_counts(counts, {pk: pk for pk in counts})
    assert list(dict.fromkeys(kinds.values())) == [("2",), ("3 to 24",)]
    # A task that was tried again counts once.
    again = merge_counts({1: 2, 2: 2, 3: 9}, {1: 1, 2: 1, 3: 2})
    assert set(again.values()) == {("2 to 9",)}


def test_another_grouping_and_crossed_ones(questions: Dataset) -> None:
    found = report(questions, by="distance")
    distances = lines(found.table("breakdown"))
    # Four questions on next actions: too few for more than one kind.
    assert len({row["group"] for row in distances}) == 1
    assert sum(int(str(row["accurate n"])) for row in distances) == 12
    (curves,) = [figure for figure in found.figures if figure.name == "curves"]
    drawn = [trace for trace in json.loads(curves.json)["data"] if trace.get("name")]
    assert drawn and all(len(trace["x"]) == len(trace["y"]) for trace in drawn)
    # The title of each small panel is short, and the preset of the main table draws the figure.
    assert "distance to the goal" in curves.json and "shortest plan" not in curves.json
    (preset,) = (one for one in PRESETS if one.name == "acp-main-table")
    assert {"distance", "task+domain"} <= {part.filters.get("by") for part in preset.parts}
    crossed = lines(report(questions, by="task+domain").table("breakdown"))
    assert all(" · " in str(row["group"]) for row in crossed)
    wanted = Filters(dataset=str(questions.pk), by="colour")
    shown = with_group(select_runs(wanted, every_condition=True))
    (note,) = unknown_values(wanted, shown, ["by"])
    assert note == "There is no grouping “colour” here; “Task” is shown."


def test_agents_stand_beside_people_on_the_questions_of_both(questions: Dataset) -> None:
    """Of two people at three questions the mean counts; other questions are left out."""
    assert report(questions).table("paired") is None
    # The others answered the first four of next action and the last four of validation.
    first, second = questions.tasks.filter(external_id__startswith="nexta").order_by("pk")[:2]
    validation = questions.tasks.filter(external_id__startswith="val").order_by("pk").last()
    person = Agent.objects.get(name="person")
    run = make_shared_run(
        experiment=Experiment.objects.create(name="People"), dataset=questions, agent=person,
        level="", settings={}, roles={}, seed=0,
    )  # fmt: skip
    # As if two people had answered, one of them always right.
    for task in (validation, first, second) * 2:
        reserve_trajectory(run=run, task=task)
    for trajectory in Trajectory.objects.filter(run=run):
        right = float(trajectory.attempt == 1)
        Trajectory.objects.filter(pk=trajectory.pk).update(
            status=Trajectory.Status.DONE, termination="right",
            metrics={"accurate": right, "reference": right, "corrected": right},
            payload={"groups": {"task": trajectory.task.payload["task"]}},
        )  # fmt: skip
    Run.objects.filter(pk=run.pk).update(status=Run.Status.DONE)

    found = report(questions)
    rows = lines(found.table("paired"))
    perfect = [row for row in rows if "Perfect by" in str(row["agent"])]
    assert [row["group"] for row in perfect] == ["All kinds", "Next action", "Validation"]
    assert [row["difference n"] for row in perfect] == [3, 2, 1]
    assert [row["people_value"] for row in perfect] == [0.5, 0.5, 0.5]
    assert [row["agent_value"] for row in perfect] == [1.0, 1.0, 1.0]
    assert [row["difference"] for row in perfect] == [0.5, 0.5, 0.5]
    # Under another form of the context nobody has played.
    assert {row["agent"] for row in rows} == {"Perfect by the validator", "Perfect but for slips"}
    assert "On the 3 tasks that people did, too, people reach 50.0 %" in found.sentence


def test_a_system_without_groups_is_not_asked(client: Client) -> None:
    dataset = save_sample_dataset()
    client.force_login(User.objects.create_superuser("rita"))
    page = client.get(f"/analysis/conditions/breakdown/?dataset={dataset.pk}", follow=True)
    assert page.status_code == 200


def test_published_figures_by_domain_have_the_digits_of_the_paper(questions: Dataset) -> None:
    found = report(questions, by="domain").table("published")
    assert found is not None
    texts = {
        (row[0].text, row[1].text, row[2].text): row[3].text
        for row in found.rows
        if row[2].text in ("GPT-4o", "o1-preview", "random (full set)", "questions of the paper")
    }
    assert texts["ferry", "nexta", "GPT-4o"] == "70 %"
    assert texts["satellite", "nexta", "random (full set)"] == "4 %"
    assert texts["floortile", "Jaccard", "o1-preview"] == "0.73"
    assert texts["alfworld", "Applicable", "questions of the paper"] == "66.20"
    assert report(questions, by="task").table("published") is None
