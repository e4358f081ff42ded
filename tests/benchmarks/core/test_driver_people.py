"""Roles filled by people: the episode waits at an open ask and goes on with the posted reply."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.core.answerers import Answer, Human
from benchmarks.core.driver import Failed, Finished, Stopped, Suspended
from benchmarks.core.errors import AnswererFailed
from benchmarks.core.log import CallResult, MemoryLog
from tests.benchmarks.core.toys import Actor, ask, batches, driver, raising, saying, states

MIXED = [ask("person", "what now?"), ask("machine"), ask("person", "and here?")]


def post(log: MemoryLog, step: int, slot: int, text: str) -> None:
    """Store a posted reply, as a person's page does."""
    call = log.waiting.pop((step, slot))
    log.record_sent([call])
    log.record_verdict(call, CallResult("answered", Answer(text), value=text))


def test_the_episode_waits_for_every_open_ask():
    log = MemoryLog()

    result = driver(log, {"person": Human(), "machine": saying("m")}).run(batches(MIXED))

    assert result == Suspended(2)
    assert {key: call.ask.messages[0].text for key, call in log.waiting.items()} == {
        (0, 0): "what now?",
        (0, 2): "and here?",
    }


def test_a_person_is_never_called_and_has_no_exchange_before_the_reply():
    log = MemoryLog()

    driver(log, {"person": Human(), "machine": saying("m")}).run(batches(MIXED))

    assert states(log) == [(0, 1, 1, "answered")]


def test_machines_of_the_batch_are_answered_and_logged_before_the_person_is_asked():
    """A person may take days: what the machines say must not wait for that."""
    logged = []

    class Watched(MemoryLog):
        def open_asks(self, calls):
            logged.extend(states(self))
            super().open_asks(calls)

    with ThreadPoolExecutor(2) as threads:
        slow = saying("7")
        driver(Watched(), {"person": Human(), "machine": slow}, threads).run(
            batches([ask("person"), ask("machine", kind="number")])
        )

    assert logged == [(0, 1, 1, "answered")]


def test_unreadable_machines_are_asked_again_first():
    log = MemoryLog()

    result = driver(log, {"person": Human(), "machine": saying("many")}, max_attempts=2).run(
        batches([ask("person"), ask("machine", kind="number")])
    )

    assert result == Suspended(1)
    assert states(log) == [(0, 1, 1, "unreadable"), (0, 1, 2, "unreadable")]


def test_it_goes_on_when_the_last_reply_is_posted():
    log = MemoryLog()
    machine = saying("m")
    run = driver(log, {"person": Human(), "machine": machine})
    run.run(batches(MIXED))

    post(log, 0, 0, "first")
    assert run.run(batches(MIXED)) == Suspended(1)
    post(log, 0, 2, "second")
    result = run.run(batches(MIXED))

    assert isinstance(result, Finished)
    assert log.turns[1].text == "first m second"
    assert len(machine.calls) == 1


def test_opening_an_ask_twice_changes_nothing():
    log = MemoryLog()
    run = driver(log, {"person": Human(), "machine": saying("m")})
    run.run(batches(MIXED))
    before = dict(log.waiting)

    assert run.run(batches(MIXED)) == Suspended(2)
    assert log.waiting == before


def test_the_open_ask_says_what_it_wants_and_which_seed_it_has():
    log = MemoryLog()
    run = driver(log, {"person": Human()})
    run.run(batches([ask("person", kind="number", low=1)]))

    call = log.waiting[0, 0]
    assert (call.ask.expect.kind, call.ask.expect.params) == ("number", {"low": 1})
    assert (call.attempt, call.seed, call.by.kind) == (1, run.seed_for(0, 0), "human")


def test_nobody_is_asked_in_a_run_that_has_been_stopped():
    log = MemoryLog()

    result = driver(log, {"person": Human()}, stop=lambda: "cancelled").run(
        batches([ask("person")])
    )

    assert result == Stopped("cancelled")
    assert log.waiting == {}


def test_a_failed_machine_comes_before_the_person():
    """The trajectory is failed, not waiting: the retry opens the ask."""
    log = MemoryLog()
    roles = {"person": Human(), "machine": raising(AnswererFailed("gone"))}

    assert driver(log, roles).run(batches(MIXED)) == Failed("gone")
    assert log.waiting == {}

    roles["machine"] = Actor(lambda asked, seed: "m")
    assert driver(log, roles).run(batches(MIXED)) == Suspended(2)


def test_calling_a_person_is_an_error():
    human = Human("Ann")

    with pytest.raises(AnswererFailed, match="answers through an open ask, not through a call"):
        human.answer(ask("person"), 1)
    assert (human.identity.kind, human.identity.name) == ("human", "Ann")
