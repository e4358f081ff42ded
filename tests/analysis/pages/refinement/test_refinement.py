"""Extra turns with feedback on the rubric: recovered and lost, by hand."""

import json

import pytest

from analysis.filters import Filters
from analysis.pages.catalogue import PAGES, select
from analysis.reports.content import Report, Table
from benchmarks.models import Dataset, Run
from tests.analysis.page_reports import report_of
from tests.analysis.rows import make_dataset, make_person, make_run, make_trajectory
from tests.analysis.tool_rows import make_query, make_tool_run, make_world

pytestmark = pytest.mark.django_db

BROKEN, WEAK, GOOD, UNKNOWN = (False, False), (True, False), (True, True), (True, None)
# One that never was valid; accurate at once; mended at the first extra turn; broken, then mended;
# broken and left so.
CHAINS = [[BROKEN, BROKEN], [BROKEN, GOOD], [WEAK, GOOD], [WEAK, BROKEN, GOOD],
          [BROKEN, WEAK, BROKEN, BROKEN]]  # fmt: skip


def report(**words: str) -> Report:
    reader = make_person(f"reader-{'-'.join(words.values())}", superuser=True)
    selection = select(PAGES["refinement"], Filters(**words), reader)  # type: ignore[arg-type]
    return report_of("refinement", selection)


def lines(table: Table | None) -> list[dict[str, object]]:
    assert table is not None
    return [dict(zip(table.header, record, strict=True)) for record in table.records()]


def make_refined(
    dataset: Dataset, agent: str, chains: list[list[tuple[bool, bool | None]]], most: int = 2
) -> Run:
    """A run with extra turns whose plans have these states, a list per task."""
    run = make_run(dataset, agent, condition=f"refinement={most}")
    run.settings = {"refinement": most}
    run.save()
    for task, chain in enumerate(chains, 1):
        made = make_trajectory(run, task, valid=float(chain[-1][0]))
        made.payload = {"states": [{"valid": v, "passed": p} for v, p in chain]}
        made.save()
    return run


@pytest.fixture
def dataset(db: None) -> Dataset:
    return make_dataset(tasks=6)


def test_nothing_yet_and_systems_without_such_turns(dataset: Dataset) -> None:
    assert report().empty is not None
    make_query(make_tool_run(make_world(), "tia"), 0)
    empty = report(dataset=str(Dataset.objects.get(system="planbench_xl").pk)).empty
    assert empty is not None and empty.title == "No extra turns here"


def test_by_hand(dataset: Dataset) -> None:
    make_refined(dataset, "ada", CHAINS)
    # A newer run without extra turns is not what the page is about.
    make_trajectory(make_run(dataset, "ada", finished=9), 1)
    made = report()
    zero, one, two = lines(made.table("points"))
    # Of five: accurate 1, then also the third, then also the fourth; valid 4, then 2, then 3.
    assert [row["acc"] for row in (zero, one, two)] == [0.2, 0.4, 0.6]
    assert [row["vpr"] for row in (zero, one, two)] == [0.8, 0.4, 0.6]
    assert [row["refining"] for row in (zero, one, two)] == [0, 3, 2]
    assert (two["acc change"], two["recovered"]) == (pytest.approx(0.4), 2)
    assert (two["vpr change"], two["lost"]) == (pytest.approx(-0.2), 1)
    (ends,) = lines(made.table("ends"))
    assert (ends["counted"], ends["refined"], ends["acc before"], ends["vpr after"]) == (
        5, 3, 0.2, 0.6,
    )  # fmt: skip
    assert made.sentence.startswith(
        "After 2 extra turns accuracy does not clearly change for Ada: +40.0 points (95 % "
    )
    assert "the valid plan rate does not clearly change for Ada: −20.0 points (" in made.sentence
    assert made.sentence.endswith(
        "In total, 2 trajectories became accurate and 1 lost a valid plan."
    )
    drawn = [json.loads(figure.json) for figure in made.figures]
    assert [figure.name for figure in made.figures] == ["accuracy", "valid"]
    assert [0.2, 0.4, 0.6] in [trace["y"] for trace in drawn[0]["data"]]


