"""Running a study: pausing, closing and reopening, settings, more to judge, moving items."""

import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.assignments.presence import note_seen
from annotation.assignments.services import change_assignment_state, claim_next_item
from annotation.blinding import blind_studies
from annotation.desk.services import skip_assignment
from annotation.errors import Refused
from annotation.items.services import (
    add_from_source,
    assign_free_items,
    raise_raters,
    set_raters,
)
from annotation.messages.services import send_message
from annotation.models import Assignment, Item, Message, Participant, Study, StudyEvent
from annotation.people.services import (
    pause_annotator,
    reassign_items,
    resume_annotator,
    return_open_items,
)
from annotation.planning.source_choices import source_of
from annotation.plans.study_plan import ItemSource
from annotation.ratings.services import record_rating
from annotation.studies.services import (
    change_study,
    close_ended_studies,
    delete_draft,
    set_study_status,
)
from annotation.studies.setup import add_member
from benchmarks.models import Run
from benchmarks.visibility import EVERYTHING
from tests.annotation.assignments.test_services import check_counters, do_all, make_pool, must_take
from tests.annotation.rows import make_person

pytestmark = [pytest.mark.django_db, pytest.mark.either]
State, Standing, Kind = Assignment.State, Participant.State, StudyEvent.Kind


def answer(item: Assignment, value: int = 3) -> None:
    record_rating(
        assignment=item, by=item.annotator, client_id=uuid.uuid4(), question="safety", value=value
    )


def place(study: Study, user: User) -> Participant:
    return study.participants.get(user=user)


def open_of(study: Study, user: User) -> list[Assignment]:
    rows = study.assignments.filter(annotator=user, state=State.OPEN).order_by("position")
    return list(rows.select_related("study", "item", "annotator"))


def latest(study: Study, kind: str) -> StudyEvent:
    return study.events.filter(kind=kind).order_by("-pk")[0]


# --- The study as a whole -------------------------------------------------------------------------


def test_closing_returns_open_seats_and_ends_blinding(
    study: Study, item: Assignment, ann: User, manager: User
) -> None:
    answer(item)
    assert blind_studies(ann) == {study.pk}
    moved = set_study_status(study=study, status="closed", by=manager, reason="enough")
    assert moved == 4
    assert not study.assignments.filter(state=State.OPEN).exists()
    assert not blind_studies(ann)
    assert item.ratings.get().value == 3, "what was answered is kept"
    check_counters(study)
    event = latest(study, Kind.STATUS)
    assert (event.by, event.reason) == (manager, "enough")
    assert event.detail == {"before": "open", "after": "closed", "seats": 4}
    assert study.events.filter(kind=Kind.RETURNED, assignment=item).count() == 1


def test_opening_again_gives_back_what_closing_took_and_nobody_has(
    study: Study, ann: User, bob: User, manager: User
) -> None:
    first, second = open_of(study, ann)
    skip_assignment(assignment=second, by=ann, reason="no")
    set_study_status(study=study, status="closed", by=manager)
    # Somebody else has the item by now.
    Item.objects.filter(pk=first.item_id).update(given=1)
    assert set_study_status(study=study, status="open", by=manager) == 2
    Item.objects.filter(pk=first.item_id).update(given=0)
    states = dict(study.assignments.values_list("pk", "state"))
    assert (states[first.pk], states[second.pk]) == (State.RETURNED, State.SKIPPED)
    assert len(open_of(study, bob)) == 2
    check_counters(study)


def test_a_pool_that_is_opened_again_offers_what_somebody_had_begun() -> None:
    study, (ann, bob) = make_pool(people=2, items=2)
    begun = must_take(study, ann)
    answer(begun)
    set_study_status(study=study, status="closed")
    assert set_study_status(study=study, status="open") == 0
    study.refresh_from_db()
    assert must_take(study, ann).pk == begun.pk
    assert must_take(study, bob).pk != begun.pk
    check_counters(study)


def test_pausing_moves_nothing(study: Study, item: Assignment, manager: User) -> None:
    assert set_study_status(study=study, status="paused", by=manager) == 0
    with pytest.raises(Refused) as refused:
        answer(Assignment.objects.select_related("study").get(pk=item.pk))
    assert refused.value.code == "paused"
    set_study_status(study=study, status="open", by=manager)
    answer(Assignment.objects.select_related("study").get(pk=item.pk))


def test_closing_many_seats_costs_as_many_statements_as_few(
    django_assert_max_num_queries: object,
) -> None:
    study, users = make_pool(people=6, items=6)
    for user in users:
        must_take(study, user)
    with django_assert_max_num_queries(16):  # type: ignore[operator]
        assert set_study_status(study=study, status="closed") == 6
    check_counters(study)


