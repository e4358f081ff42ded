"""The log port: what the driver needs of a store, and a store in memory for tests and benches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from benchmarks.core.answerers import Answer, Identity
from benchmarks.core.digests import canonical_json
from benchmarks.core.errors import CapReached, TurnMismatch
from benchmarks.core.types import Ask, Outcome, Turn

ExchangeState = Literal[
    "sent", "answered", "unreadable", "declined", "failed", "lost", "withdrawn"
]  # fmt: skip


@dataclass(frozen=True)
class Call:
    """An ask on its way: attempt counts from 1 within (step, slot).

    ``repeats`` is the attempt that was in flight when its process died, 0 where there is none;
    ``unreadable`` counts the replies to this slot that could not be read before, ``lost`` the
    calls of this process whose outcome nobody knows. ``most`` is the most that the call can cost:
    0 where it is free, None where nobody can tell.
    """

    step: int
    slot: int
    attempt: int
    ask: Ask
    by: Identity
    seed: int
    repeats: int = 0
    unreadable: int = 0
    lost: int = 0
    most: float | None = 0.0


@dataclass(frozen=True)
class Exchange:
    """One row of the append-only log: what was asked (as digests) and what came of it."""

    step: int
    slot: int
    attempt: int
    ask_digest: str
    state: ExchangeState
    text: str = ""
    value: Any = None
    reason: str = ""
    message_digests: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallResult:
    """The end of a call: the state that its exchange takes, with the parsed value or the reason."""

    state: ExchangeState
    answer: Answer
    value: Any = None
    reason: str = ""


Settled = tuple[Call, CallResult]


def counted_cost(call: Call, verdict: CallResult) -> float:
    """Return what a settled call counts against a cap: its cost, or all it may have cost if
    unknown.
    """
    if verdict.answer.cost is not None:
        return verdict.answer.cost
    return 0.0 if verdict.state == "failed" else call.most or 0.0


class Log(Protocol):
    """Append-only store of one trajectory. What cannot be derived is committed on return."""

    def exchanges(self) -> Iterable[Exchange]:
        """Return everything stored, ordered by (step, slot, attempt)."""

    def record_sent(self, calls: Sequence[Call], settled: Sequence[Settled] = ()) -> None:
        """Store rows in state *sent*, before any call leaves, and those of calls that need not
        leave.

        The most that the calls can cost is put aside with them; ``CapReached``, and nothing
        written, where a cap does not allow it. ``settled`` was answered within this process.
        """

    def record_verdict(self, call: Call, verdict: CallResult) -> None:
        """Store the reply of one call, or why there is none; in a transaction of its own."""

    def open_asks(self, calls: Sequence[Call]) -> None:
        """Open asks that wait for a person; opening one twice changes nothing."""

    def record_turn(self, turn: Turn) -> None:
        """Store a derived turn: inserted once, compared ever after (``TurnMismatch``).

        It follows from what is stored, so it may be committed together with what comes next.
        """

    def record_outcome(self, outcome: Outcome) -> None:
        """Store the end of the episode."""


def total_most(calls: Sequence[Call], *, capped: bool) -> float:
    """Return the most that calls can cost together; ``CapReached`` where a cap meets an unknown
    price.
    """
    if capped and any(call.most is None for call in calls):
        raise CapReached(
            "a cost cap needs endpoints with both prices and a max_tokens; "
            "without them nobody can tell what a call may cost"
        )
    return sum(call.most or 0.0 for call in calls)


def _amount(value: float) -> str:
    """Return an amount of money with two digits at least, and four decimals where it is small."""
    return f"{value:.2f}" if value >= 1 else f"{value:.4f}"


def cap_reached(cap: float, committed: float, most: float) -> CapReached:
    return CapReached(
        f"{_amount(committed)} of {cap:g} used under the cost cap, calls under way included; the "
        f"next step may cost {_amount(most)}"
    )


class MemoryLog:
    """The port in memory, with a cap on cost if one is given."""

    def __init__(self, cap: float | None = None) -> None:
        self.cap, self.committed = cap, 0.0
        self.rows: dict[tuple[int, int, int], Exchange] = {}
        self.turns: dict[int, Turn] = {}
        self.waiting: dict[tuple[int, int], Call] = {}
        self.outcome: Outcome | None = None

    def exchanges(self) -> list[Exchange]:
        return [self.rows[key] for key in sorted(self.rows)]

    def record_sent(self, calls: Sequence[Call], settled: Sequence[Settled] = ()) -> None:
        most = total_most(calls, capped=self.cap is not None)
        if self.cap is not None and self.committed + most > self.cap:
            raise cap_reached(self.cap, self.committed, most)
        self.committed += most
        for call in [*calls, *(call for call, _ in settled)]:
            if call.repeats:
                lost = (call.step, call.slot, call.repeats)
                self.rows[lost] = replace(self.rows[lost], state="lost")
            self.rows[call.step, call.slot, call.attempt] = Exchange(
                call.step,
                call.slot,
                call.attempt,
                call.ask.digest,
                "sent",
                message_digests=tuple(m.digest for m in call.ask.messages),
            )
        for call, verdict in settled:
            self.committed += counted_cost(call, verdict)
            self._store_verdict(call, verdict)

    def record_verdict(self, call: Call, verdict: CallResult) -> None:
        self.committed += counted_cost(call, verdict) - (call.most or 0.0)
        self._store_verdict(call, verdict)

    def _store_verdict(self, call: Call, verdict: CallResult) -> None:
        key = (call.step, call.slot, call.attempt)
        self.rows[key] = replace(
            self.rows[key],
            state=verdict.state,
            text=verdict.answer.text,
            value=verdict.value,
            reason=verdict.reason,
        )

    def open_asks(self, calls: Sequence[Call]) -> None:
        for call in calls:
            self.waiting.setdefault((call.step, call.slot), call)

    def record_turn(self, turn: Turn) -> None:
        check_same_turn(self.turns.setdefault(turn.index, turn), turn)

    def record_outcome(self, outcome: Outcome) -> None:
        self.outcome = outcome


def turn_facts(turn: Turn) -> dict[str, Any]:
    """Return the part of a turn that replay must reproduce, as JSON values."""
    return {
        "text": turn.text,
        "feedback": turn.feedback,
        "payload": dict(turn.payload),
        "violations": [[v.key, v.kind, v.revealed, v.new, v.repeated] for v in turn.violations],
        # stores keep scores as floats, judges give whole numbers
        "scores": [
            [s.seat, s.dimension, None if s.value is None else float(s.value), s.replicate]
            for s in turn.scores
        ],
    }


def check_same_turn(stored: Turn, derived: Turn) -> None:
    """Raise ``TurnMismatch`` naming the first field in which the two turns differ."""
    if stored is derived:
        return
    before, now = turn_facts(stored), turn_facts(derived)
    for name, value in before.items():
        if canonical_json(value) != canonical_json(now[name]):
            raise TurnMismatch(derived.index, f"{name} differs from what is stored")
