"""Tasks whose answers are validated by simulation or search."""

from collections.abc import Sequence

from benchmarks.systems.acpbench_hard import readings
from benchmarks.systems.acpbench_hard.grammar import Reference
from benchmarks.systems.acpbench_hard.pddl.instance import parse_atom, show_atom
from benchmarks.systems.acpbench_hard.scoring.stored import UNPARSED
from benchmarks.systems.acpbench_hard.scoring.verdict import Finding, Mark, Ruling
from benchmarks.systems.acpbench_hard.scoring.work import Work


def is_subsequence(part: Sequence[object], whole: Sequence[object]) -> bool:
    """Tell whether ``part`` is ``whole`` with some elements left out."""
    rest = iter(whole)
    return all(any(one == other for other in rest) for one in part)


def justification_reference(work: Work, reading: Reference) -> Ruling:
    if not reading.parsed:
        return UNPARSED
    plan, given = work.plan, reading.names
    if not given:
        return Ruling(0, "No action is read.")
    if len(given) >= len(plan) or not is_subsequence(given, plan):
        return Ruling(
            0, "The actions read are no proper subsequence of the plan, letter by letter."
        )
    instance = work.instance
    if instance is None:
        return Ruling(None, "undecided: the PDDL cannot be used.")
    if fault := instance.fault_of_plan([parse_atom(action) for action in given]):
        return Ruling(0, f"The actions read are no plan: {fault}.")
    return Ruling(1, "The actions read are a plan and a proper subsequence of the plan given.")


def justification(work: Work, response: str) -> Finding:
    given = readings.read_plan(response, work.actions)
    plan = work.quoted_plan
    read = readings.show(given)
    if not given:
        return Finding(0, "The response names no action.", failure="unparsed")
    instance = work.instance
    if instance is None:
        return Finding(None, "The PDDL cannot be used.", failure="undecided", read=read)
    faults = [instance.fault_of_action(action) for action in given]
    # A response may name actions without end; the plan has fewer.
    failing, why = instance.first_inapplicable(given[: len(plan) + 1])
    marks = tuple(
        Mark(show_atom(action), *_state_of(place, faults[place], failing, why))
        for place, action in enumerate(given[: len(plan) + 1])
    )
    if any(faults):
        return Finding(0, f"{next(filter(None, faults))}.", marks, "wrong_form", read)
    if not is_subsequence(given, plan):
        why = "The actions are no subsequence of the plan: some are new or in another order."
        return Finding(0, why, marks, "wrong_value", read)
    if len(given) == len(plan):
        return Finding(0, "Nothing was removed from the plan.", marks, "wrong_value", read)
    if fault := instance.fault_of_plan(given):
        return Finding(0, f"What is left is no plan: {fault}.", marks, "wrong_value", read)
    count = len(plan) - len(given)
    return Finding(1, f"Without {count} actions it is still a plan.", marks, None, read)


def _state_of(place: int, fault: str, failing: int, why: str) -> tuple[bool | None, str]:
    if fault:
        return False, fault
    if place < failing:
        return True, "can be applied"
    return (False, why) if place == failing else (None, "stands after the first that fails")
