"""The machine role: answers validated in the worker, and verdicts as logged replies."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json
from benchmarks.core.errors import UnreadableReply
from benchmarks.core.json_files import load
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.acpbench_hard.dataset import question_of
from benchmarks.systems.acpbench_hard.labels import NOT_VALIDATED
from benchmarks.systems.acpbench_hard.scoring import FAILURES, score
from benchmarks.systems.acpbench_hard.search.result import DEFAULTS

# Version 2 of the validator reads labels before answers, lists without parentheses within, and no
# remarks as atoms; it states an answered index beside the correct one. Verdicts are logged, so runs
# with version 1 are verified by what it said.
VERSION = "2"
# What there is to say where no verdict was given.
EMPTY: Json = {
    "reference": None, "corrected": None, "reasons": [], "marks": [], "failure": NOT_VALIDATED,
    "quirks": [], "parsed": "", "read": "", "jaccard": None, "distance": None, "offset": None,
}  # fmt: skip
LONGEST = 4 << 20
MOST_MARKS = 500


def parse_answer(text: str, params: Mapping[str, Any]) -> dict[str, str]:
    """Take a reply as it is: what cannot be read as an answer is for the validator to say."""
    return {"text": text}


def parse_verdict(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Read a verdict: a JSON object with both scores, 0, 1 or null, and the reasons.

    What else a validator says of an answer may be left out.
    """
    try:
        content = load(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise UnreadableReply("expected a JSON object with both scores.")
    for name in ("reference", "corrected"):
        value = content.get(name, "missing")
        if isinstance(value, bool) or value not in (0, 1, None):
            raise UnreadableReply(f"expected 0, 1 or null as {name!r}.")
    reasons = content.get("reasons", [])
    if not isinstance(reasons, list) or not all(isinstance(one, str) for one in reasons):
        raise UnreadableReply("expected a list of sentences as 'reasons'.")
    _check_parts(content)
    verdict = {
        **EMPTY,
        "failure": None,
        **{name: content[name] for name in EMPTY if name in content},
    }
    if verdict["corrected"] == 0 and not verdict["failure"]:
        verdict["failure"] = "wrong_value"
    return verdict


def _check_parts(content: Json) -> None:
    """Refuse parts of a verdict that pages could not show."""
    marks, quirks = content.get("marks", []), content.get("quirks", [])
    if not isinstance(marks, list) or not all(
        isinstance(mark, dict)
        and isinstance(mark.get("text"), str)
        and mark.get("right") in (True, False, None)
        for mark in marks
    ):
        raise UnreadableReply("expected objects with text and right as 'marks'.")
    if not isinstance(quirks, list) or not all(isinstance(one, str) for one in quirks):
        raise UnreadableReply("expected a list of names as 'quirks'.")
    if content.get("failure") is not None and content["failure"] not in FAILURES:
        raise UnreadableReply(f"expected one of {', '.join(FAILURES)} as 'failure', or null.")
    for name in ("parsed", "read"):
        if not isinstance(content.get(name, ""), str):
            raise UnreadableReply(f"expected a text as {name!r}.")
    for name in ("jaccard", "distance", "offset"):
        value = content.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise UnreadableReply(f"expected a number or null as {name!r}.")


def validator(task: Task, parameters: Json) -> Answerer:
    """Return the built-in validators: reading, simulation, and search bounded by nodes."""
    question = question_of(task)

    def rule(ask: Ask, seed: int) -> Answer:
        limits = replace(DEFAULTS, nodes=ask.expect.params["nodes"])
        verdict = score(question, ask.context["answer"], limits=limits)
        # An answer may name elements without end; pages show some of them.
        kept = replace(verdict, marks=verdict.marks[:MOST_MARKS])
        return Answer(canonical_json(asdict(kept)))

    return Scripted("validator", VERSION, rule, kind="machine", instant=False)
