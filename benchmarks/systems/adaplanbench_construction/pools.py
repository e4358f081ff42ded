"""The candidates that the rounds gather: a pool for each planner and kind, and their decisions.

Both only grow. What stands in a pool keeps its wording, and what the checker decided stays decided,
so the level of a round holds those of the rounds before it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.core.candidates import KEPT, candidate_key
from benchmarks.core.types import Json
from benchmarks.systems.adaplanbench_construction.protocol import LEVELS


def normal_form(text: str) -> str:
    """Return a text by its words alone: layout, case and punctuation make no other constraint."""
    return " ".join(re.findall(r"\w+", text.casefold()))


@dataclass(frozen=True)
class PooledConstraint:
    """A constraint in a pool; ``about`` names what it restricts, ``merged`` what went into it."""

    text: str
    about: str
    merged: frozenset[str] = frozenset()

    def for_prompt(self) -> dict[str, str]:
        return {"text": self.text, "about": self.about}


@dataclass(frozen=True)
class ConstraintPool:
    """The constraints of one kind that one planner's plans brought up, in their order."""

    items: tuple[PooledConstraint, ...] = ()

    def settled_ids(self) -> list[str]:
        return [f"s{number}" for number in range(1, len(self.items) + 1)]

    def merge(
        self, new: Sequence[PooledConstraint], entries: Sequence[Json]
    ) -> tuple["ConstraintPool", list[str]]:
        """Return the pool with what a merger made of ``new``, and the texts that it forgot.

        ``entries`` are those of a merger's readable reply. What it forgot is kept as it is.
        """
        settled = dict(zip(self.settled_ids(), self.items, strict=True))
        fresh = dict(zip(new_ids(new), new, strict=True))
        pooled = {normal_form(item.text): item for item in self.items}
        for entry in entries:
            came = [fresh.pop(name) for name in entry["from"] if name in fresh]
            into = next((settled[name] for name in entry["from"] if name in settled), None)
            if came:
                text = into.text if into else entry["text"]
                _add(pooled, PooledConstraint(text, came[0].about), [item.text for item in came])
        for item in fresh.values():
            _add(pooled, item, [item.text])
        return ConstraintPool(tuple(pooled.values())), [item.text for item in fresh.values()]


def new_ids(new: Sequence[PooledConstraint]) -> list[str]:
    """Return the ids under which a merger is shown what is new."""
    return [f"n{number}" for number in range(1, len(new) + 1)]


def _add(pooled: dict[str, PooledConstraint], item: PooledConstraint, texts: Iterable[str]) -> None:
    """Put an item in, or what went into it to the one of the same words."""
    here = pooled.setdefault(normal_form(item.text), item)
    others = {text for text in texts if normal_form(text) != normal_form(here.text)}
    pooled[normal_form(item.text)] = replace(here, merged=here.merged | others)


@dataclass(frozen=True)
class PooledCandidate:
    """A candidate: what is proposed, by which planners, and what was decided in its round."""

    key: str
    kind: str
    text: str
    about: str
    round: int
    planners: frozenset[str]
    merged: frozenset[str]
    decision: str = ""
    ground: str = ""
    reason: str = ""

    def for_prompt(self) -> dict[str, str]:
        return {"text": self.text, "about": self.about}

    def row(self) -> dict[str, Any]:
        """Return the candidate as the outcome stores it."""
        return {
            "key": self.key,
            "kind": self.kind,
            "text": self.text,
            "about": self.about,
            "round": self.round,
            "planners": sorted(self.planners),
            "decision": self.decision,
            "ground": self.ground,
            "reason": self.reason,
            "merged": sorted(self.merged),
        }


@dataclass
class CandidatePool:
    """Every candidate of one kind by its normal form, in the order in which it was decided."""

    kind: str
    entries: dict[str, PooledCandidate] = field(default_factory=dict)

    def propose(self, place: int, pools: Mapping[str, ConstraintPool]) -> list[PooledCandidate]:
        """Join the pools of all planners, by seat; what is new in round ``place``, by its words.

        Neither the order of the planners nor that of their constraints shows in the result.
        """
        joined: dict[str, list[tuple[str, PooledConstraint]]] = {}
        for seat, pool in pools.items():
            for item in pool.items:
                joined.setdefault(normal_form(item.text), []).append((seat, item))
        new = []
        for words, constraints in sorted(joined.items()):
            planners = frozenset(seat for seat, _ in constraints)
            merged = frozenset().union(*(item.merged for _, item in constraints))
            if (known := self.entries.get(words)) is not None:
                self.entries[words] = replace(
                    known, planners=known.planners | planners, merged=known.merged | merged
                )
                continue
            text, about = min((item.text, item.about) for _, item in constraints)
            key = candidate_key(self.kind, text)
            new.append(PooledCandidate(key, self.kind, text, about, place, planners, merged))
        return new

    def decide(
        self, new: Sequence[PooledCandidate], decisions: Sequence[Json]
    ) -> list[PooledCandidate]:
        """Note what the checker decided, one decision for each entry in their order."""
        decided = [
            replace(entry, decision=row["decision"], ground=row["ground"], reason=row["reason"])
            for entry, row in zip(new, decisions, strict=True)
        ]
        self.entries |= {normal_form(entry.text): entry for entry in decided}
        return decided

    def kept(self) -> list[PooledCandidate]:
        return [entry for entry in self.entries.values() if entry.decision == KEPT]


def levels_of(books: Iterable[CandidatePool], rounds: int) -> dict[str, list[str]]:
    """Return the keys of what was kept by level, each with those of the levels before it."""
    kept = [entry for book in books for entry in book.kept()]
    return {
        level: [entry.key for entry in kept if entry.round <= place]
        for place, level in enumerate(LEVELS[:rounds], 1)
    }
