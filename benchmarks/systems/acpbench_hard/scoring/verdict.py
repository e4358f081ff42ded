"""The parts of a score."""

from dataclasses import dataclass
from typing import Literal

# Why the corrected score is not 1. A wrong form can be read but is not what was asked for, such as
# an object that the problem does not have.
Failure = Literal["unparsed", "wrong_form", "wrong_value", "timed_out", "undecided"]
FAILURES: dict[Failure, str] = {
    "unparsed": "Nothing in the response can be read as an answer.",
    "wrong_form": "The answer names what does not exist, or is of another kind than asked for.",
    "wrong_value": "The answer is well formed but wrong.",
    "timed_out": "The external planner reached its time limit.",
    "undecided": "The search gave up before the answer was known.",
}

# Why the two scores differ, by key.
QUIRKS: dict[str, str] = {
    "relaxed_unreachable_action": "An action that delete relaxation already rules out scores 0 "
    "unless it is the stored one.",
    "made_up_object": "Objects and their types are not checked.",
    "static_fact": "A false fact that no action changes scores 1.",
    "stored_incomplete": "What is stored is incomplete: an answer that is proven right scores 0.",
    "none_spelling": "Only a word that begins with None counts as None.",
    "none_prefix": "A word that begins with None counts as None, whatever follows.",
    "reasoning_read": "Actions or atoms in the reasoning before the answer are read as the answer.",
    "newlines_deleted": "Newlines are deleted, which joins what stands around them.",
    "first_digits": "The first digits anywhere are the index.",
    "prose_in_parentheses": "Every text in parentheses counts as an action or atom.",
    "spaces": "A space before a closing parenthesis, or a tab, loses a name or the answer.",
    "call_form": "name(x, y) is read without its name.",
    "no_parentheses": "An action or atom without parentheses is not read.",
    "progression_lists": "Brackets in prose, a missing bracket, a comma too many, one list or "
    "two equal lists change the lists of a progression.",
    "plan_case": "The plan is compared with its case, which a label before it changes.",
    "planner_time_limit": "A time limit counts as reachable, or as not optimal.",
    "reading": "Several peculiarities of reading together.",
}


@dataclass(frozen=True)
class CheckedElement:
    """One element of an answer that was checked.

    ``part`` says where it belongs: ``pos`` and ``neg`` of a progression, ``missing`` for an element
    that the answer should have had, otherwise nothing. ``right`` is None where nobody knows.
    """

    text: str
    right: bool | None
    why: str
    part: str = ""


@dataclass(frozen=True)
class AnswerVerdict:
    """Both scores of a response: 0, 1, or None where the score is not known.

    ``reference`` is what the reference evaluator gives, ``corrected`` what is right. ``reasons``
    are sentences, ``marks`` the elements of the answer. ``failure`` is None where the answer
    is right. ``quirks`` name why the scores differ. ``parsed`` is what the reference's parser
    reads, ``read`` what the corrected reading is.

    ``jaccard`` is the overlap of an applicability answer with the right set, from 0 to 1.
    ``distance`` is the length of an optimal plan from the state of a next-action question.
    ``offset`` is how far a validation answer lies behind the right index.
    """

    task: str
    reference: int | None
    corrected: int | None
    reasons: tuple[str, ...]
    marks: tuple[CheckedElement, ...] = ()
    failure: Failure | None = None
    quirks: tuple[str, ...] = ()
    parsed: str = ""
    read: str = ""
    jaccard: float | None = None
    distance: int | None = None
    offset: int | None = None


@dataclass(frozen=True)
class ReferenceScore:
    """The reference score of one reading, and why."""

    score: int | None
    why: str


@dataclass(frozen=True)
class CorrectedScore:
    """The corrected score of a response, and what belongs to it.

    ``cause`` is the quirk that makes the reference score differ, where it is no matter of reading.
    """

    score: int | None
    why: str
    marks: tuple[CheckedElement, ...] = ()
    failure: Failure | None = None
    read: str = ""
    jaccard: float | None = None
    distance: int | None = None
    offset: int | None = None
    cause: str = ""
