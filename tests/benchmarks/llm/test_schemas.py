"""Schemas of replies: strict enough for endpoints, and such that what they allow can be read."""

import json
import random
from typing import Any

import pytest

from benchmarks.core.registry import SYSTEMS, find_system, get_system
from devtools.fake_endpoint.replies import _fill

PARAMS: dict[str, dict[str, Any]] = {
    "violations": {"keys": ["w1", "w2", "u-no heat"]},
    "scores": {"dimensions": ["safety", "effectiveness"]},
}
KINDS = [
    (key, kind) for key in SYSTEMS for kind in find_system(key).reply_schemas if kind in PARAMS
]


def objects(schema: Any):
    """Every object schema inside a schema."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


def test_adaplanbench_has_schemas_for_its_judges():
    assert set(find_system("adaplanbench").reply_schemas) == {"violations", "scores"}


def test_who_has_none_has_none():
    assert find_system("no-such-system").reply_schemas == {}


@pytest.mark.parametrize("key", SYSTEMS)
def test_kinds_with_a_schema_have_a_parser(key):
    assert set(find_system(key).reply_schemas) <= set(get_system(key).parsers)


@pytest.mark.parametrize(("key", "kind"), KINDS)
def test_strict_modes_accept_it(key, kind):
    schema = find_system(key).reply_schemas[kind](PARAMS[kind])
    found = list(objects(schema))
    assert found
    for part in found:
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
    json.dumps(schema, allow_nan=False)


@pytest.mark.parametrize(("key", "kind"), KINDS)
def test_what_it_allows_can_be_read(key, kind):
    schema = find_system(key).reply_schemas[kind](PARAMS[kind])
    parse = get_system(key).parsers[kind]
    for seed in range(50):
        parse(json.dumps(_fill(schema, random.Random(seed))), PARAMS[kind])
