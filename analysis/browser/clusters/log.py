"""The log of the calls that name clusters: each call is stored before it leaves, under the caps."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from analysis.models import ClusterCall, FailureClustering
from benchmarks.core.errors import CapReached
from benchmarks.core.log import (
    Call,
    CallResult,
    Exchange,
    Settled,
    cap_reached,
    total_most,
)
from benchmarks.core.types import Ask, Outcome, Turn
from benchmarks.mappers import core_exchange
from benchmarks.runs.calls import answerer_version, store_messages
from benchmarks.runs.log import settled_fields

SENT, LOST, FAILED = "sent", "lost", "failed"


class ClusterLog:
    """Implement ``benchmarks.core.log.Log`` for one clustering.

    The job's lease keeps other workers away. ``tokens`` returns the most tokens that an ask and
    its reply can use. ``alive`` raises if the lease was lost; every write asks it first.
    """

    def __init__(
        self,
        clustering: FailureClustering,
        tokens: Callable[[Ask], int | None],
        alive: Callable[[], None] = lambda: None,
    ) -> None:
        self.clustering, self._tokens, self._alive = clustering, tokens, alive
        self.outcome: Outcome | None = None

    def exchanges(self) -> list[Exchange]:
        rows = self.clustering.calls.order_by("step", "slot", "attempt")
        return [core_exchange(row) for row in rows]

    def record_sent(self, calls: Sequence[Call], settled: Sequence[Settled] = ()) -> None:
        self._alive()
        most = total_most(calls, capped=self.clustering.cost_cap is not None)
        tokens = [self._tokens(call.ask) for call in calls]
        now = timezone.now()
        with transaction.atomic():
            for call in [*calls, *(call for call, _ in settled)]:
                if call.repeats:
                    lost = self._row(call).filter(attempt=call.repeats, state=SENT)
                    lost.update(state=LOST)
            self._check_caps(most, tokens)
            store_messages({m.digest: m for c in calls for m in c.ask.messages}.values())
            store_messages({m.digest: m for c, _ in settled for m in c.ask.messages}.values())
            ClusterCall.objects.bulk_create(
                [
                    self._new(call, state=SENT, sent_at=now, most=call.most, most_tokens=used)
                    for call, used in zip(calls, tokens, strict=True)
                ]
                + [
                    self._new(call, sent_at=now, most=0.0, **settled_fields(verdict, now))
                    for call, verdict in settled
                ]
            )

    def record_verdict(self, call: Call, verdict: CallResult) -> None:
        sent = self._row(call).filter(attempt=call.attempt, state=SENT)
        changes = settled_fields(verdict, timezone.now())
        if verdict.state == FAILED:
            changes |= {"most": 0.0, "most_tokens": 0}  # nothing was billed
        sent.update(**changes)

    def open_asks(self, calls: Sequence[Call]) -> None:
        raise TypeError("no person names clusters here")

    def record_turn(self, turn: Turn) -> None:
        raise TypeError("clusters have no turns")

    def record_outcome(self, outcome: Outcome) -> None:
        self.outcome = outcome

    def _row(self, call: Call) -> Any:
        return ClusterCall.objects.filter(
            clustering=self.clustering, step=call.step, slot=call.slot
        )

    def _new(self, call: Call, **more: Any) -> ClusterCall:
        return ClusterCall(
            clustering=self.clustering,
            step=call.step,
            slot=call.slot,
            attempt=call.attempt,
            answerer_id=answerer_version(call.by),
            ask_digest=call.ask.digest,
            messages=[message.digest for message in call.ask.messages],
            seed=call.seed,
            **more,
        )

    def _check_caps(self, most: float, tokens: Sequence[int | None]) -> None:
        """Raise ``CapReached`` where the calls could cost or use more than what is left."""
        use = cluster_use(self.clustering)
        cap = self.clustering.cost_cap
        if cap is not None and use.committed + most > cap:
            raise cap_reached(cap, use.committed, most)
        limit = self.clustering.token_cap
        if limit is None:
            return
        if any(used is None for used in tokens):
            raise CapReached("a cap on tokens needs an endpoint with max_tokens")
        wanted = sum(used or 0 for used in tokens)
        if use.committed_tokens + wanted > limit:
            raise CapReached(
                f"the cap of {limit:,} tokens is reached: {use.committed_tokens:,} are used or put "
                f"aside, the next step may use {wanted:,}"
            )


class ClusterUse:
    """The use of a clustering: known cost and tokens, and what counts against its caps."""

    def __init__(self, rows: Sequence[ClusterCall]) -> None:
        self.calls = len(rows)
        costs = [row.cost for row in rows if row.cost is not None]
        self.cost = sum(costs) if costs else None
        self.tokens = sum((row.tokens_in or 0) + (row.tokens_out or 0) for row in rows)
        self.committed = sum(row.cost if row.cost is not None else row.most or 0.0 for row in rows)
        self.committed_tokens = sum(
            row.tokens_in + row.tokens_out
            if row.tokens_in is not None and row.tokens_out is not None
            else row.most_tokens or 0
            for row in rows
        )


def cluster_use(clustering: FailureClustering) -> ClusterUse:
    """Return what a clustering has used so far."""
    return ClusterUse(list(clustering.calls.all()))
