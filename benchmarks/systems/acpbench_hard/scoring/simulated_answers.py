"""Tasks whose answers are validated by simulation or search."""

from collections.abc import Callable, Sequence

from benchmarks.systems.acpbench_hard import corrected_reading
from benchmarks.systems.acpbench_hard.grammar import NONE, ReferenceReading, same_name
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom, Case
from benchmarks.systems.acpbench_hard.pddl.grounding import Ground
from benchmarks.systems.acpbench_hard.pddl.instance import Instance, parse_atom, show_atom
from benchmarks.systems.acpbench_hard.scoring.answer_check import AnswerCheck
from benchmarks.systems.acpbench_hard.scoring.listed_answers import UNPARSED
from benchmarks.systems.acpbench_hard.scoring.verdict import (
    CheckedElement,
    CorrectedScore,
    Failure,
    ReferenceScore,
)
from benchmarks.systems.acpbench_hard.search.facts import (
    first_unreached_action,
    first_unreached_atom,
)
from benchmarks.systems.acpbench_hard.search.result import Proof, SearchResult

UNUSABLE = ReferenceScore(None, "undecided: the PDDL cannot be used.")
_PROOFS: dict[Proof, str] = {
    "relaxation": "even if nothing were ever lost, no plan would do it",
    "pairs": "two facts that it needs never hold together",
    "search": "no reachable state allows it",
    "planner": "an external planner found no plan",
}


def is_subsequence(part: Sequence[object], whole: Sequence[object]) -> bool:
    """Tell whether ``part`` is ``whole`` with some elements left out."""
    rest = iter(whole)
    return all(any(one == other for other in rest) for one in part)


def justification_reference(work: AnswerCheck, reading: ReferenceReading) -> ReferenceScore:
    if not reading.parsed:
        return UNPARSED
    plan, given = work.plan, reading.names
    if not given:
        return ReferenceScore(0, "No action is read.")
    if len(given) >= len(plan) or not is_subsequence(given, plan):
        return ReferenceScore(
            0, "The actions read are no proper subsequence of the plan, letter by letter."
        )
    instance = work.instance
    if instance is None:
        return UNUSABLE
    if fault := instance.fault_of_plan([parse_atom(action) for action in given]):
        return ReferenceScore(0, f"The actions read are no plan: {fault}.")
    return ReferenceScore(
        1, "The actions read are a plan and a proper subsequence of the plan given."
    )


def justification(work: AnswerCheck, response: str) -> CorrectedScore:
    given = corrected_reading.read_plan(response, work.actions)
    plan = work.quoted_plan
    read = corrected_reading.show(given)
    if not given:
        return CorrectedScore(0, "The response names no action.", failure="unparsed")
    instance = work.instance
    if instance is None:
        return CorrectedScore(None, "The PDDL cannot be used.", failure="undecided", read=read)
    faults = [instance.fault_of_action(action) for action in given]
    # A response may name actions without end; the plan has fewer.
    failing, why = instance.first_inapplicable(given[: len(plan) + 1])
    marks = tuple(
        CheckedElement(show_atom(action), *_state_of(place, faults[place], failing, why))
        for place, action in enumerate(given[: len(plan) + 1])
    )
    if any(faults):
        return CorrectedScore(0, f"{next(filter(None, faults))}.", marks, "wrong_form", read)
    if not is_subsequence(given, plan):
        why = "The actions are no subsequence of the plan: some are new or in another order."
        return CorrectedScore(0, why, marks, "wrong_value", read)
    if len(given) == len(plan):
        return CorrectedScore(0, "Nothing was removed from the plan.", marks, "wrong_value", read)
    if fault := instance.fault_of_plan(given):
        return CorrectedScore(0, f"What is left is no plan: {fault}.", marks, "wrong_value", read)
    count = len(plan) - len(given)
    what = "one action" if count == 1 else f"{count} actions"
    return CorrectedScore(1, f"Without {what} it is still a plan.", marks, None, read)


def _state_of(place: int, fault: str, failing: int, why: str) -> tuple[bool | None, str]:
    if fault:
        return False, fault
    if place < failing:
        return True, "can be applied"
    return (False, why) if place == failing else (None, "stands after the first that fails")


def _none_or_stored(reading: ReferenceReading, stored: list[str]) -> ReferenceScore | None:
    """Return the ruling where no search is needed: on None, and on what is stored."""
    if not reading.parsed:
        return UNPARSED
    name = reading.names[0]
    if not stored:
        if name == NONE:
            return ReferenceScore(1, "None is read, and the stored list is empty.")
        return ReferenceScore(0, "The stored list is empty, so that only None scores 1.")
    if any(same_name(name, one) for one in stored):
        return ReferenceScore(1, f"{name} is stored as unreachable.")
    if name == NONE:
        return ReferenceScore(0, "None is read, but the stored list is not empty.")
    return None


