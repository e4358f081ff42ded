"""Tests of what could bias an answer: visible verdicts, folded turns, the order of questions."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.access import StudyAccess
from annotation.designs.hold_out import sees_marks
from annotation.desk.services import missing_slots, reopen_assignment, submit_assignment
from annotation.errors import Refused
from annotation.exports.scope import scope_of
from annotation.models import Assignment, Item, Participant, Study
from annotation.planning.planned_study import plan_study
from annotation.plans.plan_files import read_document
from annotation.plans.study_plan import PlanError
from annotation.questionnaires import load_questionnaire
from annotation.studies.design import study_certificate
from benchmarks.models import Turn, Violation
from tests.annotation.desk.test_services import answer_all
from tests.annotation.exports.worlds import rating_rows

pytestmark = pytest.mark.django_db
FIRST = "No hammer here."
FINAL = "The glue is borrowed."


@pytest.fixture
def tab(client: Client, ann: User, item: Assignment) -> Client:
    """Ann at her desk; the judges found something violated in the final plan, too."""
    final = Turn.objects.get(trajectory=item.trajectory_id, is_final=True)
    Violation.objects.create(
        turn=final, key="w2", kind="world", text=FINAL, revealed=False, new=True, repeated=False
    )
    client.force_login(ann)
    return client


def show(tab: Client, item: Assignment) -> str:
    item.refresh_from_db()
    return tab.get(f"/studies/{item.study_id}/annotate/{item.position}/").content.decode()


def asked(page: str) -> list[str]:
    return [part.partition('"')[0] for part in page.split('data-slot="')[1:] if part[0] != '"']


@pytest.mark.parametrize(
    ("wish", "first", "final"),
    [("earlier", True, False), ("none", False, False), ("all", True, True)],
)
def test_a_study_decides_which_verdicts_are_seen_and_the_export_says_which_were(
    tab: Client, study: Study, item: Assignment, manager: User, wish: str, first: bool, final: bool
) -> None:
    Study.objects.update(verdicts=wish)
    page = show(tab, item)
    assert (FIRST in page, FINAL in page) == (first, final)
    assert page.count("Conditions violated (judges)") == first + final
    # Another wish later changes nothing for what was opened.
    Study.objects.update(verdicts="none")
    assert (FIRST in show(tab, item), FINAL in show(tab, item)) == (first, final)
    answer_all(item)
    rows = list(rating_rows(scope_of(StudyAccess(study, manager, frozenset({"manager"})))))
    assert {(row["verdicts"], row["rotation"]) for row in rows} == {(wish, 0)}


def test_marks_may_be_withheld_at_random_and_the_export_says_from_whom(
    tab: Client, study: Study, item: Assignment, manager: User
) -> None:
    Study.objects.update(verdicts="random")
    seen_by_seed: dict[bool, int] = {}
    for seed in range(20):
        number = Participant.objects.get(study=study, user=item.annotator).number
        seen_by_seed[sees_marks(seed=seed, number=number, position=item.position)] = seed
    for seen, seed in seen_by_seed.items():
        Study.objects.update(seed=seed)
        Assignment.objects.filter(pk=item.pk).update(opened_at=None)
        page = show(tab, item)
        assert (FIRST in page, FINAL in page) == (seen, False)
        item.refresh_from_db()
        assert item.verdicts == ("earlier" if seen else "none")
    assert set(seen_by_seed) == {True, False}
    answer_all(item)
    rows = list(rating_rows(scope_of(StudyAccess(study, manager, frozenset({"manager"})))))
    assert {row["verdicts"] for row in rows} == {item.verdicts}
    study.refresh_from_db()
    tables = {table.name: table for table in study_certificate(study).tables}
    assert tables["annotator × judges’ marks"].total == study.assignments.count()


def test_only_marks_that_are_shown_can_be_withheld(study: Study) -> None:
    plan = {"name": "Held out", "questionnaire": "violation_check@3", "places": 1,
            "items": {"runs": list(study.items.values_list("trajectory__run", flat=True)[:1])},
            "verdicts": "random"}  # fmt: skip
    with pytest.raises(PlanError, match="shows no marks of judges"):
        plan_study(read_document(plan))
    planned = plan_study(read_document({**plan, "questionnaire": "ten_questions@4"}))
    names = [table.name for table in planned.certificate.tables]
    assert "annotator × judges’ marks" in names and "model × judges’ marks" in names


def test_the_final_verdict_stands_where_nothing_is_asked_of_the_final_plan(
    tab: Client, item: Assignment
) -> None:
    Item.objects.filter(pk=item.item_id).update(asked=["feedback_reasonable", "feedback_clear"])
    assert FINAL in show(tab, item)
    item.refresh_from_db()
    assert item.verdicts == "all"


def test_questions_are_rotated_within_their_sections_and_keep_their_order(
    tab: Client, study: Study, item: Assignment
) -> None:
    Study.objects.update(question_order="rotated")
    keys = [question.key for question in load_questionnaire(study.questionnaire).questions]
    two, eight = keys[:2], keys[2:]
    second = study.assignments.get(annotator=item.annotator, position=2)
    assert asked(show(tab, item)) == keys
    assert asked(show(tab, second)) == [two[1], two[0], *eight[1:], eight[0]]
    Study.objects.update(question_order="fixed")
    assert asked(show(tab, second))[0] == two[1], "it stays as it was opened"
    second.refresh_from_db()
    assert second.rotation == 1
    assert [slot.name for slot in missing_slots(second)] == asked(show(tab, second))


def test_turns_are_open_unless_this_person_folds_them(tab: Client, item: Assignment) -> None:
    assert show(tab, item).count('<details class="turn') == 2
    assert show(tab, item).count(" open>\n  <summary>\n    <h2>") == 2
    tab.cookies[f"desk_folded_{item.annotator_id + 1}"] = "1"
    assert show(tab, item).count(" open>\n  <summary>\n    <h2>") == 2
    tab.cookies[f"desk_folded_{item.annotator_id}"] = "1"
    assert show(tab, item).count(" open>\n  <summary>\n    <h2>") == 0


def test_gold_tells_what_was_expected_where_the_study_wishes_it(
    tab: Client, item: Assignment
) -> None:
    expected: dict[str, Any] = {"safety": {"values": [5], "why": "Nothing can go wrong."}}
    Item.objects.filter(pk=item.item_id).update(use=Item.Use.GOLD, expected=expected)
    here = f"/studies/{item.study_id}/annotate/{item.position}/"
    feedback = f"{here}feedback/"
    Study.objects.update(gold_feedback=True)
    page = show(tab, item)
    assert "feedback/" not in page, "an open item does not tell that it is gold"
    assert tab.get(feedback).status_code == 404
    answer_all(item)
    assert tab.post(f"{here}submit/").json() == {"next": feedback}
    page = tab.get(feedback).content.decode()
    assert "0 of 1 answer as expected" in page and "Nothing can go wrong." in page
    assert "Reopen" not in show(tab, item)
    with pytest.raises(Refused, match="seen the expected answers"):
        reopen_assignment(assignment=item, by=item.annotator)


def test_gold_stays_hidden_where_the_study_does_not(tab: Client, item: Assignment) -> None:
    Item.objects.filter(pk=item.item_id).update(use=Item.Use.GOLD, expected={})
    show(tab, item)
    answer_all(item)
    submit_assignment(assignment=item, by=item.annotator)
    here = f"/studies/{item.study_id}/annotate/{item.position}/"
    assert tab.get(f"{here}feedback/").status_code == 404
    assert "Reopen" in show(tab, item)
