"""Tests of an endpoint's configuration: accepted values, and its description."""

import json
import math

import pytest

from benchmarks.core.errors import CoreError, SettingError
from tests.benchmarks.llm.stage import KEY, VARIABLE, config


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"name": " "}, "name"),
        ({"model": ""}, "model"),
        ({"price_in": -1.0}, "price_in"),
        ({"price_out": math.inf}, "price_out"),
        ({"price_out": math.nan}, "price_out"),
        ({"timeout": 0.0}, "timeout"),
        ({"timeout": math.inf}, "timeout"),
        ({"concurrency": 0}, "concurrency"),
        ({"requests_per_minute": 0}, "requests_per_minute"),
        ({"structured": "xml"}, "structured"),
        ({"parameters": {"max_tokens": 0}}, "max_tokens"),
        ({"parameters": {"max_tokens": True}}, "max_tokens"),
        ({"parameters": {"seed": -1}}, "seed"),
        ({"parameters": {"temperature": math.nan}}, "temperature"),
        ({"parameters": {"top_k": {1}}}, "top_k"),
    ],
)
def test_nonsense_is_refused_by_name(changes, named):
    with pytest.raises(SettingError) as refused:
        config(**changes)
    assert refused.value.name == named


@pytest.mark.parametrize("name", ["messages", "model", "stream", "n", "tools", "extra_headers"])
def test_parameters_cannot_replace_what_planjury_sets(name):
    with pytest.raises(SettingError, match="sets itself"):
        config(parameters={name: 1})


def test_address_and_key_variable_are_checked_at_once():
    with pytest.raises(CoreError, match="this machine alone"):
        config(base_url="http://models.example.org/v1")
    with pytest.raises(CoreError, match="must start with PLANJURY_KEY_"):
        config(key_variable="DATABASE_URL")


def test_the_identity_names_all_that_shapes_an_answer_and_no_secret():
    identity = config(
        base_url="https://models.example.org:8443/v1",
        key_variable=VARIABLE,
        parameters={"temperature": 0.2},
        structured="json_object",
    ).identity
    assert (identity.kind, identity.name, identity.version) == ("endpoint", "test", "1")
    assert identity.parameters == {
        "model": "fake",
        "host": "models.example.org:8443",
        "structured": "json_object",
        "native_tools": False,
        "parameters": {"temperature": 0.2},
    }
    text = json.dumps(identity.parameters)
    assert KEY not in text and VARIABLE not in text


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "other"},
        {"parameters": {"temperature": 1}},
        {"structured": "json_schema"},
        {"native_tools": True},
        {"base_url": "http://localhost:2/v1"},
    ],
)
def test_who_answers_otherwise_is_somebody_else(changes):
    assert config(**changes).identity.digest != config().identity.digest


def test_prices_and_limits_change_nothing_about_who_answers():
    other = config(price_in=1.0, timeout=5.0, concurrency=2, key_variable=VARIABLE)
    assert other.identity.digest == config().identity.digest


def test_costs_come_from_prices_per_million_tokens():
    # 1,000 tokens at 2.50 and 200 at 10 per million: 0.0025 + 0.002
    assert config(price_in=2.5, price_out=10.0).cost(1000, 200) == pytest.approx(0.0045)
    assert config(price_in=0.0, price_out=0.0).cost(1000, 200) == 0.0


@pytest.mark.parametrize(
    ("prices", "tokens"),
    [((None, 10.0), (1, 1)), ((2.5, None), (1, 1)), ((2.5, 10.0), (None, 1)),
     ((2.5, 10.0), (1, None))],
)  # fmt: skip
def test_an_unknown_cost_is_none_and_not_nothing(prices, tokens):
    assert config(price_in=prices[0], price_out=prices[1]).cost(*tokens) is None
