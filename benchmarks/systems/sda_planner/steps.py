"""Steps of a plan: their text, and reading them from what an agent writes."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.core.errors import UnreadableReply
from benchmarks.systems.sda_planner.house.affordances import read_type, type_words

FIND, PICK, PUT, OPEN = "find", "pick up", "put down", "open"
CLOSE, ON, OFF, SLICE = "close", "turn on", "turn off", "slice"
SKILLS = (FIND, PICK, PUT, OPEN, CLOSE, ON, OFF, SLICE)
# A step that could not be read; it fails when its turn comes.
UNPARSED = "unparsed"
DONE = "done"

MAX_STEPS_OF_PLAN = 200
MAX_CORRECTIVE = 4
LONGEST_TEXT = 40_000

_MARK = re.compile(r"\A(?:step\s*+)?(?:\d+\s*[.):]|[-*•])?\s*", re.IGNORECASE)
_NUMBERED = re.compile(r"\A\s*(?:step\s*)?\d+\s*[.):]", re.IGNORECASE)
_ID = re.compile(r"[<\[(]\s*([A-Za-z]+(?:\|[^|<>\[\]()\s]+)+)\s*[>\])]")
_ARTICLE = re.compile(r"^(?:the|an|a|some)\s+", re.IGNORECASE)
_SYNONYMS = {
    "go to": FIND, "locate": FIND, "walk to": FIND, "take": PICK, "grab": PICK, "pick": PICK,
    "place": PUT, "put": PUT, "drop": PUT, "switch on": ON, "switch off": OFF, "shut": CLOSE,
    "cut": SLICE,
}  # fmt: skip
_STARTS = sorted([*((s, s) for s in SKILLS), *_SYNONYMS.items()], key=lambda pair: -len(pair[0]))


@dataclass(frozen=True)
class Step:
    """One mid-level action: a skill on a type of object, or on one object where ``id`` names it.

    A step that could not be read has the skill ``unparsed``, and its text as its type.
    """

    skill: str
    type: str
    id: str = ""

    @property
    def text(self) -> str:
        """The step as plans write it."""
        if self.skill == UNPARSED:
            return self.type
        article = "the" if self.skill != FIND else "an" if self.type[:1] in "AEIOU" else "a"
        return f"{self.skill} {article} {type_words(self.type)}"

    @property
    def exact(self) -> str:
        """The step as plans write it, with the object it means where that is known."""
        return f"{self.text} <{self.id}>" if self.id else self.text

    @property
    def item(self) -> str:
        """The thing that the step is about, as precisely as it says."""
        return self.id or self.type

    @property
    def item_key(self) -> tuple[str, str]:
        """The skill with the thing that it is about: steps with one key do the same."""
        return self.skill, self.item

    def to_json(self) -> list[str]:
        return [self.skill, self.type, self.id]

    @classmethod
    def of(cls, value: Sequence[Any]) -> "Step":
        """Return the step that stored JSON stands for: [skill, type, id]."""
        skill, type, *rest = value
        return cls(str(skill), str(type), str(rest[0]) if rest and rest[0] else "")


def number_plan(steps: Iterable[Step]) -> str:
    """Return a plan as numbered lines."""
    return "\n".join(f"{number}. {step.text}" for number, step in enumerate(steps, 1))


def write_plan(steps: Iterable[Step]) -> str:
    """Return a plan as an agent writes it, naming objects where they are known, up to ``done``."""
    lines = [step.exact for step in steps] + [DONE]
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def read_step(text: str) -> Step:
    """Return the step that a line stands for; one that cannot be read is kept as it is."""
    match = _ID.search(text)
    id = match[1] if match else ""
    words = _ID.sub("", text).strip().strip("\"'`").rstrip(".")
    lowered = " ".join(words.lower().split())
    for start, skill in _STARTS:
        if lowered == start or lowered.startswith(start + " "):
            rest = _ARTICLE.sub("", " ".join(words.split())[len(start) :].strip())
            # What a thing is put into is said by the find before it.
            rest = re.split(r" (?:in|on|into|onto|from|at|with|inside) ", rest)[0]
            type = read_type(_ARTICLE.sub("", rest))
            if type:
                return Step(skill, type, id)
            break
    return Step(UNPARSED, words[:120])


def _without_mark(line: str) -> str:
    """Return the words of a line without its number or bullet and without the mark at its end."""
    words = _MARK.sub("", line)
    if words.endswith((".", ";", ",")):
        words = words[:-1].rstrip()
    # A text of several lines comes from a JSON list; it is no step, and is kept whole.
    return line if "\n" in words else words


def read_steps(text: str, most: int = MAX_STEPS_OF_PLAN) -> list[Step]:
    """Return the steps of a reply: numbered lines, or a JSON list of texts.

    Text before the first numbered line is ignored where there are numbers. Raises
    ``UnreadableReply`` for an empty plan and for one of more than ``most`` steps.
    """
    if len(text) > LONGEST_TEXT:
        raise UnreadableReply(f"expected at most {LONGEST_TEXT:,} characters, found {len(text):,}.")
    lines = _json_lines(text)
    if lines is None:
        lines = [line for line in text.splitlines() if line.strip() and "```" not in line]
        numbered = [line for line in lines if _NUMBERED.match(line)]
        lines = numbered or lines
    steps: list[Step] = []
    for line in lines:
        words = _without_mark(line.strip())
        if not words:
            continue
        if words.lower().strip(". ") == DONE:
            return steps
        steps.append(read_step(words))
        if len(steps) > most:
            raise UnreadableReply(f"expected at most {most} steps, found {len(lines)} lines.")
    if not steps:
        raise UnreadableReply("expected numbered steps that end with done, found none.")
    return steps


def _json_lines(text: str) -> list[str] | None:
    """Return the texts of a JSON list, or None where the reply is no such list."""
    stripped = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if not stripped.startswith("["):
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise UnreadableReply("expected a JSON list of texts, one for each step.")
    return value


def parse_plan(text: str, params: Mapping[str, Any]) -> list[list[str]]:
    """Read a plan; a plan may be ``done`` alone, where nothing is left to do."""
    return [step.to_json() for step in read_steps(text)]


def parse_corrective(text: str, params: Mapping[str, Any]) -> list[list[str]]:
    """Read at most four corrective steps; ``none`` says that no further step is needed."""
    if text.strip().lower().strip(".") in ("none", DONE, "1. none", "1. done"):
        return []
    return [step.to_json() for step in read_steps(text)[:MAX_CORRECTIVE]]


def parse_choice(text: str, params: Mapping[str, Any]) -> int:
    """Read the number of an option, from 1 to ``params["options"]``."""
    most = int(params["options"])
    numbers = re.findall(r"\d+", text[:2000])
    if len(numbers) != 1 or not 1 <= int(numbers[0][:9]) <= most:
        found = ", ".join(numbers[:5]) or "none"
        raise UnreadableReply(f"expected one number from 1 to {most}, found {found}.")
    return int(numbers[0])
