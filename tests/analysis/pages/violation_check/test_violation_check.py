"""The violation check against figures that are computed by hand, on the page and in its report."""

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from analysis.filters import Filters
from analysis.pages.catalogue import PAGES, select
from analysis.pages.reports import report_key
from analysis.reports.content import Report, Table
from annotation.designs.hold_out import sees_marks
from annotation.models import Participant, Rating, Study
from annotation.people.withdrawal import withdraw_annotator
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.decisions import answer_marks
from annotation.submissions.services import refill_assignments
from benchmarks.models import Task, Trajectory
from benchmarks.visibility import Visibility
from tests.analysis.human_rows import (
    answer,
    make_item,
    make_kind_study,
    make_people,
    make_violating,
    make_violation_check,
)
from tests.analysis.page_reports import report_of
from tests.analysis.rows import make_dataset, make_member, make_person, make_run, make_study

pytestmark = pytest.mark.django_db

PAGE = PAGES["violation-check"]


@pytest.fixture
def reader() -> User:
    return make_person("rita", "view_results")


@pytest.fixture
def study(reader: User) -> Study:
    made = make_violation_check(make_people())
    make_member(made, reader)
    return made


def report(reader: User, **words: str) -> Report:
    return report_of("violation-check", select(PAGE, Filters(**words), reader))  # type: ignore[arg-type]


def lines(table: Table | None) -> dict[object, dict[str, object]]:
    assert table is not None
    rows = [dict(zip(table.header, row, strict=True)) for row in table.records()]
    return {row[table.header[0]]: row for row in rows}


def by_page(client: Client, reader: User, part: str) -> dict[str, dict[str, str]]:
    """The same table, as the CSV of the page has it."""
    client.force_login(reader)
    url = reverse("analysis:violation-check_table", kwargs={"part": part})
    rows = list(csv.DictReader(io.StringIO(client.get(url).content.decode())))
    return {next(iter(row.values())): row for row in rows}


def test_sets_match_a_hand_computation(reader: User, study: Study, client: Client) -> None:
    # Majority of three (two votes needed) and judges, turn by turn:
    #   T1.1 {w1} and {w1}: equal       T1.2 {} and {}: equal, both empty
    #   T2.1 {w1 w2} and {w1}: w2 missed, Jaccard 1/2
    #   T2.2 {u1} and {w1 w2}: u1 missed, w1 and w2 extra, Jaccard 0
    #   T2.3 judges unknown             T3.1 w1 tied 1 to 1      T4.1 one set of two needed
    # So 2 of 4 turns are equal and 3 of 4 within one; Jaccard (1 + 1 + 1/2 + 0)/4.
    found = lines(report(reader).table("sets"))["All constraints"]
    assert (found["turns"], found["trajectories"], found["both empty"]) == (4, 2, 1)
    assert (found["equal"], found["equal hits"], found["equal of"]) == (0.5, 2, 4)
    assert (found["within one"], found["within one hits"]) == (0.75, 3)
    assert found["jaccard"] == 0.625 and found["missed"] == 0.5 and found["extra"] == 0.5
    # Wilson at 2 of 4, z = 1.959964: 0.5 ± z·sqrt(0.0625 + z²/64)/(1 + z²/4).
    assert (found["equal wilson low"], found["equal wilson high"]) == (0.150039, 0.849961)
    # Two trajectories, one with 2 of 2 and one with 0 of 2: CR2 variance 1/4 with 1 df.
    assert (found["equal low"], found["equal high"]) == (0.001541, 0.998459)
    shown = by_page(client, reader, "sets")["All constraints"]
    assert shown.pop("comparability").startswith("Compared with the AdaPlanBench paper")
    assert {name: str(value) for name, value in found.items()} == shown


