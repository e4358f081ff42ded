"""Answers: stored once, kept for ever, refused without a trace."""

import threading
import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from annotation.desk.services import submit_assignment
from annotation.errors import Refused
from annotation.models import Assignment, Rating, RatingEdit, Study
from annotation.ratings.services import (
    EditRequest,
    StoredEdit,
    record_edits,
    record_rating,
    undo_edit,
)
from annotation.studies.services import set_study_status
from tests.annotation.rows import make_person, make_study

pytestmark = pytest.mark.django_db
SAFETY = "safety"


def rate(item: Assignment, value: int, question: str = SAFETY, **more: object) -> StoredEdit:
    """One answer by the item's own annotator."""
    given = {"client_id": uuid.uuid4(), **more}
    return record_rating(
        assignment=item, by=item.annotator, question=question, value=value, **given
    )


def now(item: Assignment) -> dict[str, int | None]:
    """The current answers."""
    return dict(Rating.objects.filter(assignment=item).values_list("question", "value"))


def history(item: Assignment) -> list[int | None]:
    """The values of all edits, the oldest first."""
    return list(RatingEdit.objects.filter(assignment=item).values_list("value", flat=True))


def everything() -> list[object]:
    """All that a refusal must leave alone."""
    return [
        list(RatingEdit.objects.values()),
        list(Rating.objects.values()),
        list(Assignment.objects.order_by("pk").values()),
    ]


def test_the_same_id_twice_is_stored_once(item: Assignment) -> None:
    client_id = uuid.uuid4()
    first = rate(item, 4, client_id=client_id)
    again = rate(item, 4, client_id=client_id)
    assert (first.value, first.repeated, again.value, again.repeated) == (4, False, 4, True)
    assert history(item) == [4]


def test_a_late_repeat_does_not_bring_back_the_old_answer(item: Assignment) -> None:
    client_id = uuid.uuid4()
    rate(item, 4, client_id=client_id)
    rate(item, 2)
    again = rate(item, 4, client_id=client_id)
    assert again.value == 2
    assert now(item) == {SAFETY: 2}


def test_a_repeat_is_acknowledged_after_submission_and_closing(item: Assignment) -> None:
    client_id = uuid.uuid4()
    rate(item, 4, client_id=client_id)
    for key in item.item.asked:
        rate(item, 3, key)
    submit_assignment(assignment=item, by=item.annotator)
    set_study_status(study=item.study, status="closed")
    assert rate(item, 4, client_id=client_id).repeated


def test_an_id_cannot_be_used_for_another_answer(item: Assignment) -> None:
    client_id = uuid.uuid4()
    rate(item, 4, client_id=client_id)
    before = everything()
    with pytest.raises(Refused) as refused:
        rate(item, 5, client_id=client_id)
    assert refused.value.code == "conflict"
    assert everything() == before


def test_two_tabs_last_wins_and_both_are_kept(item: Assignment) -> None:
    one = rate(item, 2, seen=0)
    two = rate(item, 5, seen=0)
    assert one.overtook is None
    assert two.overtook == 2
    assert now(item) == {SAFETY: 5}
    assert history(item) == [2, 5]
    # a page that has seen the newest version overtakes nobody
    assert rate(item, 1, seen=two.version).overtook is None


@pytest.mark.parametrize("value", [0, 6, -1, 100, None, True, 3.0, "3"])
def test_values_outside_the_scale_are_refused(item: Assignment, value: object) -> None:
    before = everything()
    with pytest.raises(Refused) as refused:
        rate(item, value)  # type: ignore[arg-type]
    assert refused.value.code == "invalid"
    assert everything() == before


@pytest.mark.parametrize("question", ["", "beauty", "Safety"])
def test_questions_that_are_not_asked_are_refused(item: Assignment, question: str) -> None:
    with pytest.raises(Refused, match="not asked"):
        rate(item, 3, question)
    assert everything()[0] == []


def test_somebody_elses_item_is_refused(item: Assignment, bob: User, manager: User) -> None:
    for stranger in (bob, manager, make_person("root", superuser=True)):
        with pytest.raises(Refused) as refused:
            record_rating(
                assignment=item, by=stranger, question=SAFETY, value=3, client_id=uuid.uuid4()
            )
        assert refused.value.code == "not_yours"
    assert everything()[0] == []


def test_a_closed_study_takes_nothing(item: Assignment) -> None:
    rate(item, 3)
    set_study_status(study=item.study, status="closed")
    before = everything()
    with pytest.raises(Refused) as refused:
        rate(item, 4)
    assert refused.value.code == "closed"
    with pytest.raises(Refused):
        undo_edit(assignment=item, by=item.annotator, client_id=uuid.uuid4())
    assert everything() == before


def test_a_draft_takes_nothing(item: Assignment) -> None:
    Study.objects.update(status="draft")
    with pytest.raises(Refused) as refused:
        rate(item, 4)
    assert refused.value.code == "closed"


