"""People's ratings of one trajectory, question by question, from studies the reader may see."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q

from annotation.access import OVERSEERS, READERS
from annotation.blinding import blind_studies
from annotation.models import (
    Adjudication,
    Aspect,
    Assignment,
    Item,
    Membership,
    Participant,
    Rating,
    Study,
)
from annotation.questionnaires import Question, Questionnaire, Slot, load_questionnaire
from annotation.ratings.checks import answer_text
from annotation.ratings.selectors import turn_of
from benchmarks.models import Constraint


class RaterAnswer(NamedTuple):
    """One annotator's current answer. ``who`` is their number, with a name where that may be."""

    who: str
    words: str
    value: int | None
    unblinded: bool
    simulated: bool


class RaterRemark(NamedTuple):
    """A remark of an annotator beside an answer or the item: a comment, or a flag's reason."""

    who: str
    kind: str
    title: str
    text: str


class PlaceDecision(NamedTuple):
    """An adjudicator's decision, and its reason. ``revealed``: after seeing the judges'."""

    words: str
    reason: str
    by: str
    revealed: bool


@dataclass
class RatedPlace:
    """A question asked of the trajectory or of one of its turns, with what people answered."""

    question: Question
    subject: str
    answers: list[RaterAnswer] = field(default_factory=list)
    decision: PlaceDecision | None = None

    @property
    def turn(self) -> int | None:
        return turn_of(self.subject)

    @property
    def values(self) -> list[int]:
        """The scores; answers to choose from and marks have no mean."""
        if self.question.scale.kind != "points":
            return []
        return [answer.value for answer in self.answers if answer.value is not None]

    @property
    def mean(self) -> float | None:
        return fmean(self.values) if self.values else None

    @property
    def counts(self) -> str:
        """How often each side of a pair was preferred; empty for other questions."""
        if not self.question.scale.pair:
            return ""
        given = Counter(answer.value for answer in self.answers)
        options = self.question.scale.options
        return ", ".join(f"{option.label}: {given[option.value]}" for option in options)


@dataclass(frozen=True)
class StudyRatings:
    """A study's share. ``single``: the reader may see each person's answer, not only all together.

    ``other`` is the trajectory that it was compared with, where it was shown as one of two.

    ``people`` have submitted the item; ``left_out`` submitted it and withdrew, so they count no
    more; ``pending`` have it open. ``mixed``: some annotators are simulated and some are not.
    """

    study: Study
    rank: int
    item: int
    single: bool
    people: int
    pending: int
    left_out: int
    simulated: bool
    mixed: bool
    places: Sequence[RatedPlace]
    beside: Sequence[RaterRemark]
    other: int | None = None

    @property
    def whole(self) -> list[RatedPlace]:
        """The answers about the trajectory as a whole or its last plan."""
        return [place for place in self.places if place.turn is None]

    @property
    def by_turn(self) -> list[tuple[int, list[RatedPlace]]]:
        """The answers about single turns, turn by turn."""
        by_turn: dict[int, list[RatedPlace]] = defaultdict(list)
        for place in self.places:
            if place.turn is not None:
                by_turn[place.turn].append(place)
        return sorted(by_turn.items())


def ratings_of_trajectory(
    *, trajectory: int, profile: int | None, user: User
) -> list[StudyRatings]:
    """Return what the studies that this person may see say of a trajectory; eight queries at most.

    Submitted items that count alone (no gold, no training), without people who withdrew. Whoever
    has open items in a blinded study sees nothing of that study.
    """
    items = _items(trajectory, user)
    if not items:
        return []
    roles = Membership.objects.filter(
        user=user, role__in=READERS, study__in=[item.study_id for item in items]
    )
    readable = set(roles.values_list("study", flat=True))
    assignments: dict[int, list[Assignment]] = defaultdict(list)
    people = {
        (study, person): (number, state)
        for study, person, number, state in Participant.objects.filter(
            study__in=[item.study_id for item in items]
        ).values_list("study", "user", "number", "state")
    }
    states = (Assignment.State.SUBMITTED, Assignment.State.OPEN)
    rows = Assignment.objects.filter(item__in=items, state__in=states).order_by("pk")
    for assignment in rows.select_related("annotator__annotator"):
        assignments[assignment.item_id].append(assignment)
    done = [
        assignment.pk
        for of_item in assignments.values()
        for assignment in of_item
        if assignment.state == Assignment.State.SUBMITTED and not _gone(assignment, people)
    ]
    ratings: dict[int, list[Rating]] = defaultdict(list)
    stored = Rating.objects.filter(assignment__in=done).select_related("edit", "assignment")
    for rating in stored.order_by("pk"):
        ratings[rating.assignment.item_id].append(rating)
    decided: dict[int, list[Adjudication]] = defaultdict(list)
    for row in Adjudication.objects.filter(item__in=items).order_by("pk").select_related("by"):
        decided[row.item_id].append(row)
    texts = dict(Constraint.objects.filter(profile=profile).values_list("key", "text"))
    studies = []
    for item in items:
        who = {
            assignment.pk: _name(item.study, assignment, people)
            for assignment in assignments[item.pk]
        }
        simulated = {
            assignment.pk: bool(
                getattr(getattr(assignment.annotator, "annotator", None), "is_simulated", 0)
            )
            for assignment in assignments[item.pk]
        }
        submitted = [s for s in assignments[item.pk] if s.state == Assignment.State.SUBMITTED]
        gone = sum(_gone(assignment, people) for assignment in submitted)
        single = user.is_superuser or item.study_id in readable
        questionnaire = load_questionnaire(item.study.questionnaire)
        is_second = item.trajectory_id != trajectory
        studies.append(
            StudyRatings(
                item.study, item.rank, item.pk, single, len(submitted) - gone,
                sum(given.state == Assignment.State.OPEN for given in assignments[item.pk]), gone,
                any(simulated.values()),
                any(simulated.values()) and not all(simulated.values()),
                _places(
                    questionnaire, item, ratings[item.pk], decided[item.pk], texts, who, simulated,
                    is_second,
                ),
                _beside(questionnaire, ratings[item.pk], who) if single else (),
                item.trajectory_id if is_second else item.other_id,
            )
        )  # fmt: skip
    # Those that judge it alone first.
    return sorted(studies, key=lambda study: study.other is not None)


