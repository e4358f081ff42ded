"""Tests of the driver's calls, and of the log of what comes back."""

import threading
from collections.abc import Sequence

import pytest

from benchmarks.core.answerers import Answer, Cast, Identity
from benchmarks.core.driver import Finished
from benchmarks.core.errors import AnswererFailed
from benchmarks.core.log import Call, CallResult, MemoryLog, Settled
from benchmarks.core.types import Ask, Outcome
from tests.benchmarks.core.toys import (
    Actor,
    SignallingLog,
    ask,
    batches,
    driver,
    raising,
    reading_out,
    saying,
    states,
)


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
        log = SignallingLog("quick")

        def wait(asked: Ask, seed: int) -> str:
            assert log.seen.wait(60)
            return "slow"

        slow, quick = Actor(wait), saying("quick")
        run = driver(log, {"a": slow, "b": quick}, threads)

        assert run.run(batches([ask("a"), ask("b")])).outcome.payload["replies"] == [
            [["answered", "slow", ""], ["answered", "quick", ""]]
        ]

    def test_replies_come_back_in_slot_order_whatever_order_they_arrive_in(self, threads):
        log = SignallingLog("third")

        def wait(asked: Ask, seed: int) -> str:
            assert log.seen.wait(60)
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

    def test_instant_answerers_and_single_calls_are_made_in_line(self, threads):
        where = []

        def note(asked: Ask, seed: int) -> str:
            where.append(threading.current_thread())
            return "x"

        roles = {"a": Actor(note, instant=True), "b": Actor(note)}
        asked = batches([ask("a"), ask("b")], [ask("a"), ask("b"), ask("b")])
        driver(MemoryLog(), roles, threads).run(asked)

        main = threading.main_thread()
        assert [thread is main for thread in where] == [True, True, True, False, False]

    def test_without_an_executor_slow_answerers_run_in_turn(self):
        slow = saying("x")

        result = driver(MemoryLog(), {"a": slow}).run(batches([ask("a"), ask("a", "??")]))

        assert isinstance(result, Finished)
        assert len(slow.calls) == 2

    def test_the_log_is_written_by_the_thread_that_runs_the_episode(self, threads):
        writers = set()

        class Watched(MemoryLog):
            def record_verdict(self, call: Call, verdict: CallResult) -> None:
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


class TestWhatIsStored:
    def test_characters_that_no_store_can_hold_are_replaced(self):
        """NUL and lone surrogates reach us as escapes in a model's JSON; databases refuse them."""
        actor = Actor(
            lambda a, s: Answer("a\x00b\ud800c", reasoning="\udfff", model_reported="m\x00")
        )
        kept = []

        class Watched(MemoryLog):
            def record_verdict(self, call: Call, verdict: CallResult) -> None:
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


def test_a_cast_finds_answerers_by_role_and_seat():
    first, second = saying("1"), saying("2")
    cast = Cast({"judge": {"1": first, "2": second}})

    assert cast.answerer_of(ask("judge", seat="2")) is second
    with pytest.raises(AnswererFailed, match="nobody fills role 'judge', seat '3' in this run"):
        cast.answerer_of(ask("judge", seat="3"))
    with pytest.raises(AnswererFailed, match="nobody fills role 'agent' in this run"):
        cast.answerer_of(ask("agent"))
