"""The role ``scorer``: it says how probable an action is for the student.

A ``Scorer`` is whoever fills that role: a completions endpoint of the student's own model
(``benchmarks.llm.scoring``), or the word table, which is no model and stands in for tests and where
there is no endpoint. One that cannot score a text fails, and the run stops with its reason.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json, digest
from benchmarks.core.errors import UnreadableReply
from benchmarks.core.types import Ask, Expect, Json, Message, Task
from benchmarks.llm.replies import read_json_object

SCORER, TOKEN_PROBABILITIES = "scorer", "token_probabilities"
VERSION = "1"
# More tokens than any action has.
MOST_TOKENS = 4096
_WORD = re.compile(r"\w+|[^\w\s]")
_PART = re.compile(r"[a-z]{3,}")


class Scorer(Protocol):
    """The interface of all scorers."""

    def token_probs(self, context: Sequence[Message], continuation: str) -> Sequence[float]:
        """Return the probability of each token of a text after the messages, each in 0 to 1."""


def ask_scorer(messages: Sequence[Message], continuation: str, prompt_form: str) -> Ask:
    """Return the ask for the token probabilities of an action after the messages."""
    params = {"continuation": continuation, "prompt_form": prompt_form}
    return Ask(
        SCORER,
        tuple(messages),
        Expect(TOKEN_PROBABILITIES, params),
        context={"continuation": continuation},
    )


def parse_probabilities(text: str, params: Mapping[str, Any]) -> list[float]:
    """Parse kind ``token_probabilities``: a JSON object with ``probabilities``, one for each
    token.
    """
    probabilities = read_json_object(text).get("probabilities")
    if not isinstance(probabilities, list) or not 0 < len(probabilities) <= MOST_TOKENS:
        raise UnreadableReply(f"expected 1 to {MOST_TOKENS} numbers under “probabilities”.")
    for value in probabilities:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or not 0 <= value <= 1:
            raise UnreadableReply(f"expected numbers from 0 to 1, found {str(value)[:40]!r}.")
    return [float(value) for value in probabilities]


# --- The stand-in ---------------------------------------------------------------------------------

# Probability of a word by where it can come from, and by how much a word's own digest lowers it.
TABLE: Mapping[str, float] = {
    "template": 0.9, "told": 0.85, "seen": 0.5, "unknown": 0.2, "spread": 0.3,
}  # fmt: skip
_TEMPLATE_WORDS = """
    ask open close turn on off heat search look for move from to pour into mix all items in get cook
    chop the object declare done with
"""
_TEMPLATE = frozenset(_TEMPLATE_WORDS.split())


class TableScorer:
    """A table of probabilities in place of a model: no number of it says anything about a model.

    A word of a template is probable; a word that the person used is nearly so; a word that was seen
    elsewhere in the context is less probable, and any other word least. Each word's own digest
    lowers its value by up to ``spread``, so that actions of one template differ.
    """

    def __init__(self, table: Mapping[str, float] = TABLE) -> None:
        self.table = table

    def token_probs(self, context: Sequence[Message], continuation: str) -> list[float]:
        """Return a probability for each word and punctuation mark of the continuation.

        Raises ``ValueError`` for a text without any.
        """
        answers = [m.text for m in context if m.speaker == "user"][1:]
        answered = _parts(text for text in answers if text.startswith("The person says:"))
        seen = _parts(m.text for m in context)
        words = _WORD.findall(continuation)
        if not words:
            raise ValueError("there is no word to score")
        return [self._probability(word.lower(), answered, seen) for word in words]

    def _probability(self, word: str, answered: frozenset[str], seen: frozenset[str]) -> float:
        parts = frozenset(_PART.findall(word))
        if word in _TEMPLATE or not parts:
            place = "template"
        elif parts & answered:
            place = "told"
        else:
            place = "seen" if parts <= seen else "unknown"
        lower = int(digest([word])[:4], 16) / 0xFFFF * self.table["spread"]
        return round(self.table[place] * (1 - lower), 6)


def _parts(texts: Any) -> frozenset[str]:
    return frozenset(part for text in texts for part in _PART.findall(text.lower()))


def word_table(task: Task, parameters: Json) -> Answerer:
    """Return the stand-in as an answerer."""
    scorer = TableScorer(parameters)

    def rule(ask: Ask, seed: int) -> Answer:
        text = ask.context["continuation"]
        probabilities = scorer.token_probs(ask.messages, text)
        return Answer(
            canonical_json({"tokens": _WORD.findall(text), "probabilities": probabilities})
        )

    return Scripted("word-table", VERSION, rule, parameters)