def test_cannot_tell_is_a_value_of_its_own(reader: User) -> None:
    study = make_violation_check(make_people(), questionnaire="violation_check@3")
    make_member(study, reader)
    before = report(reader)
    # Every condition decided: the same numbers as where violated ones are marked alone.
    found = lines(before.table("sets"))["All constraints"]
    assert (found["turns"], found["equal hits"], found["jaccard"]) == (4, 2, 0.625)
    people = lines(before.table("people"))["All constraints"]
    rows = Rating.objects.filter(
        assignment__trajectory__task__external_id="t1", subject="turn-1", question="world_violated"
    ).order_by("pk")
    assert [row.chosen[0] for row in rows if row.chosen].count("w1:violated") >= 2
    for row in list(rows)[:2]:
        row.chosen = ["w1:cannot_tell", *(row.chosen or [])[1:]]
        row.save()
    after = report(reader)
    found = lines(after.table("sets"))["All constraints"]
    assert (found["turns"], found["equal hits"]) == (3, 1)
    turns = lines(after.table("turns"))
    assert turns["No majority on some constraint, because somebody cannot tell"]["count"] == 1
    assert "cannot tell" in [
        row["difference"] for row in lines(after.table("differences")).values()
    ]
    assert (
        lines(after.table("people"))["All constraints"]["equal decisions"]
        != people["equal decisions"]
    )


def test_each_kind_has_its_own_row(reader: User, study: Study) -> None:
    found = lines(report(reader).table("sets"))
    # Situation: T2.1 lacks w2, T2.2 has two too many; T3.1 is tied.
    assert (found["Situation"]["equal hits"], found["Situation"]["equal of"]) == (2, 4)
    assert found["Situation"]["within one hits"] == 3
    # Preferences: nobody ties on u1, so T3.1 is compared too; only T2.2 differs.
    assert (found["Preferences"]["equal hits"], found["Preferences"]["equal of"]) == (4, 5)
    assert found["Preferences"]["within one"] == 1
    published = found["Published"]
    assert (published["equal"], published["equal hits"], published["equal of"]) == (
        0.8976,
        149,
        166,
    )
    assert (published["within one hits"], published["trajectories"]) == (161, 30)


def test_turns_left_out_are_counted_by_reason(reader: User, study: Study) -> None:
    found = lines(report(reader).table("turns"))
    assert {state: row["count"] for state, row in found.items()} == {
        "Compared": 4,
        "Tied: exactly half marked some constraint": 1,
        "Marked by fewer than 2": 1,
        "Judges gave no readable verdict": 1,
    }


def test_decisions_match_a_hand_computation(reader: User, study: Study, client: Client) -> None:
    # Both: w1 in T1.1 and T2.1. People only: w2 in T2.1, u1 in T2.2. Judges only: w1, w2 in T2.2.
    # Neither: 2 in T1.1, 3 in T1.2, 1 in T2.1, and in T3.1 the 2 that are not tied.
    found = lines(report(reader).table("decisions"))["All constraints"]
    counts = ("decisions", "both violated", "people only", "judges only", "neither")
    assert [found[name] for name in counts] == [14, 2, 2, 2, 8]
    assert found["precision"] == 0.5 and found["recall"] == 0.5 and found["fnr"] == 0.5
    assert (found["fpr"], found["fpr hits"], found["fpr of"]) == (0.2, 2, 10)
    assert found["left out"] == "3 (no decision to compare), 1 (tied), 3 (too few votes)"
    shown = by_page(client, reader, "decisions")["All constraints"]
    assert {name: str(value) for name, value in found.items()} == shown


def test_agreement_between_people_matches_a_hand_computation(reader: User, study: Study) -> None:
    found = lines(report(reader).table("people"))["All constraints"]
    # Pairs of sets: T1.1 (1 + 1/2 + 1/2)/3, T1.2 1, T2.1 2/3, T2.2 (0 + 1 + 0)/3, T2.3 1, T3.1 0.
    assert (found["turns"], found["jaccard"]) == (6, round((2 / 3 + 1 + 2 / 3 + 1 / 3 + 1) / 6, 6))
    assert found["equal sets"] == 0.5
    # 15 decisions by three and 3 by two: 51 answers, 12 of them violated. Three are split 1 to 2
    # (each 2·1·2/2 = 2 disagreeing ordered pairs), one 1 to 1 (2): observed 8/51, expected
    # 2·12·39/(51·50); alpha = 1 − 8·50/(2·12·39).
    assert (found["decisions"], found["alpha"]) == (18, round(1 - 400 / 936, 6))