def _ruling_of(result: SearchResult, what: str) -> ReferenceScore:
    """Return the reference score of a search for a plan that should not exist."""
    if result.solved is None:
        return ReferenceScore(None, f"undecided: {_why_unknown(result)} on {what}.")
    if result.solved:
        return ReferenceScore(0, f"A plan reaches {what}: {_length(result)}.")
    return ReferenceScore(1, f"No plan reaches {what}: {_PROOFS[result.proof]}.")


def _why_unknown(result: SearchResult) -> str:
    if result.outcome == "timed_out":
        return "the external planner reached its time limit"
    return f"the search gave up after {result.nodes:,} states"


def _length(result: SearchResult) -> str:
    if result.plan is None:
        return "of unknown length"
    if not result.plan:
        return "it holds now"
    return corrected_reading.show(result.plan[:20]) + (" …" if len(result.plan) > 20 else "")


def reachability_reference(work: AnswerCheck, reading: ReferenceReading) -> ReferenceScore:
    ruling = _none_or_stored(reading, [f"({atom})" for atom in work.question.answer])
    if ruling is not None:
        return ruling
    instance = work.instance
    if instance is None:
        return UNUSABLE
    name = reading.names[0]
    atom = parse_atom(name)
    wanted = instance.domain.predicates.get(atom[0])
    if wanted is None or len(wanted) != len(atom) - 1:
        return ReferenceScore(0, f"The reference's planner stops with an error on {name}.")
    if not instance.has_objects(atom):
        return ReferenceScore(1, f"No plan reaches {name}, as it has objects that do not exist.")
    result = _reach_atom(work, atom)
    return UNUSABLE if result is None else _ruling_of(result, name)


def _reach_atom(work: AnswerCheck, atom: Atom) -> SearchResult | None:
    grounded = work.ground
    if grounded is None:
        return None
    return work.reach(grounded, grounded.conditions((Case(positive=(atom,)),)))


def reachability(work: AnswerCheck, response: str) -> CorrectedScore:
    given = corrected_reading.read_first(response, work.propositions)
    stored = {parse_atom(text) for text in work.question.answer}
    if given is None or given == "none":
        example = _example(work, given, stored, first_unreached_atom)
        return _none(given, stored, example, "proposition")
    text = show_atom(given)
    instance = work.instance
    if instance is None:
        return _by_storage(given, stored)
    if fault := instance.fault_of_atom(given):
        return _made_up(text, fault)
    if given[0] not in instance.domain.fluents:
        why = "no action changes it, so that it is not among the propositions of the question"
        mark = CheckedElement(text, False, why)
        return CorrectedScore(
            0, f"{text}: {why}.", (mark,), "wrong_form", text, cause="static_fact"
        )
    if given in stored:
        return _right(text, "it is stored as unreachable")
    result = _reach_atom(work, given)
    return _finding_of(result, text, "can become true", "stored_incomplete")


def action_reachability_reference(work: AnswerCheck, reading: ReferenceReading) -> ReferenceScore:
    ruling = _none_or_stored(reading, work.question.answer)
    if ruling is not None:
        return ruling
    grounded = work.ground
    if grounded is None:
        return UNUSABLE
    name = reading.names[0]
    action = parse_atom(name)
    if action not in grounded.names:
        return ReferenceScore(0, f"{name} is not among the actions that delete relaxation reaches.")
    return _ruling_of(_reach_action(work, grounded, action), name)


def _reach_action(work: AnswerCheck, grounded: Ground, action: Atom) -> SearchResult:
    cases = grounded.instance.domain.actions[action[0]].cases
    return work.reach(grounded, grounded.conditions(cases, action[1:]))


def action_reachability(work: AnswerCheck, response: str) -> CorrectedScore:
    given = corrected_reading.read_first(response, work.actions)
    stored = {parse_atom(text) for text in work.question.answer}
    if given is None or given == "none":
        example = _example(work, given, stored, first_unreached_action)
        return _none(given, stored, example, "action")
    text = show_atom(given)
    instance = work.instance
    if instance is None:
        return _by_storage(given, stored)
    if fault := instance.fault_of_action(given):
        return _made_up(text, fault)
    if given in stored:
        return _right(text, "it is stored as unreachable")
    grounded = work.ground
    result = None if grounded is None else _reach_action(work, grounded, given)
    cause = "relaxed_unreachable_action" if stored else "stored_incomplete"
    return _finding_of(result, text, "can become applicable", cause)


def _example(
    work: AnswerCheck, given: str | None, stored: set[Atom], find: Callable[[Ground], Atom | None]
) -> Atom | None:
    """Return something unreachable, where None is answered; if nothing is stored, by relaxation."""
    if given is None or stored:
        return min(stored, default=None)
    return None if work.ground is None else find(work.ground)


def _none(given: str | None, stored: set[Atom], example: Atom | None, what: str) -> CorrectedScore:
    """Return the finding on None, which is right where nothing is stored, whatever can be proven.

    That no other element is unreachable is rarely proven, so None goes by what is stored alone.
    """
    if given is None:
        return CorrectedScore(0, f"The response names no {what}.", failure="unparsed")
    if not stored:
        why = f"it is the stored answer: no {what} is stored as unreachable"
        if example is not None:
            why += f", though {show_atom(example)} can never be reached"
        return _right(NONE, why)
    assert example is not None
    why = f"{show_atom(example)}, for example, can never be reached"
    mark = CheckedElement(NONE, False, why)
    return CorrectedScore(0, f"None is wrong: {why}.", (mark,), "wrong_value", NONE)


