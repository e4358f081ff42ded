"""Calls that somebody makes by hand to try an endpoint or a judge; they belong to no run."""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.calls.log import CallLog
from benchmarks.core.answerers import Answer, Answerer, Identity, most_cost
from benchmarks.core.driver import answer_or_failure
from benchmarks.core.errors import AnswererFailed
from benchmarks.core.log import Call, CallResult
from benchmarks.core.types import Ask
from benchmarks.models import CallColumns, Job

logger = logging.getLogger(__name__)


class RefusingAnswerer(NamedTuple):
    """Stands in for an answerer that cannot be built: its only answer is the reason."""

    identity: Identity
    reason: str
    instant: bool = True

    def answer(self, ask: Ask, seed: int) -> Answer:
        raise AnswererFailed(self.reason, tries=0)


class TrialLog(CallLog):
    """The log of one trial, which its job owns; ``about`` are further columns of its calls."""

    def __init__(self, model: type[CallColumns], job: Job, **about: Any) -> None:
        super().__init__(model, {"job_id": job.pk})
        self._about = about
        self._stored = {row.slot: row for row in self.exchanges()}

    def put(
        self,
        slot: int,
        ask: Ask,
        answerer: Answerer,
        read: Callable[[Ask, Answer | AnswererFailed], CallResult],
        seed: int = 0,
    ) -> None:
        """Make a call unless its reply is stored; one that a dead worker left is made again."""
        before = self._stored.get(slot)
        if before is not None and before.state != "sent":
            return
        lost = before.attempt if before is not None else 0
        most = most_cost(answerer, ask, seed)
        call = Call(0, slot, lost + 1, ask, answerer.identity, seed, repeats=lost, most=most)
        if answerer.instant:
            self.record_sent([], [(call, read(ask, _answer(answerer, call)))])
        else:
            self.record_sent([call])
            self.record_verdict(call, read(ask, _answer(answerer, call)))

    def _row(self, call: Call, **changes: Any) -> CallColumns:
        return super()._row(call, **self._about, **changes)

    def _answerer(self, call: Call) -> None:
        """Pin no version: an endpoint that was only tried can still be changed."""


def _answer(answerer: Answerer, call: Call) -> Answer | AnswererFailed:
    try:
        return answer_or_failure(answerer, call)
    except Exception as error:  # a bug; the page must not wait for ever
        logger.exception("a trial failed unexpectedly")
        return AnswererFailed(f"unexpected {type(error).__name__}; see the worker's log")
