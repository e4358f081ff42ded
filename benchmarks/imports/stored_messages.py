"""Messages of imported trajectories as they are stored: without empty fields, texts once."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

from benchmarks.core.types import Message
from benchmarks.formats.trajectory import ImportedMessage, ImportedTurn, ToolCall
from benchmarks.models import StoredMessage, Turn

_PLAIN = ("call_id", "name", "hidden", "reasoning", "at")
_FIGURES = ("tokens_in", "tokens_out", "cost")
_plain, _figures = attrgetter(*_PLAIN), attrgetter(*_FIGURES)
StoredRow = Mapping[str, Any]


@lru_cache(maxsize=32)
def prompt_digest(text: str) -> str:
    """Return the digest under which a system message is stored."""
    return Message("system", text).digest


def stored_message(message: ImportedMessage) -> dict[str, Any]:
    """Return a message as JSON without empty fields; a system message is a digest."""
    kept: dict[str, Any] = {"speaker": message.speaker}
    if message.speaker == "system":
        kept["digest"] = prompt_digest(message.text)
    elif message.text:
        kept["text"] = message.text
    if message.calls:
        kept["calls"] = [_stored_call(call) for call in message.calls]
    for name, value in zip(_PLAIN, _plain(message), strict=True):
        if value:
            kept[name] = value
    for name, value in zip(_FIGURES, _figures(message), strict=True):
        if value is not None:
            kept[name] = value
    if message.extra:
        kept["extra"] = message.extra
    return kept


def _stored_call(call: ToolCall) -> dict[str, Any]:
    kept: dict[str, Any] = {"name": call.name, "id": call.id, "arguments": call.arguments}
    if call.by != "agent":
        kept["by"] = call.by
    if call.raw:
        kept["raw"] = True
    return kept


def stored_turn(
    trajectory: int,
    turn: ImportedTurn,
    opening: Sequence[StoredRow],
    messages: Sequence[StoredRow],
    *,
    final: bool,
) -> Turn:
    """Return the row of a turn, which holds its messages; the first has those before it, too."""
    payload: dict[str, Any] = {"messages": list(messages)}
    if turn.index == 1:
        payload["opening"] = list(opening)
    return Turn(
        trajectory_id=trajectory,
        index=turn.index,
        text=turn.text,
        feedback=turn.feedback,
        payload=payload,
        is_final=final,
    )


def rows_of_payloads(payloads: Iterable[Mapping[str, Any]]) -> list[StoredRow]:
    """Return the stored messages of a trajectory: from its own payload, then from its turns'."""
    return [
        message
        for payload in payloads
        for message in (*payload.get("opening", ()), *payload.get("messages", ()))
    ]


def read_messages(rows: Sequence[StoredRow]) -> list[ImportedMessage]:
    """Return stored messages as they were imported; all system messages take one query."""
    digests = {row["digest"] for row in rows if "digest" in row}
    prompts = StoredMessage.objects.in_bulk(digests) if digests else {}
    return [_message(row, prompts) for row in rows]


def _message(row: StoredRow, prompts: Mapping[str, StoredMessage]) -> ImportedMessage:
    given = {name: row[name] for name in row if name not in ("digest", "calls", "text")}
    text = prompts[row["digest"]].text if "digest" in row else row.get("text", "")
    return ImportedMessage(
        text=text, calls=tuple(ToolCall(**call) for call in row.get("calls", ())), **given
    )