def _right(text: str, why: str, cause: str = "") -> CorrectedScore:
    return CorrectedScore(
        1, f"{text} is right: {why}.", (CheckedElement(text, True, why),), read=text, cause=cause
    )


def _made_up(text: str, fault: str) -> CorrectedScore:
    mark = CheckedElement(text, False, fault)
    return CorrectedScore(
        0, f"{text}: {fault}.", (mark,), "wrong_form", text, cause="made_up_object"
    )


def _by_storage(given: Atom, stored: set[Atom]) -> CorrectedScore:
    text = show_atom(given)
    if given in stored:
        return _right(text, "it is stored as unreachable")
    return _undecided(text, "the PDDL cannot be used")


def _undecided(text: str, why: str, failure: Failure = "undecided") -> CorrectedScore:
    return CorrectedScore(
        None, f"{text}: {why}.", (CheckedElement(text, None, why),), failure, text
    )


def _finding_of(result: SearchResult | None, text: str, can: str, cause: str) -> CorrectedScore:
    """Return the corrected score of a search for a plan that should not exist."""
    if result is None:
        return _undecided(text, "the PDDL cannot be used")
    if result.solved is None:
        timed_out = result.outcome == "timed_out"
        return _undecided(text, _why_unknown(result), "timed_out" if timed_out else "undecided")
    if result.solved:
        why = f"it {can}: {_length(result)}"
        return CorrectedScore(
            0, f"{text} is wrong: {why}.", (CheckedElement(text, False, why),), "wrong_value", text
        )
    return _right(text, _PROOFS[result.proof], cause)


def next_action_reference(work: AnswerCheck, reading: ReferenceReading) -> ReferenceScore:
    if not reading.parsed:
        return UNPARSED
    name, answer = reading.names[0], work.question.answer
    if any(same_name(name, one) for one in answer["yes"]):
        return ReferenceScore(1, f"{name} is stored as an action that leads towards the goal.")
    if any(same_name(name, one) for one in answer["no"]):
        return ReferenceScore(0, f"{name} is stored as an action that does not.")
    if not any(same_name(name, one) for one in answer["maybe"]):
        return ReferenceScore(0, f"{name} is not among the applicable actions.")
    result = _after(work, parse_atom(name))
    if result is None:
        return UNUSABLE
    left = int(answer["opt"]) - 1
    if result.solved is None:
        why = _why_unknown(result)
        return ReferenceScore(None, f"undecided: {why} on a plan of {left} actions after {name}.")
    if result.solved:
        return ReferenceScore(1, f"After {name}, {left} actions are enough, one less than before.")
    return ReferenceScore(0, f"After {name}, {left} actions are not enough.")


def _after(work: AnswerCheck, action: Atom) -> SearchResult | None:
    grounded = work.ground
    if grounded is None or action not in grounded.names:
        return None
    return work.within(grounded, action, int(work.question.answer["opt"]) - 1)


def next_action(work: AnswerCheck, response: str) -> CorrectedScore:
    answer = work.question.answer
    distance = int(answer["opt"])
    given = corrected_reading.read_first(response, work.actions)
    if given is None:
        why = "The response names no action."
        return CorrectedScore(0, why, failure="unparsed", distance=distance)
    if given == "none":
        return CorrectedScore(0, "There is an action.", (), "wrong_form", NONE, distance=distance)
    score, why, failure = _judge_next(work, work.instance, given, distance)
    text = show_atom(given)
    mark = CheckedElement(text, None if score is None else score == 1, why)
    return CorrectedScore(score, f"{text}: {why}.", (mark,), failure, text, distance=distance)


def _judge_next(
    work: AnswerCheck, instance: Instance | None, given: Atom, distance: int
) -> tuple[int | None, str, Failure | None]:
    answer = work.question.answer
    stored = {kind: {parse_atom(one) for one in answer[kind]} for kind in ("yes", "no")}
    if given in stored["yes"]:
        return 1, f"the first of a shortest plan of {distance} actions", None
    if given in stored["no"]:
        return 0, "known not to lead nearer to the goal", "wrong_value"
    if instance is None:
        return None, "the PDDL cannot be used", "undecided"
    if fault := instance.fault_of_action(given):
        return 0, fault, "wrong_form"
    if fault := instance.unmet(given, instance.init):
        return 0, f"it cannot be applied, as {fault}", "wrong_value"
    result = _after(work, given)
    if result is None:
        return None, "the PDDL cannot be used", "undecided"
    if result.solved is None:
        timed_out = result.outcome == "timed_out"
        return None, _why_unknown(result), "timed_out" if timed_out else "undecided"
    if result.solved:
        return 1, f"{distance - 1} further actions are enough", None
    return 0, f"{distance - 1} further actions are not enough", "wrong_value"
