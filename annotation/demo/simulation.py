"""Simulated annotators: seeded scripts that judge by an item's ground truth.

They fill the demo. Their accounts are flagged, cannot sign in and are labelled wherever they
appear; analyses can leave them out.
"""

import random
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.assignments.presence import questionnaire_of
from annotation.assignments.stepwise import is_locked, revealed_turns
from annotation.consent.selectors import text_version
from annotation.consent.services import answer_consent, note_information_read
from annotation.desk.services import skip_assignment, slots_of, submit_assignment
from annotation.errors import Refused
from annotation.models import Annotator, Assignment, Study, StudyText
from annotation.planning.ground_truth import (
    feedback_levels,
    true_decisions,
    true_levels,
    true_violations,
    turn_levels,
)
from annotation.questionnaires import Slot, load_questionnaire
from annotation.questionnaires.decisions import answer_marks
from annotation.ratings.checks import markable
from annotation.ratings.services import EditRequest, record_edits
from benchmarks.core.digests import derive_seed
from benchmarks.core.registry import SYSTEMS

State, Part = Assignment.State, Assignment.Part
NAMESPACE = uuid.UUID("6f6b1f7e-3c0e-4f0b-9d57-1c7f0c9a2f10")
SKIP_REASON = "I could not tell what the last plan was meant to do."
SKIP_CHANCE = 0.03
# How often somebody overlooks a violation, sees one where there is none, or decides otherwise about
# a candidate; a hasty annotator does so more often.
MISSES, INVENTS, DIFFERS = 0.06, 0.006, 0.06


@dataclass(frozen=True)
class SimulatedCharacter:
    """The deviation of a simulated annotator from the truth: a shift, a scatter, and one soft
    spot.
    """

    bias: float
    spread: float
    soft_on: str
    hurry: float


@dataclass(frozen=True)
class GroundTruth:
    """The right answers about one item, as far as they are known: by question, turn, and
    candidate.
    """

    levels: Mapping[str, float] = field(default_factory=dict)
    by_turn: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    violated: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    decisions: Mapping[str, int] = field(default_factory=dict)


def ensure_simulated_annotator(*, number: int) -> User:
    """Return the account of a simulated annotator; nobody can sign in with it."""
    user, created = User.objects.get_or_create(
        username=f"simulated-{number}", defaults={"first_name": f"Simulated annotator {number}"}
    )
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    Annotator.objects.get_or_create(user=user, defaults={"is_simulated": True})
    return user


def simulate_annotator(*, study: Study, user: User, share: float = 1.0, skips: bool = True) -> int:
    """Let a simulated annotator do the first ``share`` of their items; return how many were done.

    With ``skips`` an item is skipped now and then, as people do. Consent, questions on the person
    and training come first. A repetition adds nothing: finished items are passed over, and the
    answers to an unfinished item have the same ids and values.
    """
    if not Annotator.objects.filter(user=user, is_simulated=True).exists():
        raise ValueError(f"{user} is a person; only flagged accounts may be simulated")
    if load_questionnaire(study.questionnaire).system not in SYSTEMS:
        raise Refused(
            "invalid",
            "these trajectories were made elsewhere: nothing tells a script what they are worth, "
            "so no simulated annotator can judge them",
        )
    character = _character(study.seed, user.get_username())
    items = study.assignments.filter(annotator=user).select_related(
        "study", "item__task", "trajectory__task", "trajectory__run__agent"
    )
    _read_and_consent(study, user)
    for item in items.filter(part=Part.BACKGROUND, state=State.OPEN):
        _complete_item(item, user, _background_answer, character)
    for item in items.filter(part=Part.TRAINING, state=State.OPEN).order_by("position"):
        _complete_item(item, user, _as_expected, character)
    main = items.filter(part=Part.MAIN)
    wanted = round(share * main.count())
    done = 0
    for item in main.filter(position__lte=wanted, state=State.OPEN):
        _complete_item(item, user, _judgement, character, may_skip=skips)
        done += 1
    return done


def _read_and_consent(study: Study, user: User) -> None:
    """Read the study's texts and consent; repeating it changes nothing."""
    for kind in StudyText.Kind:
        version = text_version(study, kind)
        if version and kind == StudyText.Kind.CONSENT:
            answer_consent(study=study, user=user, version=version, given=True)
        elif version:
            note_information_read(study=study, user=user, version=version)


def _character(seed: int, name: str) -> SimulatedCharacter:
    rng = random.Random(derive_seed(seed, "character", name))
    return SimulatedCharacter(
        bias=rng.uniform(-0.35, 0.35),
        spread=rng.uniform(0.3, 0.6),
        soft_on=rng.choice(("effectiveness", "concreteness", "safety", "autonomy")),
        hurry=rng.uniform(0.7, 1.4),
    )


# --- One item -------------------------------------------------------------------------------------

# Say answers one slot; Judge makes it from an item, a character and a random generator.
Say = Callable[[Slot], tuple[int | None, list[str] | None, str]]
Judge = Callable[[Assignment, SimulatedCharacter, random.Random], Say]


