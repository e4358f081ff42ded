"""Rows of training data that a system makes of its trajectories, and what people decide about them.

A step of a trajectory may propose a row: a chosen text over the text that was given. Which steps do
follows from stored numbers and from settings (thresholds), so other settings propose other rows
without a call. A person accepts a proposed row, edits its chosen text, or vetoes it. The decision
belongs to the text that was proposed: it counts under all settings that propose this text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from benchmarks.core.types import Json

Verdict = Literal["accepted", "edited", "vetoed"]


@dataclass(frozen=True)
class RowKind:
    """A kind of decision about a step, in words; ``proposes``: such a step makes a row."""

    title: str
    help: str
    tone: str
    proposes: bool


@dataclass(frozen=True)
class StepDecision:
    """A step with what follows from its numbers. ``choice`` names the proposed text, '' for none.

    Together with the trajectory and the index, ``choice`` identifies a row under all settings.
    """

    index: int
    kind: str
    choice: str


@dataclass(frozen=True)
class ScoredText:
    """A text with its label and how probable it is; None where that was not measured.

    ``note`` has further numbers, in words.
    """

    label: str
    text: str
    probability: float | None = None
    note: str = ""


@dataclass(frozen=True)
class ProposedRow:
    """The texts of a step that a page shows: those in question, and what was asked and answered.

    ``chosen`` is the proposed text, None where no row is proposed; ``others`` are texts of the step
    that are neither chosen nor rejected, and ``comment`` is what the person said to the question.
    """

    kind: str
    chosen: ScoredText | None
    rejected: ScoredText
    others: tuple[ScoredText, ...]
    comment: str = ""


@dataclass(frozen=True)
class RowReview:
    """A person's decision about a row. ``text`` replaces ``proposed`` where it was edited."""

    verdict: Verdict
    proposed: str
    text: str
    person: str
    at: str


# Reviews that are in force, by (trajectory, index of the turn, choice).
Reviews = Mapping[tuple[str, int, str], RowReview]


class TrainingRows(Protocol):
    """The port by which trajectories propose rows of training data; ``settings`` names those
    that decide.
    """

    kinds: Mapping[str, RowKind]
    settings: tuple[str, ...]
    # The command that writes the rows of a run.
    command: str

    def decide(self, outcome: Json, settings: Json) -> Sequence[StepDecision]:
        """Return a decision about each step of a trajectory, from the payload of its outcome."""

    def propose(self, turn: Json, settings: Json) -> ProposedRow:
        """Return what a page shows of a step, from the payload of its turn."""

    def check(self, turn: Json, text: str) -> str:
        """Return the text that is to be chosen instead; ``CoreError`` says why it cannot be."""