def _items(trajectory: int, user: User) -> list[Item]:
    either = Q(trajectory=trajectory) | Q(other=trajectory)
    rows = Item.objects.filter(either, use=Item.Use.MAIN).select_related("study")
    if not user.is_superuser:
        mine = Membership.objects.filter(
            study=OuterRef("study"), user=user, role__in=OVERSEERS
        ).order_by()
        rows = rows.filter(Exists(mine))
    items = list(rows.order_by("-study"))
    # Only studies that are blinded can be closed to somebody; most trajectories are in none.
    closed = blind_studies(user) if any(item.study.blinded for item in items) else frozenset()
    return [item for item in items if item.study_id not in closed]


def _gone(assignment: Assignment, people: dict[tuple[int, int], tuple[int, str]]) -> bool:
    person = people.get((assignment.study_id, assignment.annotator_id))
    return person is None or person[1] in Participant.GONE


def _name(
    study: Study, assignment: Assignment, people: dict[tuple[int, int], tuple[int, str]]
) -> str:
    number = people.get((assignment.study_id, assignment.annotator_id), ("?", ""))[0]
    name = f"Annotator {number}"
    return name if study.blinded else f"{name}, {assignment.annotator.get_username()}"


def _places(
    questionnaire: Questionnaire,
    item: Item,
    ratings: Sequence[Rating],
    decided: Sequence[Adjudication],
    texts: dict[str, str],
    who: dict[int, str],
    simulated: dict[int, bool],
    is_second: bool,
) -> list[RatedPlace]:
    """Return the places that somebody answered, in the order of the questionnaire.

    Preferences are told from the side of the trajectory, the item's second one or not.
    """
    places: dict[tuple[str, str], RatedPlace] = {}
    for slot in questionnaire.slots(item.asked, item.subjects):
        question = slot.question
        if question.scale.pair:
            question = replace(question, scale=question.scale.as_seen_by(is_second))
        places[question.key, slot.subject] = RatedPlace(question, slot.subject)
    for rating in ratings:
        place = places.get((rating.question, rating.subject))
        if place is None or rating.aspect != Aspect.ANSWER:
            continue
        if rating.value is None and rating.chosen is None and not rating.text:
            continue
        words = rating.text or answer_text(place.question, rating, texts)
        assignment = rating.assignment_id
        place.answers.append(
            RaterAnswer(
                who[assignment], words, rating.value, rating.edit.unblinded, simulated[assignment]
            )
        )
    for row in decided:
        place = places.get((row.question, row.subject))
        if place is not None:
            words = answer_text(place.question, row, texts)
            place.decision = PlaceDecision(words, row.reason, row.by.get_username(), row.revealed)
    return [place for place in places.values() if place.answers or place.decision]


def _beside(
    questionnaire: Questionnaire, ratings: Sequence[Rating], who: dict[int, str]
) -> list[RaterRemark]:
    """Return comments and flags, those on the whole item last."""
    remarks = []
    for rating in ratings:
        flag = rating.aspect == Aspect.FLAG and rating.value
        if not rating.text or not (flag or rating.aspect == Aspect.COMMENT):
            continue
        question = questionnaire.by_key.get(rating.question)
        title = Slot(question, rating.subject).question.title if question else "The whole item"
        if rating.subject:
            title = f"{title}, {rating.subject.replace('-', ' ')}"
        kind = "flag" if flag else "comment"
        remarks.append(RaterRemark(who[rating.assignment_id], kind, title, rating.text))
    return sorted(remarks, key=lambda row: row.title == "The whole item")
