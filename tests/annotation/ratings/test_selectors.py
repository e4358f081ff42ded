"""Tests of ratings for analyses and exports: submitted answers, with who gave them."""

import uuid

import pytest
from django.contrib.auth.models import User

from annotation.assignments.selectors import first_open
from annotation.desk.services import skip_assignment, submit_assignment
from annotation.desk.trajectories import load_turns
from annotation.models import Annotator, Assignment, Study
from annotation.ratings.selectors import human_scores
from annotation.ratings.services import record_rating
from annotation.study_frame.context import study_banner
from benchmarks.models import Turn, Violation

pytestmark = pytest.mark.django_db


def answer(item: Assignment, value: int = 4, *, submit: bool = True) -> None:
    for key in item.item.asked:
        record_rating(
            assignment=item, by=item.annotator, question=key, value=value, client_id=uuid.uuid4()
        )
    if submit:
        submit_assignment(assignment=item, by=item.annotator)


def test_submitted_answers_with_their_dimension(item: Assignment, ann: User) -> None:
    answer(item)
    Annotator.objects.create(user=ann, is_simulated=True)
    scores = list(human_scores())
    assert len(scores) == 10
    first, third = scores[0], scores[2]
    assert (first.question, first.dimension) == ("feedback_reasonable", "")
    assert (third.question, third.dimension, third.value) == ("feasibility", "feasibility", 4)
    assert (third.annotator, third.is_simulated, third.submitted) == (ann.pk, True, True)
    assert third.trajectory == item.trajectory_id


def test_partial_and_skipped_answers(study: Study, item: Assignment, ann: User) -> None:
    answer(item, submit=False)
    assert list(human_scores()) == []
    partial = list(human_scores(partial=True))
    assert len(partial) == 10
    assert not any(score.submitted for score in partial)
    skip_assignment(assignment=item, by=ann, reason="No.")
    assert list(human_scores(partial=True)) == []


def test_filters(study: Study, item: Assignment) -> None:
    answer(item)
    run = item.trajectory.run_id
    for given in ({"studies": [study.pk]}, {"trajectories": [item.trajectory_id]}, {"runs": [run]}):
        assert len(list(human_scores(**given))) == 10
    for given in ({"studies": []}, {"trajectories": [0]}, {"runs": [0]}):
        assert list(human_scores(**given)) == []


def test_next_open_item_goes_on_and_comes_round(study: Study, ann: User) -> None:
    first, second = study.assignments.filter(annotator=ann).order_by("position")
    assert first_open(study, ann, "main") == 1
    assert first_open(study, ann, "main", after=1) == 2
    assert first_open(study, ann, "main", after=2) == 1
    answer(first)
    assert first_open(study, ann, "main", after=2) == 2
    skip_assignment(assignment=second, by=ann, reason="No.")
    assert first_open(study, ann, "main") is None


WORD_LISTS = "what was violated was decided by word lists."


@pytest.mark.parametrize(
    ("agents", "others", "text"),
    [
        (["scripted"], ["scripted"], "Agents, judges and the simulated user are scripts."),
        (["recorded"], ["lexicon"], f"Agents repeat recorded answers; {WORD_LISTS}"),
        (["endpoint", "scripted"], [], "Some agents are scripts."),
        (
            ["endpoint"],
            ["simulated"],
            "Some answers come from a fake endpoint, a program that makes them up.",
        ),
        (
            ["scripted"],
            ["lexicon", "scripted"],
            f"Agents, judges and the simulated user are scripts; {WORD_LISTS}",
        ),
    ],
)
def test_banner(study: Study, agents: list[str], others: list[str], text: str) -> None:
    study.settings["labels"] = {"agents": agents, "others": others}
    banner = study_banner(study)
    assert banner == {"title": "Scripts", "text": text}


def test_no_banner_where_nothing_is_scripted(study: Study) -> None:
    study.settings["labels"] = {"agents": ["endpoint"], "others": ["endpoint"]}
    assert study_banner(study) is None


def test_the_banner_of_the_demo_says_something_without_labels(study: Study) -> None:
    study.is_demo, study.settings["labels"] = True, {}
    banner = study_banner(study)
    assert banner is not None
    assert banner["title"] == "Demo data"
    assert banner["text"].endswith("nothing in it is a finding.")


# --- Turns ----------------------------------------------------------------------------------------


def turns(item: Assignment, *texts: str) -> list[str]:
    """Return what the desk says of what changed."""
    Turn.objects.filter(trajectory=item.trajectory).delete()
    for index, text in enumerate(texts, 1):
        Turn.objects.create(trajectory=item.trajectory, index=index, text=text)
    return [turn.change for turn in load_turns(item.trajectory_id)]


def test_what_changed_between_plans(item: Assignment) -> None:
    assert turns(
        item,
        "1. Take the broom.\n2. Sweep the floor.",
        "1. Take the broom.\n2. Sweep the floor twice.",
        "1. Open the window.\n2. Wait an hour.",
        "1. Take the broom.\n2. Sweep the floor.",
        "1. Take the broom.\n2. Sweep the floor.",
    ) == [
        "first plan",
        "1 step changed since turn 1",
        "new plan, unlike turn 2",
        "same plan as turn 1",
        "same plan as turn 1",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1. Take it.\n2. Use it.", ""),
        ("Step 1: Take it.\nStep 2: Use it.", ""),
        ("- Take it.\n- Use it.", ""),
        ("Here is my plan:\n1. Take it.", "Here is my plan:\n1. Take it."),
    ],
)
def test_a_text_with_more_than_steps_is_shown_as_it_is(
    item: Assignment, text: str, shown: str
) -> None:
    turns(item, text)
    assert load_turns(item.trajectory_id)[0].text == shown


@pytest.mark.parametrize(
    ("revealed", "repeated", "word"),
    [
        (True, False, "revealed now"),
        (True, True, "repeated"),
        (False, True, "repeated"),
        (False, False, "withheld"),
    ],
)
def test_findings_in_words(item: Assignment, revealed: bool, repeated: bool, word: str) -> None:
    Violation.objects.update(revealed=revealed, repeated=repeated, new=revealed and not repeated)
    (finding,) = load_turns(item.trajectory_id)[0].findings
    assert finding.word == word


def test_undecided_is_not_nothing(item: Assignment) -> None:
    Turn.objects.filter(trajectory=item.trajectory, index=1).update(payload={"valid": None})
    first, second = load_turns(item.trajectory_id)
    assert (first.decided, second.decided) == (False, True)
