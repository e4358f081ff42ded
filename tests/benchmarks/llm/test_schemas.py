"""Schemas of replies: strict enough for endpoints, and such that what they allow can be read."""

import json
import random
from typing import Any

import pytest

from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.llm.fake.replies import _fill
from benchmarks.llm.schemas import schemas_of

PARAMS: dict[str, dict[str, Any]] = {
    "violations": {"keys": ["w1", "w2", "u-no heat"]},
    "scores": {"dimensions": ["safety", "effectiveness"]},
}
KINDS = [(key, kind) for key in SYSTEMS for kind in schemas_of(key) if kind in PARAMS]


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
    assert set(schemas_of("adaplanbench")) == {"violations", "scores"}


def test_who_has_none_has_none():
    assert schemas_of("no-such-system") == {}


@pytest.mark.parametrize("key", SYSTEMS)
def test_kinds_with_a_schema_have_a_parser(key):
    assert set(schemas_of(key)) <= set(get_system(key).parsers)


@pytest.mark.parametrize(("key", "kind"), KINDS)
def test_strict_modes_accept_it(key, kind):
    schema = schemas_of(key)[kind](PARAMS[kind])
    found = list(objects(schema))
    assert found
    for part in found:
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
    json.dumps(schema, allow_nan=False)


@pytest.mark.parametrize(("key", "kind"), KINDS)
def test_what_it_allows_can_be_read(key, kind):
    schema = schemas_of(key)[kind](PARAMS[kind])
    parse = get_system(key).parsers[kind]
    for seed in range(50):
        parse(json.dumps(_fill(schema, random.Random(seed))), PARAMS[kind])
