"""The page on costs: results against what they took, on runs that are counted by hand."""

import json

import pytest

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.reports.content import Report
from analysis.reports.figure_specs import styles
from benchmarks.models import Dataset
from tests.analysis.page_reports import report_of
from tests.analysis.rows import make_dataset, make_run, make_trajectory

pytestmark = pytest.mark.django_db


def report() -> Report:
    return report_of("efficiency", select_runs(Filters(), every_condition=True))


def test_a_result_stands_against_each_cost() -> None:
    dataset = make_dataset()
    Dataset.objects.filter(pk=dataset.pk).update(system="sda_planner")
    sda, tree = (
        make_run(dataset, "ada", condition=condition) for condition in ("standard", "planner=tree")
    )
    for task, (success, corrections) in enumerate(((1, 2), (1, 4), (0, 6)), 1):
        make_trajectory(
            sda, task, accurate=float(success), corrections=corrections, steps=10, calls=corrections
        )
        # The Tree Planner corrects nothing, so that this cost is undefined.
        make_trajectory(
            tree, task, accurate=0.0, steps=5, calls=1, undefined={"corrections": "no corrections"}
        )
    made = report()
    assert made.sentence == (
        "Success rate: Ada (Planner: SDA-Planner) has 66.7 %, with no other agent to compare. "
        "Corrections: Ada (Planner: SDA-Planner) has 4.00, with no other agent to compare."
    )
    table = made.table("efficiency")
    assert table is not None
    first, second = (dict(zip(table.header, row, strict=True)) for row in table.records())
    assert (first["success"], first["corrections"], first["steps"]) == (0.666667, 4, 10)
    assert second["corrections"] is None and second["steps"] == 5
    (figure,) = (json.loads(one.json) for one in made.figures if one.name == "efficiency")
    drawn = [one for one in figure["data"] if one["mode"] == "markers"]
    # A panel for the result and for each cost, all with the same rows.
    success, corrections, steps, _ = drawn
    rows = ["Planner: SDA-Planner", "Planner: Tree Planner"]
    assert all(one["y"] == rows for one in drawn)
    assert success["x"] == [2 / 3, 0] and steps["x"] == [10, 5]
    # What is undefined has a dash in its row.
    assert corrections["x"] == [4, None]
    (dash,) = (one for one in figure["layout"]["annotations"] if one["text"] == "–")
    assert (dash["y"], dash["yref"]) == ("Planner: Tree Planner", "y2")
    assert {*success["marker"]["color"]} == {styles(["Ada"])["Ada"].colour}
    assert not any(notice.text.startswith("Few ") for notice in made.notices)


@pytest.mark.parametrize("tasks", [2, 20])
def test_the_cheapest_is_named_only_where_it_is_clear(tasks: int) -> None:
    dataset = make_dataset(tasks=tasks)
    for name, accurate, turns in (("ada", 1.0, 6), ("bob", 0.0, 2)):
        run = make_run(dataset, name)
        for task in range(1, tasks + 1):
            make_trajectory(run, task, accurate=accurate, turns=turns + task % 2)
    said = report().sentence
    if tasks == 2:
        assert said.startswith(
            "Accuracy: no agent clearly leads; Ada has 100.0 %, 100.0 points above"
        )
        assert "Turns: no agent is clearly lowest; Bob has 2.50" in said
    else:
        assert said.startswith("Accuracy: Ada leads with 100.0 %, 100.0 points above Bob (95 % sim")
        # Every task takes both the same difference, so there is no interval and no claim.
        assert "Turns: no agent is clearly lowest; Bob has 2.50, 4.00 below Ada" in said
    assert [one.text for one in report().onward] == ["Is the difference between two agents real?"]


def test_two_agents_that_always_succeed_share_the_result() -> None:
    dataset = make_dataset()
    for name, turns in (("ada", 6), ("bob", 2)):
        run = make_run(dataset, name)
        for task in (1, 2):
            make_trajectory(run, task, accurate=1.0, turns=turns)
    assert report().sentence.startswith("Accuracy: both agents have 100.0 %. ")


def test_filters_name_conditions_as_their_system_does() -> None:
    dataset = make_dataset()
    Dataset.objects.filter(pk=dataset.pk).update(system="sda_planner")

    def offered(*conditions: str) -> dict[str, str]:
        for condition in conditions:
            make_trajectory(make_run(dataset, "ada", condition=condition), 1)
        return {one.value: one.label for one in select_runs(Filters()).options["condition"]}

    first = offered("standard", "planner=tree")
    assert first["standard"] == "Planner: SDA-Planner"
    assert first["planner=tree"] == "Planner: Tree Planner"
    # A setting that no page compares has a title, too. Where two are varied, standard is short.
    more = offered("planner=tree, max_steps=9")
    assert more["planner=tree, max_steps=9"].startswith("Planner: Tree Planner, Step limit: 9")
    assert more["standard"].startswith("standard")


def test_conditions_stand_below_their_agent() -> None:
    dataset = make_dataset()
    Dataset.objects.filter(pk=dataset.pk).update(system="sda_planner")
    for agent, condition, accurate in (
        ("ada", "standard", 0.0),
        ("bob", "standard", 1.0),
        ("bob", "planner=tree", 0.0),
    ):
        make_trajectory(
            make_run(dataset, agent, condition=condition), 1,
            accurate=accurate, corrections=1, steps=3, calls=2,
        )  # fmt: skip
    (figure,) = (json.loads(one.json) for one in report().figures if one.name == "efficiency")
    # Bob has the best result, so his rows come first, below his name; Ada has a single row.
    names = figure["layout"]["yaxis"]["categoryarray"]
    assert names == ["<b>Bob</b>", "Planner: SDA-Planner", "Planner: Tree Planner",
                     "Ada (Planner:<br>SDA-Planner)"]  # fmt: skip
    (drawn, *_) = [one for one in figure["data"] if one["mode"] == "markers"]
    assert drawn["y"] == names[1:] and drawn["x"] == [1, 0, 0]
