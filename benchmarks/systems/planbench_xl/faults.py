"""Faults in trajectories of PlanBench-XL, and whether agents call tools that they saw fail."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks.core.ports.disclosures import Disclosure, Disclosures, TurnRecord
from benchmarks.core.ports.faults import Case, Fault, Faults
from benchmarks.core.types import Json
from benchmarks.systems.planbench_xl.labels import CATEGORIES

_REFUSED: Mapping[str, str] = {
    "err_label": "malformed",
    "err_retrieve_json": "malformed",
    "err_call_json": "malformed",
    "err_retrieve_request": "refused",
    "err_call_unavailable": "refused",
    "err_call_arguments": "refused",
    "err_call_blocked": "refused",
    "err_call_inputs": "untrusted",
}
_DOES: Mapping[str, str] = {
    "format_error": "are given up for format errors",
    "noisy_response_adopted": "answer with a value of unreliable tools",
    "premature_answering": "answer too early",
    "irrecoverable_drift": "drift off the paths to the target",
    "unresolved_execution": "run out of steps on the way",
    "misreported_answer": "find the answer and do not report it",
}

_CASES = (
    Case("Figure 11", "Irrecoverable drift, with an answer", "irrecoverable_drift", "answered"),
    Case("Figure 12", "Irrecoverable drift, out of steps", "irrecoverable_drift", "max_steps"),
    Case("Figures 13 and 17", "Noisy response adopted", "noisy_response_adopted"),
    Case("Figures 14 and 18", "Format error", "format_error"),
    Case("Figure 15", "Premature answering", "premature_answering"),
    Case("Figure 16", "Unresolved execution", "unresolved_execution"),
)


def _in_turn(parts: Json) -> Iterable[str]:
    """Return why a reply was refused, or that it called an unreliable tool."""
    if kind := _REFUSED.get(parts["category"] or ""):
        yield kind
    if parts["category"] == "tool_ok" and parts["provenance"] == "untrusted":
        yield "noisy"


def _at_end(parts: Json) -> Iterable[str]:
    """Return the category of a failure."""
    if parts["failure_category"] in CATEGORIES:
        yield parts["failure_category"]


FAULTS = Faults(
    kinds={
        **{
            key: Fault(title, _DOES[key], sentence) for key, (title, sentence) in CATEGORIES.items()
        },
        "noisy": Fault(
            "Unreliable tool called",
            "call an unreliable tool",
            "A call returned a value of a noisy or a blocked tool.",
        ),
        "untrusted": Fault(
            "Value of an unreliable tool passed on", "pass on a value of an unreliable tool"
        ),
        "refused": Fault("Search or call refused", "make a search or call that is refused"),
        "malformed": Fault("Malformed reply", "send a malformed reply"),
    },
    turn_parts=("category", "provenance"),
    in_turn=_in_turn,
    outcome_parts=("failure_category",),
    at_end=_at_end,
    answer="reply",
    cases=_CASES,
)


def _failures_seen(turns: Sequence[TurnRecord]) -> Iterator[Disclosure]:
    """Return the blocking and noisy tools whose result was an error, and the next call of each.

    Tools that lie with a plausible value show nothing that an agent could keep in mind.
    """
    seen: dict[str, Disclosure] = {}
    for turn in turns:
        tool = turn.parts["tool"]
        if turn.parts["category"] != "tool_ok" or not tool:
            continue
        known = seen.get(tool)
        if known is not None:
            if known.broken is None:
                seen[tool] = known._replace(broken=turn.number)
        elif turn.parts["shown_success"] is False:
            seen[tool] = Disclosure(tool, turn.parts["tool_type"] or "", turn.number)
    yield from seen.values()


DISCLOSURES = Disclosures(
    noun="failing tool",
    verb="seen",
    broken="called again",
    turn="step",
    read=_failures_seen,
    turn_parts=("category", "tool", "tool_type", "shown_success"),
    kinds=(("blocker_misleading", "Blocking tools"), ("noisy_misleading", "Noisy tools")),
    early=frozenset({"label_errors", "retrieval_errors", "call_errors"}),
)
