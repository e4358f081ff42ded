"""Parsers of the replies that the builder asks for: those of ADAPT, a question, probabilities."""

import re
from collections.abc import Mapping
from typing import Any

from benchmarks.core.errors import UnreadableReply
from benchmarks.systems.adapt.household.actions import LONGEST_QUESTION
from benchmarks.systems.adapt.parsers import (
    LONGEST_REPLY,
    answer_schema,
    parse_action_reply,
    parse_answer,
)
from benchmarks.systems.adapt_reflection.scorers import TOKEN_PROBABILITIES, parse_probabilities

_BEFORE = re.compile(r"^(?:question\s*:\s*|ask(?: the user| the person)?[:,]?\s+)+", re.IGNORECASE)


def parse_question(text: str, params: Mapping[str, Any]) -> str:
    """Parse kind ``question``: the last line that is not empty, without marks around it."""
    lines = [line.strip().strip('`*"“”').strip() for line in text[:LONGEST_REPLY].splitlines()]
    lines = [line for line in lines if line]
    question = " ".join(_BEFORE.sub("", lines[-1]).split()) if lines else ""
    question = question.strip('`*"“”').strip()
    if not re.search(r"\w", question):
        raise UnreadableReply("expected a question, found nothing.")
    if len(question) > LONGEST_QUESTION - len("Ask "):
        raise UnreadableReply(f"expected a question of at most {LONGEST_QUESTION} characters.")
    return question


PARSERS = {
    "action": parse_action_reply,
    "question": parse_question,
    "answer": parse_answer,
    TOKEN_PROBABILITIES: parse_probabilities,
}
SCHEMAS = {"answer": answer_schema}
