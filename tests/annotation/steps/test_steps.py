"""Tests of the steps before an item: nothing later is accepted before they are done."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.consent.selectors import text_blocks
from annotation.consent.services import answer_consent, note_information_read, set_study_text
from annotation.desk.breaks import end_break, minutes_without_break, take_break, worked_since_break
from annotation.errors import Refused
from annotation.messages.selectors import unread_messages
from annotation.messages.services import read_message
from annotation.models import Assignment, Consent, Message, Participant, Study
from annotation.questionnaires import load_questionnaire
from annotation.steps.selectors import next_step
from annotation.training.services import (
    begin_training_round,
    compare_item,
    latest_round,
    release_training,
)
from tests.annotation.entered import TOLD, WHY, agree, answer, make_full_study, place, train
from tests.annotation.rows import make_person

pytestmark = [pytest.mark.django_db, pytest.mark.either]
Training = Participant.Training


@pytest.fixture
def full(ann: User, manager: User) -> Study:
    return make_full_study([ann], manager)


def step(study: Study, user: User) -> str:
    study.refresh_from_db()
    return next_step(study, place(study, user)).name


def refused(study: Study, user: User, part: str, **values: int) -> str:
    """Return why an answer to the first item of a part is refused."""
    with pytest.raises(Refused) as refusal:
        answer(study, user, part, 1, **values)
    assert refusal.value.code == "paused"  # the desk keeps the answers and sends them again
    return refusal.value.reason


def test_each_step_opens_the_next_and_services_refuse_what_is_later(full: Study, ann: User) -> None:
    assert step(full, ann) == "information"
    note_information_read(study=full, user=ann, version=1)
    assert step(full, ann) == "consent"
    for part, values in (
        ("background", TOLD),
        ("training", {"safety": 4}),
        ("main", {"safety": 4}),
    ):
        assert "consent" in refused(full, ann, part, **values)
    answer_consent(study=full, user=ann, version=1, given=True)
    assert step(full, ann) == "background"
    assert "about yourself" in refused(full, ann, "training", safety=4)
    answer(full, ann, "background", 1, **TOLD)
    assert step(full, ann) == "training"
    assert "training" in refused(full, ann, "main", safety=4)
    train(full, ann, 4, 5)
    assert place(full, ann).training == Training.PASSED
    assert step(full, ann) == "item"
    answer(full, ann, "main", 1, safety=2)
    assert step(full, ann) == "done"
    kinds = set(full.events.filter(about=ann).values_list("kind", flat=True))
    assert kinds >= {"consent", "training", "submitted"}


def test_a_study_without_all_this_begins_with_its_items(study: Study, ann: User) -> None:
    found = next_step(study, place(study, ann))
    assert (found.name, found.position) == ("item", 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "draft"}, "has not started"),
        ({"status": "paused"}, "paused"),
        ({"status": "closed"}, "closed"),
        ({"closes_at": timezone.now() - timedelta(days=1)}, "has ended"),
    ],
)
def test_a_study_at_a_standstill_says_which(
    study: Study, ann: User, change: dict[str, object], words: str
) -> None:
    Study.objects.filter(pk=study.pk).update(**change)
    study.refresh_from_db()
    found = next_step(study, place(study, ann))
    assert found.name == "waiting"
    assert words in found.title


def test_who_has_no_items_is_told_so(study: Study, manager: User, ann: User) -> None:
    study.participants.filter(user=ann).update(assigned=0)
    study.assignments.filter(annotator=ann).delete()
    assert next_step(study, place(study, ann)).title == "No items for you yet"
    study.participants.filter(user=ann).update(state=Participant.State.PAUSED)
    assert next_step(study, place(study, ann)).title == "A manager has paused your work"


# --- Texts ----------------------------------------------------------------------------------------


def test_a_new_wording_is_a_new_version_and_asks_again(
    full: Study, ann: User, manager: User
) -> None:
    agree(full, ann)
    same = set_study_text(study=full, kind="consent", text=" I take part freely.\r\n", by=manager)
    assert same is not None
    assert same.version == 1
    assert step(full, ann) == "background"
    set_study_text(study=full, kind="consent", text="I take part until May.", by=manager)
    assert full.consent_version == 2
    assert step(full, ann) == "consent"
    with pytest.raises(Refused, match="changed meanwhile"):
        answer_consent(study=full, user=ann, version=1, given=True)
    answer_consent(study=full, user=ann, version=2, given=True)
    assert step(full, ann) == "background"
    set_study_text(study=full, kind="information", text="About us, newly.", by=manager)
    assert step(full, ann) == "information"
    assert [row.text for row in full.texts.filter(kind="consent")] == [
        "I take part freely.",
        "I take part until May.",
    ]


def test_consent_is_declined_and_given_later(full: Study, ann: User) -> None:
    note_information_read(study=full, user=ann, version=1)
    for given in (False, False, True, False, True):
        answer_consent(study=full, user=ann, version=1, given=given)
    rows = Consent.objects.filter(user=ann, text__kind="consent").values_list("given", flat=True)
    assert list(rows) == [False, True, False, True]
    assert step(full, ann) == "background"


def test_an_emptied_text_is_asked_no_more(full: Study, ann: User, manager: User) -> None:
    for kind in ("information", "consent"):
        assert set_study_text(study=full, kind=kind, text=" ", by=manager) is None
    assert full.consent_version == 0
    assert step(full, ann) == "background"
    again = set_study_text(study=full, kind="consent", text="Once more.", by=manager)
    assert again is not None
    assert again.version == 3


def test_plain_text_has_paragraphs_and_lists() -> None:
    blocks = text_blocks("One\ntwo.\n\n- a\n  more\n- b <i>\nThree.")
    assert [(b.text, b.items) for b in blocks] == [
        ("One\ntwo.", ()),
        ("", ("a more", "b <i>")),
        ("Three.", ()),
    ]
    assert text_blocks(" \n ") == []


# --- Training -------------------------------------------------------------------------------------


@pytest.fixture
def trainee(ann: User, manager: User) -> Study:
    """Nothing before the training."""
    return make_full_study([ann], manager, texts=False, background="")


def test_two_rounds_then_a_manager_decides(trainee: Study, ann: User, manager: User) -> None:
    train(trainee, ann, 4, 1)
    found = latest_round(trainee, ann)
    assert (found.matched, found.expected, found.taken, found.more) == (1, 2, 1, True)
    assert step(trainee, ann) == "training"
    begin_training_round(study=trainee, user=ann)
    begin_training_round(study=trainee, user=ann)
    rows = trainee.assignments.filter(annotator=ann, part="training")
    assert list(rows.values_list("position", "state")) == [
        (1, "submitted"), (2, "submitted"), (3, "open"), (4, "open"),
    ]  # fmt: skip
    train(trainee, ann, 4, 1, first=3)
    assert place(trainee, ann).training == Training.FAILED
    assert step(trainee, ann) == "waiting"
    with pytest.raises(Refused, match="has ended"):
        begin_training_round(study=trainee, user=ann)
    with pytest.raises(Refused, match="enter a reason"):
        release_training(study=trainee, user=ann, by=manager, reason=" ")
    release_training(study=trainee, user=ann, by=manager, reason="Talked it through.")
    assert step(trainee, ann) == "item"
    event = trainee.events.filter(kind="training").latest("pk")
    assert (event.by, event.about, event.reason) == (manager, ann, "Talked it through.")


def test_the_second_round_counts_alone(trainee: Study, ann: User) -> None:
    train(trainee, ann, 1, 1)
    begin_training_round(study=trainee, user=ann)
    train(trainee, ann, 5, 4, first=3)
    assert place(trainee, ann).training == Training.PASSED


def test_nothing_expected_is_never_passed(ann: User, manager: User) -> None:
    study = make_full_study(
        [ann], manager, texts=False, background="", expected={"safety": {"why": "Look."}}
    )
    train(study, ann, 4, 4)
    assert latest_round(study, ann).share is None
    assert place(study, ann).training == Training.FAILED


def test_feedback_says_what_was_expected_and_why(trainee: Study, ann: User) -> None:
    item = answer(trainee, ann, "training", 1, safety=2)
    (row,) = compare_item(item)
    assert (row.answer, row.expected, row.why, row.right) == (("2",), ("4 or 5",), WHY, False)
    item = answer(trainee, ann, "training", 2, safety=5)
    assert compare_item(item)[0].right


def test_marks_are_compared_as_sets(trainee: Study, ann: User) -> None:
    Study.objects.filter(pk=trainee.pk).update(questionnaire="violation_check@1")
    item = Assignment.objects.get(study=trainee, part="training", position=1)
    questions = load_questionnaire("violation_check@1").questions
    question = next(q for q in questions if q.scale.kind == "marks")
    item.item.asked = [question.key]
    item.item.subjects = {"turn": ["1"], "world": ["w1", "w2"], "user": []}
    name = f"{question.key}.turn-1"
    item.item.expected = {name: {"chosen": ["w1"], "why": "It hits."}}
    item.item.save()
    item.ratings.all().delete()
    edit = item.edits.create(
        client_id="1" * 32, question=question.key, subject="turn-1", chosen=["w2"], by=ann
    )
    rating = item.ratings.create(
        question=question.key, subject="turn-1", chosen=["w2"], edit=edit,
        updated_at=timezone.now(),
    )  # fmt: skip
    fresh = Assignment.objects.select_related("study", "item").get(pk=item.pk)
    (row,) = compare_item(fresh)
    assert (row.right, row.missed, row.extra) == (False, ("No hammer here.",), ("w2",))
    Assignment.objects.filter(pk=item.pk).update(state=Assignment.State.SUBMITTED)
    browser = Client()
    browser.force_login(ann)
    page = browser.get(f"/studies/{trainee.pk}/training/1/feedback/").content.decode()
    # What is missing or too much says what was expected.
    assert "<dt>Missed</dt><dd>No hammer here.</dd>" in page
    assert "<dt>Should not be marked</dt><dd>w2</dd>" in page
    assert "<dt>Expected</dt>" not in page
    rating.chosen = ["w1"]
    rating.save()
    assert compare_item(fresh)[0].right


def test_each_decision_that_differs_stands_beside_the_expected_one(
    trainee: Study, ann: User
) -> None:
    Study.objects.filter(pk=trainee.pk).update(questionnaire="violation_check@3")
    item = Assignment.objects.get(study=trainee, part="training", position=1)
    questions = load_questionnaire("violation_check@3").questions
    question = next(q for q in questions if q.scale.each)
    item.item.asked = [question.key]
    item.item.subjects = {"turn": ["1"], "world": ["w1", "w2", "w3"], "user": []}
    item.item.expected = {f"{question.key}.turn-1": {"chosen": ["w1"]}}
    item.item.save()
    item.ratings.all().delete()
    chosen = ["w1:not_violated", "w2:cannot_tell", "w3:not_violated"]
    edit = item.edits.create(
        client_id="1" * 32, question=question.key, subject="turn-1", chosen=chosen, by=ann
    )
    rating = item.ratings.create(
        question=question.key, subject="turn-1", chosen=chosen, edit=edit, updated_at=timezone.now()
    )
    Assignment.objects.filter(pk=item.pk).update(state=Assignment.State.SUBMITTED)
    browser = Client()
    browser.force_login(ann)
    page = browser.get(f"/studies/{trainee.pk}/training/1/feedback/").content.decode()
    # The full stop of a condition does not stand before the colon.
    assert "<dt>You</dt><dd>No hammer here: not violated<br>w2: cannot tell</dd>" in page
    assert "<dt>Expected</dt><dd>No hammer here: violated<br>w2: not violated</dd>" in page
    assert "w3" not in page
    rating.chosen = ["w1:violated", "w2:not_violated", "w3:not_violated"]
    rating.save()
    fresh = Assignment.objects.select_related("study", "item").get(pk=item.pk)
    (row,) = compare_item(fresh)
    assert row.right and row.answer == row.expected == ("No hammer here: violated",)


# --- Breaks and messages --------------------------------------------------------------------------


def test_a_break_stands_before_everything_else(study: Study, ann: User) -> None:
    take_break(study=study, user=ann)
    since = place(study, ann).break_since
    take_break(study=study, user=ann)
    assert place(study, ann).break_since == since
    assert step(study, ann) == "break"
    end_break(study=study, user=ann)
    assert step(study, ann) == "item"


def test_work_is_counted_back_to_the_last_break(study: Study, ann: User) -> None:
    now = timezone.now()
    ends = [now - timedelta(minutes=m) for m in (31, 1)]
    for position, end in enumerate(ends, 1):
        study.assignments.filter(annotator=ann, position=position).update(
            state="submitted", submitted_at=end, opened_at=end - timedelta(minutes=29),
            active_ms=25 * 60_000,
        )  # fmt: skip
    study.break_minutes = 45
    study.participants.filter(user=ann).update(active_ms=50 * 60_000)
    person = place(study, ann)
    assert worked_since_break(study, person, now=now) == timedelta(minutes=50)
    assert minutes_without_break(study, person) == 50
    # an announced break, and one that nobody announced
    assert worked_since_break(study, person, now=now, since=ends[0]) == timedelta(minutes=25)
    assert worked_since_break(study, person, now=now + timedelta(minutes=5)) == timedelta()
    study.assignments.filter(annotator=ann, position=1).update(
        submitted_at=now - timedelta(hours=1)
    )
    assert minutes_without_break(study, person) is None


def test_messages_wait_until_they_are_read(
    study: Study, ann: User, bob: User, manager: User
) -> None:
    to_all = Message.objects.create(study=study, text="To all", by=manager)
    to_bob = Message.objects.create(study=study, to=bob, text="To Bob", by=manager)
    late = make_person("late")
    assert list(unread_messages(ann)) == [to_all]
    assert list(unread_messages(bob, study=study)) == [to_all, to_bob]
    assert not unread_messages(late).exists()
    for _ in range(2):
        read_message(message=to_all, user=bob)
    assert list(unread_messages(bob)) == [to_bob]
    with pytest.raises(Refused, match="somebody else"):
        read_message(message=to_bob, user=ann)
