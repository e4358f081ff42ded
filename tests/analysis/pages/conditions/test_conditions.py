"""The page on conditions: accuracy, paired changes, kinds, lengths, and what is published."""

import json

import pytest

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.reports.content import Report, Table
from benchmarks.models import Dataset, Run
from benchmarks.systems.planbench_xl.comparisons import remaining_length
from tests.analysis.page_reports import report_of
from tests.analysis.rows import make_dataset, make_imported, make_run, make_trajectory
from tests.analysis.tool_rows import make_query, make_tool_run, make_world

pytestmark = pytest.mark.django_db

BLOCKER = "condition=blocker"


def report(**words: str) -> Report:
    chosen = select_runs(Filters(**words), every_condition=True)  # type: ignore[arg-type]
    return report_of("conditions", chosen)


def lines(table: Table | None) -> list[dict[str, object]]:
    assert table is not None
    return [dict(zip(table.header, row, strict=True)) for row in table.records()]


def run_with(dataset: Dataset, agent: str, condition: str, right: str) -> None:
    """A run whose n-th task went right (1), wrong (0) or was left out (-)."""
    run = make_tool_run(dataset, agent, condition)
    for number, one in enumerate(right):
        make_query(run, number, right=None if one == "-" else one == "1", blocked=["x"])


def test_accuracy_and_the_paired_drop() -> None:
    world = make_world()
    run_with(world, "ada", "standard", "1111")
    run_with(world, "ada", BLOCKER, "100-")
    run_with(world, "bob", "standard", "1100")
    run_with(world, "bob", BLOCKER, "1100")
    found = report()
    ada, bob = lines(found.table("drop"))
    # Ada: 4 of 4 and 1 of 3; on the three common tasks 0, -1, -1.
    assert (ada["baseline"], ada["contrast"]) == (1.0, pytest.approx(1 / 3, abs=1e-6))
    assert ada["change"] == pytest.approx(-2 / 3, abs=1e-6) and ada["change n"] == 3
    # Tango: 2 of 3 tasks lost; one of two intervals, each of level 97.5 %.
    assert (ada["change low"], ada["change high"]) == (-0.949646, 0.376861)
    assert "lookup fitted several records" in str(ada["contrast note"])
    # ±z²/(4 + z²) = ±5.0239/9.0239.
    assert bob["change"] == 0.0 and bob["change low"] == pytest.approx(-0.55673, abs=1e-5)
    assert found.sentence.startswith(
        "From “Block-free” to “Blocked” accuracy clearly changes for no agent (−66.7 to 0 points; "
        "intervals from −95.0 to "
    )
    # Whoever is shown, the same changes are corrected for.
    (alone,) = lines(report(agents=("ada",)).table("drop"))
    assert alone["change low"] == ada["change low"]
    assert [row["condition"] for row in lines(found.table("accuracy"))] == ["Block-free", "Blocked"]
    assert any("Left out of accuracy: 1 (a lookup" in line for line in found.how)
    cell = found.table("drop").rows[0][3]  # type: ignore[union-attr]
    standard, blocked = Run.objects.filter(agent__name="ada").order_by("pk")
    flips = f"/compare/runs/?a={blocked.pk}&b={standard.pk}&measure=accurate"
    assert (cell.text, cell.url) == ("−66.7 pt", flips)
    (badge,) = found.table("drop").rows[0][0].badges  # type: ignore[union-attr]
    assert badge.text == "scripted"


def test_equal_drops_are_said_together() -> None:
    world = make_world()
    for agent in ("ada", "bob"):
        run_with(world, agent, "standard", "11")
        run_with(world, agent, BLOCKER, "10")
    assert report().sentence.startswith(
        "From “Block-free” to “Blocked” accuracy clearly changes for no agent (−50.0 points; "
    )


def test_intervals_of_several_attempts_are_by_task() -> None:
    run = make_tool_run(make_world(), "ada")
    make_query(run, 0)
    again = make_query(run, 1, right=False)
    again.pk, again.attempt, again.task = None, 2, run.dataset.tasks.order_by("pk")[0]
    again.save()
    found = report()
    assert any("by task (CR2)" in line for line in found.how)
    assert "nothing to compare" in found.sentence