def _complete_item(
    item: Assignment,
    user: User,
    judge: Judge,
    character: SimulatedCharacter,
    *,
    may_skip: bool = False,
) -> None:
    """Answer and submit one item, or skip it, in one transaction."""
    if item.trajectory is not None:
        what = [item.trajectory.task.external_id, item.trajectory.run.agent.name]
    else:
        what = [item.item.task.external_id if item.item.task is not None else item.part]
    rng = random.Random(derive_seed(item.study.seed, user.get_username(), item.position, *what))
    takes = character.hurry * rng.lognormvariate(11.2, 0.35)  # about 70 s
    say = judge(item, character, rng)
    edits = _answers_to(item, say)
    skips = may_skip and not load_questionnaire(item.study.questionnaire).wants
    with transaction.atomic():
        now = timezone.now()
        seen = revealed_turns(item, item.study)
        Assignment.objects.filter(pk=item.pk).update(
            opened_at=now, active_ms=int(takes), revealed=seen
        )
        if skips and rng.random() < SKIP_CHANCE:
            skip_assignment(assignment=item, by=user, reason=SKIP_REASON)
        else:
            record_edits(assignment=item, by=user, edits=edits)
            item = submit_assignment(assignment=item, by=user)
            while item.state != Assignment.State.SUBMITTED:  # turn by turn
                record_edits(assignment=item, by=user, edits=_answers_to(item, say))
                item = submit_assignment(assignment=item, by=user)


def _answers_to(item: Assignment, say: Say) -> list[EditRequest]:
    """Return the answers to what an item asks now; of turns that come one by one, to the newest."""
    edits = []
    questionnaire = questionnaire_of(item)
    values: dict[tuple[str, str], int | None] = {}
    for slot in slots_of(item):
        if is_locked(item, slot) or not questionnaire.applies(slot, values):
            continue
        value, chosen, text = say(slot)
        values[slot.question.key, slot.subject] = value
        edits.append(
            EditRequest(
                uuid.uuid5(NAMESPACE, f"{item.pk}:{slot.name}"),
                slot.question.key,
                value,
                subject=slot.subject,
                chosen=chosen,
                text=text,
            )  # fmt: skip
        )
    return edits


def _judgement(item: Assignment, character: SimulatedCharacter, rng: random.Random) -> Say:
    """Return the answers of this character to an item: near the truth."""
    truth = _truth_about(item)

    def say(slot: Slot) -> tuple[int | None, list[str] | None, str]:
        question = slot.question
        if question.scale.kind == "marks":
            allowed = markable(item.item.subjects, question.scale.of)
            marks = _marks(truth.violated.get(slot.part, {}), allowed, character, rng)
            return None, answer_marks(question.scale, allowed, marks), ""
        if question.scale.kind == "choice":
            known = truth.decisions.get(slot.part)
            return _choice(known, question.scale.values, character, rng), None, ""
        if question.scale.kind == "spans":
            return None, [], ""
        if question.scale.kind == "text":
            return None, None, "Said by a script." if question.required else ""
        levels = truth.by_turn.get(slot.part, {}) if question.about == "turn" else truth.levels
        score = _score(levels.get(question.key), question.key, character, rng)
        return 1 + round((score - 1) / 4 * (question.scale.most - 1)), None, ""

    return say


def _truth_about(item: Assignment) -> GroundTruth:
    questionnaire = load_questionnaire(item.study.questionnaire)
    if item.trajectory is None:
        task = item.item.task_id
        return GroundTruth(decisions=true_decisions(task) if task is not None else {})
    kinds = {q.scale.kind for q in questionnaire.questions}
    whole = any(q.about != "turn" for q in questionnaire.questions)
    return GroundTruth(
        levels={**feedback_levels(item.trajectory), **true_levels(item.trajectory)}
        if whole
        else {},
        by_turn={} if whole or "points" not in kinds else turn_levels(item.trajectory),
        violated=true_violations(item.trajectory) if "marks" in kinds else {},
    )


def _background_answer(item: Assignment, character: SimulatedCharacter, rng: random.Random) -> Say:
    """Answer background questions with any answer, as there is nobody to describe."""

    def say(slot: Slot) -> tuple[int | None, list[str] | None, str]:
        values = slot.question.scale.values
        return (rng.choice(values), None, "") if values else (None, None, "simulated")

    return say


def _as_expected(item: Assignment, character: SimulatedCharacter, rng: random.Random) -> Say:
    """Answer training items as expected, so that everybody passes; else like any other item."""
    otherwise = _judgement(item, character, rng)

    def say(slot: Slot) -> tuple[int | None, list[str] | None, str]:
        right = item.item.expected.get(slot.name)
        if right is None:
            return otherwise(slot)
        if "chosen" in right:
            scale = slot.question.scale
            allowed = markable(item.item.subjects, scale.of)
            return None, answer_marks(scale, allowed, right["chosen"]), ""
        return right["values"][0], None, ""

    return say


def _score(level: float | None, key: str, character: SimulatedCharacter, rng: random.Random) -> int:
    """Return a score near the true level; where nobody knows that, a guess around the middle."""
    if level is None:
        return min(5, max(1, round(rng.gauss(3.2, 1.0))))
    level += character.bias + (0.4 if key == character.soft_on else 0.0)
    return min(5, max(1, round(level + rng.gauss(0, character.spread))))


def _marks(
    violated: Mapping[str, object],
    allowed: list[str],
    character: SimulatedCharacter,
    rng: random.Random,
) -> list[str]:
    """Return the violated conditions, some overlooked, and now and then one that is not
    violated.
    """
    haste = 1 / character.hurry
    return [
        key
        for key in allowed
        if rng.random() < (1 - MISSES * haste if key in violated else INVENTS * haste)
    ]


def _choice(
    known: int | None, values: tuple[int, ...], character: SimulatedCharacter, rng: random.Random
) -> int:
    """Return the right choice, now and then another one; any choice if the right one is unknown."""
    if known not in values or rng.random() < DIFFERS / character.hurry:
        return rng.choice([value for value in values if value != known])
    assert known is not None  # it is among the values
    return known
