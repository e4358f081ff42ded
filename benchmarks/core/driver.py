"""The loop that carries an episode: ask, log, feed back; suspend, stop and resume soundly.

The rules (docs/architecture.md, "Episodes, answerers, driver"):

* an attempt is committed as *sent* before its call leaves, and its reply before it is used; of what
  is answered within this process, only the reply is stored;
* a stored reply is never asked for again, a partly answered batch asks only what is missing;
* a call that was in flight when its process died is repeated under the same seed, as a new attempt
  that names the lost one;
* an unreadable reply is asked again with the error, ``max_attempts`` times in all; after that the
  protocol gets an unreadable reply and decides what it means;
* a call whose outcome nobody knows (it may have been answered and billed) is recorded as lost and
  made again as another attempt, ``max_lost`` times in all;
* the episode's generator learns nothing of infrastructure (failures, cancellation, budgets);
* a log that holds more than the episode asks is a mismatch like an ask that differs;
* a withdrawn exchange is as if it had never been, but its attempt stays taken.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Cast, most_cost, person
from benchmarks.core.digests import storable
from benchmarks.core.errors import (
    AnswererFailed,
    AskMismatch,
    CapReached,
    OutcomeUnknown,
    UnreadableReply,
)
from benchmarks.core.log import Call, CallResult, Exchange, ExchangeState, Log
from benchmarks.core.types import Ask, Batch, Episode, Message, Outcome, Reply, Turn

Parser = Callable[[str, Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Finished:
    """The episode returned its outcome."""

    outcome: Outcome


@dataclass(frozen=True)
class Suspended:
    """People must answer ``asks`` open asks before the episode can go on."""

    asks: int


@dataclass(frozen=True)
class Stopped:
    """The caller's ``stop`` gave a reason; everything answered so far is logged."""

    reason: str


@dataclass(frozen=True)
class Capped:
    """The money that the run may spend is used up or put aside; with more it can go on."""

    reason: str


@dataclass(frozen=True)
class Failed:
    """An answerer was let down by infrastructure; the trajectory can be resumed."""

    reason: str


Result = Finished | Suspended | Stopped | Capped | Failed


