"""The cap holds, whatever comes back and in whichever order."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.llm.budget import Budget, CapReached, estimate_cost, estimate_tokens
from benchmarks.llm.chat import request_body
from tests.benchmarks.llm.stage import ask, config


def test_what_is_reserved_cannot_be_reserved_again():
    budget = Budget(1.0)
    budget.reserve(0.6)
    with pytest.raises(CapReached, match="cap of 1 is reached: 0 spent, 0.6 reserved"):
        budget.reserve(0.5)
    budget.reserve(0.4)
    assert budget.left == pytest.approx(0)


def test_what_a_call_did_cost_takes_the_place_of_its_reservation():
    budget = Budget(1.0)
    budget.reserve(0.6).settle(0.1)
    assert (budget.spent, budget.reserved, budget.assumed) == (0.1, 0, 0)
    budget.reserve(0.9)


def test_what_was_not_billed_is_free_again():
    budget = Budget(1.0)
    budget.reserve(1.0).release()
    assert (budget.spent, budget.reserved) == (0, 0)
    budget.reserve(1.0)


def test_an_unknown_cost_counts_as_the_estimate_and_is_said_to_be_assumed():
    budget = Budget(1.0)
    budget.reserve(0.6).settle(None)
    assert (budget.spent, budget.assumed) == (0.6, 0.6)


def test_a_reservation_left_without_a_word_counts_in_full():
    budget = Budget(1.0)
    with pytest.raises(ZeroDivisionError), budget.reserve(0.6):
        raise ZeroDivisionError
    assert (budget.spent, budget.assumed, budget.reserved) == (0.6, 0.6, 0)


def test_a_reservation_ends_once():
    budget = Budget(1.0)
    with budget.reserve(0.6) as held:
        held.settle(0.2)
        held.settle(0.5)
        held.release()
    assert budget.spent == 0.2


def test_a_cap_needs_an_estimate():
    with pytest.raises(CapReached, match="both prices and a max_tokens"):
        Budget(1.0).reserve(None)


def test_without_a_cap_it_only_counts():
    budget = Budget(None)
    budget.reserve(None).settle(None)
    budget.reserve(1e9).settle(2.5)
    assert (budget.spent, budget.left) == (2.5, None)


def test_what_was_spent_before_counts():
    with pytest.raises(CapReached):
        Budget(1.0, spent=0.95).reserve(0.1)


@given(
    st.lists(
        st.tuples(st.floats(0.01, 0.5), st.sampled_from(["less", "unknown", "free", "open"])),
        max_size=60,
    )
)
def test_spent_and_reserved_never_pass_the_cap(calls):
    budget = Budget(1.0)
    for estimate, end in calls:
        try:
            held = budget.reserve(estimate)
        except CapReached:
            continue
        if end == "less":
            held.settle(estimate * 0.7)
        elif end == "unknown":
            held.settle(None)
        elif end == "free":
            held.release()
        assert budget.spent + budget.reserved <= 1.0 + 1e-12


def test_threads_together_keep_the_cap():
    budget, start = Budget(1.0), threading.Barrier(16)

    def spend(_):
        start.wait()
        sent = 0
        for _ in range(50):
            try:
                with budget.reserve(0.01) as held:
                    sent += 1
                    held.settle(0.01)
            except CapReached:
                pass
        return sent

    with ThreadPoolExecutor(16) as pool:
        sent = sum(pool.map(spend, range(16)))
    assert sent in (99, 100)  # hundredths do not add up to one exactly
    assert budget.spent == pytest.approx(sent * 0.01)


class TestEstimates:
    def test_a_prompt_has_at_most_a_token_per_byte(self):
        # é is two bytes; around the text stand the message's own 28 bytes of JSON.
        message = {"role": "user", "content": "é" * 100}
        assert estimate_tokens([message]) >= 200

    def test_prices_times_the_longest_prompt_and_reply(self):
        endpoint = config(price_in=1.0, price_out=5.0, parameters={"max_tokens": 1000})
        body = request_body(endpoint, ask("b" * 400, "u" * 600), 1, {})
        estimate = estimate_cost(endpoint, body)
        assert estimate is not None
        # 1,000 tokens at 5 per million, and the prompt: more than its 1,000 letters, not much more
        assert 0.005 + 0.001 < estimate < 0.005 + 0.00125

    def test_tools_and_schemas_count(self):
        endpoint = config(price_in=1.0, price_out=1.0, parameters={"max_tokens": 1})
        body = request_body(endpoint, ask(), 1, {})
        bare = estimate_cost(endpoint, body)
        with_tools = estimate_cost(endpoint, body | {"tools": [{"name": "x" * 1000}]})
        assert bare is not None and with_tools is not None
        assert with_tools - bare >= 0.001

    @pytest.mark.parametrize(
        "changes",
        [
            {"price_in": 1.0, "price_out": 1.0},
            {"price_in": 1.0, "parameters": {"max_tokens": 5}},
            {"price_out": 1.0, "parameters": {"max_tokens": 5}},
        ],
    )
    def test_without_prices_or_a_longest_reply_there_is_none(self, changes):
        endpoint = config(**changes)
        assert estimate_cost(endpoint, request_body(endpoint, ask(), 1, {})) is None
