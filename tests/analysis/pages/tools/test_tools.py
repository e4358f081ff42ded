"""The page on tools: ways to fail, searches and calls, recall over steps."""

import pytest

from analysis.figures.tool_use import SharePart, share_cells
from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.pages.catalogue import PAGES, select
from analysis.reports.content import Report, Table
from benchmarks.mappers import core_task
from benchmarks.models import Dataset
from benchmarks.systems.planbench_xl.comparisons import path_datatypes
from benchmarks.trajectories.selectors import trajectory_list
from tests.analysis.page_reports import report_of
from tests.analysis.rows import make_dataset, make_person, make_run, make_trajectory
from tests.analysis.tool_rows import make_query, make_tool_run, make_world

pytestmark = pytest.mark.django_db


def report(**words: str) -> Report:
    return report_of("tools", select_runs(Filters(**words)))  # type: ignore[arg-type]


def lines(table: Table | None) -> list[dict[str, object]]:
    assert table is not None
    return [dict(zip(table.header, row, strict=True)) for row in table.records()]


def parts_of(dataset: Dataset, number: int) -> list[str]:
    task = dataset.tasks.select_related("dataset").order_by("pk")[number]
    return sorted(path_datatypes(core_task(task, None)))


def test_ways_to_fail_with_counts_shares_and_links() -> None:
    run = make_tool_run(make_world(), "ada")
    make_query(run, 0)
    make_query(run, 1, right=False, category="format_error")
    make_query(run, 2, right=False, category="format_error")
    make_query(run, 3, right=False)
    make_query(run, 4, right=None)
    found = report()
    (row,) = lines(found.table("failures"))
    assert (row["scored"], row["right"], row["format error"]) == (4, 1, 2)
    assert row["format error share"] == 0.5
    # Wilson, 2 of 4: 15.0 to 85.0 %.
    assert row["format error low"] == pytest.approx(0.15, abs=1e-3)
    assert row["failed, not told how"] == 1
    assert row["left out"] == "1 (a lookup fitted several records)"
    assert found.sentence.startswith("3 of 4 scored trajectories failed: 2 by format error")
    cells = found.table("failures").rows[0]  # type: ignore[union-attr]
    assert cells[3].url.endswith(f"?run={run.pk}&failure=format_error")
    assert cells[2].url.endswith("accurate=yes") and cells[4].url == ""
    listed = trajectory_list({"run": run.pk, "failure": "format_error"})
    assert [row.task for row in listed] == list(run.dataset.tasks.order_by("pk")[1:3])


def test_searches_per_call_are_totals() -> None:
    run = make_tool_run(make_world(), "ada")
    make_query(run, 0, search_turns=1.0, call_turns=1.0, noisy_calls=1.0)
    make_query(run, 1, search_turns=9.0, call_turns=3.0, noisy_calls=1.0)
    found = report()
    assert not any(notice.text.startswith("Few ") for notice in found.notices)
    (row,) = lines(found.table("use"))
    assert (row["searches"], row["calls"], row["searches per call"]) == (5.0, 2.0, 2.5)
    assert row["noisy calls, per call"] == 0.5 and row["invalid calls, per call"] == 0.0


def test_recall_over_steps_of_survivors_and_of_all() -> None:
    world = make_world()
    run = make_tool_run(world, "ada")
    first, second = parts_of(world, 0), parts_of(world, 1)
    make_query(run, 0, finds=[(1, first[0])], steps=1)
    make_query(run, 1, finds=[(2, second[0]), (3, "what nobody asked for")], steps=3)
    a, b = 1 / len(first), 1 / len(second)
    found = report()
    rows = lines(found.table("progress"))
    assert [row["Ada under way"] for row in rows] == [2, 1, 1]
    under_way = [row["Ada recall under way"] for row in rows]
    assert under_way == pytest.approx([a / 2, b, b], abs=1e-6)
    of_all = [row["Ada recall of all"] for row in rows]
    assert of_all == pytest.approx([a / 2, (a + b) / 2, (a + b) / 2], abs=1e-6)
    assert any("survivors" in n.text and "Ada (1 of 2)" in n.text for n in found.notices)


def test_the_newest_dataset_with_tools_is_taken() -> None:
    make_query(make_tool_run(make_world(), "ada"), 0)
    other = make_dataset()
    make_trajectory(make_run(other, "bob", finished=9), 1)
    person = make_person("rita", "view_results")
    assert select(PAGES["tools"], Filters(), person).system == "planbench_xl"
    assert select(PAGES["leaderboard"], Filters(), person).system == "adaplanbench"
    # Pages about judges take the newest dataset that has some.
    make_query(make_tool_run(make_world("Later"), "ada", finished=20), 0)
    assert select(PAGES["leaderboard"], Filters(), person).system == "planbench_xl"
    assert select(PAGES["rubric"], Filters(), person).system == "adaplanbench"
    found = report(dataset=str(other.pk))
    assert found.empty is not None and "record no searches" in found.empty.text


def test_nothing_scored_is_said() -> None:
    run = make_tool_run(make_world(), "ada")
    make_query(run, 0, right=None)
    found = report()
    assert found.sentence == "Nothing was scored here: 1 (a lookup fitted several records)."
    (row,) = lines(found.table("use"))
    assert row["searches"] is None and row["searches per call"] is None


def test_pages_without_judges_work_or_say_what_is_missing() -> None:
    run = make_tool_run(make_world(), "ada")
    make_query(run, 0)
    board = report_of("leaderboard", select_runs(Filters()))
    assert board.empty is None and "Valid" not in board.figures[0].title
    assert "readings differ" not in board.tables[0].header
    assert "level none" not in " ".join(board.how)
    rubric = report_of("rubric", select_runs(Filters()))
    assert rubric.empty is not None and rubric.empty.title == "These runs have no judges"
    options = select_runs(Filters()).options
    assert not options["level"] and not options["judging"]
    assert options["condition"][0].label == "Block-free"


def test_cells_leave_out_what_nobody_has() -> None:
    rows = {"a": [SharePart(1, 1.0), SharePart(0, 0.0)]}
    (trace,) = share_cells(rows, ["Right", "Wrong"])["data"]
    assert trace["x"] == ["Right"] and trace["text"] == [["1"]]