def test_differences_lead_to_the_turn(reader: User, study: Study, client: Client) -> None:
    table = report(reader).table("differences")
    assert table is not None
    first, second, third, _ = Trajectory.objects.order_by("pk")
    rows = [
        (*row[0].data, row[4].text, row[3].text, row[5].text, row[6].text) for row in table.rows
    ]
    assert rows == [
        (second.pk, 1, "missed", "Condition w2 of 2", "2 of 3", "respected"),
        (second.pk, 2, "extra", "Condition w1 of 2", "0 of 3", "violated"),
        (second.pk, 2, "extra", "Condition w2 of 2", "0 of 3", "violated"),
        (second.pk, 2, "missed", "Condition u1 of 2", "2 of 3", "respected"),
        (third.pk, 1, "tied", "Condition w1 of 3", "1 of 2", "respected"),
    ]
    assert table.rows[0][0].url == f"/trajectories/{second.pk}/#turn-1"
    client.force_login(reader)
    page = client.get(reverse("analysis:violation-check"), {"details": "open"}).content.decode()
    page = page.replace("\u00a0", " ")
    assert f'<a href="/trajectories/{second.pk}/#turn-2">' in page
    assert (
        "The judges found exactly the violations that the majority of 3 people marked on 50.0 % "
        "of turns (2 of 4 turns of 2 trajectories; 95 % interval 0.2 to 99.8 %), and differ in at "
        "most one constraint on 75.0 %."
    ) in page.replace("&#x27;", "'")


def test_one_annotator_each_stands_for_the_majority(reader: User, study: Study) -> None:
    study.items.update(wanted=1)
    study.assignments.exclude(annotator__username="ann").delete()
    found = report(reader)
    assert found.sentence.startswith("The judges found exactly the violations that 1 person marked")
    assert any("says nothing about how far people agree" in n.text for n in found.notices)
    people = found.table("people")
    assert people is not None and people.rows[0][2].reason == "no item was answered by two people"


def test_a_turn_left_half_open_is_not_compared(reader: User, study: Study) -> None:
    # Without bob's and cy's answers about the situation T1.1 has one full set; two are needed.
    first = study.items.order_by("rank")[0]
    for seat in first.assignments.exclude(annotator__username="ann"):
        seat.ratings.filter(question="world_violated", subject="turn-1").delete()
    found = lines(report(reader).table("turns"))
    assert found["Compared"]["count"] == 3 and found["Marked by fewer than 2"]["count"] == 2


def test_who_withdrew_does_not_count_and_makes_another_report(reader: User, study: Study) -> None:
    before = report_key(PAGE, select(PAGE, Filters(), reader))
    Participant.objects.filter(user__username="cy").update(state=Participant.State.WITHDRAWN)
    assert report_key(PAGE, select(PAGE, Filters(), reader)) != before
    found = report(reader)
    assert "2 people" in found.sentence
    # ann and bob differ on u1 of T2.2 (and w1 of T3.1): ties now.
    assert lines(found.table("turns"))["Tied: exactly half marked some constraint"]["count"] == 2


def test_a_majority_stays_one_of_the_design_when_items_are_opened_again(
    reader: User, study: Study
) -> None:
    """Each item that cy judged wants one more now, but cy's answers are no votes."""
    cy = User.objects.get(username="cy")
    withdraw_annotator(study=study, user=cy, by=None, reason="Careless.")
    without = report(reader)
    assert refill_assignments(study=study, user=cy, by=None) > 0
    refilled = report(reader)
    assert refilled.sentence == without.sentence
    assert lines(refilled.table("turns")) == lines(without.table("turns"))


def test_simulated_annotators_are_left_out_unless_asked_for(reader: User, study: Study) -> None:
    robot = make_person("robot")
    item = study.items.order_by("rank")[3]
    said = {"world_violated.turn-1": ["w1"], "user_violated.turn-1": []}
    answer(item, robot, said, simulated=True)
    assert "3 people" in report(reader).sentence
    found = report(reader, simulated="include")
    assert "3 people and 1 simulated annotator" in found.sentence and found.banners
    assert lines(found.table("turns"))["Compared"]["count"] == 5


def test_constraints_of_closed_tasks_are_nowhere(reader: User, study: Study) -> None:
    task = Task.objects.get(external_id="t2")
    seen = Visibility(reader, tasks=[task.pk])
    selection = select(PAGE, Filters(), reader, seen)
    assert report_key(PAGE, selection) != report_key(PAGE, select(PAGE, Filters(), reader))
    found = report_of("violation-check", selection)
    assert not any("of 2" in row[3].text for row in found.table("differences").rows)  # type: ignore[union-attr]
    closed = select(
        PAGE,
        Filters(),
        reader,
        Visibility(reader, Trajectory.objects.values_list("run", flat=True)),
    )
    assert report_of("violation-check", closed).empty is not None


