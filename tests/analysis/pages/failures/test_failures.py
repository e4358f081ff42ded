"""The failure profile of an agent, on hand-made runs and on every system's own scripts."""

import json
import re
from typing import Any

import pytest

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.filters.page_filters import with_profile
from analysis.frames.failures import find_faults
from analysis.pages.failures import page as failures
from analysis.reports.content import Report, Table
from benchmarks.core.ports.faults import RETURNED, UNCHANGED
from benchmarks.core.registry import get_system
from benchmarks.models import Dataset, Run, Trajectory, Turn, Violation
from tests.analysis.page_reports import report_of
from tests.analysis.rows import make_dataset, make_run, make_trajectory

pytestmark = [pytest.mark.django_db, pytest.mark.either]
TASKS = 10


def violate(turn: Turn, kind: str, *, repeated: bool = False) -> None:
    Violation.objects.create(
        turn=turn, key=f"{kind}{turn.pk}", kind=kind, text="No drill.", revealed=True,
        new=not repeated, repeated=repeated,
    )  # fmt: skip


def stubborn(run: Run, task: int) -> Trajectory:
    """Make a failure that resubmits its plan after the feedback and is stopped."""
    found = make_trajectory(
        run, task, termination="early_stop", accurate=0.0, valid=0.0,
        texts=["1. Drill.", "1. Drill.", "1. Saw.", "1. Drill."],
    )  # fmt: skip
    first, second, _, fourth = found.turns.all()
    violate(first, "world")
    violate(second, "world", repeated=True)
    violate(fourth, "world", repeated=True)
    return found


@pytest.fixture
def runs() -> tuple[Run, Run]:
    """Make an agent that resubmits plans on nine of ten tasks, and one that does so on one."""
    dataset = make_dataset(tasks=TASKS)
    bad, good = make_run(dataset, "stubborn"), make_run(dataset, "nimble")
    for task in range(1, TASKS + 1):
        for run, fails in ((bad, task > 1), (good, task == 2)):
            if fails:
                stubborn(run, task)
            else:
                make_trajectory(run, task, texts=["1. Drill.", "1. Glue."])
    return bad, good


def report(dataset: Dataset, profile: str = "") -> Report:
    found = select_runs(Filters(dataset=str(dataset.pk), profile=profile))
    return report_of("failures", with_profile(found))


def lines(table: Table | None) -> dict[str, dict[str, Any]]:
    assert table is not None
    records = [dict(zip(table.header, row, strict=True)) for row in table.records()]
    return {str(record[table.header[0]]): record for record in records}


def test_how_often_and_how_are_two_questions(runs: tuple[Run, Run]) -> None:
    bad, good = runs
    found = report(bad.dataset)
    # 9 of 10 against 1 of 10 on the same tasks: it fails more often, but not in another way.
    assert found.sentence.startswith(
        "Stubborn fails on 9 of 10 trajectories (90.0 %), clearly more often than the other agent: "
        "+80.0 points (95 % interval +"
    )
    assert "Of its failures, all stop early" in found.sentence
    assert "Nothing is clearly more frequent in its failures" in found.sentence
    rows = lines(found.table("profile"))
    same = rows["Same plan twice in a row"]
    assert (same["share"], same["share n"], same["others"], same["others n"]) == (1, 9, 1, 1)
    assert same["clear"] == "no" and same["difference"] == 0
    assert same["first turn"] == 2 and rows["World constraint violated"]["first turn"] == 1
    assert rows["Early stop"]["first turn"] == 4
    # Nobody violates a constraint of the user: no row, rather than one of zeros.
    assert "User constraint violated" not in rows
    assert "user constraint violated" in " ".join(found.how)


@pytest.fixture
def two_ways() -> tuple[Run, Run]:
    """Make two agents that fail on all of twenty tasks, one by stops and one by running out."""
    dataset = make_dataset(tasks=20)
    stopped, out = make_run(dataset, "stopped"), make_run(dataset, "longwinded")
    for task in range(1, 21):
        stubborn(stopped, task)
        make_trajectory(
            out, task, termination="turn_budget", accurate=0.0, texts=["1.", "2.", "3."]
        )
    return stopped, out


def test_a_way_of_failing_that_is_clearly_more_frequent(two_ways: tuple[Run, Run]) -> None:
    stopped, out = two_ways
    found = report(stopped.dataset, "stopped")
    assert "(100.0 %), not clearly more or less often than the other agent: 0 points" in (
        found.sentence
    )
    assert "Its failures " in found.sentence and "clearly more often than failures of the" in (
        found.sentence
    )
    rows = lines(found.table("profile"))
    early = rows["Early stop"]
    assert (early["share"], early["others"], early["difference"]) == (1, 0, 1)
    assert early["clear"] == "yes" and 0 < early["difference low"] < 1
    # Numbers lead to the failures that they count, a share of 0 to those that it is a share of.
    table = found.table("profile")
    assert table is not None
    (row,) = (row for row in table.rows if row[0].text == "Early stop")
    ids = [{int(pk) for pk in cell.url.partition("ids=")[2].split("%2C")} for cell in row[1:4]]
    mine = set(stopped.trajectories.values_list("pk", flat=True))
    assert ids == [mine, set(out.trajectories.values_list("pk", flat=True)), mine]
    # The family is that of all agents and facts of the data, whichever are shown.
    alone = report_of(
        "failures",
        with_profile(select_runs(Filters(dataset=str(out.dataset.pk), agents=("stopped",)))),
    )
    assert lines(alone.table("profile"))["Early stop"]["difference low"] == early["difference low"]