@dataclass(frozen=True)
class Driver:
    """The loop that carries one trajectory.

    Parameters
    ----------
    parsers
        The system's parsers by ``Expect.kind``: (text, params) to a JSON value, or
        ``UnreadableReply``.
    seed_for
        (step, slot) to the seed of that call.
    max_attempts
        How often an ask is put before its reply counts as unreadable.
    max_lost
        How many calls for one ask may end without anybody knowing how, before it has failed.
    stop
        Asked before anything is sent or opened, not while stored replies are played back; a text
        stops the trajectory and leaves it resumable.
    executor
        Carries the calls of a batch that are not instant, unless there is only one; without an
        executor they run in turn.
    """

    cast: Cast
    log: Log
    parsers: Mapping[str, Parser]
    seed_for: Callable[[int, int], int]
    max_attempts: int = 3
    max_lost: int = 4
    stop: Callable[[], str] = lambda: ""
    executor: Executor | None = None

    def run(self, episode: Episode) -> Result:
        """Carry ``episode`` to its end, or to where it has to wait."""
        stored = _by_slot(self.log.exchanges())
        standing = [key for key, rows in stored.items() if rows[-1].state != "withdrawn"]
        step = 0
        send: Sequence[Reply] | None = None
        try:
            while True:
                try:
                    item = episode.send(send)
                except StopIteration as end:
                    _refuse_leftovers(key for key in standing if key[0] >= step)
                    self.log.record_outcome(end.value)
                    return Finished(end.value)
                send = None
                if isinstance(item, Turn):
                    self.log.record_turn(item)
                    continue
                _refuse_leftovers(k for k in standing if k[0] == step and k[1] >= len(item))
                replies, waiting = self._answer(item, step, stored)
                if waiting:
                    return Suspended(waiting)
                send = replies
                step += 1
        except AnswererFailed as error:
            return Failed(str(error))
        except CapReached as error:
            return Capped(str(error))
        except _StopAsked as stop:
            return Stopped(str(stop))
        finally:
            episode.close()

    def _answer(
        self, batch: Batch, step: int, stored: Mapping[tuple[int, int], Sequence[Exchange]]
    ) -> tuple[list[Reply], int]:
        """Return replies to a batch in slot order, and how many slots wait for a person."""
        replies: dict[int, Reply] = {}
        calls: list[Call] = []
        waiting: list[Call] = []
        for slot, ask in enumerate(batch):
            settled, call = self._resume(ask, step, slot, stored.get((step, slot), ()))
            if settled is not None:
                replies[slot] = settled
            elif person(self.cast.answerer_of(ask)):
                waiting.append(call)
            else:
                calls.append(call)
        while calls:
            self._check_stop()
            again: list[Call] = []
            failures: list[str] = []
            for call, verdict, once_more in self._settle([self._priced(call) for call in calls]):
                match verdict.state:
                    case "unreadable" if call.unreadable + 1 < self.max_attempts:
                        again.append(_retry(call, verdict.answer.text, verdict.reason))
                    case "lost" if once_more and call.lost + 1 < self.max_lost:
                        again.append(_once_more(call))
                    case "answered" | "declined" | "unreadable" as state:
                        text, reason = verdict.answer.text, verdict.reason
                        replies[call.slot] = Reply(
                            state, verdict.value, text, reason, step, call.slot
                        )
                    case _:
                        failures.append(verdict.reason)
            if failures:
                raise AnswererFailed(failures[0])
            calls = again
        if waiting:
            self._check_stop()
            self.log.open_asks(waiting)
            return [], len(waiting)
        return [replies[slot] for slot in range(len(batch))], 0

    def _resume(
        self, ask: Ask, step: int, slot: int, rows: Sequence[Exchange]
    ) -> tuple[Reply | None, Call]:
        """Return the stored reply to an ask, or the call that still has to be made for it."""
        by = self.cast.answerer_of(ask).identity
        call = Call(step, slot, 1, ask, by, self.seed_for(step, slot))
        for row in rows:
            if row.state == "withdrawn":
                call = replace(call, attempt=row.attempt + 1)
                continue
            if row.ask_digest != call.ask.digest:
                raise _mismatch(call.ask, row)
            following = replace(call, attempt=row.attempt + 1, repeats=0)
            match row.state:
                case "answered" | "declined":
                    return Reply(row.state, row.value, row.text, row.reason, step, slot), call
                case "unreadable" if call.unreadable + 1 >= self.max_attempts:
                    return Reply("unreadable", None, row.text, row.reason, step, slot), call
                case "unreadable":
                    call = replace(_retry(call, row.text, row.reason), attempt=row.attempt + 1)
                case "sent":
                    call = replace(following, repeats=row.attempt)
                case _:
                    call = following
        return None, call

    def _priced(self, call: Call) -> Call:
        most = most_cost(self.cast.answerer_of(call.ask), call.ask, call.seed)
        return call if most == call.most else replace(call, most=most)

    def _check_stop(self) -> None:
        if reason := self.stop():
            raise _StopAsked(reason)

    def _settle(self, calls: Sequence[Call]) -> Iterable[tuple[Call, CallResult, bool]]:
        """Store how each call ended; return that, and whether a lost one is worth another.

        What is answered at once is stored together with the *sent* rows of the others.
        """
        away: list[tuple[Call, Answerer]] = []
        settled: list[tuple[Call, CallResult]] = []
        for call in calls:
            answerer = self.cast.answerer_of(call.ask)
            if answerer.instant:
                answer = answer_or_failure(answerer, call)
                settled.append((call, read_answer(call.ask, answer, self.parsers)))
            else:
                away.append((call, answerer))
        self.log.record_sent([call for call, _ in away], settled)
        for call, verdict in settled:
            yield call, verdict, False
        for call, reply in self._call_all(away):
            verdict = read_answer(call.ask, reply, self.parsers)
            self.log.record_verdict(call, verdict)
            yield call, verdict, isinstance(reply, OutcomeUnknown) and reply.again

    def _call_all(
        self, away: Sequence[tuple[Call, Answerer]]
    ) -> Iterable[tuple[Call, Answer | AnswererFailed]]:
        """Yield each call with its answer, in the order in which the answers arrive.

        An unexpected error of one call is raised after the others of the batch have been handed on:
        they are under way, and what they bring has been paid for.
        """
        if self.executor is None or len(away) == 1:
            for call, answerer in away:
                yield call, answer_or_failure(answerer, call)
            return
        futures = {self.executor.submit(answer_or_failure, who, call): call for call, who in away}
        errors = []
        for future in as_completed(futures):
            if error := future.exception():
                errors.append(error)
            else:
                yield futures[future], future.result()
        if errors:
            raise errors[0]


