"""Why a query failed: the paper's failure categories, told from the trace.

The paper names five categories and shows cases of each; the rules by which they are told apart here
are ours. They are tried in this order:

``format_error``
    The query was closed because of too many replies without an action, or too many refused
    searches or calls.
``noisy_response_adopted``
    The answer holds a value that only noisy or blocking tools returned.
``premature_answering``
    The answer holds a value found on the way to the target, or nothing that was found at all: the
    agent stopped before it had what was asked.
``irrecoverable_drift``
    The answer holds a reliable value that lies on no catalogued path; or the steps ran out long
    after the last find that lies on one.
``unresolved_execution``
    The steps ran out while finds on a path were still being made, or with the target in hand.
``misreported_answer``
    Ours: the target was found, and the answer does not hold it.
"""

from collections.abc import Collection

from benchmarks.core.types import Json
from benchmarks.systems.planbench_xl.answers import is_correct
from benchmarks.systems.planbench_xl.query import (
    AMBIGUOUS,
    CALL_ERRORS,
    LABEL_ERRORS,
    MAX_STEPS,
    RETRIEVAL_ERRORS,
    WRONG,
)
from benchmarks.systems.planbench_xl.tools import TRUSTED, UNTRUSTED
from benchmarks.systems.planbench_xl.values import normalise

FORMAT_ERROR, NOISY_ADOPTED = "format_error", "noisy_response_adopted"
PREMATURE, DRIFT = "premature_answering", "irrecoverable_drift"
UNRESOLVED, MISREPORTED = "unresolved_execution", "misreported_answer"
CATEGORIES = (FORMAT_ERROR, NOISY_ADOPTED, PREMATURE, DRIFT, UNRESOLVED, MISREPORTED)
# "Still being made": within the last quarter of the steps.
_RECENT = 4


class Trace:
    """What the classifier needs of an episode, gathered step by step."""

    def __init__(self, on_paths: Collection[str], target: str) -> None:
        self.on_paths, self.target = on_paths, target
        self.steps = self.last_find = 0
        self.answer: str | None = None
        self.spoilt = False
        # By value as answers have it, the data types under which it was returned.
        self.reliable: dict[str, set[str]] = {}
        self.unreliable: set[str] = set()
        self.found: set[str] = set()

    def add(self, turn: Json, step: int) -> None:
        """Take up the payload of a turn, fresh or stored."""
        self.steps = step
        if "untrusted_sources" in turn:
            self.answer, self.spoilt = turn["request"], bool(turn["untrusted_sources"])
        elif turn.get("provenance") == TRUSTED:
            datatype = turn["datatype"]
            if datatype in self.on_paths and datatype not in self.found:
                self.last_find = step
            self.found.add(datatype)
            self.reliable.setdefault(normalise(turn["value"]), set()).add(datatype)
        elif turn.get("provenance") == UNTRUSTED:
            self.unreliable.add(normalise(turn["value"]))

    def category(self, termination: str, failure: str | None) -> str | None:
        """The category of a query that ended; None where it succeeded or is left out."""
        if failure is None or termination == AMBIGUOUS:
            return None
        if termination in (LABEL_ERRORS, RETRIEVAL_ERRORS, CALL_ERRORS):
            return FORMAT_ERROR
        if termination == MAX_STEPS:
            recent = self.last_find and (self.steps - self.last_find) * _RECENT <= self.steps
            return UNRESOLVED if recent or self.target in self.found else DRIFT
        return self._of_answer(failure)

    def _of_answer(self, failure: str) -> str:
        adopted = (value for value in self.unreliable if value not in self.reliable)
        if self.spoilt or any(self._answers(value) for value in adopted):
            return NOISY_ADOPTED
        if failure == WRONG:
            return MISREPORTED
        told = [kinds for value, kinds in self.reliable.items() if self._answers(value)]
        if told and not any(kind in self.on_paths for kinds in told for kind in kinds):
            return DRIFT
        return PREMATURE

    def _answers(self, value: str) -> bool:
        return is_correct(value, self.answer, "words")
