"""Rows that calls store beside their exchanges: answerers, messages, and reserved cost."""

from collections.abc import Iterable

from django.db.models import F, Q

from benchmarks.core.answerers import Identity
from benchmarks.core.log import cap_reached
from benchmarks.core.types import Message
from benchmarks.models import AnswererVersion, OpenAsk, Run, StoredMessage


def people_are_asked(trajectory: int) -> bool:
    """Return whether an ask of this trajectory waits for a person."""
    return OpenAsk.objects.filter(trajectory=trajectory, answered_at=None).exists()


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


def reserve_cost(run_id: int, most: float) -> None:
    """Reserve the maximum cost of calls against the run's cap, or raise ``CapReached``."""
    if not most:
        return
    run = Run.objects.filter(pk=run_id)
    within = Q(cost_cap=None) | Q(committed__lte=F("cost_cap") - most)
    if not run.filter(within).update(committed=F("committed") + most):
        cap, committed = run.values_list("cost_cap", "committed").get()
        raise cap_reached(cap or 0.0, committed, most)


def release_cost(run_id: int, unspent: float) -> None:
    """Release the part of a reservation that a call did not cost."""
    if unspent:
        Run.objects.filter(pk=run_id).update(committed=F("committed") - unspent)
