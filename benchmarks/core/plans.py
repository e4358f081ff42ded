"""Plans as numbered steps, and the pools of plans from which scripted and recorded agents draw."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.core.errors import UnreadableReply
from benchmarks.core.types import Task

# "1.", "2)", "Step 3:", "4 -", but neither "2.5 litres" nor "2-inch strips"
_NUMBER = re.compile(r"^\s*(?:step\s*)?\d{1,3}\s*(?:[.):](?!\d)|-(?!\w))\s*", re.IGNORECASE)
_BULLET = re.compile(r"^\s*[-*•]\s+")


@dataclass(frozen=True)
class PoolPlan:
    """A plan that is known beforehand, with what it uses and how good it really is.

    ``tools`` and ``attributes`` are what scripted constraint judges decide from; ``quality`` maps
    rubric dimensions to a true level from 1 to 5 and is empty where nobody knows it. ``author``
    and ``verdict`` belong to recorded answers.
    """

    key: str
    steps: tuple[str, ...]
    tools: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    quality: Mapping[str, int] = field(default_factory=dict)
    author: str = ""
    verdict: str = ""

    @property
    def text(self) -> str:
        return number_steps(self.steps)

    def uses(self, about: str) -> bool:
        """Return whether the plan touches an ``about``: ``tool:NAME`` or ``attribute:NAME``."""
        kind, _, name = about.partition(":")
        return name in (self.tools if kind == "tool" else self.attributes)


def number_steps(steps: Sequence[str]) -> str:
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def split_steps(text: str) -> list[str]:
    """Return the steps of a plan as written: numbered lines, else bullets, else lines.

    Lines before the first number are a preamble and dropped; an unnumbered line after a number
    continues its step.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    marker = next((m for m in (_NUMBER, _BULLET) if any(m.match(line) for line in lines)), None)
    if marker is None:
        return lines
    steps: list[str] = []
    for line in lines:
        if marker.match(line):
            steps.append(marker.sub("", line).strip())
        elif steps:
            steps[-1] = f"{steps[-1]} {line}".strip()
    return [step for step in steps if step]


def parse_plan(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parse kind ``plan``: the text and its steps; unreadable without a single step."""
    steps = split_steps(text)
    if not steps:
        raise UnreadableReply("expected a plan in numbered steps, found no step.")
    return {"text": text.strip(), "steps": steps}


def pool_of(task: Task) -> tuple[PoolPlan, ...]:
    """Return the task's known plans; empty for tasks that carry none."""
    return tuple(map(_plan, task.payload.get("plans", ())))


def stages_of(task: Task) -> tuple[tuple[PoolPlan, ...], ...]:
    """Return what an agent chooses from: for each stage the ways of doing it, which make a plan
    together.

    A task without stages is one stage, whose ways are its known plans.
    """
    stages = tuple(tuple(map(_plan, row["ways"])) for row in task.payload.get("stages", ()))
    return stages or tuple(filter(None, [pool_of(task)]))


def combine(ways: Sequence[PoolPlan]) -> PoolPlan:
    """Return one plan out of a way for each stage; it is as good as its weakest step."""
    if len(ways) == 1:
        return ways[0]
    dimensions = dict.fromkeys(name for way in ways for name in way.quality)
    return PoolPlan(
        key="+".join(way.key for way in ways),
        steps=tuple(step for way in ways for step in way.steps),
        tools=tuple(dict.fromkeys(name for way in ways for name in way.tools)),
        attributes=tuple(dict.fromkeys(name for way in ways for name in way.attributes)),
        quality={d: min(way.quality[d] for way in ways if d in way.quality) for d in dimensions},
    )


class KnownPlans:
    """Recognises the plans of a task by their text, those made of its stages too."""

    def __init__(self, task: Task) -> None:
        self._plans = {normal_steps(plan.text): plan for plan in pool_of(task)}
        staged = stages_of(task) if task.payload.get("stages") else ()
        self._ways = {normal_steps(way.text): way for stage in staged for way in stage}

    def find(self, text: str) -> PoolPlan | None:
        """Return the known plan with this text, or None."""
        steps = normal_steps(text)
        if (plan := self._plans.get(steps)) is not None:
            return plan
        ways = [self._ways.get((step,)) for step in steps]
        known = [way for way in ways if way is not None]
        return combine(known) if known and len(known) == len(ways) else None


def normal_steps(text: str) -> tuple[str, ...]:
    """Return the steps of a plan without regard to case and spacing."""
    return tuple(" ".join(step.lower().split()) for step in split_steps(text))


def _plan(row: Mapping[str, Any]) -> PoolPlan:
    return PoolPlan(
        key=row["key"],
        steps=tuple(row["steps"]),
        tools=tuple(row.get("tools", ())),
        attributes=tuple(row.get("attributes", ())),
        quality=row.get("quality", {}),
        author=row.get("author", ""),
        verdict=row.get("verdict", ""),
    )


def normal_words(text: str) -> str:
    """Return a text by its words alone; answers that differ only in layout are the same answer."""
    return " ".join(re.findall(r"[a-z]+|(?<!\d)\d++(?!\.\s)", text.lower()))


# Longer texts are compared by their first words, so that the time stays bounded.
MOST_WORDS = 400


def word_distance(offered: str, text: str) -> float:
    """Return the edit distance of two texts in words, as a share of the longer one's words.

    0 is the same words, 1 that none stayed in its place; words differ whatever their letters.
    """
    before, after = offered.split()[:MOST_WORDS], text.split()[:MOST_WORDS]
    if not before or not after:
        return float(before != after)
    costs: list[int] = [*range(len(after) + 1)]
    for row, word in enumerate(before, 1):
        diagonal, costs[0] = costs[0], row
        for column, other in enumerate(after, 1):
            replaced = diagonal + int(word != other)
            diagonal = costs[column]
            costs[column] = min(replaced, costs[column] + 1, costs[column - 1] + 1)
    return float(costs[-1] / max(len(before), len(after)))
