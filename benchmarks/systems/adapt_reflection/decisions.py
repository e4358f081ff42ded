"""The decisions of Reflection-DPO about each step, from stored probabilities (paper, Algorithm 1).

A decision is a function of what a step stored and of the thresholds, so other thresholds decide
again without a call.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.core.types import Json

AGREE, LIKELY_TEACHER, QUESTION = "agree", "likely_teacher", "question"
TEACHER, UNEXPLAINED = "teacher", "unexplained"
# The teacher gave no action that could be compared; or the numbers that a decision needs are not
# stored, because the thresholds of the run did not need them.
UNUSABLE, UNDECIDED = "unusable", "undecided"
KINDS = (AGREE, LIKELY_TEACHER, QUESTION, TEACHER, UNEXPLAINED, UNUSABLE, UNDECIDED)
# The decisions that make a row of the dataset.
CHOOSING = (QUESTION, TEACHER, LIKELY_TEACHER)

ARITHMETIC, GEOMETRIC = "arithmetic", "geometric"
TAU_U, TAU_D = 0.05, 0.30
GRID_U = (0.0, 0.02, 0.05, 0.1, 0.2)
GRID_D = (0.1, 0.2, 0.3, 0.5, 1.0)


@dataclass(frozen=True)
class Thresholds:
    """The thresholds that decisions depend on; the paper publishes neither.

    Parameters
    ----------
    tau_u
        A question is chosen if its utility is above this.
    tau_d
        The teacher's action is chosen if it is less probable than the student's by less than this.
    mean
        How the probabilities of tokens become that of an action; the paper's is arithmetic.
    """

    tau_u: float = TAU_U
    tau_d: float = TAU_D
    mean: str = ARITHMETIC


@dataclass(frozen=True)
class Decision:
    """The decision about a step, and the probabilities behind it; None where there is none."""

    kind: str
    p_student: float | None = None
    p_teacher: float | None = None
    p_given_question: float | None = None

    @property
    def utility(self) -> float | None:
        """The increase by the question and its answer of the probability of the teacher's
        action.
        """
        if self.p_given_question is None or self.p_teacher is None:
            return None
        return self.p_given_question - self.p_teacher


def mean_probability(probabilities: Sequence[float], mean: str = ARITHMETIC) -> float:
    """Return the probability of an action: the mean over its tokens, in 0 to 1.

    Raises ``ValueError`` for an action without tokens, which has no probability.
    """
    if not probabilities:
        raise ValueError("an action without tokens has no probability")
    if mean == ARITHMETIC:
        return fmean(probabilities)
    if min(probabilities) == 0:
        return 0.0
    return math.exp(fmean(math.log(p) for p in probabilities))


def decide(step: Json, thresholds: Thresholds) -> Decision:
    """Return the decision about a stored step.

    ``step`` has ``same`` (whether both actions are the same), ``unusable`` (why the teacher's
    action cannot be used, or ''), ``probabilities`` of the tokens by what they belong to, and
    ``no_question`` (why there is no question with an answer, or '').
    """
    if step["unusable"]:
        return Decision(UNUSABLE)
    if step["same"]:
        return Decision(AGREE)
    probabilities: Mapping[str, Sequence[float]] = step["probabilities"]
    student = mean_probability(probabilities["student"], thresholds.mean)
    teacher = mean_probability(probabilities["teacher"], thresholds.mean)
    if teacher > student:
        return Decision(LIKELY_TEACHER, student, teacher)
    given = None
    if "given_question" in probabilities:
        given = mean_probability(probabilities["given_question"], thresholds.mean)
        if given - teacher > thresholds.tau_u:
            return Decision(QUESTION, student, teacher, given)
    elif not step["no_question"]:
        return Decision(UNDECIDED, student, teacher)
    kind = TEACHER if student - teacher < thresholds.tau_d else UNEXPLAINED
    return Decision(kind, student, teacher, given)


def choice_of(kind: str) -> str:
    """Return which text of a step a decision chooses: the question, the teacher's action, or ''."""
    if kind not in CHOOSING:
        return ""
    return QUESTION if kind == QUESTION else TEACHER


def chosen_text(step: Json, choice: str) -> str:
    """Return the text that a row of this choice prefers to the student's action."""
    return f"Ask {step['question']}" if choice == QUESTION else str(step["teacher"])


def count_kinds(steps: Iterable[Json], thresholds: Thresholds) -> dict[str, int]:
    """Return how many steps there are of each kind under the thresholds."""
    counts = Counter(decide(step, thresholds).kind for step in steps)
    return {kind: counts[kind] for kind in KINDS}


class QuestionCounts(NamedTuple):
    """Questions among the chosen and among the rejected actions of ``rows`` rows.

    ``rejected`` is None where the steps do not say whether the student asked.
    """

    rows: int
    chosen: int
    rejected: int | None

    @property
    def teaches_silence(self) -> bool:
        """Return whether more questions are rejected than chosen: training would unlearn them."""
        return self.rejected is not None and self.rejected > self.chosen

    @property
    def warning(self) -> str:
        """What follows of the counts for training; '' where nothing does."""
        if not self.teaches_silence:
            return ""
        return (
            f"Training on these rows would teach silence: of {self.rows:,} rejected actions "
            f"{self.rejected:,} are questions, of the chosen ones {self.chosen:,}. Lower the "
            "utility that a question needs, or review the rows."
        )

    @property
    def record(self) -> dict[str, Any]:
        return {"rows": self.rows, "chosen": self.chosen, "rejected": self.rejected,
                "teaches_silence": self.teaches_silence}  # fmt: skip


def count_questions(steps: Iterable[Json], thresholds: Thresholds) -> QuestionCounts:
    """Return how many of the chosen and of the rejected actions are questions."""
    choosing = [
        (kind, step.get("student_asks"))
        for step in steps
        if (kind := decide(step, thresholds).kind) in CHOOSING
    ]
    asked = [asks for _, asks in choosing]
    return QuestionCounts(
        len(choosing),
        sum(kind == QUESTION for kind, _ in choosing),
        None if None in asked else sum(map(bool, asked)),
    )


def threshold_grid(steps: Sequence[Json], mean: str = ARITHMETIC) -> list[dict[str, Any]]:
    """Return the numbers of each kind for every pair of thresholds of the grid."""
    return [
        {
            "tau_u": u,
            "tau_d": d,
            **count_kinds(steps, Thresholds(u, d, mean)),
            "questions": count_questions(steps, Thresholds(u, d, mean)).record,
        }
        for u in GRID_U
        for d in GRID_D
    ]
