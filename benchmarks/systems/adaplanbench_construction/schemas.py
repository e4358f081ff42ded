"""The JSON replies of the construction pipeline as schemas, for endpoints held to them."""

from collections.abc import Mapping
from typing import Any

from benchmarks.llm.schemas import list_of, nothing_or, object_of, one_of
from benchmarks.systems.adaplanbench.protocol import WORLD
from benchmarks.systems.adaplanbench_construction.protocol import (
    KEEP,
    REMOVE,
)

_TEXT = {"type": "string"}


def verdict(params: Mapping[str, Any]) -> dict[str, Any]:
    failed = list_of(one_of(list(params["criteria"])))
    return object_of({"fit": {"type": "boolean"}, "failed": failed, "reason": _TEXT})


def plans(params: Mapping[str, Any]) -> dict[str, Any]:
    row = object_of({"plan": _TEXT, "probability": nothing_or({"type": "number"})})
    return object_of({"plans": list_of(row)})


def candidates(params: Mapping[str, Any]) -> dict[str, Any]:
    attribute = {} if params["kind"] == WORLD else {"attribute": _TEXT}
    row = object_of({"text": _TEXT, "tool": _TEXT, **attribute})
    return object_of({"tools": list_of(_TEXT), "candidates": list_of(row)})


def merged(params: Mapping[str, Any]) -> dict[str, Any]:
    ids = one_of([*params["settled"], *params["new"]])
    return object_of({"constraints": list_of(object_of({"text": _TEXT, "from": list_of(ids)}))})


def decisions(params: Mapping[str, Any]) -> dict[str, Any]:
    row = object_of(
        {
            "key": one_of(list(params["keys"])),
            "decision": one_of([KEEP, REMOVE]),
            "ground": one_of([*params["grounds"], ""]),
            "reason": _TEXT,
        }
    )
    return object_of({"decisions": list_of(row)})


SCHEMAS = {
    "verdict": verdict,
    "plans": plans,
    "candidates": candidates,
    "merged": merged,
    "decisions": decisions,
}
