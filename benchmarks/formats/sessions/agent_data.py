"""The agent data protocol (ADP): rows with ``content`` of actions and observations.

An observation of the environment answers the actions before it, in order.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions.lines import decoded
from benchmarks.formats.sessions.parts import Parts, Result, as_mapping, as_text, string
from benchmarks.formats.sessions.rows import read_rows
from benchmarks.formats.sessions.transcript import Transcript, tool_definitions
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import ImportedTrajectory, ToolCall

UNSTATED = ("errors",)
KINDS = ("text_observation", "web_observation", "message_action", "code_action", "api_action")


def recognises(shape: Shape) -> bool:
    return shape.kind in ("object", "list", "lines") and (
        "content" in shape.top and shape.tells("class_", *KINDS)
    )


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield a trajectory for each row; faults are noted, and what has one is left out."""
    return read_rows(source, problems, header, _row)


def _row(spot: Spot, row: Mapping[str, Any], default_id: str) -> ImportedTrajectory | None:
    transcript = Transcript(string(row.get("id")) or default_id, UNSTATED)
    content = row.get("content")
    if not isinstance(content, list) or not content or len(content) > MOST_MESSAGES:
        spot.at("content").fault(f"1 to {MOST_MESSAGES} actions and observations", content)
        return None
    for index, one in enumerate(content):
        _add(transcript, spot.at("content").at(index), one)
    details = as_mapping(row.get("details"))
    transcript.task = string(row.get("id"))
    transcript.tools = tool_definitions(decoded(details.get("tools")))
    resolved = details.get("resolved")
    if isinstance(resolved, bool) or resolved in ("True", "False"):
        transcript.scores["reward"] = float(resolved in (True, "True"))
    transcript.about |= {name: value for name, value in details.items() if name != "tools"}
    return transcript.trajectory(spot)


def _add(transcript: Transcript, spot: Spot, given: Any) -> None:
    if not isinstance(given, dict):
        spot.fault("an action or observation: an object with 'class_'", given)
        return
    kind = given.get("class_")
    words = string(given.get("description"))
    texts = [words] if words.strip() else []
    if kind == "text_observation":
        _observe(transcript, Parts(texts=[string(given.get("content"))]), given.get("source"))
    elif kind == "web_observation":
        fields = ("url", "axtree", "html")
        shown = [given[n] for n in fields if isinstance(given.get(n), str) and given[n]]
        images = [{"kind": "image"}] if given.get("image_observation") else []
        _observe(transcript, Parts(texts=shown, attachments=images), "environment")
    elif kind == "message_action":
        transcript.agent(Parts(texts=[*texts, string(given.get("content"))]))
    elif kind == "code_action":
        name = string(given.get("language")) or "code"
        code = {"code": as_text(given.get("content"))}
        _act(transcript, texts, name, code)
    elif kind == "api_action":
        _act(transcript, texts, string(given.get("function")) or "(no name)", given.get("kwargs"))
    else:
        spot.at("class_").fault("one of " + ", ".join(KINDS), kind)


def _act(transcript: Transcript, texts: list[str], name: str, arguments: Any) -> None:
    call = ToolCall(name, arguments, f"call-{len(transcript.called) + 1}")
    transcript.agent(Parts(texts=texts, calls=[call]))


def _observe(transcript: Transcript, parts: Parts, source: Any) -> None:
    waiting = next(iter(transcript.waiting), "")
    if source == "user":
        transcript.say("user", parts)
    elif waiting:
        transcript.result(Result(waiting, parts.text, attachments=parts.attachments))
    else:
        transcript.say("user", parts, by_program=True)
