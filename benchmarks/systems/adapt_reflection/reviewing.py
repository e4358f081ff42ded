"""Proposed rows as reviewers see them, and the texts that they may choose instead."""

from collections.abc import Mapping, Sequence

from benchmarks.core.errors import CoreError
from benchmarks.core.ports.training_rows import ProposedRow, RowKind, ScoredText, StepDecision
from benchmarks.core.types import Json
from benchmarks.systems.adapt.household.actions import LONGEST, UNREAD, parse_action
from benchmarks.systems.adapt_reflection.decisions import (
    CHOOSING,
    KINDS,
    QUESTION,
    TEACHER,
    choice_of,
    chosen_text,
    decide,
)
from benchmarks.systems.adapt_reflection.displays import TONES
from benchmarks.systems.adapt_reflection.labels import KIND_HELP, KIND_TITLES
from benchmarks.systems.adapt_reflection.settings import thresholds_of


class TextRefused(CoreError):
    """Raised for an edited text that cannot be chosen over the student's action."""


class ReflectionRows:
    """The rows of Reflection-DPO for people who review them."""

    kinds: Mapping[str, RowKind] = {
        kind: RowKind(KIND_TITLES[kind], KIND_HELP[kind], TONES.get(kind, "warn"), kind in CHOOSING)
        for kind in KINDS
    }
    settings: tuple[str, ...] = ("tau_u", "tau_d", "mean")
    command = "export_reflection"

    def decide(self, outcome: Json, settings: Json) -> Sequence[StepDecision]:
        """Return the decision about each step; turns are numbered from 1."""
        thresholds = thresholds_of(settings)
        kinds = [decide(step, thresholds).kind for step in outcome.get("found", ())]
        return [StepDecision(index, kind, choice_of(kind)) for index, kind in enumerate(kinds, 1)]

    def propose(self, turn: Json, settings: Json) -> ProposedRow:
        """Return the texts in question with their probabilities."""
        step = turn["builder"]
        decision = decide(step, thresholds_of(settings))
        choice = choice_of(decision.kind)
        given, utility = decision.p_given_question, decision.utility
        after = "" if given is None else f"{given:.3f} after the person’s answer"
        texts = {
            TEACHER: ScoredText("Teacher’s action", step["teacher"], decision.p_teacher, after)
        }
        comment = ""
        if step["question"]:
            note = "" if utility is None else f"utility {utility:.3f}"
            texts[QUESTION] = ScoredText("Question", chosen_text(step, QUESTION), None, note)
            comment = step["answer"] or step["no_question"]
        return ProposedRow(
            decision.kind,
            texts.get(choice),
            ScoredText("Student’s action", step["student"], decision.p_student),
            tuple(one for name, one in texts.items() if name != choice and one.text),
            comment,
        )

    def check(self, turn: Json, text: str) -> str:
        """Return the edited text as an action in one line."""
        action = parse_action(text)
        if action.kind == UNREAD:
            raise TextRefused(
                f"the text is no action of the household in at most {LONGEST} characters, such as "
                "“Move bowl_0 to table_0”, and no question that begins with “Ask ”"
            )
        if action.key == parse_action(turn["builder"]["student"]).key:
            raise TextRefused("the text is the student's own action, which is the rejected one")
        return " ".join(text.split())


ROWS = ReflectionRows()
