"""People in the roles of the construction: what they fill in becomes a reply that can be read."""

import json
from typing import Any

import pytest

from benchmarks.core.ports.people import FieldsRefused
from benchmarks.core.types import Ask
from benchmarks.systems.adaplanbench_construction.asks import RoundAsks, ask_filter
from benchmarks.systems.adaplanbench_construction.parsers import PARSERS
from benchmarks.systems.adaplanbench_construction.people import REPLY_FORMS
from benchmarks.systems.adaplanbench_construction.pools import (
    ConstraintPool,
    PooledCandidate,
    PooledConstraint,
)

NOBODY: frozenset[str] = frozenset()
ROUND = RoundAsks("How can I dry it?", "1. Use a towel.", 2)
POOL = ConstraintPool((PooledConstraint("There is no rope.", "tool:rope"),))
NEW = [PooledConstraint(text, "tool:x") for text in ("No cord.", "No saw.", "No saws.")]
ENTRIES = [
    PooledCandidate("k", "user", text, "attribute:x", 2, NOBODY, NOBODY)
    for text in ("No noise.", "No heat.")
]
ASKS = {
    "verdict": ask_filter("How can I dry it?"),
    "plans": ROUND.planner("2", "world", POOL, 2),
    "world": ROUND.extractor("world", ["1. Use a rope."]),
    "user": ROUND.extractor("user", ["1. Use a rope."]),
    "merged": ROUND.merger("world", POOL, NEW),
    "decisions": ROUND.checker("user", ENTRIES[:1], ENTRIES),
}


def composed(ask: Ask, fields: dict[str, str]) -> Any:
    form = REPLY_FORMS[ask.expect.kind]
    assert form.needs <= ask.context.keys()
    form.show(ask.context, fields, {})
    return PARSERS[ask.expect.kind](form.compose(ask.context, fields), ask.expect.params)


@pytest.mark.parametrize(
    ("name", "fields", "found"),
    [
        ("verdict", {"fit": "1"}, '"fit": true'),
        ("verdict", {"fails-open": "1", "reason": "A rope."}, '"failed": ["open"], "reason": "A'),
        ("plans", {"plan-2": "1. Wait."}, '"text": "1. Wait."'),
        ("world", {"lines": "rope: There is no rope: none.\n"},
         '{"text": "There is no rope: none.", "about": "tool:rope"}'),
        ("user", {"lines": "rope, Roughness: Nothing rough."}, '"about": "attribute:roughness"'),
        ("world", {"none": "1"}, '"candidates": []'),
        ("merged", {"same-n1": "s1", "text-n2": "No saw at all.", "same-n3": "n2"},
         '[{"text": "", "from": ["s1", "n1"]}, {"text": "No saw at all.", "from": ["n2", "n3"]}], '
         '"forgotten": []'),
        ("decisions", {"decide-c1": "keep", "decide-c2": "reference", "why-c2": "It is hot."},
         '"decision": "removed", "ground": "reference", "reason": "It is hot."'),
    ],
)  # fmt: skip
def test_what_is_filled_in_can_be_read(name: str, fields: dict[str, str], found: str):
    assert found in json.dumps(composed(ASKS[name], fields))


@pytest.mark.parametrize(
    ("name", "fields", "wrong"),
    [
        ("verdict", {}, "fit"),
        ("verdict", {"fit": "1", "fails-open": "1"}, "fit"),
        ("plans", {"plan-1": " "}, "plan-1"),
        ("world", {}, "lines"),
        ("world", {"none": "1", "lines": "rope: No rope."}, "lines"),
        ("world", {"lines": "There is no rope."}, "lines"),
        ("user", {"lines": "rope: Nothing rough."}, "lines"),
        ("merged", {"same-n1": "s1", "text-n2": ""}, "text-n2"),
        ("decisions", {"decide-c1": "keep"}, "decide-c2"),
        ("decisions", {"decide-c1": "keep", "decide-c2": "odd"}, "decide-c2"),
    ],
)
def test_what_is_not_filled_in_is_named(name: str, fields: dict[str, str], wrong: str):
    with pytest.raises(FieldsRefused) as caught:
        composed(ASKS[name], fields)
    assert list(caught.value.errors) == [wrong]