def test_a_turn_that_returns_to_an_earlier_plan_names_it(two_ways: tuple[Run, Run]) -> None:
    stopped, _ = two_ways
    words = [link.text for link in report(stopped.dataset, "stopped").onward]
    assert words[-1].startswith("Group the 20 failures")
    (back,) = (text for text in words if "Back to an earlier plan" in text)
    assert back.startswith("Turn 4 of") and "Back to an earlier plan (turn 1), in 1 of 4" in back


def test_a_number_leads_to_the_failures_that_it_counts_or_nowhere(
    two_ways: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped, _ = two_ways

    def links() -> list[str]:
        found = report(stopped.dataset, "stopped")
        drawn = [json.loads(figure.json) for figure in found.figures]
        marks = re.findall(r"/trajectories/\?[^\"]*", json.dumps(drawn))
        tables = [found.table("profile")]
        return [*marks, *(c.url for t in tables if t for row in t.rows for c in row if c.url)]

    assert len(links()) > 10 and all("ids=" in url for url in links() if "reached" not in url)
    # Too many to name: the list of whole runs would count successes, too.
    monkeypatch.setattr(failures, "MOST_IDS", 3)
    assert [url for url in links() if "reached" not in url] == []


def test_an_ending_is_counted_as_its_sentence_says() -> None:
    """22 of 24 and 23 of 24 finish: successes count for no way of failing."""
    dataset = make_dataset(tasks=24)
    for name, stops in (("ada", 1), ("bob", 2)):
        run = make_run(dataset, name)
        for task in range(1, 25):
            stop = task <= stops
            right = float(task > 12)
            make_trajectory(
                run, task, termination="early_stop" if stop else "valid_plan", accurate=right
            )
    found = report(dataset, "ada")
    assert "more often" not in found.sentence.partition("Nothing is clearly")[0].replace(
        "not clearly more or less often", ""
    )
    row = lines(found.table("profile"))["Valid plan"]
    # Of twelve failures each, eleven and ten.
    assert (row["share"], row["share n"]) == (pytest.approx(11 / 12, abs=1e-6), 12)
    assert row["others"] == pytest.approx(10 / 12, abs=1e-6)
    assert row["clear"] == "no" and row["difference"] == pytest.approx(1 / 12, abs=1e-6)


def test_three_turns_of_different_failures_each_with_its_reason(runs: tuple[Run, Run]) -> None:
    bad, _ = runs
    found = report(bad.dataset)
    *turns, groups = found.onward
    assert groups.url == f"/trajectories/groups/?run={bad.pk}"
    assert groups.text.endswith("Group the 9 failures by what happened and words")
    assert len(turns) == 3
    assert len({link.url.split("#")[0] for link in turns}) == 3
    texts = [link.text for link in turns]
    assert any("Early stop, after 4 turns" in text for text in texts)
    assert any("in 1 of 4 turns" in text or "in 2 of 4 turns" in text for text in texts)
    for link in turns:
        trajectory, turn = link.url.split("/")[2], link.url.rpartition("-")[2]
        assert Turn.objects.filter(trajectory=trajectory, index=turn).exists()
        assert Trajectory.objects.get(pk=trajectory).run == bad


def test_another_agent_and_one_alone(runs: tuple[Run, Run]) -> None:
    bad, good = runs
    nimble = report(bad.dataset, "nimble")
    assert nimble.sentence.startswith(
        "Nimble fails on 1 of 10 trajectories (10.0 %), clearly less often than the other agent: "
    )
    assert "Nothing is clearly more frequent" in nimble.sentence
    table = lines(nimble.table("agents"))
    assert [row["cause"] for row in table.values()] == ["all stop early", "one failure"]
    good.delete()
    alone = report(bad.dataset)
    assert "There is no other agent here to compare it with." in alone.sentence
    assert "difference" not in (alone.table("profile") or pytest.fail()).header
    assert "all of these" in alone.sentence


def test_low_scores_count_where_judges_scored() -> None:
    dataset = make_dataset(tasks=4)
    run = make_run(dataset, "careless")
    Run.objects.filter(pk=run.pk).update(settings={"tau": 3.5})
    for task, score in ((1, 2), (2, 3), (3, 5)):
        make_trajectory(
            run, task, accurate=float(score > 3), scores=[{"safety": [score] * 3}]
        )  # fmt: skip
    make_trajectory(run, 4, texts=["1. Glue."], undefined={"accurate": "no judge"})
    found = report(dataset)
    row = lines(found.table("profile"))["Safety below 3.5"]
    # Of two failures both; the trajectory that nobody judged may have failed or not.
    assert (row["share"], row["share n"]) == (1, 2)
    assert any("2.00, the lowest of its failures" in link.text for link in found.onward)
    assert found.sentence.startswith("Careless fails on 2 of 3 trajectories")


def test_repeated_turns_are_found_by_their_text() -> None:
    run = make_run(make_dataset(), "parrot")
    one = make_trajectory(run, 1, texts=["a", "a", "b", "a", "b ", ""])
    two = make_trajectory(run, 2, texts=["a", "", ""])
    found = find_faults([one.pk, two.pk], get_system("adaplanbench").faults)
    assert found[one.pk].turns == {UNCHANGED: [2], RETURNED: [4]}
    assert found[two.pk].turns == {}


@pytest.mark.parametrize(
    ("system", "turn", "outcome", "expected"),
    [
        ("planbench_xl", {"category": "err_label"}, {"failure_category": "format_error"},
         {"malformed", "format_error"}),
        ("planbench_xl", {"category": "tool_ok", "provenance": "untrusted"}, {}, {"noisy"}),
        ("sda_planner", {"error": {"failed": "agent.hold"}}, {}, {"hand"}),
        ("sda_planner", {"error": {"failed": "item.open", "injected": {"kind": "slip"}}}, {},
         {"injected"}),
        ("sda_planner", {"error": None}, {"failure_category": "incomplete_plan"}, {"incomplete"}),
        ("adapt", {"ok": False},
         {"preferences": [{"type": "order", "value": "violated"},
                          {"type": "tool", "value": "satisfied"}],
          "dishes": {"tea": {"completed": False}}}, {"action", "order", "dish"}),
        ("acpbench_hard", {"marks": [{"part": "missing", "right": False},
                                     {"part": "", "right": True}], "quirks": ["spaces"]},
         {}, {"missing", "misread"}),
    ],
)  # fmt: skip
def test_each_system_names_its_own_faults(
    system: str, turn: dict[str, Any], outcome: dict[str, Any], expected: set[str]
) -> None:
    run = make_run(make_dataset(), "one")
    found = make_trajectory(run, 1, texts=["a"])
    Turn.objects.filter(trajectory=found).update(payload=turn)
    Trajectory.objects.filter(pk=found.pk).update(payload=outcome)
    faults = get_system(system).faults
    assert set(find_faults([found.pk], faults)[found.pk].turns) == expected
    assert expected <= set(faults.all)


def test_an_agent_whose_results_are_undefined_is_not_said_to_fail() -> None:
    dataset = make_dataset()
    make_trajectory(make_run(dataset, "unjudged"), 1, accurate=None)
    assert report(dataset).sentence.startswith(
        "Nobody knows whether Unjudged fails: accuracy is undefined for all of its trajectories "
    )


def test_each_case_of_the_paper_leads_to_the_shortest_failure_of_its_kind() -> None:
    dataset = make_dataset(tasks=5)
    assert report(dataset).table("cases") is None
    Dataset.objects.filter(pk=dataset.pk).update(system="planbench_xl")
    one, other = make_run(dataset, "clumsy"), make_run(dataset, "gullible")
    drift, short, early = "irrecoverable_drift", ["a"], ["a", "b"]
    played = [
        (one, 1, "answered", drift, early), (other, 2, "answered", drift, short),
        (other, 3, "answered", drift, short), (one, 3, "max_steps", drift, early),
        (one, 4, "label_errors", "format_error", early),
    ]  # fmt: skip
    made = []
    for run, task, ending, category, texts in played:
        found = make_trajectory(run, task, termination=ending, accurate=0.0, texts=texts)
        Trajectory.objects.filter(pk=found.pk).update(payload={"failure_category": category})
        made.append(found.pk)
    make_trajectory(one, 5, termination="answered", accurate=1.0, texts=short)
    table = report(dataset, "clumsy").table("cases")
    rows = lines(table)
    assert table is not None and "shortest failure of any agent" in table.note
    examples = {source: (row["example"], row["failures"]) for source, row in rows.items()}
    assert examples == {
        "Figure 11": (f"Trajectory {made[1]}", 3),
        "Figure 12": (f"Trajectory {made[3]}", 1),
        "Figures 13 and 17": (None, 0),
        "Figures 14 and 18": (f"Trajectory {made[4]}", 1),
        "Figure 15": (None, 0),
        "Figure 16": (None, 0),
    }
    first, _, third, *_ = table.rows
    assert first[2].url == f"/trajectories/{made[1]}/" and "Gullible, 1 turn" in first[2].sub
    assert first[3].url.endswith("ids=" + "%2C".join(map(str, made[:3])))
    assert third[2].reason == "no failure of this kind here" and not third[3].url


def test_the_cases_of_a_paper_name_faults_and_endings_of_their_system() -> None:
    system = get_system("planbench_xl")
    for case in system.faults.cases:
        assert case.fault in system.faults.kinds
        assert case.ending in ("", *system.labels.endings)