def test_in_a_batch_each_edit_stands_for_itself(item: Assignment) -> None:
    outcomes = record_edits(
        assignment=item,
        by=item.annotator,
        edits=[
            EditRequest(uuid.uuid4(), SAFETY, 4),
            EditRequest(uuid.uuid4(), SAFETY, 9),
            EditRequest(uuid.uuid4(), "autonomy", 2),
        ],
    )
    assert [isinstance(outcome, StoredEdit) for outcome in outcomes] == [True, False, True]
    assert now(item) == {SAFETY: 4, "autonomy": 2}


def test_the_same_id_twice_in_one_batch(item: Assignment) -> None:
    edit = EditRequest(uuid.uuid4(), SAFETY, 4)
    outcomes = record_edits(assignment=item, by=item.annotator, edits=[edit, edit])
    assert [outcome.repeated for outcome in outcomes if isinstance(outcome, StoredEdit)] == [
        False,
        True,
    ]
    assert history(item) == [4]


def test_a_comment_is_kept_like_an_answer(item: Assignment) -> None:
    for text in ("hard", "hard, because of turn 2"):
        record_rating(
            assignment=item, by=item.annotator, aspect="comment", text=text,
            client_id=uuid.uuid4(),
        )  # fmt: skip
    assert Rating.objects.get(assignment=item).text == "hard, because of turn 2"
    assert RatingEdit.objects.filter(assignment=item).count() == 2
    with pytest.raises(Refused, match="at most"):
        record_rating(
            assignment=item, by=item.annotator, aspect="comment", text="x" * 5001,
            client_id=uuid.uuid4(),
        )  # fmt: skip


# --- Undo -----------------------------------------------------------------------------------------


def undo(item: Assignment, undoes: uuid.UUID | None = None) -> StoredEdit:
    return undo_edit(assignment=item, by=item.annotator, client_id=uuid.uuid4(), undoes=undoes)


def test_undo_walks_back_and_keeps_everything(item: Assignment) -> None:
    rate(item, 2)
    rate(item, 4)
    rate(item, 1, "autonomy")
    assert (undo(item).question, now(item)["autonomy"]) == ("autonomy", None)
    assert undo(item).value == 2
    assert undo(item).value is None
    assert history(item) == [2, 4, 1, None, 2, None]
    with pytest.raises(Refused, match="nothing to undo"):
        undo(item)


def test_undo_of_an_answer_that_another_tab_replaced_keeps_the_newer_one(
    item: Assignment,
) -> None:
    first = rate(item, 2)
    rate(item, 5)
    assert undo(item, first.client_id).value == 5
    with pytest.raises(Refused, match="not there to be undone"):
        undo(item, first.client_id)


def test_undo_reaches_no_other_item(study: Study, ann: User, item: Assignment) -> None:
    other = study.assignments.get(annotator=ann, position=2)
    edit = rate(other, 3)
    with pytest.raises(Refused):
        undo(item, edit.client_id)
    assert now(other) == {SAFETY: 3}


def test_undo_is_idempotent(item: Assignment) -> None:
    rate(item, 2)
    last = rate(item, 4)
    again = uuid.uuid4()
    for repeated in (False, True):
        done = undo_edit(assignment=item, by=item.annotator, client_id=again, undoes=last.client_id)
        assert (done.value, done.repeated) == (2, repeated)
    assert history(item) == [2, 4, 2]


# --- Time at work ---------------------------------------------------------------------------------


def test_active_time_is_a_total_and_never_more_than_has_passed(item: Assignment) -> None:
    Assignment.objects.update(opened_at=timezone.now() - timedelta(seconds=60))

    def tell(active_ms: int) -> int:
        item.refresh_from_db()
        record_edits(assignment=item, by=item.annotator, edits=[], active_ms=active_ms)
        item.refresh_from_db()
        return item.active_ms

    assert [tell(5000), tell(5000), tell(3000)] == [5000, 5000, 5000]
    assert 60_000 <= tell(10_000_000) < 70_000


# --- Many at once ---------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_threads_lose_nothing_and_double_nothing() -> None:
    ann = make_person("ann")
    study = make_study(annotators=[ann])
    item = study.assignments.get(position=1)
    shared = [EditRequest(uuid.uuid4(), SAFETY, value) for value in (1, 2, 3, 4, 5)]
    problems: list[BaseException] = []

    def tab(number: int) -> None:
        try:
            for edit in shared:
                record_edits(assignment=item, by=ann, edits=[edit])
            for place in range(5):
                key = item.item.asked[place]
                rate(item, number % 5 + 1, key)
        except BaseException as error:
            problems.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=tab, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    # five shared edits once each, five of its own from each of six tabs
    assert RatingEdit.objects.filter(assignment=item).count() == 5 + 6 * 5
    for rating in Rating.objects.filter(assignment=item):
        edits = RatingEdit.objects.filter(assignment=item, question=rating.question)
        latest = edits.order_by("-pk")[0]
        assert (rating.edit_id, rating.value) == (latest.pk, latest.value)
        assert rating.version == edits.count()
