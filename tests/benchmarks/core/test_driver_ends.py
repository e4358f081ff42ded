"""Tests of the ends of a run: failures of infrastructure, bugs, and a wish to stop."""

import threading

import pytest

from benchmarks.core.driver import Failed, Finished, Stopped
from benchmarks.core.errors import AnswererFailed
from benchmarks.core.log import MemoryLog
from benchmarks.core.types import Ask
from tests.benchmarks.core.toys import (
    Actor,
    SignallingLog,
    ask,
    batches,
    driver,
    raising,
    saying,
    states,
)


class TestFailures:
    def test_a_failure_stops_the_run_and_never_enters_the_protocol(self):
        entered = []

        def protocol():
            try:
                entered.append((yield [ask("a")]))
            except AnswererFailed as error:  # pragma: no cover
                entered.append(error)

        broken = raising(AnswererFailed("endpoint does not answer"))
        log = MemoryLog()

        result = driver(log, {"a": broken}).run(protocol())

        assert result == Failed("endpoint does not answer")
        assert entered == []
        assert states(log) == [(0, 0, 1, "failed")]
        assert log.rows[0, 0, 1].reason == "endpoint does not answer"

    @pytest.mark.parametrize("instant", [True, False])
    def test_the_other_replies_of_the_batch_are_kept(self, threads, instant):
        broken = raising(AnswererFailed("gone"), instant=instant)
        well = saying("well", instant=instant)
        log = MemoryLog()

        driver(log, {"a": broken, "b": well}, threads).run(
            batches([ask("a"), ask("b"), ask("b", "too")])
        )

        assert states(log) == [(0, 0, 1, "failed"), (0, 1, 1, "answered"), (0, 2, 1, "answered")]

    def test_the_generator_is_closed(self):
        closed = []

        def protocol():
            try:
                yield [ask("a")]
            finally:
                closed.append(True)

        driver(MemoryLog(), {"a": raising(AnswererFailed("gone"))}).run(protocol())

        assert closed == [True]

    def test_nothing_is_asked_where_nobody_fills_a_role(self):
        well = saying("well")
        log = MemoryLog()

        result = driver(log, {"a": well}).run(batches([ask("a"), ask("ghost", seat="2")]))

        assert result == Failed("nobody fills role 'ghost', seat '2' in this run")
        assert well.calls == []
        assert states(log) == []


class TestBugs:
    """An error that is no ``AnswererFailed`` is a bug and must not pass for bad infrastructure."""

    @pytest.mark.parametrize("instant", [True, False])
    def test_an_unexpected_error_is_not_swallowed(self, threads, instant):
        log = MemoryLog()
        broken = raising(ValueError("a bug"), instant=instant)

        with pytest.raises(ValueError, match="a bug"):
            driver(log, {"a": broken}, threads).run(batches([ask("a")]))

        assert states(log) == ([] if instant else [(0, 0, 1, "sent")])

    def test_concurrent_replies_of_its_batch_are_logged_all_the_same(self, threads):
        """They were under way and are paid for, wherever the bug stands in the batch."""
        log = SignallingLog("late")
        gone = threading.Event()

        def late(asked: Ask, seed: int) -> str:
            assert gone.wait(60)
            return "late"

        def bug(asked: Ask, seed: int) -> str:
            gone.set()
            raise ValueError("a bug")

        roles = {"a": Actor(bug), "b": Actor(late)}
        with pytest.raises(ValueError, match="a bug"):
            driver(log, roles, threads).run(batches([ask("a"), ask("b")]))

        assert states(log) == [(0, 0, 1, "sent"), (0, 1, 1, "answered")]

    def test_an_error_of_a_parser_is_not_swallowed(self):
        def parse(text, params):
            raise KeyError("a bug")

        with pytest.raises(KeyError, match="a bug"):
            driver(MemoryLog(), {"a": saying("x")}, parsers={"text": parse}).run(
                batches([ask("a")])
            )

    def test_an_error_of_the_protocol_is_not_swallowed(self):
        def protocol():
            yield [ask("a")]
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            driver(MemoryLog(), {"a": saying("x")}).run(protocol())


class TestStop:
    def test_the_reason_comes_back_and_the_rest_is_resumable(self):
        log = MemoryLog()
        actor = saying("x")
        reasons = ["", "paused", ""]

        first = driver(log, {"a": actor}, stop=lambda: reasons.pop(0))
        assert first.run(batches([ask("a")], [ask("a", "2")])) == Stopped("paused")
        assert states(log) == [(0, 0, 1, "answered")]

        again = first.run(batches([ask("a")], [ask("a", "2")]))
        assert isinstance(again, Finished)
        assert len(actor.calls) == 2

    def test_it_is_asked_again_before_an_unreadable_reply_is_asked_again(self):
        log = MemoryLog()
        actor = saying("not a number")
        reasons = ["", "budget"]

        result = driver(log, {"a": actor}, stop=lambda: reasons.pop(0)).run(
            batches([ask("a", kind="number")])
        )

        assert result == Stopped("budget")
        assert states(log) == [(0, 0, 1, "unreadable")]

    def test_what_is_stored_can_be_played_to_its_end(self):
        """A budget that is used up keeps no finished dialogue from its outcome."""
        log = MemoryLog()
        rounds = ([ask("a")], [ask("a", "2")])
        driver(log, {"a": saying("x")}).run(batches(*rounds))
        log.outcome = None

        result = driver(log, {"a": saying("x")}, stop=lambda: "budget").run(batches(*rounds))

        assert isinstance(result, Finished)
        assert log.outcome == result.outcome

    def test_the_generator_is_closed(self):
        protocol = batches([ask("a")])

        driver(MemoryLog(), {"a": saying("x")}, stop=lambda: "cancelled").run(protocol)

        assert protocol.gi_frame is None