class _StopAsked(Exception):
    """The caller's ``stop`` gave a reason."""


def answer_or_failure(answerer: Answerer, call: Call) -> Answer | AnswererFailed:
    """Return the answer, or the failure as a value: the other calls of the batch must still be
    logged.
    """
    try:
        return answerer.answer(call.ask, call.seed)
    except AnswererFailed as error:
        return error


def read_answer(
    ask: Ask, answer: Answer | AnswererFailed, parsers: Mapping[str, Parser]
) -> CallResult:
    """Return what an answer comes to: a parsed value, or the state and the reason why there is
    none.
    """
    if isinstance(answer, AnswererFailed):
        state: ExchangeState = "lost" if isinstance(answer, OutcomeUnknown) else "failed"
        return CallResult(state, Answer("", tries=answer.tries), reason=storable(str(answer)))
    answer = _storable_answer(answer)
    if answer.declined:
        return CallResult("declined", answer, reason=answer.declined)
    try:
        value = parsers[ask.expect.kind](answer.text, ask.expect.params)
    except UnreadableReply as error:
        return CallResult("unreadable", answer, reason=str(error))
    return CallResult("answered", answer, value=storable(value))


def _storable_answer(answer: Answer) -> Answer:
    return replace(
        answer,
        text=storable(answer.text),
        declined=storable(answer.declined),
        reasoning=storable(answer.reasoning),
        model_reported=storable(answer.model_reported),
        finish=storable(answer.finish),
    )


def _once_more(call: Call) -> Call:
    """Return the same call again, as another attempt."""
    return replace(call, attempt=call.attempt + 1, repeats=0, lost=call.lost + 1)


def _retry(call: Call, text: str, reason: str) -> Call:
    """Return the same ask put once more, with the unreadable reply and what was wrong with it."""
    correction = (
        Message("assistant", text if text.strip() else "(empty reply)"),  # endpoints refuse blanks
        Message("user", f"That reply could not be read: {reason} Please reply again, corrected."),
    )
    ask = replace(call.ask, messages=(*call.ask.messages, *correction))
    return replace(
        call, ask=ask, attempt=call.attempt + 1, repeats=0, unreadable=call.unreadable + 1
    )


def _by_slot(rows: Iterable[Exchange]) -> dict[tuple[int, int], list[Exchange]]:
    slots: dict[tuple[int, int], list[Exchange]] = {}
    for row in rows:
        slots.setdefault((row.step, row.slot), []).append(row)
    return slots


def _refuse_leftovers(keys: Iterable[tuple[int, int]]) -> None:
    """Raise for stored exchanges, by (step, slot), that the episode does not ask."""
    for step, slot in sorted(keys):
        raise AskMismatch(step, slot, "an exchange is stored that the episode does not ask")


def _mismatch(ask: Ask, row: Exchange) -> AskMismatch:
    """Return where a derived ask first departs from the stored one."""
    derived = [message.digest for message in ask.messages]
    for place, (now, before) in enumerate(zip(derived, row.message_digests, strict=False)):
        if now != before:
            message = ask.messages[place]
            words = f"message {place + 1} ({message.speaker}) differs"
            return AskMismatch(row.step, row.slot, words, place, message.text)
    if len(derived) != len(row.message_digests):
        words = f"{len(derived)} messages where {len(row.message_digests)} are stored"
    else:
        words = "role, seat, tools or expected reply differ"
    return AskMismatch(row.step, row.slot, words)
