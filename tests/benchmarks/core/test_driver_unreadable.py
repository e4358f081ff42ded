"""Replies that cannot be read: asked again with the error, so often and no more."""

import pytest

from benchmarks.core.answerers import Answer
from benchmarks.core.driver import Finished
from benchmarks.core.errors import AnswererFailed
from benchmarks.core.log import MemoryLog
from tests.benchmarks.core.toys import (
    Actor,
    DyingLog,
    ask,
    batches,
    driver,
    reading_out,
    run_until_death,
    saying,
    states,
)

NUMBER = [ask("a", "how many?", kind="number")]


def test_it_is_asked_again_with_the_reply_and_what_was_wrong():
    actor = reading_out("many", "7")
    log = MemoryLog()

    result = driver(log, {"a": actor}).run(batches(NUMBER))

    first, second = (asked for asked, _ in actor.calls)
    assert [(m.speaker, m.text) for m in second.messages] == [
        ("user", "how many?"),
        ("assistant", "many"),
        (
            "user",
            "That reply could not be read: expected a whole number. Please reply again, corrected.",
        ),
    ]
    assert (second.role, second.seat, second.expect) == (first.role, first.seat, first.expect)
    assert states(log) == [(0, 0, 1, "unreadable"), (0, 0, 2, "answered")]
    assert result.outcome.payload["replies"] == [[["answered", 7, ""]]]


def test_the_whole_exchange_is_shown_again_after_a_second_failure():
    actor = reading_out("many", "lots", "7")

    driver(MemoryLog(), {"a": actor}).run(batches(NUMBER))

    last = actor.calls[-1][0]
    assert [m.text for m in last.messages if m.speaker == "assistant"] == ["many", "lots"]


def test_an_empty_reply_is_not_sent_back_as_an_empty_message():
    """Several endpoints refuse a message without content."""
    actor = reading_out(" \n", "7")

    driver(MemoryLog(), {"a": actor}).run(batches(NUMBER))

    assert actor.calls[1][0].messages[1].text == "(empty reply)"


def test_all_attempts_have_the_seed_of_their_slot():
    actor = reading_out("many", "7")

    driver(MemoryLog(), {"a": actor}).run(batches(NUMBER))

    assert actor.calls[0][1] == actor.calls[1][1]


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_after_the_last_attempt_the_protocol_gets_it_as_unreadable(attempts):
    actor = saying("many")
    log = MemoryLog()

    result = driver(log, {"a": actor}, max_attempts=attempts).run(batches(NUMBER))

    assert len(actor.calls) == attempts
    assert states(log) == [(0, 0, n, "unreadable") for n in range(1, attempts + 1)]
    assert result.outcome.payload["replies"] == [[["unreadable", None, "expected a whole number."]]]


def test_readable_slots_of_the_batch_are_not_asked_again():
    good, bad = saying("7"), reading_out("many", "8")
    log = MemoryLog()

    driver(log, {"a": good, "b": bad}).run(
        batches([ask("a", kind="number"), ask("b", kind="number")])
    )

    assert len(good.calls) == 1
    assert [row[:3] for row in states(log)] == [(0, 0, 1), (0, 1, 1), (0, 1, 2)]


@pytest.mark.parametrize("last", range(1, 7))
def test_a_kill_between_attempts_does_not_start_the_count_anew(last):
    """Sent, verdict, sent, verdict, sent, verdict: three attempts wherever the process dies.

    Where it dies with a call in flight, that call is made once more and the count is the same.
    """
    log = DyingLog(last)
    assert run_until_death(driver(log, {"a": saying("many")}), batches(NUMBER))

    again = DyingLog(0, log)
    result = driver(again, {"a": saying("many")}).run(batches(NUMBER))

    read = [state for *_, state in states(again)]
    assert read.count("unreadable") == 3
    assert read.count("lost") == last % 2
    assert result.outcome.payload["replies"][0][0][0] == "unreadable"


def test_the_correction_after_a_kill_is_the_one_that_would_have_been_sent():
    whole = reading_out("many", "lots", "7")
    driver(MemoryLog(), {"a": whole}).run(batches(NUMBER))

    log = DyingLog(4)
    run_until_death(driver(log, {"a": reading_out("many", "lots")}), batches(NUMBER))
    rest = reading_out("7")
    driver(DyingLog(0, log), {"a": rest}).run(batches(NUMBER))

    assert rest.calls == whole.calls[2:]


def test_failures_and_lost_calls_in_between_do_not_count():
    """Attempts are numbered on, but only unreadable replies use up the allowance."""
    says = ["many", AnswererFailed("gone"), "lots", AnswererFailed("gone"), "7"]

    def rule(asked, seed):
        said = says.pop(0)
        if isinstance(said, Exception):
            raise said
        return Answer(said)

    log = MemoryLog()
    run = driver(log, {"a": Actor(rule)})
    for _ in range(3):
        result = run.run(batches(NUMBER))

    assert isinstance(result, Finished)
    assert [state for *_, state in states(log)] == [
        "unreadable", "failed", "unreadable", "failed", "answered",
    ]  # fmt: skip
