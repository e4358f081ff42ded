"""Rows of training data from built trajectories, in the formats of TRL.

Preference rows are conversational: ``prompt``, ``chosen`` and ``rejected`` are lists of messages;
rows for supervised fine-tuning have ``prompt`` and ``completion``. A prompt is what the student saw
before its step, word for word. The numbers behind a row go to a side file, line by line.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.core.ports.training_rows import Reviews, RowReview
from benchmarks.core.types import Json, Turn
from benchmarks.systems.adapt_reflection.decisions import (
    AGREE,
    CHOOSING,
    TEACHER,
    UNUSABLE,
    Decision,
    Thresholds,
    choice_of,
    chosen_text,
    decide,
)

Row = dict[str, Any]
# A row of training data, and the line of the side file that belongs to it.
Pair = tuple[Row, Row]

VETOED, NOT_REVIEWED = "vetoed", "not_reviewed"
PREFERENCE, SFT, TEACHER_ONLY, STAR_GATE = "preference", "sft", "teacher_only", "star_gate"


@dataclass(frozen=True)
class BuiltTrajectory:
    """A trajectory that the builder has finished.

    ``opening`` are the messages before the first step as (role, content); ``satisfaction`` is the
    student's preference satisfaction rate in percent, None where it is undefined.
    """

    id: str
    persona: str
    task: str
    fold: int
    opening: Sequence[Json]
    turns: Sequence[Turn]
    satisfaction: float | None

    def prompts(self) -> Iterator[tuple[Turn, list[Row]]]:
        """Yield each turn with the messages that the student saw before it."""
        messages = [dict(message) for message in self.opening]
        for turn in self.turns:
            yield turn, list(messages)
            messages.append({"role": "assistant", "content": turn.text})
            messages.append({"role": "user", "content": turn.feedback})


@dataclass(frozen=True)
class Policy:
    """The policy by which proposed rows become exported ones: vetoed ones are left out, edited
    ones replaced.

    ``reviews`` are empty where they are ignored; ``only_reviewed`` leaves out all that nobody
    accepted or edited.
    """

    thresholds: Thresholds
    reviews: Reviews = field(default_factory=dict)
    only_reviewed: bool = False

    def review_of(self, one: BuiltTrajectory, turn: Turn, choice: str) -> RowReview | None:
        """Return what a person decided about a row; None if nobody did."""
        return self.reviews.get((one.id, turn.index, choice))

    def keeps(self, review: RowReview | None) -> bool:
        """Return whether a row is exported."""
        return not self.only_reviewed if review is None else review.verdict != VETOED

    def count(self, built: Sequence[BuiltTrajectory]) -> dict[str, int]:
        """Return how many rows that the thresholds propose have which review."""
        counts: Counter[str] = Counter()
        for one in built:
            for turn in one.turns:
                if choice := choice_of(decide(turn.payload["builder"], self.thresholds).kind):
                    review = self.review_of(one, turn, choice)
                    counts[review.verdict if review else NOT_REVIEWED] += 1
        return {name: counts[name] for name in ("accepted", "edited", VETOED, NOT_REVIEWED)}


def preference_rows(built: Sequence[BuiltTrajectory], policy: Policy) -> Iterator[Pair]:
    """Yield the rows of Reflection-DPO: a question or the teacher's action over the student's."""
    for one, turn, prompt, decision in _decided(built, policy.thresholds):
        if decision.kind in CHOOSING:
            yield from _reviewed(one, turn, prompt, decision, choice_of(decision.kind), policy)


def _reviewed(
    one: BuiltTrajectory,
    turn: Turn,
    prompt: list[Row],
    decision: Decision,
    choice: str,
    policy: Policy,
) -> Iterator[Pair]:
    """Yield the row that prefers a choice to the student's action, as its review leaves it."""
    step = turn.payload["builder"]
    review = policy.review_of(one, turn, choice)
    if not policy.keeps(review):
        return
    chosen = review.text if review and review.text else chosen_text(step, choice)
    meta = _meta(one, turn, decision, policy.thresholds)
    yield (
        _preference(prompt, chosen, step["student"]),
        {**meta, "review": asdict(review) if review else None},
    )


def sft_rows(built: Sequence[BuiltTrajectory], policy: Policy) -> Iterator[Pair]:
    """Yield the rows of the ablation without DPO: what was chosen, without what was rejected."""
    for row, meta in preference_rows(built, policy):
        yield {"prompt": row["prompt"], "completion": row["chosen"]}, meta


def teacher_rows(built: Sequence[BuiltTrajectory], policy: Policy) -> Iterator[Pair]:
    """Yield the rows of the ablation without reflection: every differing action of the teacher."""
    for one, turn, prompt, decision in _decided(built, policy.thresholds):
        if decision.kind not in (AGREE, UNUSABLE):
            yield from _reviewed(one, turn, prompt, decision, TEACHER, policy)


def star_gate_rows(built: Sequence[BuiltTrajectory]) -> Iterator[Pair]:
    """Yield the rows of STaR-GATE: all steps of the third of trajectories that satisfied most.

    The third is rounded down, but is one trajectory at least; of equal ones the first by id are
    taken. Trajectories without a satisfaction rate are left out. Reviews change nothing here: these
    are the student's own steps.
    """
    scored = [(one.satisfaction, one) for one in built if one.satisfaction is not None]
    scored.sort(key=lambda pair: (-pair[0], pair[1].id))
    best = scored[: max(1, len(scored) // 3)]
    for satisfaction, one in best:
        for turn, prompt in one.prompts():
            row = {"prompt": prompt, "completion": [_assistant(turn.payload["builder"]["student"])]}
            yield row, {**_whose(one, turn), "satisfaction": satisfaction}


def _decided(
    built: Sequence[BuiltTrajectory], thresholds: Thresholds
) -> Iterator[tuple[BuiltTrajectory, Turn, list[Row], Decision]]:
    for one in built:
        for turn, prompt in one.prompts():
            yield one, turn, prompt, decide(turn.payload["builder"], thresholds)


def _preference(prompt: list[Row], chosen: str, rejected: str) -> Row:
    return {"prompt": prompt, "chosen": [_assistant(chosen)], "rejected": [_assistant(rejected)]}


def _assistant(text: str) -> Row:
    return {"role": "assistant", "content": text}


def _whose(one: BuiltTrajectory, turn: Turn) -> Row:
    return {"trajectory": one.id, "persona": one.persona, "task": one.task, "fold": one.fold,
            "t": turn.index}  # fmt: skip


def _meta(one: BuiltTrajectory, turn: Turn, decision: Decision, thresholds: Thresholds) -> Row:
    step = turn.payload["builder"]
    return {
        "kind": decision.kind,
        **_whose(one, turn),
        "p_teacher": decision.p_teacher,
        "p_student": decision.p_student,
        "p_teacher_given_q": decision.p_given_question,
        "utility": decision.utility,
        "question": step["question"],
        "answer": step["answer"],
        "tau_u": thresholds.tau_u,
        "tau_d": thresholds.tau_d,
        "mean": thresholds.mean,
    }


def all_files(built: Sequence[BuiltTrajectory], policy: Policy) -> Mapping[str, Iterator[Pair]]:
    """Return the rows of each exported file by its name."""
    return {
        PREFERENCE: preference_rows(built, policy),
        SFT: sft_rows(built, policy),
        TEACHER_ONLY: teacher_rows(built, policy),
        STAR_GATE: star_gate_rows(built),
    }
