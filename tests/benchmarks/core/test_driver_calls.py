"""How the driver sends calls and logs what comes back."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.core.answerers import Answer, Cast, Identity
from benchmarks.core.driver import Failed, Finished, Stopped
from benchmarks.core.errors import AnswererFailed
from benchmarks.core.log import Call, MemoryLog, Settled, Verdict
from benchmarks.core.types import Ask, Outcome
from tests.benchmarks.core.toys import (
    Actor,
    ask,
    batches,
    driver,
    raising,
    reading_out,
    saying,
    states,
)


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as executor:
        yield executor


class TestOrder:
    def test_every_call_is_committed_as_sent_before_any_leaves(self):
        log = MemoryLog()
        seen = []

        def look(asked: Ask, seed: int) -> str:
            seen.append(states(log))
            return "hello"

        driver(log, {"a": Actor(look)}).run(batches([ask("a"), ask("a", "??")]))

        assert seen[0] == [(0, 0, 1, "sent"), (0, 1, 1, "sent")]

    def test_what_is_answered_at_once_is_stored_with_the_sent_rows_of_the_others(self):
        writes = []
        spoken = []

        class Watched(MemoryLog):
            def record_sent(self, calls: Sequence[Call], settled: Sequence[Settled] = ()) -> None:
                super().record_sent(calls, settled)
                writes.append(states(self))

        log = Watched()

        def speak(asked: Ask, seed: int) -> str:
            spoken.append(states(log))
            return "x"

        roles = {"a": Actor(speak, instant=True), "b": Actor(speak)}
        driver(log, roles).run(batches([ask("b"), ask("a"), ask("a", "??")]))

        stored = [(0, 0, 1, "sent"), (0, 1, 1, "answered"), (0, 2, 1, "answered")]
        assert writes == [stored]
        assert spoken == [[], [], stored]

    def test_an_unreadable_reply_of_a_script_is_asked_again(self):
        log = MemoryLog()
        texts = ["seven", "7"]
        slip = Actor(lambda asked, seed: texts.pop(0), instant=True)

        result = driver(log, {"a": slip}).run(batches([ask("a", kind="number")]))

        assert states(log) == [(0, 0, 1, "unreadable"), (0, 0, 2, "answered")]
        assert result.outcome.payload["replies"] == [[["answered", 7, ""]]]

    def test_a_reply_is_logged_before_the_protocol_sees_it(self):
        log = MemoryLog()
        stored = []

        def protocol():
            yield [ask("a")]
            stored.append(log.rows[0, 0, 1].text)
            return Outcome("done", {})

        driver(log, {"a": saying("hello")}).run(protocol())

        assert stored == ["hello"]

    def test_each_reply_is_logged_as_it_arrives(self, threads):
        """The first slot waits for the second one to be in the log, so order is by arrival."""
        log = _Signalling("quick")

        def wait(asked: Ask, seed: int) -> str:
            assert log.seen.wait(10)
            return "slow"

        slow, quick = Actor(wait), saying("quick")
        run = driver(log, {"a": slow, "b": quick}, threads)

        assert run.run(batches([ask("a"), ask("b")])).outcome.payload["replies"] == [
            [["answered", "slow", ""], ["answered", "quick", ""]]
        ]

    def test_replies_come_back_in_slot_order_whatever_order_they_arrive_in(self, threads):
        log = _Signalling("third")

        def wait(asked: Ask, seed: int) -> str:
            assert log.seen.wait(10)
            return asked.messages[0].text

        roles = {"a": Actor(wait), "b": saying("third")}
        result = driver(log, roles, threads).run(
            batches([ask("a", "first"), ask("a", "second"), ask("b")])
        )

        assert log.turns[1].text == "first second third"
        assert isinstance(result, Finished)

    def test_a_reply_says_where_its_exchange_stands(self):
        steps = []

        def protocol():
            for _ in range(2):
                replies = yield [ask("a"), ask("a", "??")]
                steps.extend((reply.step, reply.slot) for reply in replies)
            return Outcome("done", {})

        driver(MemoryLog(), {"a": saying("x")}).run(protocol())

        assert steps == [(0, 0), (0, 1), (1, 0), (1, 1)]


class TestConcurrency:
    def test_slow_answerers_of_a_batch_overlap(self, threads):
        """Three calls that wait for each other: one after the other they would never meet."""
        meeting = threading.Barrier(3, timeout=10)

        def meet(asked: Ask, seed: int) -> str:
            meeting.wait()
            return "met"

        together = Actor(meet)
        result = driver(MemoryLog(), {"a": together}, threads).run(
            batches([ask("a", "1"), ask("a", "2"), ask("a", "3")])
        )

        assert isinstance(result, Finished)

    def test_instant_answerers_are_called_in_line(self, threads):
        where = []

        def note(asked: Ask, seed: int) -> str:
            where.append(threading.current_thread())
            return "x"

        roles = {"a": Actor(note, instant=True), "b": Actor(note)}
        driver(MemoryLog(), roles, threads).run(batches([ask("a"), ask("b")]))

        assert where[0] is threading.main_thread()
        assert where[1] is not threading.main_thread()

    def test_without_an_executor_slow_answerers_run_in_turn(self):
        slow = saying("x")

        result = driver(MemoryLog(), {"a": slow}).run(batches([ask("a"), ask("a", "??")]))

        assert isinstance(result, Finished)
        assert len(slow.calls) == 2

    def test_the_log_is_written_by_the_thread_that_runs_the_episode(self, threads):
        writers = set()

        class Watched(MemoryLog):
            def record_verdict(self, call: Call, verdict: Verdict) -> None:
                writers.add(threading.current_thread())
                super().record_verdict(call, verdict)

        slow = saying("x")
        driver(Watched(), {"a": slow}, threads).run(batches([ask("a"), ask("a", "??")]))

        assert writers == {threading.main_thread()}


class TestSeedsAndIdentity:
    def test_the_seed_depends_on_step_and_slot_alone(self):
        actor = saying("x")
        log = MemoryLog()
        rounds = ([ask("a"), ask("a", "other")], [ask("a")])
        driver(log, {"a": actor}, seed_for=lambda step, slot: 10 * step + slot).run(
            batches(*rounds)
        )

        assert [seed for _, seed in actor.calls] == [0, 1, 10]

    def test_a_call_says_who_answers(self):
        sent = []

        class Watched(MemoryLog):
            def record_sent(self, calls: Sequence[Call], settled: Sequence[Settled] = ()) -> None:
                sent.extend(calls)
                super().record_sent(calls, settled)

        driver(Watched(), {"a": saying("x", name="Ann")}).run(batches([ask("a")]))

        assert sent[0].by == Identity("scripted", "Ann", "1")


class TestDeclined:
    def test_a_declined_ask_enters_the_protocol_with_its_reason(self):
        """A machine that timed out has answered: it is a reply like any other."""
        machine = Actor(lambda a, s: Answer("partial", declined="timed_out: 3 seconds"))
        log = MemoryLog()

        result = driver(log, {"a": machine}).run(batches([ask("a", kind="number")]))

        assert result.outcome.payload["replies"] == [[["declined", None, "timed_out: 3 seconds"]]]
        assert log.rows[0, 0, 1].text == "partial"

    def test_it_is_not_asked_again(self):
        machine = Actor(lambda a, s: Answer("", declined="pool_exhausted: no plan is left"))

        driver(MemoryLog(), {"a": machine}).run(batches([ask("a")]))

        assert len(machine.calls) == 1


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
        log = _Signalling("late")
        gone = threading.Event()

        def late(asked: Ask, seed: int) -> str:
            assert gone.wait(10)
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


class TestWhatIsStored:
    def test_characters_that_no_store_can_hold_are_replaced(self):
        """NUL and lone surrogates reach us as escapes in a model's JSON; databases refuse them."""
        actor = Actor(
            lambda a, s: Answer("a\x00b\ud800c", reasoning="\udfff", model_reported="m\x00")
        )
        kept = []

        class Watched(MemoryLog):
            def record_verdict(self, call: Call, verdict: Verdict) -> None:
                kept.append(verdict)
                super().record_verdict(call, verdict)

        def parse(text, params):
            return {"said": [text, "\ud800"]}

        driver(Watched(), {"a": actor}, parsers={"text": parse}).run(batches([ask("a")]))

        assert kept[0].answer.text == "a�b�c"
        assert kept[0].answer.reasoning == "�"
        assert kept[0].answer.model_reported == "m�"
        assert kept[0].value == {"said": ["a�b�c", "�"]}

    def test_reasons_of_failures_too(self):
        log = MemoryLog()

        driver(log, {"a": raising(AnswererFailed("half \ud83d of it"))}).run(batches([ask("a")]))

        assert log.rows[0, 0, 1].reason == "half � of it"

    def test_an_empty_batch_is_a_step_without_slots(self):
        result = driver(MemoryLog(), {}).run(batches([]))

        assert result.outcome.payload["replies"] == [[]]

    def test_answers_are_stored_as_received(self):
        log = MemoryLog()

        driver(log, {"a": reading_out("  7\n")}).run(batches([ask("a", kind="number")]))

        assert (log.rows[0, 0, 1].text, log.rows[0, 0, 1].value) == ("  7\n", 7)


class _Signalling(MemoryLog):
    """Sets ``seen`` when a certain reply has been logged."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.seen = text, threading.Event()

    def record_verdict(self, call: Call, verdict: Verdict) -> None:
        super().record_verdict(call, verdict)
        if verdict.answer.text == self.text:
            self.seen.set()


def test_a_cast_finds_answerers_by_role_and_seat():
    first, second = saying("1"), saying("2")
    cast = Cast({"judge": {"1": first, "2": second}})

    assert cast.filler(ask("judge", seat="2")) is second
    with pytest.raises(AnswererFailed, match="nobody fills role 'judge', seat '3' in this run"):
        cast.filler(ask("judge", seat="3"))
    with pytest.raises(AnswererFailed, match="nobody fills role 'agent' in this run"):
        cast.filler(ask("agent"))
