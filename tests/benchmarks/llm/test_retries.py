"""Tests of retries: when to try again, and after how long."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.llm.retries import RetryPolicy, read_wait, retried

# 2024-02-29 12:00:00 UTC: 19,782 days after 1970 began, and a half.
NOON = 19_782.5 * 86_400


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_passing_troubles_are_tried_again(status):
    assert retried(status)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_lasting_troubles_are_not(status):
    assert not retried(status)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Thu, 29 Feb 2024 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thursday, 29-Feb-24 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 29 Feb 2024 14:00:30 +0200"}, 30.0),
        ({"retry-after": "Thu, 29 Feb 2024 11:59:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_what_a_server_asks_for(headers, seconds):
    assert read_wait(headers, NOON) == (None if seconds is None else pytest.approx(seconds))


@given(st.text())
def test_no_header_breaks_it(text):
    wait = read_wait({"retry-after": text}, NOON)
    assert wait is None or wait >= 0


@pytest.mark.parametrize(("failed", "span"), [(1, 0.5), (2, 1.0), (3, 2.0), (6, 16.0), (20, 30.0)])
def test_pauses_fill_a_span_that_doubles_up_to_a_limit(failed, span):
    rng = random.Random(1)
    drawn = [RetryPolicy().pause(failed, None, rng) for _ in range(2000)]
    assert 0 <= min(drawn) < 0.05 * span
    assert 0.95 * span < max(drawn) <= span
    assert sum(drawn) / len(drawn) == pytest.approx(span / 2, rel=0.05)


def test_what_a_server_asks_for_is_a_least_time():
    rng = random.Random(1)
    drawn = [RetryPolicy().pause(1, 3.0, rng) for _ in range(500)]
    assert min(drawn) >= 3.0
    assert max(drawn) <= 3.5


def test_equal_seeds_pause_equally():
    def pauses():
        rng = random.Random(7)
        return [RetryPolicy().pause(n, None, rng) for n in range(1, 6)]

    assert pauses() == pauses()
