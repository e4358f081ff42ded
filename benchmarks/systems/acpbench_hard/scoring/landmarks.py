"""Landmarks: what every plan makes true.

The stored lists are those of an incomplete method: some propositions that are stored as no landmark
are landmarks. The corrected score goes by proof for a proposition, and by the stored list for None.
"""

from benchmarks.systems.acpbench_hard import corrected_reading
from benchmarks.systems.acpbench_hard.grammar import NONE, ReferenceReading, same_name
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.instance import Instance, parse_atom, show_atom
from benchmarks.systems.acpbench_hard.scoring.answer_check import AnswerCheck
from benchmarks.systems.acpbench_hard.scoring.listed_answers import UNPARSED
from benchmarks.systems.acpbench_hard.scoring.verdict import (
    CheckedElement,
    CorrectedScore,
    Failure,
    ReferenceScore,
)
from benchmarks.systems.acpbench_hard.search.facts import is_landmark, relaxed_landmarks


def landmark_reference(work: AnswerCheck, reading: ReferenceReading) -> ReferenceScore:
    if not reading.parsed:
        return UNPARSED
    name, stored = reading.names[0], work.question.answer["yes"]
    if name == NONE:
        if stored:
            return ReferenceScore(0, "None is read, but landmarks are stored.")
        return ReferenceScore(1, "None is read, and no landmark is stored.")
    if any(same_name(name, one) for one in stored):
        return ReferenceScore(1, f"{name} is a stored landmark.")
    return ReferenceScore(0, f"{name} is no stored landmark.")


def landmark(work: AnswerCheck, response: str) -> CorrectedScore:
    given = corrected_reading.read_first(response, work.propositions)
    if given is None:
        return CorrectedScore(0, "The response names no proposition.", failure="unparsed")
    if given == "none":
        return _none(work)
    text = show_atom(given)
    score, why, failure = _judge(work, given)
    mark = CheckedElement(text, None if score is None else score == 1, why)
    cause = "stored_incomplete" if score == 1 else ""
    return CorrectedScore(score, f"{text}: {why}.", (mark,), failure, text, cause=cause)


def _none(work: AnswerCheck) -> CorrectedScore:
    """Return the finding on None, which is right where no landmark is stored."""
    stored = next(iter(work.question.answer["yes"]), "")
    if stored:
        why = f"every plan makes {stored} true"
        mark = CheckedElement(NONE, False, why)
        return CorrectedScore(0, f"None is wrong: {why}.", (mark,), "wrong_value", NONE)
    why = "it is the stored answer: no landmark is stored"
    if unstored := _unstored(work):
        why += f", though every plan makes {unstored} true"
    return CorrectedScore(
        1, f"None is right: {why}.", (CheckedElement(NONE, True, why),), read=NONE
    )


def _unstored(work: AnswerCheck) -> str:
    """Return a landmark that is not stored, as text; empty where none is found."""
    grounded = work.ground
    if grounded is None:
        return ""
    goal = _goal_atoms(grounded.instance)
    landmarks = (atom for atom in relaxed_landmarks(grounded) if atom not in goal)
    return next(map(show_atom, landmarks), "")


def _goal_atoms(instance: Instance) -> set[Atom]:
    return {atom for case in instance.goal for atom in case.positive}


def _judge(work: AnswerCheck, given: Atom) -> tuple[int | None, str, Failure | None]:
    """Return the score of a proposition, why it has it, and the failure."""
    instance = work.instance
    if given in {parse_atom(one) for one in work.question.answer["yes"]}:
        return 1, "a landmark, as every plan makes it true", None
    if instance is None:
        return None, "the PDDL cannot be used", "undecided"
    if fault := instance.fault_of_atom(given):
        return 0, fault, "wrong_form"
    if given in instance.init:
        return 0, "holds already", "wrong_value"
    if given in _goal_atoms(instance):
        return 0, "is part of the goal", "wrong_value"
    if given[0] not in instance.domain.fluents:
        return 0, "no action changes it", "wrong_form"
    is_one = None if work.ground is None else is_landmark(work.ground, given, work.limits)
    if is_one is None:
        return None, "the search gave up", "undecided"
    if is_one:
        return 1, "a landmark, as no plan reaches the goal without it", None
    return 0, "not a landmark, as some plan never makes it true", "wrong_value"
