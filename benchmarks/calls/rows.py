"""Rows of calls, and those that calls share: answerers and messages."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from benchmarks.core.answerers import Identity
from benchmarks.core.log import Call, CallResult
from benchmarks.core.types import Message
from benchmarks.models import AnswererVersion, StoredMessage

# The columns of an ask that rows of calls share with those of asks that wait for a person.
ASKED = ("step", "slot", "role", "seat", "ask_digest", "messages", "expect", "tools", "seed")


def asked_fields(call: Call) -> dict[str, Any]:
    """Return the columns of an ask, whoever answers it."""
    return {
        "step": call.step,
        "slot": call.slot,
        "role": call.ask.role,
        "seat": call.ask.seat,
        "ask_digest": call.ask.digest,
        "messages": [message.digest for message in call.ask.messages],
        "expect": {"kind": call.ask.expect.kind, "params": dict(call.ask.expect.params)},
        "tools": [dict(tool) for tool in call.ask.tools],
        "seed": call.seed,
    }


def settled_fields(verdict: CallResult, now: datetime) -> dict[str, Any]:
    """Return the columns that say how a call ended."""
    answer = verdict.answer
    return {
        "state": verdict.state,
        "text": answer.text,
        "value": verdict.value,
        "reason": verdict.reason,
        "reasoning": answer.reasoning,
        "model_reported": answer.model_reported[:120],
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
        "cost": answer.cost,
        "latency": answer.latency,
        "finish": answer.finish[:40],
        "tries": answer.tries,
        "settled_at": now,
    }


def answerer_version(identity: Identity) -> int:
    """Return the id of the stored row of an exact answerer; made on first sight."""
    row, _ = AnswererVersion.objects.get_or_create(
        digest=identity.digest,
        defaults={
            "kind": identity.kind,
            "name": identity.name,
            "version": identity.version,
            "parameters": dict(identity.parameters),
        },
    )
    return row.pk


def store_messages(messages: Iterable[Message]) -> None:
    """Store messages that are not stored yet; equal ones share a row.

    Every worker writes in the order of digests, so that two workers cannot deadlock.
    """
    StoredMessage.objects.bulk_create(
        [
            StoredMessage(
                digest=m.digest,
                speaker=m.speaker,
                text=m.text,
                tool_calls=list(m.tool_calls),
                tool_call_id=m.tool_call_id,
            )
            for m in sorted(messages, key=lambda m: m.digest)
        ],
        ignore_conflicts=True,
    )
