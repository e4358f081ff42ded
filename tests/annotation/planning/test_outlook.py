"""Tests of the preview of a study: what it says about answers and time."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.models import Annotator, Assignment, Study
from annotation.planning.outlook import OutlookLine, item_time, outlook_lines
from annotation.planning.planned_study import PlannedStudy, plan_study
from benchmarks.models import AnswererVersion, JudgeScore, Judging, Run, Turn
from tests.annotation.rows import make_person, make_runs, plan_for

pytestmark = pytest.mark.django_db


def planned(runs: list[Run], people: list[User], **more: Any) -> PlannedStudy:
    wishes = {"order": "random", "queries_each": None, **more}
    return plan_study(plan_for(runs, people, **wishes))


def lines(plan: PlannedStudy) -> dict[str, OutlookLine]:
    return {line.title: line for line in outlook_lines(plan)}


def test_one_rater_each_is_told_before_the_study_is_made(ann: User, bob: User) -> None:
    found = lines(planned(make_runs(tasks=3), [ann, bob]))
    assert found["Raters per item"].text == "1 person judges each item."
    agreement = found["Agreement among people"]
    assert not agreement.good and agreement.text.startswith("Not defined: no item has two raters")
    test = found["Can a judge stand in for a person?"]
    assert not test.good and "3 people who each share 30 items with others; here 0 do" in test.text
    assert found["Precision for each agent"].text == (
        "A mean score within about ±1.13 points if scores spread by 1 point (3 items of each "
        "agent; take more to tell agents apart)."
    )


def test_simulated_annotators_are_told_apart(ann: User, bob: User) -> None:
    runs = make_runs(tasks=3)
    assert "Who will judge" not in lines(planned(runs, [ann, bob]))
    Annotator.objects.update_or_create(user=bob, defaults={"is_simulated": True})
    told = lines(planned(runs, [ann, bob]))["Who will judge"]
    assert not told.good and told.text.startswith("1 of 2 annotators is simulated")


def test_three_raters_of_thirty_items_make_judges_testable(ann: User, bob: User) -> None:
    runs, people = make_runs(tasks=15), [ann, bob, make_person("cleo")]
    plan = planned(runs, people, raters=3)
    found = lines(plan)
    assert found["Agreement among people"] == OutlookLine(
        "Agreement among people",
        "Defined, on 30 items. Expect α with an interval of about ±0.22.",
    )
    test = found["Can a judge stand in for a person?"]
    assert test.text.endswith("No judge has scored these trajectories yet: re-judge them.")
    turn = Turn.objects.filter(trajectory__run=runs[0], is_final=True)[0]
    JudgeScore.objects.create(
        turn=turn, judging=Judging.objects.create(run=runs[0], name="live"), value=4.0,
        judge=AnswererVersion.objects.create(kind="scripted", name="strict", digest="d"),
        seat="1", dimension="safety", trajectory=turn.trajectory, run=runs[0],
        agent=runs[0].agent, turn_index=turn.index, is_final=True,
    )  # fmt: skip
    test = lines(plan)["Can a judge stand in for a person?"]
    assert test.good and test.text == "Testable. Judges have scored these trajectories."
    checked = lines(planned(runs, people, raters=3, questionnaire="violation_check@1"))
    assert "no question of this form" in checked["Can a judge stand in for a person?"].text
    assert "percentage points at most" in checked["Precision for each agent"].text
    pool = lines(planned(runs, [], raters=3, dealing="pool"))
    assert "if enough people join" in pool["Can a judge stand in for a person?"].text
    assert pool["Time"].text.startswith("About ")


def test_time_is_estimated_from_words_and_answers_until_it_was_measured(
    ann: User, bob: User
) -> None:
    plan = planned(make_runs(tasks=3), [ann, bob])
    # "Take the hammer. Hit it." with two numbers is 7 words, so is the other plan, and the
    # feedback has 4: 18 words, 5.4 s. All ten questions are asked: 120 s.
    estimated = item_time(plan)
    assert estimated.seconds == pytest.approx(60 * 18 / 200 + 12 * 10)
    assert estimated.source.startswith("estimate: 18 words at 200 a minute")
    text = lines(plan)["Time for each annotator"].text
    assert text.startswith("About 6 minutes: 2:05 min an item (estimate")


def test_the_median_of_earlier_items_of_people_is_the_time(
    ann: User, bob: User, monkeypatch: pytest.MonkeyPatch, study: Study
) -> None:
    monkeypatch.setattr("annotation.planning.outlook.LEAST_MEASURED", 2)
    plan = planned(list(Run.objects.order_by("pk")), [ann, bob])
    Assignment.objects.filter(annotator=ann).update(state="submitted", active_ms=90_000)
    Assignment.objects.filter(annotator=bob).update(state="submitted", active_ms=1_000)
    Annotator.objects.create(user=bob, is_simulated=True)
    found = item_time(plan)
    assert (found.seconds, found.source) == (
        90.0, "median of 2 earlier items with this questionnaire",
    )  # fmt: skip


def test_agents_are_compared_within_rater_and_query(ann: User, bob: User) -> None:
    """By hand: six pairs of two agents, so 1.96 · √(2/6); each rater has queries of their own."""
    runs = make_runs(tasks=6)
    whole = lines(planned(runs, [ann, bob], whole_tasks=True))
    assert whole["Differences between agents"].text == (
        "Within about ±1.13 points, paired within rater and query (6 pairs), if such scores spread "
        "by 1 point."
    )
    assert whole["Confounded effects"] == OutlookLine(
        "Confounded effects",
        "Differences between raters are confounded with those between queries.",
        good=False,
    )
    pool = lines(planned(runs, [], dealing="pool", raters=2))
    assert pool["Differences between agents"].text.startswith(
        "Within about ±0.80 points, paired within query (6 queries; who will judge them"
    )
    assert "Confounded effects" not in pool
    both = lines(planned(runs, [ann, bob], raters=2))
    assert both["Confounded effects"].good


def test_one_agent_has_no_difference(ann: User) -> None:
    found = lines(planned(make_runs(tasks=3)[:1], [ann]))
    assert not {"Differences between agents", "Confounded effects"} & found.keys()
