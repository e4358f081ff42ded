"""What calls leave beside their exchanges: who answered, what was said, money put aside."""

from collections.abc import Iterable

from django.db.models import F, Q

from benchmarks.core.answerers import Identity
from benchmarks.core.log import cap_reached
from benchmarks.core.types import Message
from benchmarks.models import AnswererVersion, OpenAsk, Run, StoredMessage


def people_are_asked(trajectory: int) -> bool:
    """Whether an ask of this trajectory waits for a person."""
    return OpenAsk.objects.filter(trajectory=trajectory, answered_at=None).exists()


def answerer_version(identity: Identity) -> int:
    """The id of the stored row of an exact answerer; made on first sight."""
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
    """Messages that are not stored yet; equal ones share a row.

    In one order for all, so that of two workers none waits for the other for ever.
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


def put_aside(run_id: int, most: float) -> None:
    """Count what calls can cost at most against the run, or raise ``CapReached``."""
    if not most:
        return
    run = Run.objects.filter(pk=run_id)
    within = Q(cost_cap=None) | Q(committed__lte=F("cost_cap") - most)
    if not run.filter(within).update(committed=F("committed") + most):
        cap, committed = run.values_list("cost_cap", "committed").get()
        raise cap_reached(cap or 0.0, committed, most)


def take_back(run_id: int, unspent: float) -> None:
    """Free what was put aside for a call beyond its cost."""
    if unspent:
        Run.objects.filter(pk=run_id).update(committed=F("committed") - unspent)
