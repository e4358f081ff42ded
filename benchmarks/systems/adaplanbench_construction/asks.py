"""The asks of the construction pipeline: who is told what.

Planners never learn of the reference solution, nor of what other planners brought up.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.core.types import Ask, Expect, Json, Message, Task
from benchmarks.systems.adaplanbench_construction.pools import (
    ConstraintPool,
    PooledCandidate,
    PooledConstraint,
    new_ids,
)
from benchmarks.systems.adaplanbench_construction.prompts import fill
from benchmarks.systems.adaplanbench_construction.protocol import CRITERIA, GROUNDS, GROUNDS_OF

# The plans of one reply are meant to differ, whatever an endpoint is set to.
SAMPLING = {"temperature": 1.0}
FIRST = "1"
NO_REFERENCE = "none is known"


def planner_seats(planners: int) -> tuple[str, ...]:
    """Return the planners by number; the agent is the first."""
    return tuple(str(number) for number in range(1, planners + 1))


def ask_rewriter(task: Task, version: str = "") -> Ask:
    messages = (Message("system", fill("rewriter", {}, version)), Message("user", task.prompt))
    return Ask("rewriter", messages, Expect("query"), context={"problem": task.prompt})


def ask_filter(query: str, version: str = "") -> Ask:
    brief = fill("filter", {"criteria": _named(CRITERIA)}, version)
    return Ask(
        "filter",
        (Message("system", brief), Message("user", query)),
        Expect("verdict", {"criteria": list(CRITERIA)}),
        context={"query": query, "criteria": dict(CRITERIA)},
    )


class RoundAsks(NamedTuple):
    """The asks of one round about one query, in a version of the prompts (empty: the newest)."""

    query: str
    reference: str
    place: int
    version: str = ""

    def planner(self, seat: str, kind: str, pool: ConstraintPool, count: int) -> Ask:
        """Ask for several plans in one reply, showing the pool of this planner and kind alone."""
        values = {"told": _lines(item.text for item in pool.items), "count": count}
        return Ask(
            "agent" if seat == FIRST else "planner",
            (
                Message("system", fill(f"planner_{kind}", values, self.version)),
                Message("user", self.query),
            ),
            Expect("plans", {"count": count, "sampling": SAMPLING}),
            seat="" if seat == FIRST else seat,
            context={
                "query": self.query,
                "kind": kind,
                "round": self.place,
                "count": count,
                "told": [item.for_prompt() for item in pool.items],
            },
        )

    def extractor(self, kind: str, plans: Sequence[str]) -> Ask:
        """Ask for the tools of the plans, and candidates of one kind from them."""
        known = {"query": self.query, "reference": self._reference}
        brief = fill(f"extractor_{kind}", known, self.version)
        shown = "\n\n".join(f"Plan {number}\n{plan}" for number, plan in enumerate(plans, 1))
        return Ask(
            "extractor",
            (Message("system", brief), Message("user", shown)),
            Expect("candidates", {"kind": kind}),
            context={**self._known(kind), "plans": list(plans)},
        )

    def merger(self, kind: str, pool: ConstraintPool, new: Sequence[PooledConstraint]) -> Ask:
        """Return what is new beside what is settled in one planner's pool."""
        settled, fresh = _by_id(pool.settled_ids(), pool.items), _by_id(new_ids(new), new)
        values = {"settled": _with_ids(settled), "new": _with_ids(fresh)}
        return Ask(
            "merger",
            (Message("system", fill("merger", values, self.version)), Message("user", self.query)),
            Expect("merged", {"settled": list(settled), "new": list(fresh)}),
            context={
                "query": self.query,
                "kind": kind,
                "round": self.place,
                "settled": [{"id": name, **item.for_prompt()} for name, item in settled.items()],
                "new": [{"id": name, **item.for_prompt()} for name, item in fresh.items()],
            },
        )

    def checker(
        self, kind: str, kept: Sequence[PooledCandidate], new: Sequence[PooledCandidate]
    ) -> Ask:
        """Return a decision on everything that is new, told what is kept already."""
        proposed = {f"c{number}": entry for number, entry in enumerate(new, 1)}
        grounds = {name: GROUNDS[name] for name in GROUNDS_OF[kind]}
        values = {
            "query": self.query,
            "reference": self._reference,
            "grounds": _named(grounds),
            "kept": _lines(entry.text for entry in kept),
            "proposed": _with_ids(proposed),
        }
        return Ask(
            "checker",
            (
                Message("system", fill(f"checker_{kind}", values, self.version)),
                Message("user", "Decide now."),
            ),
            Expect("decisions", {"keys": list(proposed), "grounds": list(grounds)}),
            context={
                **self._known(kind),
                "grounds": grounds,
                "kept": [entry.for_prompt() for entry in kept],
                "proposed": [
                    {"key": name, **entry.for_prompt()} for name, entry in proposed.items()
                ],
            },
        )

    @property
    def _reference(self) -> str:
        return self.reference or NO_REFERENCE

    def _known(self, kind: str) -> Json:
        return {
            "query": self.query,
            "reference": self.reference,
            "kind": kind,
            "round": self.place,
        }


def _by_id(ids: Sequence[str], items: Sequence[PooledConstraint]) -> dict[str, PooledConstraint]:
    return dict(zip(ids, items, strict=True))


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts) or "- nothing yet"


def _with_ids(items: Mapping[str, Any]) -> str:
    return _lines(f"{name}: {item.text}" for name, item in items.items())


def _named(texts: Mapping[str, str]) -> str:
    return _lines(f"{name}: {text}" for name, text in texts.items())
