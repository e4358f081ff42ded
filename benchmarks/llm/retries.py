"""Decides whether and when a failed call is tried again; nothing else does."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

# Request timeout, conflict, too many requests; and all of 5xx.
RETRIED = frozenset({408, 409, 429})
# Kinds of 429 that waiting does not cure.
EXHAUSTED = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})


@dataclass(frozen=True)
class Trouble:
    """The reason why a try brought no answer.

    ``reason`` is fit to be shown. ``wait`` is what the server asked for, in seconds. ``hasty``: it
    was refused for asking too much at once, or not answered in time. ``billed``: the server may
    have done the work.
    """

    reason: str
    again: bool
    wait: float | None = None
    hasty: bool = False
    billed: bool = False


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential backoff with full jitter, bounded in tries and in time.

    Parameters
    ----------
    tries
        How often a call is sent at most.
    base, longest
        Before try n+1 comes a pause drawn evenly from 0 to ``base`` * 2^(n-1), at most ``longest``
        seconds.
    patience
        A server that asks for a longer wait than this (seconds) has failed the call.
    total
        Seconds that a call may take in all: tries and pauses.
    queue
        Seconds that a try may wait for its turn, while other calls of ours are under way.
    """

    tries: int = 6
    base: float = 0.5
    longest: float = 30.0
    patience: float = 120.0
    total: float = 900.0
    queue: float = 3600.0

    def pause(self, failed: int, wait: float | None, rng: random.Random) -> float:
        """Return seconds before the next try, after ``failed`` tries.

        A little is added to what the server asks for, so that not all calls come back at once.
        """
        span = min(self.longest, self.base * 2.0 ** min(failed - 1, 30))
        return rng.uniform(0, span) if wait is None else wait + rng.uniform(0, min(span, 1.0))


def retried(status: int) -> bool:
    return status in RETRIED or status >= 500


def read_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that a server asks for, from Retry-After (seconds or a date) and its kin.

    ``now`` is the time of the day in seconds since 1970. An unreadable value counts
    as absent.
    """
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if not text:
            continue
        try:
            seconds = float(text) * unit
        except ValueError:
            seconds = _until(text, now)
        if 0 <= seconds < float("inf"):  # also false for NaN
            return seconds
    return None


def _until(text: str, now: float) -> float:
    """Return seconds until an HTTP date, none for one in the past; NaN for what is no date."""
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        return max(0.0, date.timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return float("nan")
