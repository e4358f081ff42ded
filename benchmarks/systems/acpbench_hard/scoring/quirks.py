"""The reasons why the two scores of a response differ.

Where a peculiarity of reading is the cause, the response is mended in one respect at a time; the
first mending that brings the reference to the corrected score names the quirk.
"""

import re
from collections.abc import Callable

from benchmarks.systems.acpbench_hard import corrected_reading
from benchmarks.systems.acpbench_hard.corrected_reading import Names
from benchmarks.systems.acpbench_hard.grammar import NONE, ReferenceReading
from benchmarks.systems.acpbench_hard.scoring.answer_check import AnswerCheck
from benchmarks.systems.acpbench_hard.scoring.verdict import CorrectedScore

_GROUP = re.compile(r"\(([^()]*)\)")
# A name matches without parentheses, too, so that none of its characters is tried as a beginning.
_CALL = re.compile(r"([A-Za-z][\w-]*+)(?:\(([^()]*)\))?")
# Beyond this a response is not mended: the cause is told as that of a reading.
LONGEST_MENDED = 20_000
_NONE_WORD = re.compile(rf"(?<![A-Za-z0-9_-]){NONE}[A-Za-z0-9_-]*")

Rule = Callable[[str], int | None]


def find_quirks(
    work: AnswerCheck,
    response: str,
    reading: ReferenceReading,
    reference: int | None,
    finding: CorrectedScore,
    rule: Rule,
) -> tuple[str, ...]:
    """Return the keys of the quirks that make the reference score differ from the corrected one.

    ``rule`` gives the reference score of another text.
    """
    if reference is None or finding.score is None or reference == finding.score:
        return ()
    if finding.cause and [name.lower() for name in reading.names] == [finding.read.lower()]:
        return (finding.cause,)
    if len(response) <= LONGEST_MENDED:
        for quirk, mend in _MENDING.items():
            mended = mend(work, response, finding)
            if mended != response and rule(mended) == finding.score:
                return (quirk,)
    return (finding.cause or "reading",)


def _names(work: AnswerCheck) -> Names:
    actions = work.question.task in ("app", "just", "nexta", "areach")
    return work.actions if actions else work.propositions


def _respell_none(work: AnswerCheck, response: str, finding: CorrectedScore) -> str:
    return NONE if finding.read == NONE else response


def _drop_none(work: AnswerCheck, response: str, finding: CorrectedScore) -> str:
    if work.question.task not in ("reach", "areach", "land") or finding.read == NONE:
        return response
    return _NONE_WORD.sub("", response)


def _drop_reasoning(work: AnswerCheck, response: str, finding: CorrectedScore) -> str:
    if work.question.task == "val":
        return response
    part = corrected_reading.answer_part(response.lower(), _names(work))
    return response[len(response) - len(part) :]


def _keep_newlines(work: AnswerCheck, response: str, finding: CorrectedScore) -> str:
    return re.sub(r"(?<!\s)[^\S\n]*\n\s*", " . " if work.question.task == "val" else " ", response)


def _only_index(work: AnswerCheck, response: str, finding: CorrectedScore) -> str:
    return finding.read if work.question.task == "val" else response


def _drop_prose(work: AnswerCheck, response: str, finding: CorrectedScore) -> str:
    names = _names(work)

    def keep(match: re.Match[str]) -> str:
        return match.group() if corrected_reading.read_atoms(match.group(), names) else ""

    return _GROUP.sub(keep, response) if work.question.task != "val" else response


def _close_up(work: AnswerCheck, response: str, finding: CorrectedScore) -> str:
    return _GROUP.sub(lambda match: f"({' '.join(match.group(1).split())})", response)


def _rewrite_calls(work: AnswerCheck, response: str, finding: CorrectedScore) -> str:
    arity = _names(work).arity

    def rewrite(match: re.Match[str]) -> str:
        if match.group(2) is None:
            return match.group()
        name, inner = match.group(1), match.group(2).replace(",", " ")
        if name.lower() not in arity or inner.lower().split()[:1] == [name.lower()]:
            return match.group()
        return f"({' '.join([name, *inner.split()])})"

    return _CALL.sub(rewrite, response)


def _add_parentheses(work: AnswerCheck, response: str, finding: CorrectedScore) -> str:
    if "(" in response or work.question.task == "val" or not finding.read:
        return response
    return finding.read


def _restore_lists(work: AnswerCheck, response: str, finding: CorrectedScore) -> str:
    return finding.read if work.question.task == "prog" else response


def _restore_case(work: AnswerCheck, response: str, finding: CorrectedScore) -> str:
    if work.question.task != "just":
        return response
    # In the case of the plan, and without the label that has the response turned to lower case.
    spelled = {action.lower(): action for action in work.plan}
    actions = (f"({inner})" for inner in _GROUP.findall(finding.read))
    return " ".join(spelled.get(action, action) for action in actions)


_MENDING: dict[str, Callable[[AnswerCheck, str, CorrectedScore], str]] = {
    "none_spelling": _respell_none,
    "none_prefix": _drop_none,
    "reasoning_read": _drop_reasoning,
    "newlines_deleted": _keep_newlines,
    "first_digits": _only_index,
    "prose_in_parentheses": _drop_prose,
    "spaces": _close_up,
    "call_form": _rewrite_calls,
    "no_parentheses": _add_parentheses,
    "progression_lists": _restore_lists,
    "plan_case": _restore_case,
}
