"""The adjudicator's queue: who disagrees most comes first, page by page."""

import uuid
from itertools import pairwise

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from annotation.adjudication.disagreement import Disagreement, disagreement_at
from annotation.adjudication.queue import QueueSelection, disagreement_queue
from annotation.adjudication.selectors import find_slot, place_ratings
from annotation.adjudication.services import decide_place
from annotation.desk.services import reopen_assignment, submit_assignment
from annotation.models import Item, Study
from annotation.people.withdrawal import withdraw_annotator
from annotation.questionnaires import load_questionnaire
from annotation.ratings.services import record_rating
from tests.annotation.judged import make_judged, say
from tests.annotation.rows import make_person

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def people(db: None) -> list[User]:
    """Three raters."""
    return [make_person(name) for name in ("ann", "bob", "cyd")]


def queue(
    study: Study, narrowed: QueueSelection | None = None, **more: object
) -> list[Disagreement]:
    places = disagreement_queue(study, load_questionnaire(study.questionnaire), narrowed)
    return places.page(**{"size": 100, **more})  # type: ignore[arg-type]


def names(rows: list[Disagreement]) -> list[tuple[int, str, str]]:
    return [(row.rank, row.question, row.subject) for row in rows]


def test_scores_by_range_then_variance(people: list[User], manager: User) -> None:
    study = make_judged(people, manager)
    for user, one, two in zip(people, (1, 1, 5), (1, 3, 5), strict=True):
        say(
            study,
            user,
            1,
            {"safety": one, "autonomy": two, "concreteness": 1 + (user is people[0])},
        )
        say(study, user, 2)
    # Ranges 4, 4, 1 of 4. By hand: 1, 1, 5 has variance 27/9 - (7/3)² = 32/9, 1, 3, 5 has 24/9.
    assert [(row.question, row.far, row.spread) for row in queue(study)] == [
        ("safety", 1000, 3555),
        ("autonomy", 1000, 2666),
        ("concreteness", 250, 222),
    ]
    assert {row.raters for row in queue(study)} == {3}
    assert len(disagreement_queue(study, load_questionnaire(study.questionnaire))) == 3
    assert names(queue(study, QueueSelection("autonomy"))) == [(1, "autonomy", "")]


def test_choices_by_how_evenly_they_are_split(manager: User) -> None:
    four = [make_person(f"p{n}") for n in range(4)]
    study = make_judged(four, manager, questionnaire="filter_check@1")
    for n, user in enumerate(four):
        say(study, user, 1, {"keep.candidate-c1": int(n < 1), "keep.candidate-c2": int(n < 2)})
        say(study, user, 2)
    # 1 of 4 votes against 3: (4 - 3)/4 of at most 1/2; 2 against 2: all of it.
    assert [(row.subject, row.far) for row in queue(study)] == [
        ("candidate-c2", 1000),
        ("candidate-c1", 500),
    ]


def test_marks_by_symmetric_difference(people: list[User], manager: User) -> None:
    study = make_judged(people, manager, questionnaire="violation_check@1")
    for user, one, two in zip(
        people, (["w1"], ["w2"], []), (["w1", "w2"], ["w2", "w1"], ["w1"]), strict=True
    ):
        say(study, user, 1, {"world_violated.turn-1": one, "world_violated.turn-2": two})
        say(study, user, 2)
    # Turn 1: 2, 1 and 1 apart, 4/3 in the mean, 4/7; turn 2: 0, 1 and 1, 2/5.
    assert [(row.subject, row.far) for row in queue(study)] == [("turn-1", 571), ("turn-2", 400)]


def test_only_what_two_people_have_submitted(people: list[User], manager: User) -> None:
    study = make_judged(people, manager)
    say(study, people[0], 1, {"safety": 5})
    say(study, people[1], 1, {"safety": 1}, submit=False)
    assert queue(study) == []
    say(study, people[2], 1, {"safety": 1})
    assert names(queue(study)) == [(1, "safety", "")]
    withdraw_annotator(study=study, user=people[2], by=people[2])
    assert queue(study) == []


@pytest.mark.parametrize("kind", ["turn_scores@1", "violation_check@1"])
def test_pages_go_on_where_the_last_ended(
    people: list[User],
    manager: User,
    kind: str,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    study = make_judged(people, manager, questionnaire=kind, items=3)
    marks = kind.startswith("violation")
    for place, user in enumerate(people):
        for position in (1, 2, 3):
            answers = {
                f"{key}.turn-{turn}": (
                    ["w1", "w2"][: (place + turn) % 3] if marks else 1 + (place * turn) % 3
                )
                for key in (["world_violated"] if marks else ["safety", "feasibility"])
                for turn in (1, 2)
            }
            say(study, user, position, answers)
    everything = queue(study)
    assert len(everything) >= 6
    assert all(one.key < other.key for one, other in pairwise(everything))
    seen: list[Disagreement] = []
    while page := queue(study, size=2, beyond=seen[-1] if seen else None):
        seen += page
    assert seen == everything
    back: list[Disagreement] = []
    while page := queue(study, size=2, beyond=back[-1] if back else seen[-1], backwards=True):
        back += page
    assert back == everything[-2::-1]
    with django_assert_max_num_queries(1):
        queue(study, size=2, beyond=everything[2])
    # A place knows from its own ratings where it stands.
    asked = load_questionnaire(study.questionnaire)
    for row in everything:
        item = Item.objects.get(study=study, rank=row.rank)
        slot = find_slot(item, asked, f"{row.question}.{row.subject}")
        assert slot is not None
        assert disagreement_at(item, slot, list(place_ratings(item, slot))) == row


def test_an_item_that_was_answered_anew_is_compared_anew(people: list[User], manager: User) -> None:
    study = make_judged(people, manager)
    ann, bob, _ = people
    for position in (1, 2):
        say(study, ann, position, {"safety": 1})
        assignment = say(study, bob, position, {"safety": 5})
    assert [(row.rank, row.far) for row in queue(study)] == [(1, 1000), (2, 1000)]
    reopen_assignment(assignment=assignment, by=bob)
    assert [(row.rank, row.far) for row in queue(study)] == [(1, 1000)]
    record_rating(assignment=assignment, by=bob, question="safety", value=2, client_id=uuid.uuid4())
    submit_assignment(assignment=assignment, by=bob)
    assert [(row.rank, row.far) for row in queue(study)] == [(1, 1000), (2, 250)]


def test_decided_places_leave_the_queue(people: list[User], manager: User) -> None:
    study = make_judged(people, manager)
    for n, user in enumerate(people):
        say(study, user, 1, {"safety": 1 + n, "autonomy": 1 + n})
    item = study.items.get(rank=1)
    slot = find_slot(item, load_questionnaire(study.questionnaire), "safety")
    assert slot is not None
    decide_place(item=item, slot=slot, by=manager, value=2, reason="Between the two.")
    assert names(queue(study, QueueSelection(decided=False))) == [(1, "autonomy", "")]
    assert names(queue(study, QueueSelection(decided=True))) == [(1, "safety", "")]
    assert len(queue(study)) == 2