def test_other_studies_lead_to_their_own_page(reader: User, study: Study) -> None:
    other = make_study()
    make_member(other, reader)
    # Without a word the page takes the study that fits, though another is newer.
    assert select(PAGE, Filters(), reader).study == study
    found = report(reader, study=str(other.pk))
    assert found.empty is not None
    assert found.empty.action_url == f"/analysis/ratings/?study={other.pk}"


def test_no_study_and_no_marks(reader: User) -> None:
    assert report(reader).empty is not None
    made = make_violation_check([])
    make_member(made, reader)
    found = report(reader)
    assert found.empty is not None and found.empty.title == "No answers yet"


MARKS_SHOWN = "violation_check_with_marks@1"


def influenced_check(reader: User, *, pull: bool) -> Study:
    """Five people decide on items of eight tasks, on which judges mark w1 by mistake.

    With ``pull``, whoever sees the marks takes them over, but for the items of every fourth task;
    ann cannot tell about u1 of her first item.
    """
    study = make_kind_study(MARKS_SHOWN, "Withheld", verdicts="random", seed=3)
    scales = load_questionnaire(MARKS_SHOWN).by_key
    keys = {"world_violated": ["w1", "w2"], "user_violated": ["u1"]}
    run = make_run(make_dataset("Withheld", tasks=8), "marked")
    people = make_people("ann", "ben", "cora", "dan", "eve", prefix="marks-")
    for number, person in enumerate(people, 1):
        for position in range(1, 9):
            trajectory = make_violating(run, position, ["w1"], attempt=number)
            item = make_item(
                study, trajectory=trajectory, asked=list(keys), wanted=1,
                subjects={"turn": ["1"], "world": ["w1", "w2"], "user": ["u1"]},
            )  # fmt: skip
            seen = sees_marks(seed=3, number=number, position=position)
            chosen = ["w1"] if seen and pull and position % 4 else ["w2"] * (position == 5)
            said = {
                f"{q}.turn-1": answer_marks(scales[q].scale, of, chosen) for q, of in keys.items()
            }
            if number == position == 1:
                said["user_violated.turn-1"] = ["u1:cannot_tell"]
            seat = answer(item, person, said)
            seat.verdicts = "all" if seen else "none"
            seat.save(update_fields=["verdicts"])
    make_member(study, reader)
    return study


def test_marks_withheld_at_random_show_whether_they_move_decisions(
    reader: User, client: Client
) -> None:
    influenced_check(reader, pull=True)
    found = report(reader)
    text = " ".join(notice.text for notice in found.notices)
    assert "Seeing the judges’ marks changes how often people decide as the judges do by +" in text
    assert "a clear influence. Without the marks people do so on" in text
    equal = lines(found.table("influence-judges"))
    # Without marks w1 is never marked: of w1 and w2 at most one is decided as the judges do.
    assert equal["Situation"]["withheld"] <= 0.5 < equal["Situation"]["seen"]  # type: ignore[operator]
    assert equal["Preferences"]["change"] == 0
    violated = lines(found.table("influence"))
    assert violated["Situation"]["seen"] > violated["Situation"]["withheld"]  # type: ignore[operator]
    # What ann cannot tell is in neither share: 5 × 8 decisions but that one.
    counts = [violated["Preferences"][f"{arm} n"] for arm in ("seen", "withheld")]
    assert sum(counts) == 39  # type: ignore[arg-type]
    shown = by_page(client, reader, "influence-judges")["All constraints"]
    assert {name: str(value) for name, value in equal["All constraints"].items()} == shown


def test_without_influence_on_decisions_none_is_claimed(reader: User) -> None:
    influenced_check(reader, pull=False)
    text = " ".join(notice.text for notice in report(reader).notices)
    assert "no clear influence" in text and "would show in four of five such studies" in text


def test_who_saw_marks_by_design_is_said(reader: User, study: Study) -> None:
    assert not any("saw the judges’ marks" in notice.text for notice in report(reader).notices)
    shown = influenced_check(reader, pull=True)
    Study.objects.filter(pk=shown.pk).update(verdicts="earlier")
    found = report(reader, study=str(shown.pk))
    assert any("saw the judges’ marks" in notice.text for notice in found.notices)
    assert found.table("influence") is None
