"""Somebody's submissions as a manager reads them."""

from collections.abc import Sequence
from typing import NamedTuple

from annotation.assignments.presence import questionnaire_of
from annotation.models import Aspect, Assignment, Participant, Rating, Study, StudyEvent
from annotation.ratings.checks import answer_text
from annotation.training.services import compare_item, condition_texts

State, Part = Assignment.State, Assignment.Part
# Of somebody with more submissions than this the latest are listed.
MOST_LISTED = 200


class SubmittedAnswer(NamedTuple):
    """One place of a submission: the question, the answer in words, and remarks beside it.

    ``expected`` says what was expected where that is known, and ``right`` whether it was given.
    """

    title: str
    part: str
    answer: str
    remarks: tuple[str, ...]
    expected: str = ""
    right: bool | None = None


def submissions_of(study: Study, annotator: Participant) -> list[Assignment]:
    """Return the latest submissions of an annotator that count or were voided."""
    rows = Assignment.objects.filter(
        study=study, annotator=annotator.user_id, part=Part.MAIN,
        state__in=(State.SUBMITTED, State.VOIDED),
    )  # fmt: skip
    return list(rows.select_related("item__task").order_by("-position")[:MOST_LISTED])


def submitted_answers(assignment: Assignment) -> list[SubmittedAnswer]:
    """Return the answers of a submission in the order of the questionnaire."""
    questionnaire = questionnaire_of(assignment)
    ratings: dict[tuple[str, str, str], Rating] = {}
    for row in Rating.objects.filter(assignment=assignment):
        ratings[row.question, row.subject, row.aspect] = row
    texts = condition_texts(assignment.item)
    known = {(row.title, row.part): row for row in compare_item(assignment)}
    answers = []
    item = assignment.item
    for slot in questionnaire.slots(item.asked, item.subjects):
        question, place = slot.question, (slot.question.key, slot.subject)
        title = f"{question.number} {question.title}"
        kind, _, part = slot.subject.partition("-")
        of = texts.get(part, part) if kind == "candidate" else slot.subject.replace("-", " ")
        given = ratings.get((*place, Aspect.ANSWER))
        if given is None:
            answer = "no answer"
        elif given.text and given.value is None:
            answer = given.text
        else:
            answer = answer_text(question, given, texts)
        expected = known.get((title, of))
        answers.append(
            SubmittedAnswer(
                title, of, answer, _remarks(ratings, place),
                expected="; ".join(expected.expected) if expected else "",
                right=expected.right if expected else None,
            )
        )  # fmt: skip
    return answers


def submission_events(assignment: Assignment) -> Sequence[StudyEvent]:
    """Return what was done with a submission, oldest first."""
    return list(assignment.events.select_related("by").order_by("pk"))


def _remarks(
    ratings: dict[tuple[str, str, str], Rating], place: tuple[str, str]
) -> tuple[str, ...]:
    comment, flag = ratings.get((*place, Aspect.COMMENT)), ratings.get((*place, Aspect.FLAG))
    return tuple(
        words
        for words in (
            comment.text if comment else "",
            f"flagged: {flag.text}" if flag and flag.value else "",
        )
        if words
    )
