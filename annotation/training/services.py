"""The results of a training, its repetition, and skipping it."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from annotation.assignments.dealing import assign_items
from annotation.assignments.services import lock_participant, lock_study, refuse_unless_working
from annotation.audit_log.events import record_event
from annotation.errors import Refused
from annotation.models import Aspect, Assignment, Item, Participant, Rating, Study, StudyEvent
from annotation.questionnaires import Slot, load_questionnaire
from annotation.questionnaires.decisions import (
    RESPECTED,
    VIOLATED,
    decision_mark,
    mark_text,
    read_mark,
)
from benchmarks.models import Candidate, Constraint

Training = Participant.Training
Kind = StudyEvent.Kind


def judge_training(*, study: Study, participant: Participant) -> None:
    """Decide, once the last item of a round is submitted, whether the training was passed.

    Within the transaction of that submission, with the participant locked. Where nothing was
    expected nothing can be passed; a manager decides then.
    """
    done = latest_round(study, participant.user)
    if done.open or participant.training != Training.NONE:
        return
    share = done.share
    if share is not None and share >= study.pass_mark:
        participant.training = Training.PASSED
    elif share is None or not done.more:
        participant.training = Training.FAILED
    participant.save(update_fields=["training"])
    record_event(
        study=study, kind=Kind.TRAINING, by=participant.user, about=participant.user,
        detail={
            "round": done.taken, "matched": done.matched, "expected": done.expected,
            "pass_mark": study.pass_mark, "training": participant.training,
        },
    )  # fmt: skip


def begin_training_round(*, study: Study, user: User) -> None:
    """Go through the training items once more, where a round is left."""
    with transaction.atomic():
        lock_study(study)  # deals lock the study before its people
        participant = lock_participant(study=study, user=user)
        refuse_unless_working(study, participant, Item.Use.TRAINING)
        done = latest_round(study, user)
        if participant.training != Training.NONE:
            word = participant.get_training_display().lower()
            raise Refused("not_open", f"the training has ended: {word}")
        if done.open:
            return  # it has begun; pressing twice is harmless
        if not done.more:
            raise Refused("not_open", "no round of the training is left")
        items = list(study.items.filter(use=Item.Use.TRAINING).order_by("rank"))
        assign_items(study=study, items=items, dealt={user.pk: range(len(items))}, by=user)


def release_training(*, study: Study, user: User, by: User, reason: str) -> None:
    """Let somebody go on who has not passed the training; says why, for the record."""
    reason = reason.strip()
    if not reason:
        raise Refused("invalid", "enter a reason for letting this person continue")
    with transaction.atomic():
        participant = lock_participant(study=study, user=user)
        if participant.training == Training.PASSED:
            return
        before = participant.training
        participant.training = Training.PASSED
        participant.save(update_fields=["training"])
        record_event(
            study=study, kind=Kind.TRAINING, by=by, about=user, reason=reason[:1000],
            detail={"before": before, "training": Training.PASSED, "released": True},
        )  # fmt: skip


ROUNDS = 2
NONE_MARKED = "None of these"


class TrainingComparison(NamedTuple):
    """One place of a training item at which something was expected.

    ``answer`` and ``expected`` hold one text for each mark, or one for all. ``missed`` and
    ``extra`` are marks that were expected and not made, or made and not expected. Where each
    condition is decided, the texts are of those that should be violated or were decided otherwise.
    """

    title: str
    part: str
    answer: tuple[str, ...]
    expected: tuple[str, ...]
    why: str
    right: bool
    missed: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


class TrainingRound(NamedTuple):
    """The latest round of training: how it ended, or how far it is.

    ``taken`` of ``allowed`` rounds were begun. ``share`` is the share of expected answers that were
    given, None where nothing was expected.
    """

    matched: int
    expected: int
    taken: int
    allowed: int
    open: int

    @property
    def share(self) -> float | None:
        return self.matched / self.expected if self.expected else None

    @property
    def more(self) -> bool:
        return self.taken < self.allowed


def rounds_allowed(study: Study) -> int:
    """Return how often an annotator may go through the training."""
    return int(study.settings.get("training_rounds", ROUNDS))


def latest_round(study: Study, user: User) -> TrainingRound:
    """Return the latest time that this person went through the training items, or goes through
    them.
    """
    latest: dict[int, Assignment] = {}
    taken: dict[int, int] = {}
    rows = Assignment.objects.filter(
        study=study, annotator=user, part=Assignment.Part.TRAINING
    ).select_related("item")
    for row in rows.order_by("position"):
        latest[row.item_id] = row
        taken[row.item_id] = taken.get(row.item_id, 0) + 1
    matched, expected = count_right(study, latest.values())
    sent_back = Participant.objects.filter(study=study, user=user).values_list("sent_back")
    return TrainingRound(
        matched=matched,
        expected=expected,
        taken=max(taken.values(), default=0),
        # Whoever is sent back may go through it once more, however often they did before.
        allowed=rounds_allowed(study) + sum(sent_back.first() or ()),
        open=sum(row.state == Assignment.State.OPEN for row in latest.values()),
    )


def count_right(study: Study, assignments: Iterable[Assignment]) -> tuple[int, int]:
    """Return how many expected answers to these items were given, and how many there are."""
    rows = list(assignments)
    answers = _answers(rows)
    rights = [
        right for row in rows for _, right in _matches(study, row.item, answers.get(row.pk, {}))
    ]
    return sum(rights), len(rights)


def tells_expected(assignment: Assignment) -> bool:
    """Return whether its annotator sees what was expected: of training, and of gold where that is
    wished.

    Only once it is submitted; from then on the answers stay as they are.
    """
    if assignment.state != Assignment.State.SUBMITTED:
        return False
    if assignment.part == Assignment.Part.TRAINING:
        return True
    return assignment.study.gold_feedback and assignment.item.use == Item.Use.GOLD


def compare_item(assignment: Assignment) -> list[TrainingComparison]:
    """Return what was answered to an item beside what was expected, place by place."""
    item, study = assignment.item, assignment.study
    answers = _answers([assignment]).get(assignment.pk, {})
    names = condition_texts(item)
    # The sides of a pair are named as its annotator saw them.
    return [
        _compared(
            slot.as_shown(assignment.swapped), item.expected[slot.name], answers.get(slot.name),
            right, names,
        )
        for slot, right in _matches(study, item, answers)
    ]  # fmt: skip


Answers = Mapping[str, Rating]


def _answers(assignments: Iterable[Assignment]) -> dict[int, dict[str, Rating]]:
    answers: dict[int, dict[str, Rating]] = {}
    rows = Rating.objects.filter(assignment__in=list(assignments), aspect=Aspect.ANSWER)
    for row in rows:
        name = f"{row.question}.{row.subject}" if row.subject else row.question
        answers.setdefault(row.assignment_id, {})[name] = row
    return answers


def _matches(study: Study, item: Item, answers: Answers) -> list[tuple[Slot, bool]]:
    """Return the places at which something was expected, and whether it was answered."""
    questionnaire = load_questionnaire(study.questionnaire)
    matches = []
    for slot in questionnaire.slots(item.asked, item.subjects):
        expected = item.expected.get(slot.name, {})
        if "values" in expected or "chosen" in expected:
            matches.append((slot, _is_right(expected, answers.get(slot.name))))
    return matches


def is_expected(
    expected: Mapping[str, Any], *, value: int | None, chosen: Collection[str] | None
) -> bool:
    """Return whether an answer is one of the values, or exactly the marks, that were expected."""
    if "chosen" in expected:
        if chosen is None:
            return False
        said = {mark for mark in map(read_mark, chosen) if mark[1] != RESPECTED}
        return said == {(key, VIOLATED) for key in expected["chosen"]}
    return value is not None and value in expected["values"]


def _is_right(expected: Mapping[str, Any], answer: Rating | None) -> bool:
    """Return whether an answer is the expected one; an open place is not right."""
    return answer is not None and is_expected(expected, value=answer.value, chosen=answer.chosen)


def _compared(
    slot: Slot,
    expected: Mapping[str, Any],
    answer: Rating | None,
    right: bool,
    names: Mapping[str, str],
) -> TrainingComparison:
    question = slot.question
    title = f"{question.number} {question.title}"
    kind, _, part = slot.subject.partition("-")
    of = names.get(part, part) if kind == "candidate" else slot.subject.replace("-", " ")
    why = str(expected.get("why", ""))
    if "chosen" in expected:
        wanted, scale = list(expected["chosen"]), question.scale
        given = answer.chosen if answer is not None else None
        missed: tuple[str, ...] = ()
        extra: tuple[str, ...] = ()
        if scale.each:
            decided = dict(map(read_mark, given or ()))
            due = dict.fromkeys(decided, RESPECTED) | dict.fromkeys(wanted, VIOLATED)
            # What is rightly not violated goes without saying.
            shown = [key for key in due if due[key] == VIOLATED or decided.get(key) != due[key]]
            answers = (decision_mark(key, decided[key]) for key in shown if key in decided)
            said = tuple(mark_text(scale, mark, names) for mark in answers)
            asked = tuple(mark_text(scale, decision_mark(key, due[key]), names) for key in shown)
        else:
            said = tuple(names.get(key, key) for key in given or ())
            asked = tuple(names.get(key, key) for key in wanted)
            missed = tuple(names.get(key, key) for key in wanted if key not in (given or ()))
            extra = tuple(names.get(key, key) for key in given or () if key not in wanted)
        return TrainingComparison(
            title, of,
            answer=("not answered",) if given is None else said or (NONE_MARKED,),
            expected=asked or (NONE_MARKED,),
            why=why, right=right, missed=missed, extra=extra,
        )  # fmt: skip
    value = answer.value if answer is not None else None
    return TrainingComparison(
        title, of,
        answer=("not answered" if value is None else question.scale.label(value),),
        expected=(" or ".join(question.scale.label(v) for v in expected["values"]),),
        why=why, right=right,
    )  # fmt: skip


def condition_texts(item: Item) -> dict[str, str]:
    """Return the wording of conditions and candidates by their keys."""
    if item.trajectory_id is not None:
        rows = Constraint.objects.filter(profile__trajectory=item.trajectory_id)
        return dict(rows.values_list("key", "text"))
    candidates = Candidate.objects.filter(task=item.task_id)
    return dict(candidates.values_list("key", "text"))
