"""Recorded answers as plans: markup cleaned, steps told apart, closing remarks set aside.

An answer that says the problem cannot be solved is no plan; it is kept and counted apart.
"""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

# --- What people said of recorded answers ---------------------------------------------------------

VERDICTS: Mapping[str, str] = {
    "correct_efficient": "correct, efficient",
    "correct_inefficient": "correct, inefficient",
    "correct_unsolvable": "correct: says that it cannot be solved",
    "wrong_partial_correct": "wrong, partly correct",
    "wrong_entire_wrong_solution": "wrong altogether",
    "wrong_fail_solvability_status": "wrong about whether it can be solved",
}


def verdict_words(verdict: str) -> str:
    """Return a verdict (or several that differ, joined by slashes) in words."""
    return " / ".join(VERDICTS.get(part, part) for part in verdict.split(" / "))


_BREAK = re.compile(r"<\s*(?:br|/p|/li|/div)\s*/?\s*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]{0,80}>", re.IGNORECASE)
# "Step 3:", "step3 -", "Step 3)" anywhere, but not "repeat step 3 and", "if step 3 fails".
_STEP = re.compile(
    r"\bste?p?\s*(\d{1,2})(?:\s*+[:.)\-,]+\s*|\s++(?=[A-Z])|[^\S\n]*+\n\s*)", re.IGNORECASE
)
_STEP_AT_START = re.compile(r"^[^\w\n]*ste?p?\s*(\d{1,2})\b\W*", re.IGNORECASE | re.MULTILINE)
_MENTION = re.compile(r"(?:repeat|if|in|of|from|and|to|see|until|after)\s+$", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(\d{1,2})\s*(?:[.):](?!\d)|-(?!\w)|(?=\s[A-Z]))\s*")
_INNER_ITEM = re.compile(r"(?<=[\s.])(\d{1,2})[.)]\s+(?=[A-Za-z])")
_BULLET = re.compile(r"^\s*[-*•]\s+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_SENTENCE_OR_NOTE = re.compile(r"(?<=[.!?])\s+(?=[A-Z]|\(Note)")
_REMARK = re.compile(
    r"\A\(?\s*(?:tools?(?: used)?\s*:|tools? used\b|notes?\b\s*[:,]?|justification|explanation|"
    r"feasib|reasoning|disclaimer|conclusion|however, (?:this|it|please)|"
    r"(?:this|the|these|with this|by this) (?:\w+ )?(?:solution|method|approach|process|way|setup|"
    r"plan|procedure|technique|problem|task|result(?:ing)?|above)\b|"
    r"this (?:assumes|uses|utilizes|utilises|takes|allows|provides|constructs|should|will|would|"
    r"makes|can|is|creates|gives|may|keeps|ensures|helps)\b|"
    r"(?:with|using|by (?:using|following)) (?:these|this|the given|the provided|the above)|"
    r"given (?:the|that)|it is (?:not )?(?:possible|feasible|important)|"
    r"(?:in this way|now,? you|you now have|there you have|that's it|remember|overall)\b|"
    r"while this|although this|even though this|i hope|please note|the tools)",
    re.IGNORECASE,
)
_HOPELESS = re.compile(
    r"\bunsolv|\bimpossible\b|\bnot solvable|\b(?:not|n't|no)\b[^.]{0,25}\b(?:possible|feasible)\b|"
    r"\bnot? (?:a )?(?:viable |feasible |possible )?solution\b|\binfeasible\b|\bunfeasible\b|"
    r"\b(?:cannot|can't|can not) be (?:done|solved|achieved|fixed)|\bnone of the\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(r"^\W*(?:sorry|i apologi[sz]e|i cannot|i can't|as an ai)\b", re.IGNORECASE)
_GIVES_UP = re.compile(r"^\W*(?:unsolvable|not solvable)\b", re.IGNORECASE)
FEWEST_WORDS = 3


class ReadAnswer(NamedTuple):
    """A cleaned answer: whether it is a plan, its steps, and what is said beside them."""

    kind: Literal["plan", "unsolvable", "empty"]
    steps: tuple[str, ...]
    remark: str


def clean(text: str) -> str:
    """Return plain lines: markup gone, one line a paragraph or step."""
    text = _BREAK.sub("\n", text.replace("\r", "\n"))
    text = html.unescape(_TAG.sub(" ", text)).replace("**", "").replace("\xa0", " ")
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def read_answer(text: str) -> ReadAnswer:
    """Return the steps of a recorded answer, or that it is none."""
    plain = clean(text)
    if len(re.findall(r"\w+", plain)) < FEWEST_WORDS:
        return ReadAnswer("empty", (), plain)
    if _GIVES_UP.match(plain):
        return ReadAnswer("unsolvable", (), " ".join(plain.split()))
    steps, remarks = _numbered(_number_lines(plain))
    if not steps:
        if _REFUSES.match(plain):
            return ReadAnswer("empty", (), " ".join(plain.split()))
        if _HOPELESS.search(plain):
            return ReadAnswer("unsolvable", (), " ".join(plain.split()))
        steps, remarks = _prose(plain)
    if not steps:
        return ReadAnswer("empty", (), " ".join(remarks))
    return ReadAnswer("plan", tuple(steps), " ".join(remarks))


def _number_lines(text: str) -> list[str]:
    """Return every step marker at the start of a line, written as "N. "."""

    marked = _STEP_AT_START.sub(r"\1. ", _renumbered(text))
    lines: list[str] = []
    for line in marked.splitlines():
        lines += _split_inner(line) if _ITEM.match(line) else [line]
    return [line.strip() for line in lines if line.strip()]


def _renumbered(text: str) -> str:
    """Return a text in which each step marker begins a line, without the marks before it."""
    pieces, end = [], 0
    for match in _STEP.finditer(text):
        start = _start_of_marker(text, end, match.start())
        if start is None:
            continue
        if _MENTION.search(text[max(0, start - 8) : start]):
            pieces.append(text[end : match.end()])
        else:
            pieces += [text[end:start], f"\n{match.group(1)}. "]
        end = match.end()
    return "".join([*pieces, text[end:]])


def _start_of_marker(text: str, least: int, word: int) -> int | None:
    """Return where the marks before ``word`` begin: behind a blank or the end of a sentence."""
    first = word
    while first > least and not (text[first - 1].isalnum() or text[first - 1] == "_"):
        first -= 1
    for place in range(first, word + 1):
        if place == 0 or text[place - 1].isspace() or text[place - 1] in ".!?;":
            return place
    return None


def _split_inner(line: str) -> list[str]:
    """Split steps that stand inside one line, as in "1. … 2. …". Do this. 2. Do that." on one line
    becomes two, where the numbers count up.
    """
    first = _ITEM.match(line)
    wanted = int(first.group(1)) + 1 if first else 1
    parts, start = [], 0
    for match in _INNER_ITEM.finditer(line):
        if int(match.group(1)) == wanted:
            parts.append(line[start : match.start()])
            start, wanted = match.start(), wanted + 1
    return [*parts, line[start:]]


def _numbered(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return numbered steps, or bulleted ones; what stands before and after them are remarks."""
    marker = next((m for m in (_ITEM, _BULLET) if any(m.match(line) for line in lines)), None)
    if marker is None:
        return [], []
    steps: list[str] = []
    remarks: list[str] = []
    for line in lines:
        if marker.match(line):
            steps.append(marker.sub("", line).strip())
        elif steps and (line[0].islower() or not steps[-1]):
            steps[-1] = f"{steps[-1]} {line}".strip()
        else:
            remarks.append(line)
    steps = [step for step in steps if step]
    if steps:
        steps[-1], remark = _without_remark(steps[-1])
        remarks += remark
    return [step for step in steps if step], remarks


def _without_remark(step: str) -> tuple[str, list[str]]:
    """Return a last step and the remarks that follow it on the same line."""
    parts = _SENTENCE_OR_NOTE.split(step)
    for place, part in enumerate(parts):
        if place and _REMARK.match(part):
            return " ".join(parts[:place]), parts[place:]
    return step, []


def _prose(text: str) -> tuple[list[str], list[str]]:
    """Return the sentences of an answer that numbers nothing."""
    steps: list[str] = []
    remarks: list[str] = []
    for line in text.splitlines():
        for sentence in _SENTENCE.split(line):
            (remarks if steps and _REMARK.match(sentence) else steps).append(sentence.strip())
    return [step for step in steps if re.search(r"\w", step)], remarks
