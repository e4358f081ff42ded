"""Limits on calls to an endpoint: at once, adapted to what it bears, and per minute."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# An endpoint that asks for patience gets it at once from all callers, but never for longer.
LONGEST_HOLD = 300.0


class Throttle:
    """The rules alone: no threads and no clock, every method is told the time in seconds.

    Calls at once follow AIMD, as TCP does: each success adds 1/limit, so a full round of calls adds
    one; a refusal for haste (429) or a time-out halves what is under way. Those of calls that had
    already started when the limit was last cut say nothing new and do not cut again. Starts follow
    a token bucket that fills at the rate per minute and holds a second's worth, at least one.
    """

    def __init__(self, concurrency: int, per_minute: float | None, now: float) -> None:
        self.most = self._all = concurrency
        self.limit = float(concurrency)
        self.running = 0
        self._rate = self._full_rate = per_minute / 60 if per_minute else math.inf
        self._bucket = max(1.0, self._rate)
        self._tokens = self._bucket
        self._filled_at = now
        self._held_until = -math.inf
        self._cut_at = -math.inf

    def delay(self, now: float) -> float:
        """Return seconds until a call may start; infinite while all places are taken."""
        if self.running >= int(self.limit):
            return math.inf
        delay = max(self._held_until - now, (1 - self._filled(now)) / self._rate)
        return delay if delay > 1e-9 else 0.0

    def start(self, now: float) -> None:
        self.running += 1
        if self._rate < math.inf:
            self._tokens, self._filled_at = self._filled(now) - 1, now

    def end(self) -> None:
        self.running -= 1

    def note_answer(self) -> None:
        """Note that a call was answered: there may be room for more."""
        self.limit = min(float(self.most), self.limit + 1 / self.limit)

    def refuse(self, started: float, now: float) -> None:
        """Note that a call that had started at ``started`` was refused for haste; it still
        counts.
        """
        if started > self._cut_at:
            self.limit = max(1.0, min(self.limit, self.running) / 2)
            self._cut_at = now

    def share(self, part: float, now: float) -> None:
        """Take this part of the endpoint's limits; other processes take the rest."""
        most = max(1, math.floor(self._all * part + 1e-9))
        # A limit that no refusal had cut goes up with the share; one that was cut climbs as ever.
        self.limit = float(most) if self.limit >= self.most else min(self.limit, float(most))
        self.most = most
        if self._rate < math.inf:
            self._tokens, self._filled_at = self._filled(now), now
            self._rate = self._full_rate * part

    def hold(self, seconds: float, now: float) -> None:
        """Let nobody start for a while."""
        self._held_until = max(self._held_until, now + min(seconds, LONGEST_HOLD))

    def _filled(self, now: float) -> float:
        if self._rate == math.inf:
            return 1.0
        return min(self._bucket, self._tokens + (now - self._filled_at) * self._rate)


@dataclass(frozen=True)
class CallPermit:
    """Leave to make one call. Its holder reports how the endpoint bore it."""

    limiter: "Limiter"
    started: float

    def answered(self) -> None:
        self.limiter.tell(lambda throttle, now: throttle.note_answer())

    def refused(self) -> None:
        self.limiter.tell(lambda throttle, now: throttle.refuse(self.started, now))

    def hold(self, seconds: float) -> None:
        self.limiter.tell(lambda throttle, now: throttle.hold(seconds, now))


class NoPlace(Exception):
    """No place became free in the time that the caller would wait."""


class Limiter:
    """A throttle that threads share. Who comes first is served first."""

    def __init__(
        self,
        concurrency: int,
        per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._throttle = Throttle(concurrency, per_minute, clock())
        self._lock = threading.Lock()
        self._queue: deque[threading.Condition] = deque()

    @property
    def limit(self) -> int:
        """The number of calls that may be under way now."""
        return int(self._throttle.limit)

    @property
    def allowed_part(self) -> float:
        """The part of its calls at once that the endpoint bears: 1 unless it refused some."""
        return self._throttle.limit / self._throttle.most

    def share(self, part: float) -> None:
        """Take this part of the endpoint's limits."""
        self.tell(lambda throttle, now: throttle.share(part, now))

    @property
    def running(self) -> int:
        return self._throttle.running

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @contextmanager
    def place(self, longest: float = math.inf) -> Iterator[CallPermit]:
        """Hold a place for one call, got after at most ``longest`` seconds (``NoPlace``)."""
        place = CallPermit(self, self._enter(longest))
        try:
            yield place
        finally:
            self.tell(lambda throttle, now: throttle.end())

    def tell(self, change: Callable[[Throttle, float], None]) -> None:
        """Change the throttle, and let who is first in the queue look again."""
        with self._lock:
            change(self._throttle, self._clock())
            self._wake()

    def _enter(self, longest: float) -> float:
        with self._lock:
            mine = threading.Condition(self._lock)
            self._queue.append(mine)
            try:
                give_up = self._clock() + longest
                while True:
                    now = self._clock()
                    # Only the first in the queue watches the clock; the others are woken by it.
                    delay = self._throttle.delay(now) if self._queue[0] is mine else math.inf
                    if delay <= 0:
                        self._throttle.start(now)
                        return now
                    if now >= give_up:
                        raise NoPlace
                    mine.wait(min(delay, give_up - now, threading.TIMEOUT_MAX))
            finally:
                self._queue.remove(mine)
                self._wake()

    def _wake(self) -> None:
        if self._queue:
            self._queue[0].notify()
