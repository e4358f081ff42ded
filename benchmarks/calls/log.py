"""The one writer of calls: what it records is committed when it returns.

A call is stored as *sent* before it leaves, with the most that it can cost reserved in the same
transaction. Its reply is stored before it is used. Each purpose has a table with the same columns
(docs/decisions/one-log.md says why).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from benchmarks.calls.caps import release, reserve
from benchmarks.calls.rows import (
    ASKED,
    answerer_version,
    asked_fields,
    settled_fields,
    store_messages,
)
from benchmarks.core.answerers import Answer, Identity
from benchmarks.core.log import Call, CallResult, Exchange, Settled, counted_cost, total_most
from benchmarks.mappers import core_exchange
from benchmarks.models import CallColumns, OpenAsk
from benchmarks.models.statements import insert_rows, read_rows, update_row
from benchmarks.outages import keep_trying

S = CallColumns.State
# What playing back stored calls needs of them, and what their rows are known by.
PLAYED_BACK = (
    "answerer_id", "step", "slot", "attempt", "ask_digest", "state", "text", "value",
    "reason", "messages",
)  # fmt: skip


class LeaseLost(Exception):
    """Raised because another worker holds what the calls belong to, so this one must not write."""


class CallLog:
    """Store the calls of one owner in the table of their purpose.

    ``owner`` names the owner by column (``trajectory_id=…``). ``budget`` is the row whose caps the
    calls count against, None where there is none; ``capped`` says whether it caps costs.
    ``answerer_rows`` are ids of answerers' rows by digest, as far as the caller knows them; those
    that are looked up are added.
    """

    _columns: Sequence[str] = PLAYED_BACK

    def __init__(
        self,
        model: type[CallColumns],
        owner: Mapping[str, int],
        budget: QuerySet[Any] | None = None,
        *,
        capped: bool = False,
        answerer_rows: dict[str, int] | None = None,
    ) -> None:
        self.model, self.owner = model, owner
        self.budget, self.capped = budget, capped
        self._told: set[str] = set()
        self._versions = {} if answerer_rows is None else answerer_rows
        # By (step, slot, attempt) and by (step, slot): the ids of the call and of its answerer.
        self._sent: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._settled: dict[tuple[int, int], tuple[int, int]] = {}

    def exchanges(self) -> list[Exchange]:
        """Return the stored calls, ordered by (step, slot, attempt)."""
        rows = []
        for row in sorted(self._stored_calls(), key=lambda row: (row.step, row.slot, row.attempt)):
            self._sent[row.step, row.slot, row.attempt] = (row.pk, row.answerer_id)
            self._settled[row.step, row.slot] = (row.pk, row.answerer_id)
            self._told.update(row.messages)
            rows.append(core_exchange(row))
        return rows

    def record_sent(self, calls: Sequence[Call], settled: Sequence[Settled] = ()) -> None:
        """Store calls before they leave, and those that were answered within the process."""
        now = timezone.now()
        most = total_most(calls, capped=self.capped)
        rows = [self._row(call, state=S.SENT, sent_at=now) for call in calls]
        rows += [
            self._row(call, sent_at=now, **settled_fields(verdict, now))
            for call, verdict in settled
        ]
        sent = [*calls, *(call for call, _ in settled)]
        lost = [self._sent[c.step, c.slot, c.repeats][0] for c in sent if c.repeats]
        with self._writing(now):
            self._tell(sent)
            if lost:
                self._give_up(lost)
            insert_rows(rows)
            # Last, because all workers of the run wait for its row, and after calls, as
            # ``record_verdict`` does, so that the two cannot deadlock.
            if self.budget is not None:
                reserve(self.budget, most, self._most_tokens(calls))
            self._release(-sum(counted_cost(*each) for each in settled))
        for row in rows:
            self._sent[row.step, row.slot, row.attempt] = (row.pk, row.answerer_id)
        for call, _ in settled:
            self._settled[call.step, call.slot] = self._sent[call.step, call.slot, call.attempt]

    def record_verdict(self, call: Call, verdict: CallResult) -> None:
        """Store the reply to a call, or why there is none; the first to settle it wins.

        A call that was withdrawn meanwhile keeps its reply, and stays withdrawn.
        """
        pk, version = self._sent[call.step, call.slot, call.attempt]
        settled = settled_fields(verdict, timezone.now())
        if verdict.state == "failed" and call.most:
            settled["most"] = 0.0  # nothing was billed, so nothing stays put aside
        unspent = (call.most or 0.0) - counted_cost(call, verdict)

        def write() -> None:
            with transaction.atomic():
                if update_row(self.model, settled, id=pk, state=S.SENT):
                    self._release(unspent, self._unused_tokens(call, verdict))
                    return
            # Either a try before this one was committed though its connection broke, or another
            # worker gave the call up, because this one had lost its lease.
            rows = self.model._base_manager.filter(pk=pk, settled_at=settled["settled_at"])
            if not rows.exists():
                raise LeaseLost

        keep_trying(write)
        self._settled[call.step, call.slot] = (pk, version)

    def record_reply(
        self, ask: OpenAsk, by: Identity, text: str, value: Any, now: datetime
    ) -> CallColumns:
        """Store a person's reply to an open ask, in the caller's transaction; return its row.

        The messages of the ask were stored when it was opened. The caller has made sure that it
        is answered once.
        """
        before = self.model._base_manager.filter(**self.owner, step=ask.step, slot=ask.slot)
        answer = Answer(text, latency=(now - ask.opened_at).total_seconds())
        row = self.model(
            **self.owner,
            **{column: getattr(ask, column) for column in ASKED},
            attempt=(before.aggregate(last=Max("attempt"))["last"] or 0) + 1,
            answerer_id=self._version(by),
            sent_at=ask.opened_at,
            **settled_fields(CallResult("answered", answer, value), now),
        )
        insert_rows([row])
        return row

    # --- parts ------------------------------------------------------------------------------------

    def _stored_calls(self) -> Iterable[CallColumns]:
        """Return the stored calls, in no order."""
        return read_rows(self.model, only=self._columns, locked=False, **self.owner)

    @contextmanager
    def _writing(self, now: datetime) -> Iterator[None]:
        """Open the transaction of a write; raise ``LeaseLost`` where this worker may not."""
        with transaction.atomic():
            yield

    def _row(self, call: Call, **changes: Any) -> CallColumns:
        changes["answerer_id"] = self._answerer(call)
        return self.model(
            **self.owner,
            **asked_fields(call),
            attempt=call.attempt,
            most=call.most,
            repeats=call.repeats,
            **changes,
        )

    def _give_up(self, calls: Sequence[int]) -> None:
        """Mark calls as lost, whose replies never came in."""
        sent = self.model._default_manager.filter(pk__in=calls, state=S.SENT)
        if sent.update(state=S.LOST) != len(calls):
            raise LeaseLost  # a late worker's reply came in since this one read the log

    def _release(self, unspent: float, tokens: int = 0) -> None:
        if self.budget is not None:
            release(self.budget, unspent, tokens)

    def _most_tokens(self, calls: Sequence[Call]) -> int:
        """Return how many tokens to reserve; 0 where nothing caps tokens."""
        return 0

    def _unused_tokens(self, call: Call, verdict: CallResult) -> int:
        """Return how many reserved tokens a call did not use."""
        return 0

    def _answerer(self, call: Call) -> int | None:
        """Return the id of the row of the exact answerer."""
        return self._version(call.by)

    def _version(self, identity: Identity) -> int:
        """Return the id of an answerer's row."""
        known = self._versions.get(identity.digest)
        if known is None:
            known = self._versions[identity.digest] = answerer_version(identity)
        return known

    def _tell(self, calls: Sequence[Call]) -> None:
        new = {
            message.digest: message
            for call in calls
            for message in call.ask.messages
            if message.digest not in self._told
        }
        if new:
            store_messages(new.values())
            self._told.update(new)
