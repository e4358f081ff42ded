"""Replay an episode from its stored exchanges: nobody is asked, nothing is written."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from benchmarks.core.answerers import Answer, Cast, Identity
from benchmarks.core.driver import Driver, Parser
from benchmarks.core.errors import AnswererFailed, CoreError
from benchmarks.core.log import Call, CallResult, Exchange, Settled
from benchmarks.core.types import Ask, Episode, Outcome, Turn


class NotStored(CoreError):
    """The episode asks something to which no reply is stored."""

    def __init__(self, call: Call) -> None:
        self.step, self.slot, self.ask = call.step, call.slot, call.ask
        super().__init__(f"step {call.step}, slot {call.slot}: no reply is stored")


class _Nobody:
    """Stands where an answerer would, for the driver to have somebody to name."""

    identity = Identity("recorded", "what is stored", "1")
    instant = True

    def answer(self, ask: Ask, seed: int) -> Answer:
        raise AnswererFailed("nobody is asked while an episode is played back")


class _Empty(Cast):
    def answerer_of(self, ask: Ask) -> _Nobody:
        return _NOBODY


_NOBODY = _Nobody()


class Playback:
    """The log port over stored exchanges; keeps what the episode derives from them.

    Parameters
    ----------
    rows
        The exchanges of one trajectory, ordered by (step, slot, attempt).
    """

    def __init__(self, rows: Sequence[Exchange]) -> None:
        self.rows = rows
        self.turns: list[Turn] = []
        self.outcome: Outcome | None = None

    def exchanges(self) -> Sequence[Exchange]:
        return self.rows

    def record_sent(self, calls: Sequence[Call], settled: Sequence[Settled] = ()) -> None:
        raise NotStored(calls[0] if calls else settled[0][0])

    def record_verdict(self, call: Call, verdict: CallResult) -> None:
        raise NotStored(call)

    def open_asks(self, calls: Sequence[Call]) -> None:
        raise NotStored(calls[0])

    def record_turn(self, turn: Turn) -> None:
        self.turns.append(turn)

    def record_outcome(self, outcome: Outcome) -> None:
        self.outcome = outcome


def play_back(
    episode: Episode,
    rows: Sequence[Exchange],
    parsers: Mapping[str, Parser],
    seed_for: Callable[[int, int], int],
    max_attempts: int,
) -> Playback:
    """Derive turns and outcome as they follow from stored exchanges.

    Raises ``NotStored`` where a reply is missing and ``AskMismatch`` where the episode asks
    something else than what is stored.
    """
    log = Playback(rows)
    _play(episode, log, parsers, seed_for, max_attempts)
    return log


def play_as_far(
    episode: Episode,
    rows: Sequence[Exchange],
    parsers: Mapping[str, Parser],
    seed_for: Callable[[int, int], int],
    max_attempts: int,
) -> Playback:
    """Derive the same up to the first ask to which no reply is stored."""
    log = Playback(rows)
    with suppress(NotStored):
        _play(episode, log, parsers, seed_for, max_attempts)
    return log


def _play(
    episode: Episode,
    log: Playback,
    parsers: Mapping[str, Parser],
    seed_for: Callable[[int, int], int],
    max_attempts: int,
) -> None:
    Driver(
        cast=_Empty({}), log=log, parsers=parsers, seed_for=seed_for, max_attempts=max_attempts
    ).run(episode)
