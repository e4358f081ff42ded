"""The store in memory, and what makes two turns the same."""

from dataclasses import replace

import pytest

from benchmarks.core.answerers import Answer, Identity
from benchmarks.core.errors import TurnMismatch
from benchmarks.core.log import Call, CallResult, MemoryLog, check_same_turn
from benchmarks.core.types import Score, Turn, Violation
from tests.benchmarks.core.toys import ask

TURN = Turn(
    1,
    "a plan",
    "feedback",
    {"valid": False, "means": {"safety": None}},
    (Violation("w1", "world", "no oven", revealed=True, new=True, repeated=False),),
    (Score("1", "safety", 4), Score("2", "safety", None, "no score")),
)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", "another plan"),
        ("feedback", ""),
        ("payload", {"valid": True, "means": {"safety": None}}),
        ("violations", ()),
        ("violations", (replace(TURN.violations[0], new=False),)),
        ("scores", TURN.scores[:1]),
        ("scores", (replace(TURN.scores[0], value=5), TURN.scores[1])),
        ("scores", (TURN.scores[0], replace(TURN.scores[1], value=1))),
    ],
)
def test_the_first_field_that_differs_is_named(field, value):
    with pytest.raises(TurnMismatch, match=f"turn 1: {field} differs") as caught:
        check_same_turn(TURN, replace(TURN, **{field: value}))

    assert caught.value.index == 1


def test_scores_that_a_store_gives_back_as_floats_are_the_same():
    stored = replace(TURN, scores=(replace(TURN.scores[0], value=4.0), TURN.scores[1]))

    check_same_turn(stored, TURN)


def test_lists_and_tuples_are_the_same_in_a_payload():
    check_same_turn(replace(TURN, payload={"a": [1, 2]}), replace(TURN, payload={"a": (1, 2)}))


def test_exchanges_come_in_order_of_step_slot_and_attempt():
    log = MemoryLog()
    by = Identity("scripted", "x", "1")
    for step, slot, attempt in [(1, 0, 1), (0, 1, 1), (0, 0, 10), (0, 0, 2)]:
        log.record_sent([Call(step, slot, attempt, ask("a"), by, 0)])

    assert [(r.step, r.slot, r.attempt) for r in log.exchanges()] == [
        (0, 0, 2), (0, 0, 10), (0, 1, 1), (1, 0, 1),
    ]  # fmt: skip


def test_a_verdict_settles_its_exchange():
    log = MemoryLog()
    call = Call(0, 0, 1, ask("a"), Identity("scripted", "x", "1"), 0)
    log.record_sent([call])

    log.record_verdict(call, CallResult("answered", Answer("7"), 7))

    (row,) = log.exchanges()
    assert (row.state, row.text, row.value) == ("answered", "7", 7)
    assert row.message_digests == tuple(m.digest for m in call.ask.messages)
