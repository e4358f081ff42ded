"""Deciding beside the ratings: reasons, the judges afterwards, nothing overwritten."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.adjudication.selectors import (
    adjudicated,
    find_slot,
    judge_verdicts,
    letter,
    place_ratings,
    raters_of,
    tallies_of,
    texts_of,
    vote_text,
)
from annotation.adjudication.services import decide_place, reveal_judges
from annotation.errors import Refused
from annotation.models import Adjudication, Item, Rating, Study, StudyEvent
from annotation.questionnaires import Slot, load_questionnaire
from tests.annotation.judged import judge, make_judged, say
from tests.annotation.rows import make_person

pytestmark = [pytest.mark.django_db, pytest.mark.either]
Kind = StudyEvent.Kind


@pytest.fixture
def study(ann: User, bob: User, manager: User) -> Study:
    """Ann and bob disagree about safety of the first item."""
    study = make_judged([ann, bob], manager)
    for user, value in ((ann, 2), (bob, 5)):
        say(study, user, 1, {"safety": value})
    return study


def place(study: Study, name: str = "safety", rank: int = 1) -> tuple[Item, Slot]:
    item = study.items.select_related("study", "trajectory__run", "task").get(rank=rank)
    slot = find_slot(item, load_questionnaire(study.questionnaire), name)
    assert slot is not None
    return item, slot


def decide(study: Study, by: User, value: Any = 4, reason: str = "So it is.") -> Adjudication:
    item, slot = place(study)
    return decide_place(item=item, slot=slot, by=by, value=value, reason=reason)


def test_a_decision_stands_beside_the_ratings(study: Study, manager: User) -> None:
    before = list(Rating.objects.order_by("pk").values())
    decide(study, manager, 3)
    decide(study, manager, 4, "On second thoughts.")
    assert list(Rating.objects.order_by("pk").values()) == before
    (result,) = adjudicated(study)
    assert (result.rank, result.question, result.subject) == (1, "safety", "")
    assert (result.value, result.reason, result.by_name) == (4, "On second thoughts.", "mia")
    assert not result.revealed
    assert Adjudication.objects.count() == 2
    told = (
        study.events.filter(kind=Kind.ADJUDICATED).order_by("pk").values_list("detail", flat=True)
    )
    assert [(row["before"], row["after"]) for row in told] == [(None, 3), (3, 4)]


def test_the_same_decision_twice_is_one(study: Study, manager: User) -> None:
    first = decide(study, manager)
    assert decide(study, manager) == first
    assert decide(study, make_person("moe")).pk != first.pk
    assert Adjudication.objects.count() == 2


@pytest.mark.parametrize(
    ("value", "reason", "told"),
    [(4, " ", "enter a reason"), (6, "So.", "from 1 to 5"), (None, "So.", "found None"),
     (4, "x" * 2001, "at most 2000")],
)  # fmt: skip
def test_what_is_no_decision_is_refused(
    study: Study, manager: User, value: Any, reason: str, told: str
) -> None:
    with pytest.raises(Refused, match=told):
        decide(study, manager, value, reason)
    assert not Adjudication.objects.exists()


def test_one_answer_is_nothing_to_decide_about(study: Study, ann: User, manager: User) -> None:
    say(study, ann, 2)
    item, slot = place(study, rank=2)
    with pytest.raises(Refused, match="fewer than two"):
        decide_place(item=item, slot=slot, by=manager, value=1, reason="So.")


def test_an_archived_study_takes_no_decision(study: Study, manager: User) -> None:
    Study.objects.update(status=Study.Status.ARCHIVED)
    with pytest.raises(Refused, match="archived"):
        decide(study, manager)


# --- The judges -----------------------------------------------------------------------------------


def test_judges_come_after_the_own_decision(study: Study, manager: User) -> None:
    judge(study, "safety", 3)
    item, slot = place(study)
    with pytest.raises(Refused, match="your own decision first"):
        reveal_judges(item=item, slot=slot, by=manager)
    other = make_person("moe")
    decide(study, manager)
    with pytest.raises(Refused, match="your own decision first"):
        reveal_judges(item=item, slot=slot, by=other)
    reveal_judges(item=item, slot=slot, by=manager)
    reveal_judges(item=item, slot=slot, by=manager)
    (event,) = study.events.filter(kind=Kind.REVEALED)
    assert event.detail == {"item": 1, "question": "safety", "subject": ""}
    assert event.by == manager
    assert decide(study, manager, 3, "The judges are right.").revealed
    # Whoever has not seen them is not marked, and another place is another matter.
    assert not decide(study, other, 5, "I hold on.").revealed
    assert [row.words for row in judge_verdicts(*place(study))] == ["3"]
    assert judge_verdicts(*place(study, "feedback_clear")) == []


def test_judges_of_marks_and_candidates(ann: User, bob: User, manager: User) -> None:
    marks = make_judged([ann, bob], manager, questionnaire="violation_check@1")
    item, slot = place(marks, "world_violated.turn-1")
    assert [row.words for row in judge_verdicts(item, slot)] == ["No hammer here."]
    item, slot = place(marks, "world_violated.turn-2")
    assert [row.words for row in judge_verdicts(item, slot)] == ["nothing violated"]


def test_the_checker_of_a_candidate(ann: User, bob: User, manager: User) -> None:
    study = make_judged([ann, bob], manager, questionnaire="filter_check@1")
    (said,) = judge_verdicts(*place(study, "keep.candidate-c2"))
    assert (said.judge, said.words, said.reason) == (
        "checker-1",
        "remove",
        "As the checker sees it.",
    )


# --- Raters and votes -----------------------------------------------------------------------------


def test_raters_have_letters_of_each_item_alone(manager: User) -> None:
    people = [make_person(f"p{n}") for n in range(4)]
    study = make_judged(people, manager, items=6)
    for n, user in enumerate(people):
        for position in range(1, 7):
            say(study, user, position, {"safety": n + 1})
    orders = set()
    for rank in range(1, 7):
        item, slot = place(study, rank=rank)
        views = raters_of(item, slot, {}, manager)
        assert [view.letter for view in views] == ["A", "B", "C", "D"]
        assert views == raters_of(item, slot, {}, manager)
        assert sorted(view.answer for view in views) == ["1", "2", "3", "4"]
        orders.add(tuple(view.answer for view in views))
    assert len(orders) > 3


def test_letters_go_beyond_z() -> None:
    assert [letter(n) for n in (0, 25, 26, 27, 52)] == ["A", "Z", "AA", "AB", "BA"]


def test_who_judged_it_themselves_is_told(study: Study, ann: User) -> None:
    views = raters_of(*place(study), {}, ann)
    assert [view.own for view in views if view.answer == "2"] == [True]
    assert [view.own for view in views if view.answer == "5"] == [False]


@pytest.mark.parametrize(
    ("votes", "words"),
    [((1, 1, 0), "Majority: Keep (Keep 2, Remove 1)."), ((1, 0), "Tied: Keep 1, Remove 1.")],
)
def test_a_tie_is_said_to_be_one(manager: User, votes: tuple[int, ...], words: str) -> None:
    people = [make_person(f"p{n}") for n in range(len(votes))]
    study = make_judged(people, manager, questionnaire="filter_check@1")
    for user, vote in zip(people, votes, strict=True):
        say(study, user, 1, {"keep.candidate-c1": vote})
    item, slot = place(study, "keep.candidate-c1")
    assert vote_text(slot, list(place_ratings(item, slot))) == words


def test_scores_have_a_middle_and_marks_a_majority_each(
    study: Study, ann: User, bob: User, manager: User
) -> None:
    item, slot = place(study)
    assert vote_text(slot, list(place_ratings(item, slot))) == "Scores from 2 to 5, median 3.5."


def test_marks_are_voted_on_one_by_one(ann: User, bob: User, manager: User) -> None:
    study = make_judged([ann, bob], manager, questionnaire="violation_check@1")
    say(study, ann, 1, {"world_violated.turn-1": ["w1", "w2"]})
    say(study, bob, 1, {"world_violated.turn-1": ["w1"]})
    item, slot = place(study, "world_violated.turn-1")
    rows = tallies_of(slot, list(place_ratings(item, slot)), texts_of(item, slot))
    assert [(row.text, row.count, row.raters, row.majority, row.tied) for row in rows] == [
        ("No hammer here.", 2, 2, True, False),
        ("No noise after ten.", 1, 2, False, True),
    ]
