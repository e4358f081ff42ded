"""Calls whose outcome nobody knows, and money that is put aside before calls leave."""

from dataclasses import dataclass

import pytest

from benchmarks.core.answerers import Answer
from benchmarks.core.driver import Capped, Failed, Finished
from benchmarks.core.errors import AnswererFailed, OutcomeUnknown
from benchmarks.core.log import MemoryLog
from benchmarks.core.types import Ask
from tests.benchmarks.core.toys import Actor, ask, batches, driver, saying, states


@dataclass
class Paid(Actor):
    """An actor that asks for money, at most ``price`` an answer."""

    price: float | None = 1.0

    def most(self, ask: Ask, seed: int) -> float | None:
        return self.price


def failing(times: int, error: AnswererFailed, cost: float | None = 0.4) -> Paid:
    """Fails so often, then answers."""
    left = [error] * times

    def rule(ask: Ask, seed: int) -> Answer:
        if left:
            raise left.pop()
        return Answer("yes", cost=cost)

    return Paid(rule)


class TestUnknownOutcomes:
    def test_each_is_an_attempt_and_the_ask_is_put_again_under_its_seed(self):
        log, agent = MemoryLog(), failing(2, OutcomeUnknown("gone silent"))
        assert isinstance(driver(log, {"agent": agent}).run(batches([ask("agent")])), Finished)
        assert [(attempt, state) for _, _, attempt, state in states(log)] == [
            (1, "lost"), (2, "lost"), (3, "answered"),
        ]  # fmt: skip
        assert [row.reason for row in log.exchanges()][:2] == ["gone silent"] * 2
        assert len({seed for _, seed in agent.calls}) == 1

    def test_after_a_few_the_trajectory_has_failed_and_can_go_on(self):
        log, agent = MemoryLog(), failing(5, OutcomeUnknown("gone silent"))
        result = driver(log, {"agent": agent}, max_lost=3).run(batches([ask("agent")]))
        assert result == Failed("gone silent")
        assert [state for *_, state in states(log)] == ["lost"] * 3
        # what was lost before does not count against the next time
        assert isinstance(
            driver(log, {"agent": agent}, max_lost=3).run(batches([ask("agent")])), Finished
        )
        assert [state for *_, state in states(log)] == ["lost"] * 5 + ["answered"]

    def test_one_that_would_come_out_the_same_is_not_repeated(self):
        log, agent = MemoryLog(), failing(1, OutcomeUnknown("too long", again=False))
        result = driver(log, {"agent": agent}).run(batches([ask("agent")]))
        assert result == Failed("too long")
        assert [state for *_, state in states(log)] == ["lost"]

    def test_the_others_of_a_batch_are_not_asked_again(self):
        log = MemoryLog()
        agent, judge = failing(1, OutcomeUnknown("gone silent")), saying("fine")
        driver(log, {"agent": agent, "judge": judge}).run(batches([ask("agent"), ask("judge")]))
        assert len(judge.calls) == 1
        assert states(log) == [(0, 0, 1, "lost"), (0, 0, 2, "answered"), (0, 1, 1, "answered")]


class TestCaps:
    def test_costs_take_the_place_of_what_was_put_aside(self):
        log = MemoryLog(cap=1.0)
        rounds = [[ask("agent", text)] for text in "ab"]
        result = driver(log, {"agent": failing(0, AnswererFailed(""))}).run(batches(*rounds))
        # 0.4 is spent when the second would need 1.0
        assert isinstance(result, Capped)
        assert "0.4000 of 1 used under the cost cap" in result.reason
        assert log.committed == pytest.approx(0.4)
        log.cap = 1.4
        again = driver(log, {"agent": failing(0, AnswererFailed(""))}).run(batches(*rounds))
        assert isinstance(again, Finished)
        assert log.committed == pytest.approx(0.8)

    def test_a_batch_is_sent_whole_or_not_at_all(self):
        log, agent = MemoryLog(cap=1.5), Paid(lambda ask, seed: Answer("yes", cost=0.1))
        result = driver(log, {"agent": agent}).run(batches([ask("agent", "a"), ask("agent", "b")]))
        assert isinstance(result, Capped)
        assert not agent.calls and not log.rows

    @pytest.mark.parametrize(
        ("error", "counted"),
        [(OutcomeUnknown("gone silent"), 1.4), (AnswererFailed("refused"), 0.0)],
    )
    def test_what_may_have_been_billed_stays_and_what_was_not_is_freed(self, error, counted):
        log = MemoryLog(cap=9.0)
        driver(log, {"agent": failing(1, error)}).run(batches([ask("agent")]))
        assert log.committed == pytest.approx(counted)

    def test_a_reply_of_unknown_cost_counts_in_full(self):
        log = MemoryLog(cap=9.0)
        driver(log, {"agent": failing(0, AnswererFailed(""), None)}).run(batches([ask("agent")]))
        assert log.committed == 1.0

    def test_a_price_that_nobody_knows_and_a_cap_do_not_go_together(self):
        agent = Paid(lambda ask, seed: Answer("yes"), price=None)
        result = driver(MemoryLog(cap=9.0), {"agent": agent}).run(batches([ask("agent")]))
        assert isinstance(result, Capped) and not agent.calls
        assert isinstance(
            driver(MemoryLog(), {"agent": agent}).run(batches([ask("agent")])), Finished
        )
