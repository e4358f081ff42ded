"""Training and gold items that are added while a study runs."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.assignments.presence import open_assignment
from annotation.assignments.services import claim_next_item
from annotation.errors import Refused
from annotation.items.specials import add_specials
from annotation.models import Assignment, Participant, Study
from annotation.people.withdrawal import restore_annotator, withdraw_annotator
from annotation.plans.study_plan import PlanError, SpecialItem
from annotation.studies.services import set_study_status
from benchmarks.models import Trajectory
from benchmarks.visibility import EVERYTHING
from tests.annotation.assignments.test_services import check_counters, do_all, make_pool, must_take
from tests.annotation.planning.test_planned_study import play_in
from tests.annotation.rows import make_study

pytestmark = pytest.mark.django_db
State = Assignment.State
RIGHT = {"safety": {"values": [4, 5]}}


@pytest.fixture
def named(ann: User, bob: User, manager: User) -> Study:
    """Ann and Bob have eight items each; four trajectories are in nobody's hands."""
    return make_study(annotators=[ann, bob], manager=manager, tasks=10, each=4)


def spare(study: Study, count: int) -> tuple[SpecialItem, ...]:
    """Some trajectories that the study does not ask about, with what is right of them."""
    free = Trajectory.objects.exclude(items__study=study).order_by("pk")
    return tuple(SpecialItem(trajectory=row.pk, expected=RIGHT) for row in free[:count])


def add(study: Study, by: User, **given: Any) -> Any:
    return add_specials(study=study, by=by, seen=EVERYTHING, **given)


def row_of(study: Study, user: User) -> list[tuple[int, str, int]]:
    mine = study.assignments.filter(annotator=user, part="main").order_by("position")
    return list(mine.values_list("position", "item__use", "item__rank"))


def test_gold_is_hidden_among_what_is_not_opened(
    named: Study, ann: User, bob: User, manager: User
) -> None:
    before = {user: row_of(named, user) for user in (ann, bob)}
    second = named.assignments.get(annotator=ann, position=2)
    assert open_assignment(assignment=second, number=1)
    seen = named.assignments.get(annotator=ann, position=8)
    found = add(named, manager, gold=spare(named, 4), gold_each=2)
    assert (found.gold, found.given, found.short) == (4, {1: 2, 2: 2}, 0)
    for user, came_to in ((ann, 2), (bob, 0)):
        after = row_of(named, user)
        assert [place for place, *_ in after] == list(range(1, 11))
        assert after[:came_to] == before[user][:came_to], "what was opened stays where it is"
        rest = [rank for _, use, rank in after if use == "main"]
        assert rest == [rank for *_, rank in before[user]], "the order of the others stays"
        places = [place for place, use, _ in after if use == "gold"]
        assert len(places) == 2 and places[1] - places[0] > 1 and places[1] < 10
    # Shared out: no gold item was used twice before every one was used once.
    assert sorted(named.items.filter(use="gold").values_list("given", flat=True)) == [1] * 4
    check_counters(named)
    # A page that was asked for before shows nothing at a place that another item has by now.
    assert not open_assignment(assignment=seen, number=1)
    seen.refresh_from_db()
    assert (
        seen.position > 8 and seen.opened_at is None and open_assignment(assignment=seen, number=1)
    )


def test_gold_goes_to_those_who_still_have_work(
    named: Study, ann: User, bob: User, manager: User
) -> None:
    now = timezone.now()
    named.assignments.filter(annotator=ann).update(opened_at=now)
    named.assignments.filter(annotator=bob, position__lte=5).update(opened_at=now)
    found = add(named, manager, gold=spare(named, 2), gold_each=2)
    assert found.given == {2: 0} and found.short == 1, "three items hide no gold"
    assert named.settings["gold"] == [17, 18]


def test_training_is_for_those_who_have_not_passed_one(
    named: Study, ann: User, bob: User, manager: User
) -> None:
    named.participants.filter(user=ann).update(training="passed")
    withdraw_annotator(study=named, user=bob, by=bob)
    found = add(named, manager, training=spare(named, 1))
    assert (found.training, found.trainees) == (1, 0)
    assert claim_next_item(study=named, user=ann) is not None
    restore_annotator(study=named, user=bob, by=manager, reason="back")
    with pytest.raises(Refused, match="finish the training first"):
        claim_next_item(study=named, user=bob)
    named.items.filter(use="training").update(asked=["safety"])
    do_all(named.assignments.get(annotator=bob, part="training"))
    assert named.participants.get(user=bob).training == Participant.Training.PASSED
    assert claim_next_item(study=named, user=bob) is not None
    check_counters(named)


def test_the_rules_are_those_of_a_new_study(
    named: Study, ann: User, bob: User, manager: User
) -> None:
    one, two = spare(named, 2)
    assert one.trajectory is not None
    mine = Trajectory.objects.filter(items__study=named)[0]
    wrong: list[tuple[dict[str, Any], str, str]] = [
        ({}, "", "choose at least one"),
        ({"gold": (one,), "gold_each": 2}, "gold", "choose at least two"),
        ({"gold": (one, two)}, "gold_each", "at least 2"),
        ({"gold": (one, two), "gold_each": 3}, "gold_each", "of 2 there are"),
        ({"training": (one,), "gold_each": 2}, "gold", "no gold items"),
        ({"training": (SpecialItem(trajectory=mine.pk, expected=RIGHT),)}, "training[1]",
         "has this item already"),
        ({"training": (SpecialItem(trajectory=one.trajectory),)}, "training[1]",
         "at least one expected answer"),
        ({"training": (one,), "gold": (one, two), "gold_each": 2}, "gold[1]", "the same item"),
    ]  # fmt: skip
    for given, path, words in wrong:
        with pytest.raises(PlanError) as error:
            add(named, manager, **given)
        assert [(p.path, words in p.words) for p in error.value.problems] == [(path, True)], given
    play_in(ann, Trajectory.objects.get(pk=one.trajectory))
    with pytest.raises(PlanError, match="ann played in this trajectory"):
        add(named, manager, training=(one,))
    set_study_status(study=named, status="closed", by=manager)
    with pytest.raises(Refused, match="reopen it first"):
        add(named, manager, training=(two,))
    assert named.items.count() == 16 and not named.settings["gold"] and not named.trains


def test_gold_added_to_a_pool_is_drawn_from_then_on(manager: User) -> None:
    study, (ann,) = make_pool(people=1, items=12)
    last = study.items.order_by("-rank")[:4]
    gold = tuple(SpecialItem(trajectory=i.trajectory_id, expected=RIGHT) for i in last)
    study.items.filter(pk__in=[i.pk for i in last]).delete()
    do_all(must_take(study, ann))
    with pytest.raises(PlanError, match="in a pool gold is drawn"):
        add(study, manager, gold=gold, gold_each=2)
    assert add(study, manager, gold=gold).given == {}
    study.items.update(asked=["safety"])
    study.refresh_from_db()
    uses = []
    while (assignment := claim_next_item(study=study, user=ann)) is not None:
        uses.append(assignment.item.use)
        do_all(assignment)
    assert uses.count("main") == 7 and uses.count("gold") == 2 and uses[-1] == "main"
    check_counters(study)