def test_a_closing_date_closes_and_frees_who_is_bound(study: Study, ann: User) -> None:
    Study.objects.update(closes_at=timezone.now() - timedelta(minutes=1))
    assert close_ended_studies() == 1
    study.refresh_from_db()
    assert study.status == "closed"
    assert latest(study, Kind.STATUS).reason == "the closing date has passed"
    # Somebody took an item in the moment of closing.
    change_assignment_state(study.assignments.filter(annotator=ann)[0], State.OPEN, by=ann)
    assert close_ended_studies() == 1
    assert not study.assignments.filter(state=State.OPEN).exists()
    assert close_ended_studies() == 0
    with pytest.raises(Refused, match="closing date has passed"):
        set_study_status(study=study, status="open")


def test_settings_change_with_before_and_after(study: Study, manager: User) -> None:
    end = timezone.now() + timedelta(days=3)
    changed = change_study(
        study=study, by=manager, reason="more time", closes_at=end, idle_seconds=90, name="Pilot"
    )
    assert changed == ["closes_at", "idle_seconds"]
    assert (study.closes_at, study.idle_seconds) == (end, 90)
    event = latest(study, Kind.CHANGED)
    assert event.detail["idle_seconds"] == {"before": 60, "after": 90}
    assert event.detail["closes_at"] == {"before": None, "after": end.isoformat()}
    assert event.reason == "more time"
    assert change_study(study=study, by=manager, idle_seconds=90) == []


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"lease_minutes": 0}, "from 5 to 10,080"),
        ({"idle_seconds": 5}, "from 10 to 3,600"),
        ({"break_minutes": 9999}, "from 0 to 1,440"),
        ({"name": " "}, "name: expected a text that is not blank"),
        ({"closes_at": timezone.now() - timedelta(days=1)}, "must lie in the future"),
        ({"blinded": False}, "blinded: expected a field among name, closes_at"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    study: Study, manager: User, wish: dict[str, object], said: str
) -> None:
    with pytest.raises(Refused, match=said):
        change_study(study=study, by=manager, **wish)
    assert not study.events.filter(kind=Kind.CHANGED).exists()


def test_only_drafts_without_answers_are_deleted(study: Study, item: Assignment) -> None:
    with pytest.raises(Refused, match="only drafts"):
        delete_draft(study=study)
    answer(item)
    Study.objects.update(status="draft")
    with pytest.raises(Refused, match="this draft has answers"):
        delete_draft(study=study)
    assert Study.objects.exists()


def test_a_draft_goes_with_all_that_belongs_to_it(study: Study, manager: User) -> None:
    send_message(study=study, text="Hello", by=manager)
    Study.objects.update(status="draft")
    delete_draft(study=study)
    assert not Study.objects.exists()
    assert not Assignment.objects.exists()
    assert Run.objects.exists()


# --- One annotator --------------------------------------------------------------------------------


def test_an_annotator_is_paused_and_goes_on(
    study: Study, item: Assignment, ann: User, manager: User
) -> None:
    pause_annotator(study=study, user=ann, by=manager, reason="too fast")
    with pytest.raises(Refused) as refused:
        answer(item)
    assert refused.value.code == "paused"
    event = latest(study, Kind.PAUSED)
    assert (event.about, event.reason) == (ann, "too fast")
    resume_annotator(study=study, user=ann, by=manager)
    answer(item)
    assert study.events.filter(kind=Kind.PAUSED).count() == 2
    resume_annotator(study=study, user=ann, by=manager)
    assert study.events.filter(kind=Kind.PAUSED).count() == 2, "nothing was done"


def test_pausing_needs_a_reason_and_somebody_who_takes_part(
    study: Study, ann: User, manager: User
) -> None:
    with pytest.raises(Refused, match="say in a few words why"):
        pause_annotator(study=study, user=ann, by=manager, reason=" ")
    with pytest.raises(Refused, match="not an annotator"):
        pause_annotator(study=study, user=manager, by=manager, reason="x")
    study.participants.filter(user=ann).update(state=Standing.WITHDRAWN)
    with pytest.raises(Refused, match="is withdrawn"):
        resume_annotator(study=study, user=ann, by=manager)


def test_open_items_are_taken_back_and_their_annotator_is_paused(
    study: Study, item: Assignment, ann: User, bob: User, manager: User
) -> None:
    answer(item)
    assert return_open_items(study=study, user=ann, by=manager, reason="ill") == 2
    assert place(study, ann).state == Standing.PAUSED
    assert open_of(study, ann) == []
    assert len(open_of(study, bob)) == 2
    check_counters(study)
    with pytest.raises(Refused, match="no open items"):
        return_open_items(study=study, user=ann, by=manager, reason="ill")
    # They are free for somebody else.
    dealt = assign_free_items(study=study, people=[bob], by=manager)
    assert (dealt.given, dealt.left) == ({bob.pk: 2}, 0)
    check_counters(study)


