"""The environment's messages to the agent after each of its replies."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.digests import canonical_json
from benchmarks.systems.planbench_xl.environment.catalogue import CatalogueTool
from benchmarks.systems.planbench_xl.environment.retrieval import INPUTS, OUTPUT, RetrievalResult
from benchmarks.systems.planbench_xl.prompts import load_feedback

# What an agent is told of its request; the domain goes without saying.
_SHOWN = ("meta_tool", OUTPUT, INPUTS)


def say(occasion: str, version: str = "", **values: Any) -> str:
    """Return the words for an occasion, in a version of the prompts."""
    return load_feedback(version)[occasion].substitute(values)


def shown_request(request: Mapping[str, Any]) -> dict[str, Any]:
    return {key: request[key] for key in _SHOWN if key in request}


def search_result_text(
    found: RetrievalResult,
    tools: Sequence[CatalogueTool],
    ids: Mapping[str, str],
    version: str = "",
) -> str:
    """Return the tools that a search brought, or that it brought none and what that may mean."""
    request = canonical_json(shown_request(found.request))
    if not tools:
        return say(found.note or "nothing_found", version, request=request)
    lines = [_shown(tool, ids.get(tool.name)) for tool in tools]
    listed = "[\n" + ",\n".join(lines) + "\n]"
    return say("retrieve_ok", version, request=request, count=len(tools), tools=listed)


def _shown(tool: CatalogueTool, tool_id: str | None) -> str:
    if tool_id is None:
        return tool.shown_json
    return f'{{"tool_id":{canonical_json(tool_id)},{tool.shown_json[1:]}'


def called_text(request: Mapping[str, Any], value: Any, success: bool, version: str = "") -> str:
    """Return what a call returned, as the agent sees it."""
    asked = canonical_json(request)
    if value is None:
        return say("tool_no_result", version, request=asked)
    return say(
        "tool_ok",
        version,
        request=asked,
        success="true" if success else "false",
        value=canonical_json(value),
    )
