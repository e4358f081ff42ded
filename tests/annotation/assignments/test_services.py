"""Seats of a pool: exact whoever takes, returns and submits at the same moment."""

import random
import uuid
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from annotation.assignments.selectors import has_free_item
from annotation.assignments.services import assign_item, claim_next_item, return_expired_assignments
from annotation.desk.services import reopen_assignment, skip_assignment, submit_assignment
from annotation.errors import Refused
from annotation.models import Assignment, Item, Participant, RatingEdit, Study, StudyEvent
from annotation.people.services import reassign_items, resume_annotator, return_open_items
from annotation.ratings.services import EditRequest, Outcome, StoredEdit, record_edits
from annotation.studies.setup import NewItem, add_member, store_study
from benchmarks.models import AnswererVersion, Exchange, Trajectory
from tests.annotation.rows import make_person, make_runs
from tests.threads import in_threads

State, Role, Use = Assignment.State, "annotator", Item.Use


def make_pool(
    *, people: int, items: int = 6, wanted: int = 1, background: str = "", gold: int = 0
) -> tuple[Study, list[User]]:
    """An open pool with one question an item, so that a submission takes one answer."""
    users = [make_person(f"person{n}") for n in range(people)]
    runs = make_runs(tasks=(items + gold + 1) // 2)
    found = Trajectory.objects.filter(run__in=runs).order_by("pk").values_list("pk", flat=True)
    study = store_study(
        study=Study(
            name="Pool", questionnaire="ten_questions@1", dealing=Study.Dealing.POOL,
            status=Study.Status.OPEN, background=background,
        ),
        items=[
            *(NewItem(trajectory=pk, use=Use.GOLD) for pk in found[items : items + gold]),
            *(NewItem(trajectory=pk, wanted=wanted) for pk in found[:items]),
        ],
        people=users,
    )  # fmt: skip
    study.items.exclude(use=Use.BACKGROUND).update(asked=["safety"])
    return study, users


def answer(assignment: Assignment, value: int = 4) -> Outcome:
    edit = EditRequest(uuid.uuid4(), "safety", value)
    (outcome,) = record_edits(assignment=assignment, by=assignment.annotator, edits=[edit])
    return outcome


def do_all(assignment: Assignment) -> None:
    outcome = answer(assignment)
    if isinstance(outcome, Refused):
        raise outcome
    submit_assignment(assignment=assignment, by=assignment.annotator)


def let_lapse(*assignments: Assignment) -> None:
    """Let leases expire, as hours of waiting would."""
    past = timezone.now() - timedelta(minutes=1)
    rows = Assignment.objects.filter(pk__in=[a.pk for a in assignments], state=State.OPEN)
    rows.update(leased_until=past)


def must_take(study: Study, user: User) -> Assignment:
    found = claim_next_item(study=study, user=user)
    assert found is not None
    return found


def check_counters(study: Study) -> None:
    """Items and people count what the rows say, and no item has a seat too many."""
    rows = list(study.assignments.values_list("item", "annotator", "part", "state"))
    main = [(item, user, state) for item, user, part, state in rows if part == "main"]
    assert len({(item, user) for item, user, _ in main}) == len(main), "somebody got an item twice"
    held = Counter(item for item, _, _, state in rows if state in (State.OPEN, State.SUBMITTED))
    done = Counter(item for item, _, _, state in rows if state == State.SUBMITTED)
    for item in study.items.all():
        assert (item.given, item.done) == (held[item.pk], done[item.pk]), item
        assert item.given <= item.wanted
    for person in study.participants.all():
        mine = Counter(state for _, user, state in main if user == person.user_id)
        assert person.assigned == mine.total()
        assert (person.submitted, person.skipped, person.returned) == (
            mine[State.SUBMITTED], mine[State.SKIPPED], mine[State.RETURNED],
        )  # fmt: skip


# --- One after the other --------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_pool_is_handed_out_in_its_order_until_nothing_is_left() -> None:
    study, (ann, bob) = make_pool(people=2, items=3)
    first = must_take(study, ann)
    assert must_take(study, ann) == first, "an item at hand comes first"
    assert must_take(study, bob).item.rank == 2
    do_all(first)
    third = must_take(study, ann)
    assert (third.item.rank, third.position) == (3, 2)
    do_all(third)
    assert claim_next_item(study=study, user=ann) is None
    check_counters(study)


@pytest.mark.django_db
def test_a_skipped_item_goes_to_somebody_else_and_not_back() -> None:
    study, (ann, bob) = make_pool(people=2, items=1)
    skip_assignment(assignment=must_take(study, ann), by=ann, reason="I know the author.")
    assert claim_next_item(study=study, user=ann) is None
    do_all(must_take(study, bob))
    skipped = study.assignments.get(annotator=ann)
    with pytest.raises(Refused) as refused:
        reopen_assignment(assignment=skipped, by=ann)
    assert refused.value.code == "gone"
    check_counters(study)


@pytest.mark.django_db
def test_nobody_gets_a_trajectory_in_which_they_played() -> None:
    study, (ann, bob) = make_pool(people=2, items=2)
    played = study.items.get(rank=1)
    assert played.trajectory is not None
    version, _ = AnswererVersion.objects.get_or_create(
        kind="human", name=f"person-{ann.pk}", version="1"
    )
    Exchange.objects.create(
        trajectory=played.trajectory, step=1, slot=0, attempt=1, role="simulator",
        answerer=version, state="answered", seed=0, sent_at=timezone.now(),
    )  # fmt: skip
    assert must_take(study, ann).item.rank == 2
    with pytest.raises(Refused, match="played"):
        assign_item(study=study, item=played, to=ann, by=None)
    assert must_take(study, bob).item == played


@pytest.mark.django_db
def test_the_database_itself_refuses_a_seat_too_many() -> None:
    study, _ = make_pool(people=1, items=1)
    for changes in ({"given": 2}, {"done": 1}):
        with pytest.raises(IntegrityError), transaction.atomic():
            study.items.update(**changes)


@pytest.mark.django_db
def test_gold_is_spread_over_what_somebody_who_comes_late_does() -> None:
    """Although all of it stands before the items of which others have taken the first."""
    study, (ann, bob) = make_pool(people=2, items=18, gold=4)
    for _ in range(6):
        do_all(must_take(study, ann))
    late = []
    while (assignment := claim_next_item(study=study, user=bob)) is not None:
        late.append(assignment.item.use)
        do_all(assignment)
    others, gold = late.count(Use.MAIN), late.count(Use.GOLD)
    assert 2 <= gold <= others // 4
    anns = study.assignments.filter(annotator=ann, item__use=Use.MAIN).count()
    assert others + anns == 18
    assert [Use.GOLD, Use.GOLD] not in [late[n : n + 2] for n in range(len(late))]
    assert late[-1] == Use.MAIN
    # Gold alone is no work.
    assert not has_free_item(study, bob) and claim_next_item(study=study, user=ann) is None
    check_counters(study)


# --- Leases ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_lease_that_ran_out_goes_back_to_the_pool() -> None:
    study, (ann, bob) = make_pool(people=2, items=1)
    leased = must_take(study, ann)
    assert claim_next_item(study=study, user=bob) is None
    assert return_expired_assignments(study=study) == 0
    let_lapse(leased)
    assert must_take(study, bob).item == leased.item
    leased.refresh_from_db()
    assert (leased.state, leased.leased_until) == (State.RETURNED, None)
    kinds = StudyEvent.objects.filter(assignment=leased).values_list("kind", flat=True)
    assert list(kinds) == ["leased", "returned"]
    check_counters(study)


@pytest.mark.django_db
def test_a_late_save_takes_its_seat_again_where_it_is_free() -> None:
    study, (ann,) = make_pool(people=1, items=1)
    late = must_take(study, ann)
    let_lapse(late)
    assert return_expired_assignments(study=study) == 1
    outcome = answer(late, 2)
    assert isinstance(outcome, StoredEdit) and outcome.value == 2
    late.refresh_from_db()
    assert late.state == State.OPEN and late.leased_until is not None
    submit_assignment(assignment=late, by=ann)
    check_counters(study)


@pytest.mark.django_db
def test_a_late_save_is_refused_where_somebody_else_has_the_seat() -> None:
    study, (ann, bob) = make_pool(people=2, items=1)
    late = must_take(study, ann)
    let_lapse(late)
    must_take(study, bob)
    outcome = answer(late)
    assert isinstance(outcome, Refused) and outcome.code == "gone"
    with pytest.raises(Refused):
        submit_assignment(assignment=late, by=ann)
    assert not RatingEdit.objects.filter(assignment=late).exists()
    check_counters(study)


@pytest.mark.django_db
def test_a_late_save_that_is_refused_opens_nothing_again() -> None:
    study, (ann,) = make_pool(people=1, items=1)
    late = must_take(study, ann)
    let_lapse(late)
    return_expired_assignments(study=study)
    events = study.events.count()
    assert isinstance(answer(late, 9), Refused)
    wrong = EditRequest(uuid.uuid4(), undoes=uuid.uuid4())
    (outcome,) = record_edits(assignment=late, by=ann, edits=[wrong])
    assert isinstance(outcome, Refused)
    late.refresh_from_db()
    assert (late.state, late.item.given, study.events.count()) == (State.RETURNED, 0, events)
    # One that is taken opens it, whatever was refused before it.
    good = EditRequest(uuid.uuid4(), "safety", 3)
    refused, taken = record_edits(
        assignment=late, by=ann, edits=[EditRequest(uuid.uuid4(), "safety", 9), good]
    )
    assert isinstance(refused, Refused) and isinstance(taken, StoredEdit)
    late.refresh_from_db()
    assert late.state == State.OPEN
    check_counters(study)


@pytest.mark.django_db
@pytest.mark.parametrize("way", ["reassigned", "taken back"])
def test_what_a_manager_took_comes_back_only_when_a_manager_gives_it(way: str) -> None:
    study, (ann, bob) = make_pool(people=2, items=1)
    boss = make_person("boss")
    mine = must_take(study, ann)
    answer(mine, 5)
    if way == "reassigned":
        reassign_items(study=study, assignments=[mine], to=bob, by=boss, reason="ill")
        # Bob's lease runs out, so that the item is free once more.
        let_lapse(*study.assignments.filter(annotator=bob))
        return_expired_assignments(study=study)
    else:
        return_open_items(study=study, user=ann, by=boss, reason="ill")
        resume_annotator(study=study, user=ann, by=boss)
    assert not has_free_item(study, ann)
    assert claim_next_item(study=study, user=ann) is None
    late = answer(mine)
    assert isinstance(late, Refused) and late.code == "gone"
    for again in (reopen_assignment, submit_assignment):
        with pytest.raises(Refused, match="they can give it to you again"):
            again(assignment=mine, by=ann)
    mine.refresh_from_db()
    assert (mine.state, mine.item.given) == (State.RETURNED, 0)
    back = assign_item(study=study, item=mine.item, to=ann, by=boss, reason="well again")
    assert (back.pk, back.state, back.ratings.get().value) == (mine.pk, State.OPEN, 5)
    check_counters(study)
    # From then on it is theirs like any other, and comes back after a lease that ran out.
    let_lapse(back)
    return_expired_assignments(study=study)
    assert must_take(study, ann) == mine
    check_counters(study)


@pytest.mark.django_db
def test_what_somebody_had_begun_and_nobody_took_comes_back_to_them() -> None:
    """Else a pool with few people could never be finished once a lease had run out."""
    study, (ann, bob) = make_pool(people=2, items=2)
    begun = must_take(study, ann)
    answer(begun, 5)
    let_lapse(begun)
    return_expired_assignments(study=study)
    again = must_take(study, ann)
    assert (again.pk, again.state) == (begun.pk, State.OPEN)
    assert again.ratings.get().value == 5
    do_all(must_take(study, bob))
    let_lapse(again)
    do_all(must_take(study, bob))
    assert claim_next_item(study=study, user=ann) is None
    check_counters(study)


@pytest.mark.django_db
def test_a_save_renews_a_lease_that_is_half_over() -> None:
    study, (ann,) = make_pool(people=1, items=1)
    leased = must_take(study, ann)
    soon = timezone.now() + timedelta(minutes=study.lease_minutes / 3)
    Assignment.objects.filter(pk=leased.pk).update(leased_until=soon)
    answer(leased)
    leased.refresh_from_db()
    assert leased.leased_until is not None
    assert leased.leased_until > soon + timedelta(minutes=study.lease_minutes / 3)


@pytest.mark.django_db
def test_people_who_come_later_get_their_background_questions() -> None:
    study, _ = make_pool(people=1, items=1, background="about_annotators@1")
    late = make_person("late")
    add_member(study=study, user=late, role=Role)
    item = study.items.get(use=Use.BACKGROUND)
    assert (item.given, study.assignments.filter(annotator=late).count()) == (2, 1)
    check_counters(study)


# --- At once --------------------------------------------------------------------------------------


def act_at_random(study: Study, user: User, rng: random.Random) -> Callable[[], object]:
    """One thing that a person, a clock or a second tab may do."""
    own = list(study.assignments.filter(annotator=user, part="main"))
    one = rng.choice(own) if own else None
    if one is not None:
        one.annotator = user
        match rng.randrange(8):
            case 0:
                return lambda: skip_assignment(assignment=one, by=user, reason="No.")
            case 1:
                return lambda: reopen_assignment(assignment=one, by=user)
            case 2:
                return lambda: (let_lapse(one), return_expired_assignments(study=study))
            case 3:
                return lambda: answer(one)
            case 4 | 5:
                return lambda: do_all(one)
    return lambda: claim_next_item(study=study, user=user)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("wanted", [1, 3])
def test_seats_are_exact_whatever_happens_at_once(wanted: int) -> None:
    """No error but refusals in words, so the check of the database is never what refuses."""
    people = 6
    study, users = make_pool(people=people, items=8, wanted=wanted, gold=wanted - 1)

    def work(number: int) -> None:
        rng = random.Random(number)
        for _ in range(20):
            try:
                act_at_random(study, users[number], rng)()
            except Refused:
                continue

    in_threads(work, people)
    check_counters(study)
    kinds = Counter(StudyEvent.objects.filter(study=study).values_list("kind", flat=True))
    assert min(kinds[kind] for kind in ("leased", "returned", "skipped", "submitted")) > 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("wanted", [1, 3])
def test_a_pool_is_finished_exactly(wanted: int) -> None:
    """Everybody submits until nothing is left: each item has its raters, none too many."""
    people, items = 4, 10
    study, users = make_pool(people=people, items=items, wanted=wanted)

    def work(number: int) -> None:
        while (item := claim_next_item(study=study, user=users[number])) is not None:
            do_all(item)

    in_threads(work, people)
    check_counters(study)
    assert set(study.items.values_list("given", "done")) == {(wanted, wanted)}
    assert study.assignments.count() == items * wanted
    assert sum(study.participants.values_list("submitted", flat=True)) == items * wanted


@pytest.mark.django_db(transaction=True)
def test_one_person_in_many_tabs_gets_one_item() -> None:
    study, (ann,) = make_pool(people=1, items=5)
    taken: list[int] = []
    in_threads(lambda _: taken.append(must_take(study, ann).pk), 6)
    assert len(set(taken)) == 1
    check_counters(study)


@pytest.mark.django_db(transaction=True)
def test_people_may_come_while_others_take_items() -> None:
    """Coming deals the background questions: that locks people and assignments too."""
    people = 6
    study, users = make_pool(people=3, items=30, background="about_annotators@1")
    users += [make_person(f"late{n}") for n in range(people - 3)]

    def work(number: int) -> None:
        if number >= 3:
            add_member(study=study, user=users[number], role=Role)
        told = Participant.objects.filter(study=study, user=users[number])
        told.update(told_background=True)
        for _ in range(4):
            item = claim_next_item(study=study, user=users[number])
            assert item is not None
            do_all(item)

    in_threads(work, people)
    check_counters(study)
    numbers = Participant.objects.filter(study=study).values_list("number", flat=True)
    assert sorted(numbers) == list(range(1, people + 1))
    assert study.items.filter(use=Use.BACKGROUND).values_list("given", flat=True)[0] == people
    assert not study.items.filter(given__gt=F("wanted")).exists()
