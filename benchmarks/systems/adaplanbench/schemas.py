"""The JSON replies of AdaPlanBench's judges as schemas, for endpoints that can be held to them."""

from collections.abc import Mapping
from typing import Any

from benchmarks.llm.schemas import list_of, nothing_or, object_of, one_of

_TEXT = {"type": "string"}


def violations(params: Mapping[str, Any]) -> dict[str, Any]:
    keys = list(params["keys"])
    reasons = object_of(dict.fromkeys(keys, _TEXT))
    return object_of({"violated": list_of(one_of(keys)), "reasons": reasons})


def scores(params: Mapping[str, Any]) -> dict[str, Any]:
    keys = list(params["dimensions"])
    given = object_of(dict.fromkeys(keys, nothing_or(one_of([1, 2, 3, 4, 5]))))
    return object_of({"scores": given, "reasons": object_of(dict.fromkeys(keys, _TEXT))})


SCHEMAS = {"violations": violations, "scores": scores}