def test_items_go_to_somebody_else_all_or_none(
    study: Study, item: Assignment, ann: User, bob: User, manager: User
) -> None:
    answer(item)
    assignments = open_of(study, ann)
    assert (
        reassign_items(study=study, assignments=assignments, to=bob, by=manager, reason="ill") == 2
    )
    item.refresh_from_db()
    assert (item.state, item.ratings.get().value) == (State.RETURNED, 3)
    assert [assignment.item_id for assignment in open_of(study, bob)][2:] == [
        s.item_id for s in assignments
    ]
    event = item.events.get(kind=Kind.REASSIGNED)
    assert (event.by, event.about, event.reason) == (manager, ann, "ill")
    check_counters(study)
    # Once more: by now they are returned, and nothing moves.
    with pytest.raises(Refused, match="item 1 is returned by now"):
        reassign_items(study=study, assignments=assignments, to=bob, by=manager, reason="ill")
    # Bob's own and one that Ann had and skipped: the second cannot, so the first does not either.
    mixed = open_of(study, bob)[1:3]
    had = study.assignments.get(item=mixed[1].item, annotator=ann)
    Assignment.objects.filter(pk=had.pk).update(state=State.SKIPPED)
    with pytest.raises(Refused, match="item 3: this person has this item already: it is skipped"):
        reassign_items(study=study, assignments=mixed, to=ann, by=manager, reason="back")
    assert len(open_of(study, bob)) == 4
    # One that she only had comes back to her, as a manager says so.
    Assignment.objects.filter(pk=had.pk).update(state=State.RETURNED)
    reassign_items(study=study, assignments=mixed[1:], to=ann, by=manager, reason="well again")
    assert [assignment.pk for assignment in open_of(study, ann)] == [had.pk]
    check_counters(study)


def test_reassigning_needs_a_reason_and_another_person(
    study: Study, ann: User, bob: User, manager: User
) -> None:
    assignments = open_of(study, ann)
    with pytest.raises(Refused, match="say in a few words why"):
        reassign_items(study=study, assignments=assignments, to=bob, by=manager, reason="")
    with pytest.raises(Refused, match="has the item already"):
        reassign_items(study=study, assignments=assignments, to=ann, by=manager, reason="x")
    with pytest.raises(Refused, match="not an annotator"):
        reassign_items(study=study, assignments=assignments, to=manager, by=manager, reason="x")
    assert len(open_of(study, ann)) == 2


def test_a_sign_of_life_costs_a_write_a_minute(
    study: Study, item: Assignment, ann: User, django_assert_num_queries: object
) -> None:
    answer(item)
    person = place(study, ann)
    assert person.last_seen_at is not None
    with django_assert_num_queries(0):  # type: ignore[operator]
        note_seen(person)
    earlier = person.last_seen_at - timedelta(minutes=2)
    Participant.objects.filter(pk=person.pk).update(last_seen_at=earlier)
    person.last_seen_at = earlier
    with django_assert_num_queries(1):  # type: ignore[operator]
        note_seen(person)
    assert place(study, ann).last_seen_at > earlier


# --- More to judge --------------------------------------------------------------------------------


def test_raters_are_raised_for_all_and_never_below_who_holds_it(
    study: Study, item: Assignment, ann: User, bob: User, manager: User
) -> None:
    assert raise_raters(study=study, wanted=2, by=manager) == 4
    assert raise_raters(study=study, wanted=2, by=manager) == 0
    assert latest(study, Kind.CHANGED).detail == {"raters": 2, "items": 4}
    dealt = assign_free_items(study=study, people=[ann, bob], by=manager)
    assert (dealt.given, dealt.left) == ({ann.pk: 2, bob.pk: 2}, 0)
    check_counters(study)
    one = Item.objects.get(pk=item.item_id)
    with pytest.raises(Refused, match="2 annotators hold this item"):
        set_raters(item=one, wanted=1, by=manager)
    with pytest.raises(Refused, match="1 to 200 annotators, not 0"):
        set_raters(item=one, wanted=0, by=manager)
    set_raters(item=one, wanted=3, by=manager)
    assert latest(study, Kind.CHANGED).detail == {
        "item": one.rank, "raters": {"before": 2, "after": 3},
    }  # fmt: skip
    # Both have it by now.
    again = assign_free_items(study=study, people=[ann, bob], by=manager)
    assert (again.total, again.left) == (0, 1)


