"""A dialogue with tools as its annotator sees it; what it was worth in its file is not told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Assignment
from benchmarks.core.labels import plain
from benchmarks.models import Turn
from benchmarks.trajectories.messages import Said, as_text, messages_of

# What an annotator reads first of what was hidden; the rest is folded.
AIMS = ("instruction", "user_scenario", "goal", "target")


@dataclass(frozen=True)
class DialogueTurn:
    """What the agent did from one word of its user to the next."""

    index: int
    is_final: bool
    said: Sequence[Said]
    unfolded: bool = True

    @property
    def calls(self) -> int:
        return sum(call.by == "agent" for said in self.said for call in said.calls)

    @property
    def failed(self) -> int:
        return sum(said.failed and not said.hidden for said in self.said)

    @property
    def gist(self) -> str:
        """The first words of the agent, to find a turn again when it is folded."""
        words = (said.text for said in self.said if said.speaker == "assistant" and said.text)
        return next(words, "")


@dataclass(frozen=True)
class Kept:
    """One thing that was hidden from the agent."""

    name: str
    text: str
    is_aim: bool


@dataclass(frozen=True)
class Dialogue:
    """What stood before the agent's first word, then the turns."""

    opening: Sequence[Said]
    turns: Sequence[DialogueTurn]
    kept: Sequence[Kept]
    hides: bool


def load_dialogue(item: Assignment) -> Dialogue:
    """The messages of an item in two queries; ``hides``: something hidden is not shown here."""
    rows = list(Turn.objects.filter(trajectory=item.trajectory_id).order_by("index"))
    told = messages_of(rows)
    opening: list[Said] = []
    turns = []
    for row, messages in zip(rows, told, strict=True):
        before = len(row.payload.get("opening", ()))
        opening += messages[:before]
        turns.append(DialogueTurn(row.index, row.is_final, _shown(item, messages[before:])))
    assert item.trajectory is not None and item.item.task is not None
    payloads = (item.item.task.payload, item.trajectory.payload)
    kept = [fact for payload in payloads for fact in _kept(payload.get("hidden") or {})]
    hidden = bool(kept) or any(said.hidden for turn in told for said in turn)
    return Dialogue(
        _shown(item, opening),
        turns,
        kept if item.study.shows_hidden else [],
        hidden and not item.study.shows_hidden,
    )


def _shown(item: Assignment, messages: Sequence[Said]) -> list[Said]:
    return [said for said in messages if item.study.shows_hidden or not said.hidden]


def _kept(hidden: Mapping[str, Any]) -> list[Kept]:
    facts = [
        Kept(plain(name), as_text(value), name in AIMS)
        for name, value in hidden.items()
        if value not in (None, "", [], {})
    ]
    return sorted(facts, key=lambda fact: not fact.is_aim)
