"""Tasks whose answers are stored in full: applicability, progression, validation."""

from benchmarks.systems.acpbench_hard import corrected_reading
from benchmarks.systems.acpbench_hard.grammar import ReferenceReading, same_names
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.instance import Instance, parse_atom, show_atom
from benchmarks.systems.acpbench_hard.scoring.answer_check import AnswerCheck
from benchmarks.systems.acpbench_hard.scoring.verdict import (
    CheckedElement,
    CorrectedScore,
    Failure,
    ReferenceScore,
)

UNPARSED = ReferenceScore(0, "The reference's parser cannot read the response.")


def applicability_reference(work: AnswerCheck, reading: ReferenceReading) -> ReferenceScore:
    if not reading.parsed:
        return UNPARSED
    if same_names(reading.names, work.question.answer):
        return ReferenceScore(1, "The actions read are exactly the stored ones.")
    return ReferenceScore(0, "The actions read are not exactly the stored ones.")


def applicability(work: AnswerCheck, response: str) -> CorrectedScore:
    given = list(dict.fromkeys(corrected_reading.read_atoms(response, work.actions)))
    right = {parse_atom(text) for text in work.question.answer}
    marks = []
    for action in given:
        if action in right:
            marks.append(CheckedElement(show_atom(action), True, "applicable"))
        else:
            why = _why_not_applicable(work, action)
            marks.append(CheckedElement(show_atom(action), False, why))
    missing = sorted(right.difference(given))
    marks += [
        CheckedElement(show_atom(one), False, "applicable, but not named", "missing")
        for one in missing
    ]
    wrong = [action for action in given if action not in right]
    union = len(right.union(given))
    jaccard = len(right.intersection(given)) / union if union else 1.0
    failure: Failure | None = None
    if not given and right:
        failure, why = "unparsed", "The response names no action."
    elif wrong or missing:
        instance = work.instance
        made_up = instance is not None and any(map(instance.fault_of_action, wrong))
        failure = "wrong_form" if made_up else "wrong_value"
        why = f"{len(wrong)} of {len(given)} named actions wrong, {len(missing)} missing."
    else:
        why = "The only applicable action is named, and no others."
        if len(right) > 1:
            why = f"All {len(right)} applicable actions are named, and no others."
    return CorrectedScore(
        0 if failure else 1,
        why,
        tuple(marks),
        failure,
        corrected_reading.show(given),
        jaccard=jaccard,
    )


def _why_not_applicable(work: AnswerCheck, action: Atom) -> str:
    instance = work.instance
    if instance is None:
        return "not among the stored actions"
    fault = instance.fault_of_action(action) or instance.unmet(action, instance.init)
    return fault or "not among the stored actions"


def progression_reference(work: AnswerCheck, reading: ReferenceReading) -> ReferenceScore:
    if not reading.parsed:
        return UNPARSED
    pos = reading.lists[0]
    neg = reading.lists[1] if len(reading.lists) > 1 else ()
    answer = work.question.answer
    if same_names(pos, answer["pos"]) and same_names(neg, answer["neg"]):
        return ReferenceScore(1, "Both lists are the stored ones.")
    return ReferenceScore(0, "The lists read are not both the stored ones.")


def progression(work: AnswerCheck, response: str) -> CorrectedScore:
    given = corrected_reading.read_lists(response, work.propositions)
    if given is None:
        return CorrectedScore(
            0, "The response does not say which effects are positive.", failure="unparsed"
        )
    marks: list[CheckedElement] = []
    made_up = False
    instance = work.instance
    for part, atoms in (("pos", given.pos), ("neg", given.neg)):
        right = {parse_atom(text) for text in work.question.answer[part]}
        for atom in dict.fromkeys(atoms):
            if atom in right:
                why = "becomes true" if part == "pos" else "becomes false"
                marks.append(CheckedElement(show_atom(atom), True, why, part))
                continue
            fault = instance.fault_of_atom(atom) if instance else ""
            made_up = made_up or bool(fault)
            marks.append(
                CheckedElement(show_atom(atom), False, fault or _unchanged(instance, atom), part)
            )
        for atom in sorted(right.difference(atoms)):
            marks.append(
                CheckedElement(show_atom(atom), False, f"missing in the list {part}", "missing")
            )
    wrong = [mark for mark in marks if not mark.right]
    read = f"[{corrected_reading.show(given.pos)}] [{corrected_reading.show(given.neg)}]"
    if not wrong:
        return CorrectedScore(1, "Both lists are right.", tuple(marks), read=read)
    missing = sum(mark.part == "missing" for mark in wrong)
    why = f"{len(wrong) - missing} effects are wrong and {missing} are missing."
    return CorrectedScore(0, why, tuple(marks), "wrong_form" if made_up else "wrong_value", read)


def _unchanged(instance: Instance | None, atom: Atom) -> str:
    if instance is None:
        return "not among the stored effects"
    holds = "holds" if atom in instance.init else "does not hold"
    return f"{holds} before, and the action does not change it so"


def validation_reference(work: AnswerCheck, reading: ReferenceReading) -> ReferenceScore:
    if not reading.parsed:
        return UNPARSED
    right = str(work.question.answer)
    if reading.index == right:
        return ReferenceScore(1, _answered(right, right))
    return ReferenceScore(0, _answered(reading.index[:20], right))


def validation(work: AnswerCheck, response: str) -> CorrectedScore:
    given = corrected_reading.read_index(response)
    right: int = work.question.answer
    if given is None:
        return CorrectedScore(0, "The response names no index.", failure="unparsed")
    plan = work.quoted_plan
    named = show_atom(plan[given]) if 0 <= given < len(plan) else str(given)
    if given == right:
        mark = CheckedElement(
            named, True, _why_inapplicable(work, right) or "the first inapplicable action"
        )
        return CorrectedScore(1, _answered(given, right), (mark,), None, str(given), offset=0)
    if not 0 <= given < len(plan):
        why = f"the plan has the indexes 0 to {len(plan) - 1}"
    elif given < right:
        why = "this action can be applied"
    else:
        why = f"action {right} cannot be applied already"
    return CorrectedScore(
        0,
        _answered(given, right),
        (CheckedElement(named, False, why),),
        "wrong_value" if 0 <= given < len(plan) else "wrong_form",
        str(given),
        offset=given - right,
    )


def _answered(given: object, right: object) -> str:
    """Say which index was answered and which is correct."""
    correct = ", which is correct" if str(given) == str(right) else f"; correct is {right}"
    return f"Answered {given}{correct}."


def _why_inapplicable(work: AnswerCheck, index: int) -> str:
    instance = work.instance
    if instance is None:
        return ""
    place, why = instance.first_inapplicable(work.quoted_plan)
    return why if place == index else ""