def test_gold_and_training_are_for_everybody(item: Assignment, manager: User) -> None:
    Item.objects.filter(pk=item.item_id).update(use=Item.Use.GOLD)
    with pytest.raises(Refused, match="for everybody"):
        set_raters(item=Item.objects.get(pk=item.item_id), wanted=2, by=manager)


def test_free_seats_are_spread_evenly_and_only_over_active_people(
    study: Study, ann: User, manager: User
) -> None:
    cid, dan = make_person("cid"), make_person("dan")
    for user in (cid, dan):
        add_member(study=study, user=user, role="annotator", by=manager)
    raise_raters(study=study, wanted=2, by=manager)
    dealt = assign_free_items(study=study, people=[cid, dan], by=manager)
    assert dealt.given == {cid.pk: 2, dan.pk: 2}
    with pytest.raises(Refused, match="select at least one"):
        assign_free_items(study=study, people=[], by=manager)
    study.participants.filter(user=ann).update(state=Standing.PAUSED)
    with pytest.raises(Refused, match="not active in this study: ann"):
        assign_free_items(study=study, people=[ann], by=manager)
    check_counters(study)


def test_a_pool_is_not_dealt(manager: User) -> None:
    study, users = make_pool(people=1)
    with pytest.raises(Refused, match="in a pool"):
        assign_free_items(study=study, people=users, by=manager)


def test_further_items_come_from_the_same_runs_once(study: Study, manager: User) -> None:
    source = source_of(study)
    assert source.runs == tuple(Run.objects.order_by("pk").values_list("pk", flat=True))
    add = {"study": study, "source": source, "raters": 2, "by": manager, "seen": EVERYTHING}
    assert add_from_source(count=1, **add) == 1  # type: ignore[arg-type]
    assert add_from_source(count=None, **add) == 1  # type: ignore[arg-type]
    with pytest.raises(Refused, match="already in the study"):
        add_from_source(count=None, **add)  # type: ignore[arg-type]
    new = list(study.items.order_by("rank"))[4:]
    assert [(row.rank, row.wanted, row.given) for row in new] == [(5, 2, 0), (6, 2, 0)]
    assert study.items.values("trajectory").distinct().count() == 6
    detail = latest(study, Kind.CHANGED).detail
    assert (detail["added"], detail["seed"], detail["source"]["runs"]) == (
        1, study.seed, list(source.runs),
    )  # fmt: skip


def test_what_is_not_there_cannot_be_added(study: Study, manager: User) -> None:
    add = {"study": study, "raters": 1, "by": manager, "seen": EVERYTHING}
    runs = source_of(study).runs
    with pytest.raises(Refused, match="not found: nowhere"):
        add_from_source(source=ItemSource(runs=runs, tasks=("nowhere",)), count=None, **add)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="9"):
        add_from_source(source=ItemSource(runs=runs), count=9, **add)  # type: ignore[arg-type]
    assert study.items.count() == 4


def test_what_is_added_to_a_pool_is_taken_from_it(manager: User) -> None:
    study, (ann,) = make_pool(people=1, items=3)
    while (assignment := claim_next_item(study=study, user=ann)) is not None:
        do_all(assignment)
    count = add_from_source(
        study=study, source=source_of(study), count=None, raters=1, by=manager, seen=EVERYTHING
    )
    assert count == 1
    assert claim_next_item(study=study, user=ann) is not None


# --- Words ----------------------------------------------------------------------------------------


def test_messages_go_to_one_or_to_all(study: Study, ann: User, manager: User) -> None:
    send_message(study=study, text=" Thank you.\r\n", by=manager)
    send_message(study=study, text="Slower, please.", by=manager, to=ann)
    assert list(Message.objects.order_by("pk").values_list("text", "to")) == [
        ("Thank you.", None), ("Slower, please.", ann.pk),
    ]  # fmt: skip
    event = latest(study, Kind.MESSAGE)
    assert (event.about, event.by) == (ann, manager)


def test_messages_need_words_and_somebody_to_read_them(
    study: Study, ann: User, manager: User
) -> None:
    with pytest.raises(Refused, match="write a few words"):
        send_message(study=study, text=" ", by=manager)
    with pytest.raises(Refused, match="at most 2,000"):
        send_message(study=study, text="x" * 2001, by=manager)
    with pytest.raises(Refused, match="takes no part"):
        send_message(study=study, text="x", by=manager, to=manager)
    study.participants.update(state=Standing.WITHDRAWN)
    with pytest.raises(Refused, match="no annotators yet"):
        send_message(study=study, text="x", by=manager)
    assert not Message.objects.exists()
