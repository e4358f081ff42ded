"""Going on after a kill: what is stored is never asked again, and what is derived must agree."""

import json
from dataclasses import replace

import pytest

from benchmarks.core.answerers import Answer
from benchmarks.core.driver import Failed, Finished
from benchmarks.core.errors import AnswererFailed, AskMismatch, TurnMismatch
from benchmarks.core.log import MemoryLog
from benchmarks.core.types import Ask, Expect, Message, Outcome, Turn
from tests.benchmarks.core.toys import (
    Actor,
    DyingLog,
    ask,
    batches,
    driver,
    raising,
    run_until_death,
    saying,
    states,
)

ROUNDS = ([ask("a", "one"), ask("b", "two")], [ask("a", "three")])


def killed_after(writes: int, *rounds) -> DyingLog:
    """The log of a run that died after so many writes; the answerers say what they are asked."""
    log = DyingLog(writes)
    echo = Actor(lambda asked, seed: asked.messages[0].text)
    assert run_until_death(driver(log, {"a": echo, "b": echo}), batches(*rounds))
    return DyingLog(0, log)


class TestReplay:
    def test_a_finished_log_asks_nothing_and_gives_the_same_outcome(self):
        log = MemoryLog()
        first = driver(log, {"a": saying("x"), "b": saying("y")}).run(batches(*ROUNDS))
        rows, turns = dict(log.rows), dict(log.turns)

        silent = raising(AssertionError("asked again"))
        second = driver(log, {"a": silent, "b": silent}).run(batches(*ROUNDS))

        assert second == first
        assert (log.rows, log.turns) == (rows, turns)

    def test_a_partly_answered_batch_asks_only_the_missing_slots(self):
        log = killed_after(2, *ROUNDS)  # sent, verdict of slot 0
        assert states(log) == [(0, 0, 1, "answered"), (0, 1, 1, "sent")]

        a, b = saying("A"), saying("B")
        driver(log, {"a": a, "b": b}).run(batches(*ROUNDS))

        assert [asked.messages[0].text for asked, _ in a.calls] == ["three"]
        assert [asked.messages[0].text for asked, _ in b.calls] == ["two"]
        assert log.turns[1].text == "one B"

    @pytest.mark.parametrize("state", ["answered", "declined"])
    def test_stored_replies_carry_all_that_the_protocol_may_look_at(self, state):
        said = Answer("7", declined="timed_out: late" if state == "declined" else "")
        seen = []

        def protocol():
            seen.append((yield [ask("a", kind="number")]))
            return Outcome("done", {})

        log = MemoryLog()
        driver(log, {"a": Actor(lambda a, s: said)}).run(protocol())
        driver(log, {"a": raising(AssertionError())}).run(protocol())

        assert seen[0] == seen[1]
        assert seen[0][0].state == state

    def test_a_call_that_was_lost_may_be_settled_at_once(self):
        """Another build may answer within its process what this one sent away."""
        log = killed_after(1, [ask("a")])

        driver(log, {"a": saying("x", instant=True)}).run(batches([ask("a")]))

        assert states(log) == [(0, 0, 1, "lost"), (0, 0, 2, "answered")]

    def test_a_lost_call_is_repeated_under_the_same_seed_and_named(self):
        log = killed_after(1, *ROUNDS)
        sent = []

        class Watched(DyingLog):
            def record_sent(self, calls, settled=()):
                sent.extend(calls)
                super().record_sent(calls, settled)

        a, b = saying("A"), saying("B")
        run = driver(Watched(0, log), {"a": a, "b": b})
        run.run(batches(*ROUNDS))

        assert [(c.slot, c.attempt, c.repeats) for c in sent[:2]] == [(0, 2, 1), (1, 2, 1)]
        assert [c.seed for c in sent[:2]] == [run.seed_for(0, 0), run.seed_for(0, 1)]
        assert states(run.log)[:4] == [
            (0, 0, 1, "lost"),
            (0, 0, 2, "answered"),
            (0, 1, 1, "lost"),
            (0, 1, 2, "answered"),
        ]

    def test_a_call_can_be_lost_time_and_again(self):
        log = killed_after(1, [ask("a")])
        for _ in range(2):
            log.left = 1
            assert run_until_death(driver(log, {"a": saying("x")}), batches([ask("a")]))
        log.left = 0
        driver(log, {"a": saying("x")}).run(batches([ask("a")]))

        assert [state for *_, state in states(log)] == ["lost", "lost", "lost", "answered"]

    def test_a_failed_call_is_made_again_as_a_new_attempt(self):
        log = MemoryLog()
        rounds = ([ask("a"), ask("b")],)
        b = saying("B")
        result = driver(log, {"a": raising(AnswererFailed("gone")), "b": b}).run(batches(*rounds))
        assert isinstance(result, Failed)

        driver(log, {"a": saying("A"), "b": b}).run(batches(*rounds))

        assert len(b.calls) == 1
        assert states(log) == [
            (0, 0, 1, "failed"),
            (0, 0, 2, "answered"),
            (0, 1, 1, "answered"),
        ]
        assert log.rows[0, 0, 1].reason == "gone"

    @pytest.mark.parametrize("writes", range(1, 9))
    def test_wherever_it_dies_the_result_is_that_of_the_undisturbed_run(self, writes):
        """Two slots and one slot: sent, 2 verdicts, turn, sent, verdict, turn, outcome."""
        echo = Actor(lambda asked, seed: f"{asked.messages[0].text} {seed}")
        roles = {"a": echo, "b": echo}
        whole = MemoryLog()
        expected = driver(whole, roles).run(batches(*ROUNDS))
        log = DyingLog(writes)
        assert run_until_death(driver(log, roles), batches(*ROUNDS))

        result = driver(DyingLog(0, log), roles).run(batches(*ROUNDS))

        assert result == expected
        assert log.turns.items() <= whole.turns.items()