def test_kinds_and_lengths() -> None:
    world = make_world()
    paths = world.tasks.order_by("pk")[0].payload["paths"]
    assert len(paths) > 1
    only = [path for path in paths if path != paths[0]]
    blocking = sorted({tool for path in only for tool in path} - set(paths[0]))
    run_with(world, "ada", "standard", "11")
    run_with(world, "ada", "condition=noise_type_implicit", "10")
    short = make_tool_run(world, "ada", "condition=finegrain_short")
    make_query(short, 0, blocked=blocking)
    make_query(short, 1, blocked=[])
    long = make_tool_run(world, "ada", "condition=finegrain_long")
    make_query(long, 0, right=False, blocked=blocking)
    found = report()
    (kinds,) = lines(found.table("kinds"))
    assert kinds["Blocked, implicit"] == 0.5 and kinds["Blocked, implicit change"] == -0.5
    # Of both conditions on length, task 0 with its first path left: one right, one wrong.
    left = [path for path in paths if not set(path) & set(blocking)]
    (length,) = lines(found.table("lengths"))
    assert length["length"] == round(sum(map(len, left)) / len(left))
    assert (length["Ada"], length["Ada n"]) == (0.5, 2)
    (longer,) = lines(found.table("longer"))
    assert (longer["change"], longer["change n"]) == (-1.0, 1)
    assert any("Left out: 1 trajectory without such a length" in line for line in found.how)
    assert [figure.name for figure in found.figures] == ["accuracy", "kinds", "lengths"]


def test_remaining_length_by_hand() -> None:
    task = {"paths": [["a", "b"], ["a", "c", "d"], ["e", "f", "g", "h"]]}
    assert remaining_length(task, {"blocked": {"tools": ["b"]}}) == 3.5  # (3 + 4)/2
    assert remaining_length(task, {"blocked": {"tools": ["a"]}}) == 4
    for nothing in ({"tools": []}, {"tools": ["a", "e"]}, None):
        assert remaining_length(task, {"blocked": nothing}) is None


def test_published_figures_stand_beside_and_can_be_hidden() -> None:
    run_with(make_world(), "ada", "standard", "11")
    found = report()
    rows = lines(found.table("published"))
    assert [(row["model"], row["accuracy"], row["accuracy n"]) for row in rows[:2]] == [
        ("GPT-5.4", 0.519, 316), ("GPT-5.4", 0.1136, None),
    ]  # fmt: skip
    drawn = json.loads(found.figures[0].json)
    names = [trace.get("name", "") for trace in drawn["data"]]
    assert "GPT-5.4, no blocking: 51.90 % (published)" in names
    hidden = report(published="hide")
    assert hidden.table("published") is None and "GPT-5.4" not in hidden.figures[0].json


def test_a_condition_that_an_agent_lacks_is_a_dash_and_said() -> None:
    world = make_world()
    run_with(world, "ada", "standard", "11")
    run_with(world, "bob", "standard", "11")
    run_with(world, "bob", "max_steps=9", "10")
    found = report()
    second = lines(found.table("accuracy"))[1]
    assert (second["condition"], second["setting"]) == ("Reply limit: 9", "max_steps=9")
    assert second["Ada"] is None and second["Ada note"] == "no run under this condition"
    assert any("missing: Ada (1)" in notice.text for notice in found.notices)


def test_systems_that_declare_nothing_are_compared_with_the_standard() -> None:
    dataset = make_dataset()
    for condition, right in (("standard", 1.0), ("tau=3", 0.0)):
        run = make_run(dataset, "ada", condition=condition)
        for task in (1, 2):
            make_trajectory(run, task, accurate=right)
    found = report()
    (change,) = lines(found.table("change"))
    assert (change["condition"], change["Ada"]) == ("Pass mark τ: 3", -1.0)
    assert found.table("drop") is None and found.table("published") is None


def test_of_runs_of_one_condition_the_newest_counts() -> None:
    world = make_world()
    run_with(world, "ada", "standard", "0")
    run_with(world, "ada", "standard", "1")
    run_with(world, "ada", BLOCKER, "1")
    found = report()
    (row,) = lines(found.table("drop"))
    assert (row["baseline"], row["contrast"]) == (1.0, 1.0)
    assert any("(standard)" in line and "shown is" in line for line in found.how)


def test_imported_runs_have_no_accuracy() -> None:
    (run,) = make_imported()
    found = report(dataset=str(run.dataset_id))
    assert found.empty is not None and found.empty.title.startswith("Not known of trajectories")


def test_measure_and_conditions_are_in_the_words_of_their_system() -> None:
    dataset = make_dataset()
    Dataset.objects.filter(pk=dataset.pk).update(system="sda_planner")
    for condition, right in (("standard", (1, 1, 0)), ("planner=tree", (1, 0, 0))):
        run = make_run(dataset, "ada", condition=condition)
        for task, value in enumerate(right, 1):
            make_trajectory(run, task, accurate=float(value))
    made = report()
    # One of three tasks is lost.
    assert made.sentence.startswith(
        "From “Planner: SDA-Planner” to “Planner: Tree Planner” success rate does not clearly "
    )
    assert "“Planner: SDA-Planner”" in made.sentence and "“Planner: Tree Planner”" in made.sentence
    assert made.figures[0].title == "Success rate by condition, an agent in each panel"
