"""Limits of an endpoint: the rules by a clock of their own, then threads that share them."""

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.llm.limits import LONGEST_HOLD, Limiter, NoPlace, Throttle


def started(throttle: Throttle, now: float) -> int:
    """Return how many calls may start at this moment; they are started."""
    count = 0
    while throttle.delay(now) == 0:
        throttle.start(now)
        count += 1
    return count


class TestCallsAtOnce:
    def test_as_many_as_configured_and_no_more(self):
        throttle = Throttle(8, None, 0)
        assert started(throttle, 0) == 8
        assert throttle.delay(0) == math.inf
        throttle.end()
        assert started(throttle, 0) == 1

    def test_a_refusal_halves_what_is_under_way(self):
        throttle = Throttle(64, None, 0)
        for _ in range(20):
            throttle.start(1)
        throttle.refuse(started=1, now=2)
        assert throttle.limit == 10

    def test_refusals_of_the_same_burst_count_once(self):
        throttle = Throttle(16, None, 0)
        started(throttle, 1)
        for now in (2, 3, 4):
            throttle.refuse(started=1, now=now)
        assert throttle.limit == 8
        throttle.refuse(started=5, now=6)
        assert throttle.limit == 4

    def test_other_processes_take_their_part(self):
        throttle = Throttle(10, 600, 0)
        throttle.share(0.35, 0)
        assert started(throttle, 0) == 3
        throttle.share(1.0, 0)
        assert started(throttle, 0) == 7

    def test_a_larger_part_does_not_undo_a_refusal(self):
        throttle = Throttle(16, None, 0)
        throttle.share(0.5, 0)
        started(throttle, 0)
        throttle.refuse(started=0, now=1)
        throttle.share(1.0, 2)
        assert (throttle.limit, throttle.most) == (4, 16)

    def test_calls_a_minute_are_shared(self):
        throttle = Throttle(1000, 60, 0)
        throttle.share(0.5, 0)
        assert started(throttle, 0) == 1
        assert throttle.delay(0) == 2.0

    def test_one_call_may_always_be_under_way(self):
        throttle = Throttle(2, None, 0)
        throttle.start(0)
        for now in range(1, 10):
            throttle.refuse(started=now, now=now + 0.5)
        assert throttle.limit == 1
        throttle.end()
        assert started(throttle, 20) == 1

    def test_a_round_of_successes_adds_one(self):
        throttle = Throttle(16, None, 0)
        started(throttle, 1)
        throttle.refuse(started=1, now=2)
        for _ in range(8):
            throttle.note_answer()
        assert throttle.limit == pytest.approx(8.95, abs=0.05)  # 8 steps of 1/8, a little less
        for _ in range(1000):
            throttle.note_answer()
        assert throttle.limit == 16


class TestCallsPerMinute:
    def test_starts_are_spread_over_the_minute(self):
        throttle = Throttle(1000, 30, 0)
        assert started(throttle, 0) == 1
        assert throttle.delay(0) == pytest.approx(2)
        assert started(throttle, 1.9) == 0
        assert started(throttle, 2.0) == 1

    def test_no_minute_sees_more_than_the_rate_and_a_second(self):
        throttle = Throttle(100_000, 600, 0)
        starts = []
        for tick in range(3000):
            now = tick * 0.1
            starts += [now] * started(throttle, now)
        for begin in range(0, 240, 7):
            assert sum(begin <= at < begin + 60 for at in starts) <= 610
        assert len(starts) >= 2990

    def test_idle_time_is_not_saved_up(self):
        throttle = Throttle(1000, 60, 0)
        assert started(throttle, 3600) == 1


class TestHolding:
    def test_nobody_starts_before_the_time_that_a_server_asked_for(self):
        throttle = Throttle(4, None, 0)
        throttle.hold(5, now=10)
        assert throttle.delay(12) == pytest.approx(3)
        throttle.hold(1, now=12)
        assert throttle.delay(12) == pytest.approx(3)
        assert throttle.delay(15) == 0

    def test_no_server_can_stop_everything_for_good(self):
        throttle = Throttle(4, None, 0)
        throttle.hold(1e9, now=0)
        assert throttle.delay(0) == LONGEST_HOLD


class TestThreads:
    def test_never_more_at_once_than_the_limit(self):
        limiter, lock = Limiter(5), threading.Lock()
        now = most = 0

        def call(_: int) -> None:
            nonlocal now, most
            with limiter.place():
                with lock:
                    now += 1
                    most = max(most, now)
                time.sleep(0.001)
                with lock:
                    now -= 1

        with ThreadPoolExecutor(40) as pool:
            list(pool.map(call, range(300)))
        assert most == 5
        assert (limiter.running, limiter.waiting) == (0, 0)

    def test_who_comes_first_is_served_first(self):
        limiter = Limiter(1)
        served: list[int] = []

        def call(number: int) -> None:
            with limiter.place():
                served.append(number)

        with ThreadPoolExecutor(20) as pool, limiter.place():
            for number in range(20):
                pool.submit(call, number)
                while limiter.waiting <= number:
                    time.sleep(0.0005)
        assert served == list(range(20))

    def test_a_call_waits_only_so_long(self):
        limiter = Limiter(1)
        with limiter.place():
            with pytest.raises(NoPlace), limiter.place(0.02):
                raise AssertionError
            assert limiter.waiting == 0
        with limiter.place(0.02):
            assert limiter.running == 1

    def test_a_place_is_given_back_after_an_error(self):
        limiter = Limiter(1)
        with pytest.raises(ZeroDivisionError), limiter.place():
            raise ZeroDivisionError
        with limiter.place(0):
            pass

    def test_the_rate_holds_between_threads(self):
        limiter = Limiter(50, per_minute=60 * 50)  # 50 a second, a second's worth at once
        began = time.monotonic()

        def call(_: int) -> None:
            with limiter.place():
                pass

        with ThreadPoolExecutor(20) as pool:
            list(pool.map(call, range(65)))
        assert time.monotonic() - began >= 14 / 50

    def test_a_refusal_reaches_those_who_wait(self):
        limiter = Limiter(4)
        with limiter.place() as place:
            place.refused()
            assert limiter.limit == 1
            with pytest.raises(NoPlace), limiter.place(0.01):
                raise AssertionError
            for _ in range(3):
                place.answered()
            assert limiter.limit >= 2
            with limiter.place(0.5):
                assert limiter.running == 2
