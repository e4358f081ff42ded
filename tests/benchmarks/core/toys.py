"""A toy protocol and toy answerers, small enough that a test shows all that matters."""

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Cast, Identity
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Driver
from benchmarks.core.errors import UnreadableReply
from benchmarks.core.log import Call, CallResult, MemoryLog, Settled
from benchmarks.core.types import Ask, Episode, Expect, Message, Outcome, Reply, Turn


def ask(role: str, text: str = "?", kind: str = "text", seat: str = "", **params: Any) -> Ask:
    return Ask(role, (Message("user", text),), Expect(kind, params), seat)


def parse_number(text: str, params: Mapping[str, Any]) -> int:
    try:
        return int(text)
    except ValueError:
        raise UnreadableReply("expected a whole number.") from None


PARSERS: dict[str, Callable[[str, Mapping[str, Any]], Any]] = {
    "text": lambda text, params: text,
    "number": parse_number,
}


@dataclass
class Actor:
    """An answerer that remembers what it was asked, for the test to look at."""

    rule: Callable[[Ask, int], Answer | str]
    name: str = "actor"
    instant: bool = False
    calls: list[tuple[Ask, int]] = field(default_factory=list)

    @property
    def identity(self) -> Identity:
        return Identity("scripted", self.name, "1")

    def answer(self, ask: Ask, seed: int) -> Answer:
        self.calls.append((ask, seed))
        said = self.rule(ask, seed)
        return said if isinstance(said, Answer) else Answer(said)


def saying(text: str, **changes: Any) -> Actor:
    return Actor(lambda ask, seed: text, **changes)


def reading_out(*texts: str) -> Actor:
    """Says one text after the other, whatever it is asked."""
    left = list(texts)
    return Actor(lambda ask, seed: left.pop(0))


def raising(error: BaseException, **changes: Any) -> Actor:
    def rule(ask: Ask, seed: int) -> Answer:
        raise error

    return Actor(rule, **changes)


def batches(*rounds: Sequence[Ask]) -> Generator[Any, Sequence[Reply] | None, Outcome]:
    """Asks one batch after the other, a turn after each, and reports every reply at the end."""
    seen: list[list[Any]] = []
    for number, asks in enumerate(rounds, 1):
        replies = yield asks
        assert replies is not None
        seen.append([[r.state, r.value, r.reason] for r in replies])
        yield Turn(number, " ".join(r.text for r in replies))
    return Outcome("done", {"rounds": len(rounds)}, payload={"replies": seen})


def driver(
    log: MemoryLog,
    roles: Mapping[str, Answerer | Mapping[str, Answerer]],
    executor: ThreadPoolExecutor | None = None,
    **changes: Any,
) -> Driver:
    cast = Cast({r: who if isinstance(who, Mapping) else {"": who} for r, who in roles.items()})
    made = Driver(
        cast, log, PARSERS, lambda step, slot: derive_seed("toy", step, slot), executor=executor
    )
    return replace(made, **changes)


def states(log: MemoryLog) -> list[tuple[int, int, int, str]]:
    """(step, slot, attempt, state) of every stored exchange."""
    return [(row.step, row.slot, row.attempt, row.state) for row in log.exchanges()]


class Death(BaseException):
    """The process dies. No ``except Exception`` may catch it."""


class DyingLog(MemoryLog):
    """A log whose process dies right after the ``last`` write that changes something."""

    def __init__(self, last: int, before: MemoryLog | None = None) -> None:
        super().__init__()
        self.left = last
        if before is not None:
            self.rows, self.turns = dict(before.rows), dict(before.turns)
            self.waiting, self.outcome = dict(before.waiting), before.outcome

    def _written(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Death

    def record_sent(self, calls: Sequence[Call], settled: Sequence[Settled] = ()) -> None:
        super().record_sent(calls, settled)
        self._written()

    def record_verdict(self, call: Call, verdict: CallResult) -> None:
        super().record_verdict(call, verdict)
        self._written()

    def record_turn(self, turn: Turn) -> None:
        known = turn.index in self.turns
        super().record_turn(turn)
        if not known:
            self._written()

    def record_outcome(self, outcome: Outcome) -> None:
        super().record_outcome(outcome)
        self._written()


class SignallingLog(MemoryLog):
    """Sets ``seen`` when a certain reply has been logged."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.seen = text, threading.Event()

    def record_verdict(self, call: Call, verdict: CallResult) -> None:
        super().record_verdict(call, verdict)
        if verdict.answer.text == self.text:
            self.seen.set()


def run_until_death(run: Driver, episode: Episode) -> bool:
    """Return whether the process died on the way."""
    try:
        run.run(episode)
    except Death:
        return True
    return False