class TestAskMismatch:
    def mismatch(self, stored: Ask, derived: Ask) -> AskMismatch:
        log = MemoryLog()
        driver(log, {"a": saying("x"), "b": saying("x")}).run(batches([stored]))
        protocol = batches([derived])
        with pytest.raises(AskMismatch) as caught:
            driver(log, {"a": saying("x"), "b": saying("x")}).run(protocol)
        assert protocol.gi_frame is None
        assert (caught.value.step, caught.value.slot) == (0, 0)
        return caught.value

    def test_names_the_first_message_that_differs(self):
        first, second = Message("system", "be brief"), Message("user", "hello")
        stored = Ask("a", (first, second), Expect("text"))
        derived = replace(stored, messages=(first, Message("user", "good day")))

        assert str(self.mismatch(stored, derived)) == ("step 0, slot 0: message 2 (user) differs")

    def test_names_a_difference_in_length(self):
        stored = Ask("a", (Message("user", "hello"),), Expect("text"))
        derived = replace(stored, messages=(*stored.messages, Message("user", "again")))

        assert self.mismatch(stored, derived).difference == "2 messages where 1 are stored"

    @pytest.mark.parametrize(
        "change",
        [
            {"role": "b"},
            {"expect": Expect("number")},
            {"expect": Expect("text", {"limit": 1})},
            {"tools": ({"name": "hammer"},)},
        ],
    )
    def test_says_so_where_the_messages_agree(self, change):
        stored = Ask("a", (Message("user", "hello"),), Expect("text"))

        assert self.mismatch(stored, replace(stored, **change)).difference == (
            "role, seat, tools or expected reply differ"
        )

    def test_context_is_no_part_of_the_ask(self):
        stored = Ask("a", (Message("user", "hello"),), Expect("text"), context={"n": 1})
        log = MemoryLog()
        driver(log, {"a": saying("x")}).run(batches([stored]))

        result = driver(log, {"a": saying("x")}).run(batches([replace(stored, context={"n": 2})]))

        assert isinstance(result, Finished)

    def test_a_stored_slot_that_the_batch_lacks_is_a_mismatch(self):
        """Fewer judges than before would otherwise pass unnoticed, as theirs are the last slots."""
        log = MemoryLog()
        driver(log, {"a": saying("x")}).run(batches([ask("a"), ask("a", "more")]))

        with pytest.raises(AskMismatch, match="step 0, slot 1: .* does not ask"):
            driver(log, {"a": saying("x")}).run(batches([ask("a")]))

    def test_a_stored_step_after_the_end_is_a_mismatch(self):
        log = MemoryLog()
        driver(log, {"a": saying("x")}).run(batches([ask("a")], [ask("a", "more")]))
        before = log.outcome

        with pytest.raises(AskMismatch, match="step 1, slot 0: .* does not ask"):
            driver(log, {"a": saying("x")}).run(batches([ask("a")]))
        assert log.outcome is before

    def test_nothing_is_sent_when_a_later_slot_of_the_batch_disagrees(self):
        log = killed_after(2, [ask("a", "one"), ask("b", "two")])
        rows = dict(log.rows)

        with pytest.raises(AskMismatch, match="slot 1"):
            driver(log, {"a": saying("x"), "b": saying("x")}).run(
                batches([ask("a", "one"), ask("b", "other")])
            )
        assert log.rows == rows


class TestTurns:
    def test_a_turn_is_stored_once(self):
        log = killed_after(5, *ROUNDS)

        driver(log, {"a": saying("x"), "b": saying("x")}).run(batches(*ROUNDS))

        assert [turn.text for turn in log.turns.values()] == ["one two", "x"]

    def test_a_derived_turn_that_differs_is_refused(self):
        def protocol(text):
            yield [ask("a")]
            yield Turn(1, text)
            return Outcome("done", {})

        log = MemoryLog()
        driver(log, {"a": saying("x")}).run(protocol("before"))

        with pytest.raises(TurnMismatch, match="turn 1: text differs from what is stored"):
            driver(log, {"a": saying("x")}).run(protocol("now"))

    def test_values_survive_the_way_through_json(self):
        """A store gives back what it was given as JSON: replay must not depend on more."""
        log = killed_after(5, [ask("a", "1", kind="number")], [ask("a", "2", kind="number")])
        stored = json.loads(json.dumps({str(k): r.value for k, r in log.rows.items()}))
        log.rows = {k: replace(r, value=stored[str(k)]) for k, r in log.rows.items()}

        result = driver(log, {"a": saying("2")}).run(
            batches([ask("a", "1", kind="number")], [ask("a", "2", kind="number")])
        )

        assert result.outcome.payload["replies"] == [
            [["answered", 1, ""]],
            [["answered", 2, ""]],
        ]
