"""Drives the construction with replies made up by a test: no answerers, no driver.

Plans are words: ``Cast.says`` maps (round, seat, kind) to the words that a planner's plan consists
of. Each word becomes a candidate, so a test says in words what is constructed.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.core.candidates import KEPT, REMOVED
from benchmarks.core.system import read_settings
from benchmarks.core.types import Ask, Outcome, Reply, Task, Turn
from benchmarks.systems.adaplanbench_construction.pools import normal_form
from benchmarks.systems.adaplanbench_construction.system import SYSTEM

TASK = Task("t", "A long riddle.", payload={"solution": "1. Use the secret lever."})
QUERY = "How can I dry a wet floor?"


@dataclass
class Cast:
    """The replies of all roles; ``removes``, ``forgets`` and ``joins`` are words in any case.

    ``joins`` maps words to the one word by which a merger calls them.
    """

    says: Mapping[tuple[int, str, str], Sequence[str]] = field(default_factory=dict)
    removes: frozenset[str] = frozenset()
    forgets: frozenset[str] = frozenset()
    joins: Mapping[str, str] = field(default_factory=dict)
    failed: Sequence[str] = ()
    lost: Callable[[Ask], str] = lambda ask: ""

    def reply(self, ask: Ask) -> Any:
        context = ask.context
        match ask.role:
            case "rewriter":
                return QUERY
            case "filter":
                return {"fit": not self.failed, "failed": list(self.failed), "reason": "Because."}
            case "agent" | "planner":
                words = self.says.get((context["round"], ask.seat or "1", context["kind"]), ())
                return {"plans": [{"text": " ".join(words), "probability": 0.5}]}
            case "extractor":
                words = " ".join(context["plans"]).split()
                rows = [{"text": word, "about": f"tool:{word.lower()}"} for word in words]
                return {"tools": words, "candidates": rows}
            case "merger":
                return {"constraints": self._merged(context), "forgotten": []}
        return {
            "decisions": [
                {"key": row["key"], **self._decision(row["text"])} for row in context["proposed"]
            ]
        }

    def _merged(self, context: Mapping[str, Any]) -> list[dict[str, Any]]:
        settled = {normal_form(row["text"]): row["id"] for row in context["settled"]}
        found: dict[str, list[str]] = {}
        for row in context["new"]:
            word = normal_form(row["text"])
            if word not in self.forgets:
                found.setdefault(self.joins.get(word, row["text"]), []).append(row["id"])
        return [
            {"text": text, "from": [*([settled[name]] if name in settled else []), *ids]}
            for text, ids in found.items()
            for name in [normal_form(text)]
        ]

    def _decision(self, text: str) -> dict[str, str]:
        if normal_form(text) in self.removes:
            return {"decision": REMOVED, "ground": "vague", "reason": "Who knows."}
        return {"decision": KEPT, "ground": "", "reason": ""}


@dataclass
class Show:
    """A record of an episode: what was asked and yielded, and how it ended."""

    batches: list[list[Ask]] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    outcome: Outcome = field(default_factory=lambda: Outcome("", {}))

    def asks(self, role: str) -> list[Ask]:
        return [ask for batch in self.batches for ask in batch if ask.role == role]

    @property
    def roles(self) -> list[list[str]]:
        return [[ask.role for ask in batch] for batch in self.batches]

    @property
    def candidates(self) -> list[dict[str, Any]]:
        return list(self.outcome.payload["candidates"])

    def words(self, decision: str) -> set[tuple[str, str]]:
        return {(r["kind"], r["text"]) for r in self.candidates if r["decision"] == decision}


def perform(cast: Cast, task: Task = TASK, **changes: Any) -> Show:
    """Construct from one problem."""
    show = Show()
    running = SYSTEM.episode(task, read_settings(SYSTEM.settings, changes), random.Random(0))
    send: list[Reply] | None = None
    while True:
        try:
            item = running.send(send)
        except StopIteration as end:
            show.outcome = end.value
            return show
        send = None
        if isinstance(item, Turn):
            show.turns.append(item)
            continue
        show.batches.append(list(item))
        send = [_reply(cast, ask) for ask in item]


def _reply(cast: Cast, ask: Ask) -> Reply:
    if state := cast.lost(ask):
        return Reply("declined" if state == "declined" else "unreadable", reason="gone: away")
    return Reply("answered", cast.reply(ask))
