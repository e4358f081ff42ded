"""What judges and checkers decided about a question, for people who may see it."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.models import Item
from annotation.questionnaires import Slot
from annotation.ratings.checks import markable
from benchmarks.models import Candidate, JudgeScore, Turn, Violation

DECISIONS: Mapping[str, str] = {
    Candidate.Decision.KEPT: "keep",
    Candidate.Decision.REMOVED: "remove",
}


@dataclass(frozen=True)
class JudgeVerdict:
    """What one judge said: ``words`` to show, and why where it is known."""

    judge: str
    words: str
    reason: str = ""


def judge_verdicts(item: Item, slot: Slot) -> list[JudgeVerdict]:
    """Scores of the run's own judging, violations found, or the checker's decision.

    Empty where no judge was asked what the annotators were asked.
    """
    if slot.question.about == "candidate":
        return _checked(item, slot.part)
    if slot.question.scale.kind == "marks":
        return _found_violated(item, slot)
    if slot.question.dimension:
        return _scored(item, slot)
    return []


def _scored(item: Item, slot: Slot) -> list[JudgeVerdict]:
    trajectory = item.trajectory
    if trajectory is None or trajectory.run.primary_judging_id is None:
        return []
    rows = JudgeScore.objects.filter(
        judging=trajectory.run.primary_judging_id,
        trajectory=trajectory,
        dimension=slot.question.dimension,
    )
    if slot.question.about == "turn":
        rows = rows.filter(turn_index=int(slot.part))
    else:
        rows = rows.filter(is_final=True)
    found = rows.order_by("seat", "replicate", "pk").values_list("judge__name", "value", "reason")
    return [
        JudgeVerdict(name, "no score" if value is None else f"{value:g}", reason)
        for name, value, reason in found
    ]


def _found_violated(item: Item, slot: Slot) -> list[JudgeVerdict]:
    """The judges' findings in a turn; a turn that they could not decide is said to be so."""
    turns = Turn.objects.filter(trajectory=item.trajectory_id)
    turn = turns.filter(index=int(slot.part)).first() if slot.part.isdecimal() else None
    if turn is None:
        return []
    judge = "The judges of the run"
    if turn.payload.get("valid", True) is None:
        return [JudgeVerdict(judge, "no decision")]
    keys = markable(item.subjects, slot.question.scale.of)
    rows = Violation.objects.filter(turn=turn, key__in=keys).order_by("pk")
    texts = list(dict.fromkeys(rows.values_list("text", flat=True)))
    return [JudgeVerdict(judge, "; ".join(texts) or "nothing violated")]


def _checked(item: Item, key: str) -> list[JudgeVerdict]:
    row = Candidate.objects.filter(task=item.task_id, key=key).first()
    if row is None or not row.decision:
        return []
    return [JudgeVerdict(row.decided_by or "The checker", DECISIONS[row.decision], row.reason)]
