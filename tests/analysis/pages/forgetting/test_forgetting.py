"""The page on forgetting: what was disclosed, how long it was kept, and where it was broken."""

import pytest

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.reports.content import Report
from benchmarks.core.ports.disclosures import TurnRecord
from benchmarks.models import Run, Trajectory, Violation
from benchmarks.systems.adapt.faults import DISCLOSURES as ADAPT
from benchmarks.systems.planbench_xl.faults import DISCLOSURES as PLANBENCH_XL
from tests.analysis.page_reports import report_of
from tests.analysis.rows import make_dataset, make_run, make_trajectory

Turns = list[list[tuple[str, bool, bool]]]
TOLD, AGAIN, WITHHELD = (True, False), (False, True), (False, False)


def report(**words: str) -> Report:
    return report_of("forgetting", select_runs(Filters(**words)))  # type: ignore[arg-type]


def play(run: Run, task: int, turns: Turns, *, ending: str = "valid_plan") -> Trajectory:
    """A trajectory whose plans violate these constraints: key, whether revealed, repeated."""
    trajectory = make_trajectory(run, task, texts=["1. Do it."] * len(turns), termination=ending)
    for turn, violations in zip(trajectory.turns.order_by("index"), turns, strict=True):
        for key, revealed, repeated in violations:
            Violation.objects.create(
                turn=turn, key=key, kind="world" if key[0] == "w" else "user", text=f"No {key}.",
                revealed=revealed, new=revealed, repeated=repeated,
            )  # fmt: skip
    return trajectory


@pytest.mark.django_db
def test_what_is_kept_is_counted_from_the_plan_after_which_it_was_disclosed() -> None:
    dataset = make_dataset(tasks=3)
    keeps, forgets = make_run(dataset, "keeps"), make_run(dataset, "forgets")
    # Told after plan 1, two later plans, kept; a withheld violation is no disclosure.
    play(keeps, 1, [[("w1", *TOLD), ("u1", *WITHHELD)], [("u1", *TOLD)], []])
    play(keeps, 2, [[("w1", *TOLD)], [], []])
    # Told with the last plan: nothing follows.
    play(keeps, 3, [[], [("w2", *TOLD)]], ending="max_turns")
    broken = play(forgets, 1, [[("w1", *TOLD)], [], [("w1", *AGAIN)], [("w1", *AGAIN)]])
    play(forgets, 2, [[("w1", *TOLD)], [("w1", *AGAIN)]], ending="early_stop")
    play(forgets, 3, [[("w1", *TOLD), ("w2", *TOLD)], [("w2", *AGAIN)]], ending="early_stop")
    found = report()
    rows = {
        row[0]: dict(zip(table.header, row, strict=True))
        for table in (found.table("kept"),)
        if table is not None
        for row in table.records()
    }
    assert rows["Keeps"]["disclosed"] == 3 and rows["Keeps"]["violated again"] == 0
    assert rows["Keeps"]["after 1"] == 1
    # Of four, two break at once; of the two left, one has a second plan, which breaks it.
    assert rows["Forgets"]["disclosed"] == 4 and rows["Forgets"]["violated again"] == 3
    assert (rows["Forgets"]["after 1"], rows["Forgets"]["after 2"]) == (0.5, 0)
    assert found.sentence.startswith(
        "Of 7 constraints disclosed before a later plan, 3 were violated again"
    )
    breaks = found.table("breaks")
    assert breaks is not None and len(breaks.rows) == 3
    assert breaks.rows[-1][3].url.endswith(f"/trajectories/{broken.pk}/#turn-3")
    assert [cell.text for cell in breaks.rows[-1][:3]] == ["Forgets", "No w1.", "1"]
    early = found.table("early")
    assert early is not None
    assert {row[0]: row[1] for row in early.records()} == {
        "All agents": 1, "Keeps": 0, "Forgets": 1,
    }  # fmt: skip
    assert "no plan followed" in found.how[-1]


@pytest.mark.django_db
def test_one_agent_or_no_run_is_not_compared() -> None:
    assert report().empty is not None
    dataset = make_dataset(tasks=1)
    run = make_run(dataset, "alone")
    play(run, 1, [[("w1", *TOLD)], []])
    found = report()
    assert "Agents" not in found.sentence and "1 constraint disclosed" in found.sentence
    again = make_run(dataset, "other")
    play(again, 1, [[("w1", *TOLD)], []])
    assert "Agents are not compared: no task" in report().sentence


def record(index: int, **parts: object) -> TurnRecord:
    return TurnRecord(index, parts)


def test_adapt_follows_preferences_from_the_answer_that_told_them() -> None:
    turns = [
        record(1, disclosed=None, prefs={"n3": "violated"}),
        record(2, disclosed=["n1", "n2", "n3"], prefs={}),
        record(3, disclosed=["n1"], prefs={"n2": "violated"}),
        record(4, disclosed=None, prefs={"n2": "satisfied", "n1": "satisfied"}),
    ]
    told = {row.text: row for row in ADAPT.read(turns)}
    assert (told["n1"].told, told["n1"].broken) == (2, None)
    assert (told["n2"].told, told["n2"].broken) == (2, 3)
    assert told["n3"].left_out


def test_planbench_xl_follows_tools_that_showed_an_error() -> None:
    def call(index: int, tool: str, *, works: bool) -> TurnRecord:
        return record(
            index, category="tool_ok", tool=tool, tool_type="noisy_misleading", shown_success=works
        )

    turns = [
        call(1, "a", works=True),
        call(2, "b", works=False),
        record(3, category="retrieve_ok", tool=None, tool_type=None, shown_success=None),
        call(4, "a", works=True),
        call(5, "b", works=False),
        call(6, "c", works=False),
    ]
    seen = {row.text: (row.told, row.broken) for row in PLANBENCH_XL.read(turns)}
    assert seen == {"b": (2, 5), "c": (6, None)}
