"""The log of the calls that name clusters, under caps on money and on tokens."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import transaction

from analysis.models import ClusterCall, FailureClustering
from benchmarks.calls.log import CallLog
from benchmarks.core.errors import CapReached
from benchmarks.core.log import Call, CallResult
from benchmarks.core.types import Ask, Outcome, Turn


class ClusterLog(CallLog):
    """Implement ``benchmarks.core.log.Log`` for one clustering.

    The job's lease keeps other workers away. ``tokens`` returns the most tokens that an ask and
    its reply can use. ``alive`` raises if the lease was lost; what is sent asks it first.
    """

    def __init__(
        self,
        clustering: FailureClustering,
        tokens: Callable[[Ask], int | None],
        alive: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(
            ClusterCall,
            {"clustering_id": clustering.pk},
            FailureClustering.objects.filter(pk=clustering.pk),
            capped=clustering.cost_cap is not None,
        )
        self.clustering, self._tokens, self._alive = clustering, tokens, alive
        self.outcome: Outcome | None = None

    def open_asks(self, calls: Sequence[Call]) -> None:
        raise TypeError("no person names clusters here")

    def record_turn(self, turn: Turn) -> None:
        raise TypeError("clusters have no turns")

    def record_outcome(self, outcome: Outcome) -> None:
        self.outcome = outcome

    @contextmanager
    def _writing(self, now: datetime) -> Iterator[None]:
        self._alive()
        with transaction.atomic():
            yield

    def _row(self, call: Call, **changes: Any) -> ClusterCall:
        row = super()._row(call, **changes)
        assert isinstance(row, ClusterCall)
        row.most_tokens = self._tokens(call.ask)
        return row

    def _most_tokens(self, calls: Sequence[Call]) -> int:
        tokens = [self._tokens(call.ask) for call in calls]
        if self.clustering.token_cap is not None and None in tokens:
            raise CapReached("a cap on tokens needs an endpoint with max_tokens")
        return sum(used or 0 for used in tokens)

    def _unused_tokens(self, call: Call, verdict: CallResult) -> int:
        most, answer = self._tokens(call.ask) or 0, verdict.answer
        if verdict.state == "failed":
            return most  # nothing was billed
        if answer.tokens_in is None or answer.tokens_out is None:
            return 0
        return most - answer.tokens_in - answer.tokens_out