def test_among_the_refined_the_start_is_by_construction(dataset: Dataset) -> None:
    make_refined(dataset, "ada", CHAINS)
    made = report(among="refined")
    zero, *_, two = lines(made.table("points"))
    assert (zero["acc"], zero["vpr"], zero["acc n"]) == (0, 1, 3)
    assert two["acc"] == pytest.approx(2 / 3, abs=1e-6)
    assert any("by construction" in notice.text for notice in made.notices)


def test_left_out_and_unscored_are_counted(dataset: Dataset) -> None:
    run = make_refined(dataset, "ada", [[WEAK, GOOD], [WEAK, UNKNOWN]])
    make_trajectory(run, 3, termination="judge_failure", undefined={"valid": "unknown"})
    make_trajectory(run, 4)
    made = report()
    (ends,) = lines(made.table("ends"))
    assert (ends["counted"], ends["acc after"], ends["acc after n"]) == (2, 1, 1)
    how = "\n".join(made.how)
    assert "1 (whether the last plan is valid is unknown)" in how
    assert "1 (the states of its plans were not recorded)" in how
    assert "a rubric score being missing: 1." in how


def test_nobody_needed_an_extra_turn(dataset: Dataset) -> None:
    make_refined(dataset, "ada", [[GOOD], [BROKEN, GOOD]])
    assert report().sentence == (
        "None of 2 trajectories was refined: each was valid and passed, or never valid."
    )
    assert report(among="refined").sentence == (
        "No trajectory was refined: each was valid and passed, or never valid."
    )


def test_no_change_is_said_to_be_none_where_intervals_are_wide(dataset: Dataset) -> None:
    make_refined(dataset, "ada", [[WEAK, WEAK], [GOOD]])
    make_refined(dataset, "bob", [[WEAK, BROKEN], [GOOD]])
    made = report()
    # Accuracy stays at 1 of 2 for both; of Bob's two valid plans one is lost.
    assert made.sentence.startswith(
        "After 2 extra turns accuracy clearly changes for no agent (0 points; intervals from "
        "−75.7 to +75.7 points); the valid plan rate clearly changes for no agent (−50.0 to "
        "0 points"
    )
    assert made.sentence.endswith("and 1 lost a valid plan.")
    assert any("too few to show any difference" in notice.text for notice in made.notices)


def test_agents_whose_change_is_clear_are_named() -> None:
    dataset = make_dataset("Larger", tasks=20)
    for agent in ("ada", "bob"):
        make_refined(dataset, agent, [[WEAK, GOOD]] * 20)
    make_refined(dataset, "cyd", [[WEAK, WEAK]] * 20)
    said = report().sentence
    assert said.startswith(
        "After 2 extra turns accuracy clearly changes for Ada by +100.0 points (95 %"
    )
    assert ", for Bob by +100.0 points" in said and "for Cyd" not in said
    assert "the valid plan rate clearly changes for no agent (0 points" in said


def test_without_such_runs_the_way_to_one(dataset: Dataset) -> None:
    make_trajectory(make_run(dataset, "ada"), 1)
    empty = report().empty
    assert empty is not None and empty.title == "No run here grants extra turns"
    assert "One run with 6 extra turns of Ada gives" in empty.text and "Figure 5" in empty.text
    assert "set_refinement=6" in empty.action_url and "agents=ada" in empty.action_url
    hidden = report(published="hide").empty
    assert hidden is not None and "Figure 5" not in hidden.text


def test_what_the_paper_reports_stands_beside(dataset: Dataset) -> None:
    make_refined(dataset, "ada", CHAINS)
    (said,) = lines(report().table("said"))
    assert said["source"] == "Figure 5" and report(published="hide").table("said") is None
