"""Rows of training data from built trajectories, in the formats of TRL.

Preference rows are conversational: ``prompt``, ``chosen`` and ``rejected`` are lists of messages;
rows for supervised fine-tuning have ``prompt`` and ``completion``. A prompt is what the student saw
before its step, word for word. The numbers behind a row go to a side file, line by line.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.core.types import Json, Turn
from benchmarks.systems.adapt_reflection.decisions import (
    AGREE,
    CHOOSING,
    QUESTION,
    UNUSABLE,
    Decision,
    Thresholds,
    decide,
)

Row = dict[str, Any]
# A row of training data, and the line of the side file that belongs to it.
Pair = tuple[Row, Row]

PREFERENCE, SFT, TEACHER_ONLY, STAR_GATE = "preference", "sft", "teacher_only", "star_gate"


@dataclass(frozen=True)
class Built:
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


def preference_rows(built: Sequence[Built], thresholds: Thresholds) -> Iterator[Pair]:
    """Yield the rows of Reflection-DPO: a question or the teacher's action over the student's."""
    for one, turn, prompt, decision in _decided(built, thresholds):
        if decision.kind in CHOOSING:
            step = turn.payload["builder"]
            asks = decision.kind == QUESTION
            chosen = f"Ask {step['question']}" if asks else step["teacher"]
            row = _preference(prompt, chosen, step["student"])
            yield row, _meta(one, turn, decision, thresholds)


def sft_rows(built: Sequence[Built], thresholds: Thresholds) -> Iterator[Pair]:
    """Yield the rows of the ablation without DPO: what was chosen, without what was rejected."""
    for row, meta in preference_rows(built, thresholds):
        yield {"prompt": row["prompt"], "completion": row["chosen"]}, meta


def teacher_rows(built: Sequence[Built], thresholds: Thresholds) -> Iterator[Pair]:
    """Yield the rows of the ablation without reflection: every differing action of the teacher."""
    for one, turn, prompt, decision in _decided(built, thresholds):
        if decision.kind not in (AGREE, UNUSABLE):
            step = turn.payload["builder"]
            row = _preference(prompt, step["teacher"], step["student"])
            yield row, _meta(one, turn, decision, thresholds)


def star_gate_rows(built: Sequence[Built]) -> Iterator[Pair]:
    """Yield the rows of STaR-GATE: all steps of the third of trajectories that satisfied most.

    The third is rounded down, but is one trajectory at least; of equal ones the first by id are
    taken. Trajectories without a satisfaction rate are left out.
    """
    scored = [(one.satisfaction, one) for one in built if one.satisfaction is not None]
    scored.sort(key=lambda pair: (-pair[0], pair[1].id))
    best = scored[: max(1, len(scored) // 3)]
    for satisfaction, one in best:
        for turn, prompt in one.prompts():
            row = {"prompt": prompt, "completion": [_assistant(turn.payload["builder"]["student"])]}
            yield row, {**_whose(one, turn), "satisfaction": satisfaction}


def _decided(
    built: Sequence[Built], thresholds: Thresholds
) -> Iterator[tuple[Built, Turn, list[Row], Decision]]:
    for one in built:
        for turn, prompt in one.prompts():
            yield one, turn, prompt, decide(turn.payload["builder"], thresholds)


def _preference(prompt: list[Row], chosen: str, rejected: str) -> Row:
    return {"prompt": prompt, "chosen": [_assistant(chosen)], "rejected": [_assistant(rejected)]}


def _assistant(text: str) -> Row:
    return {"role": "assistant", "content": text}


def _whose(one: Built, turn: Turn) -> Row:
    return {"trajectory": one.id, "persona": one.persona, "task": one.task, "fold": one.fold,
            "t": turn.index}  # fmt: skip


def _meta(one: Built, turn: Turn, decision: Decision, thresholds: Thresholds) -> Row:
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


def all_files(built: Sequence[Built], thresholds: Thresholds) -> Mapping[str, Iterator[Pair]]:
    """Return the rows of each exported file by its name."""
    return {
        PREFERENCE: preference_rows(built, thresholds),
        SFT: sft_rows(built, thresholds),
        TEACHER_ONLY: teacher_rows(built, thresholds),
        STAR_GATE: star_gate_rows(built),
    }
