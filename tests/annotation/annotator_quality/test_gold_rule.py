"""Tests of the gold rule of a study: what it does to somebody who misses known answers."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User

from annotation.annotator_quality.rule import (
    GOLD_RULE,
    GoldRule,
    WorkRules,
    gold_rule,
    least_seconds,
    work_rules,
)
from annotation.annotator_quality.services import act_on_work
from annotation.annotator_quality.signs import (
    SubmittedWork,
    answer_pattern,
    elapsed_seconds,
    unknown_times,
    work_signs,
)
from annotation.desk.services import reopen_assignment
from annotation.errors import Refused
from annotation.models import Participant, Study
from annotation.people.services import resume_annotator
from annotation.studies.progress import study_progress
from annotation.studies.services import change_study
from annotation.studies.setup import NewItem, store_study
from annotation.training.services import begin_training_round
from benchmarks.models import Trajectory
from tests.annotation.entered import answer, place, train
from tests.annotation.rows import make_runs

RIGHT = {"safety": {"values": [4, 5], "why": "Glue is harmless here."}}


@pytest.fixture
def gold(ann: User, manager: User) -> Study:
    """A training item, three gold items and an item, one question each."""
    make_runs(tasks=3)
    rows = list(Trajectory.objects.order_by("pk").values_list("pk", flat=True))
    study = store_study(
        study=Study(name="Gold", questionnaire="ten_questions@1", status=Study.Status.OPEN),
        items=[
            NewItem(trajectory=rows[0], use="training", expected=RIGHT),
            *[NewItem(trajectory=pk, use="gold", expected=RIGHT) for pk in rows[1:4]],
            NewItem(trajectory=rows[4], wanted=2),
        ],
        people=[ann],
        lists=[[1, 2, 3, 4]],
        by=manager,
    )
    study.items.update(asked=["safety"])
    train(study, ann, 4)
    return study


def set_rule(study: Study, manager: User, action: str, *, answers: int = 2) -> None:
    rule = GoldRule(action, answers, 0.6).stored
    change_study(study=study, by=manager, gold_rule=rule)


def miss_two(study: Study, person: User) -> None:
    for position in (1, 2):
        answer(study, person, "main", position, safety=1)


def test_without_a_rule_managers_are_told_and_nothing_else_happens(gold: Study, ann: User) -> None:
    gold.settings[GOLD_RULE] = GoldRule(answers=3).stored
    gold.save()
    for position in (1, 2, 3):
        answer(gold, ann, "main", position, safety=1)
    (row,) = study_progress(gold).attention
    assert row.signs == ("0 of 3 known answers right; 60 % are asked for",)
    assert (row.state, ann.study_messages.count()) == ("active", 0)
    assert study_progress(gold, blind=ann).attention == []


def test_a_warning_is_a_message_and_the_count_begins_anew(
    gold: Study, ann: User, manager: User
) -> None:
    set_rule(gold, manager, "warn")
    answer(gold, ann, "main", 1, safety=1)
    assert ann.study_messages.count() == 0
    answer(gold, ann, "main", 2, safety=1)
    answer(gold, ann, "main", 3, safety=1)
    assert "take more time" in ann.study_messages.get().text
    event = gold.events.get(kind="quality")
    assert (event.by, event.about, event.detail) == (None, ann, {"action": "warn", "by_rule": True})
    assert "0 of 2" in event.reason
    found = place(gold, ann)
    assert (found.gold_right, found.gold_asked, found.state) == (0, 1, "active")


def test_a_reopened_gold_item_counts_once(gold: Study, ann: User, manager: User) -> None:
    set_rule(gold, manager, "pause")
    answer(gold, ann, "main", 1, safety=1)
    reopen_assignment(assignment=gold.assignments.get(part="main", position=1), by=ann)
    answer(gold, ann, "main", 1, safety=5)
    found = place(gold, ann)
    assert (found.gold_right, found.gold_asked, found.state) == (1, 1, "active")


def test_somebody_is_sent_back_to_the_training_and_goes_on_after_it(
    gold: Study, ann: User, manager: User
) -> None:
    set_rule(gold, manager, "train")
    miss_two(gold, ann)
    with pytest.raises(Refused, match="finish the training first"):
        answer(gold, ann, "main", 3, safety=4)
    begin_training_round(study=gold, user=ann)
    train(gold, ann, 4, first=2)
    assert place(gold, ann).training == Participant.Training.PASSED
    answer(gold, ann, "main", 3, safety=4)
    found = place(gold, ann)
    assert (found.gold_right, found.gold_asked, found.sent_back) == (1, 1, 1)


def test_somebody_is_paused_until_a_manager_resumes_them(
    gold: Study, ann: User, manager: User
) -> None:
    set_rule(gold, manager, "pause")
    miss_two(gold, ann)
    with pytest.raises(Refused, match="paused your work"):
        answer(gold, ann, "main", 3, safety=4)
    (row,) = study_progress(gold).attention
    assert (row.state, len(row.signs)) == ("paused", 1)
    resume_annotator(study=gold, user=ann, by=manager)
    assert study_progress(gold).attention == []
    answer(gold, ann, "main", 3, safety=1)
    assert place(gold, ann).state == "active"


def test_managers_act_by_hand_and_bad_rules_are_refused(
    gold: Study, ann: User, manager: User
) -> None:
    with pytest.raises(Refused, match="why"):
        act_on_work(study=gold, user=ann, action="warn", by=manager, reason=" ")
    act_on_work(study=gold, user=ann, action="train", by=manager, reason="Too fast.")
    with pytest.raises(Refused, match="has not passed"):
        act_on_work(study=gold, user=ann, action="train", by=manager, reason="Too fast.")
    before = gold_rule(gold)
    for rule in (GoldRule("shout"), GoldRule("warn", 0), GoldRule("warn", 5, 1.5)):
        with pytest.raises(Refused):
            change_study(study=gold, by=manager, gold_rule=rule.stored)
    Study.objects.filter(pk=gold.pk).update(trains=False)
    gold.refresh_from_db()
    with pytest.raises(Refused, match="no training"):
        set_rule(gold, manager, "train")
    assert gold_rule(gold) == before
    assert least_seconds(gold) == 10
    change_study(study=gold, by=manager, least_seconds=0)
    assert least_seconds(gold) == 0


def test_speed_and_equal_answers_need_nobody_else() -> None:
    def signs(work: list[SubmittedWork]) -> list[str]:
        return work_signs(work, right=0, asked=0, rules=WorkRules(least_seconds=10))

    flat = answer_pattern([1] * 10)
    varied = [answer_pattern([1, 2, 3, 4, n]) for n in range(12)]
    assert signs([SubmittedWork(1_000, flat)] * 9) == []
    fast, flat_words, same = signs([SubmittedWork(1_000, flat)] * 12)
    assert fast.startswith("1.0 s for an item (median of 12)")
    assert flat_words == "one answer to all questions in 12 of 12 items"
    assert same == "the same answers to 12 items in a row, 12 items in all"
    assert signs([SubmittedWork(60_000, pattern) for pattern in varied]) == []
    # Two answers an item are alike too often by chance.
    assert signs([SubmittedWork(0, answer_pattern([1, 1]))] * 12) == []
    turns = [SubmittedWork(0, answer_pattern([5, 2] * n)) for n in (4, 5, 100)] * 4
    assert signs(turns) == ["two answers in turn in 12 of 12 items"]
    zigzag = [SubmittedWork(0, answer_pattern([1, 2, 1, 2]))] * 6
    others = [SubmittedWork(0, pattern) for pattern in varied]
    assert signs([*zigzag, *others]) == ["the same answers to 6 items in a row, 6 items in all"]
    assert answer_pattern([5] * 100) == "5,5,5,5"
    assert answer_pattern([1, 2] * 50) == answer_pattern([1, 2] * 50) != answer_pattern([2, 1] * 50)


def test_the_rules_are_scaled_to_the_whole_work(gold: Study, manager: User) -> None:
    def rules(whole: int | None, *, finished: bool = False) -> tuple[int, int, int]:
        found = work_rules(gold, whole=whole, finished=finished)
        return found.items, found.answers, found.run

    assert rules(None) == rules(30) == (10, 10, 5)
    assert (rules(10), rules(2)) == ((5, 5, 5), (3, 3, 3))
    # At the end a few known answers are enough: there will be no more of them.
    assert rules(10, finished=True) == (5, 3, 5)
    set_rule(gold, manager, "warn", answers=2)
    gold.refresh_from_db()
    assert rules(10) == (5, 2, 5)


def test_the_clock_of_the_server_tells_speed_that_no_browser_counted() -> None:
    start = datetime(2026, 3, 1, 9, tzinfo=UTC)

    def work(
        count: int, *, apart: float, opened_first: bool = False, active: int = 0
    ) -> list[SubmittedWork]:
        moments = [start + timedelta(seconds=apart * n) for n in range(count + 1)]
        return [
            SubmittedWork(active, str(n), moments[n + 1], start if opened_first else moments[n])
            for n in range(count)
        ]

    def signs(rows: list[SubmittedWork]) -> list[str]:
        return work_signs(rows, right=0, asked=0, rules=WorkRules(least_seconds=10, items=5))

    (slow,) = signs(work(5, apart=2))
    assert slow.startswith("2.0 s for an item by the clock of the server (mean of 5)")
    assert signs(work(4, apart=2)) == signs(work(5, apart=10)) == []
    # Opening all of them first makes no time longer, nor does a browser that counts too much.
    assert len(signs(work(5, apart=2, opened_first=True))) == 1
    assert len(signs(work(5, apart=2, active=60_000))) == 1
    # Somebody who submits all at the end, one after the other, has read them before.
    late = [SubmittedWork(0, "1", start + timedelta(minutes=9, seconds=n), start) for n in range(5)]
    assert signs(late) == []
    assert elapsed_seconds([(None, start), (start, None)]) is None
    assert unknown_times(late) == ""
    unknown = [SubmittedWork(0, "1", start)] * 3
    words = "the time at work is not known of 3 of 5 items"
    assert unknown_times([*unknown, *late[:2]]) == words
    assert unknown_times([*unknown, *late[:3]]) == ""
