"""The log of a trajectory in the database: what a method records is committed when it returns."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from typing import Any

from django.db import connection, transaction
from django.db.models import Field, Model
from django.utils import timezone

from benchmarks.core import types
from benchmarks.core.answerers import Identity
from benchmarks.core.log import (
    Call,
    CallResult,
    Exchange,
    Settled,
    check_same_turn,
    counted_cost,
    total_most,
)
from benchmarks.core.types import Outcome
from benchmarks.jobs.leases import LEASE
from benchmarks.mappers import core_exchange, core_violations
from benchmarks.models import (
    Constraint,
    JudgeScore,
    Judging,
    OpenAsk,
    Trajectory,
    Turn,
    Violation,
)
from benchmarks.models import Exchange as ExchangeRow
from benchmarks.models.statements import read_rows
from benchmarks.outages import keep_trying
from benchmarks.runs.calls import (
    answerer_version,
    people_are_asked,
    release_cost,
    reserve_cost,
    store_messages,
)

# What playing back stored calls needs of them, and what their rows are known by.
PLAYED_BACK = (
    "answerer_id", "step", "slot", "attempt", "ask_digest", "state", "text", "value",
    "reason", "messages",
)  # fmt: skip


class LeaseLost(Exception):
    """Raised because another worker holds the trajectory now, so this one must not write."""


class DatabaseLog:
    """Implement ``benchmarks.core.log.Log`` for one trajectory whose lease ``owner`` holds.

    Every write checks the lease: without it, ``LeaseLost`` is raised and nothing changes.
    ``answerer_rows`` are ids of answerers' rows by digest, as far as the caller knows them; those
    that are looked up are added.
    """

    _marks_last = True  # the trajectory's last turn, and its scores, as final

    def __init__(
        self, trajectory: Trajectory, owner: str, answerer_rows: dict[str, int] | None = None
    ) -> None:
        self.judging_id = self._judging(trajectory)
        self.trajectory = trajectory
        self.owner = owner
        self.run = trajectory.run
        self._told: set[str] = set()
        self._versions = {} if answerer_rows is None else answerer_rows
        self._sent: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._settled: dict[tuple[int, int], tuple[int, int]] = {}
        self._stored_turns = trajectory.turn_count
        self._kept: list[types.Turn] = []
        self._turns_before: dict[int, types.Turn] | None = None
        self._constraints: dict[str, int] | None = None
        # Built once, as building a query takes as long as carrying it out.
        self._held = Trajectory.objects.filter(pk=trajectory.pk, lease_owner=owner)

    # --- reading ----------------------------------------------------------------------------------

    def exchanges(self) -> list[Exchange]:
        stored = read_rows(ExchangeRow, only=PLAYED_BACK, trajectory_id=self.trajectory.pk)
        rows = []
        for row in sorted(stored, key=lambda row: (row.step, row.slot, row.attempt)):
            self._sent[row.step, row.slot, row.attempt] = (row.pk, row.answerer_id)
            self._settled[row.step, row.slot] = (row.pk, row.answerer_id)
            self._told.update(row.messages)
            rows.append(core_exchange(row))
        return rows

    # --- writing ----------------------------------------------------------------------------------

    def record_sent(self, calls: Sequence[Call], settled: Sequence[Settled] = ()) -> None:
        now = timezone.now()
        most = total_most(calls, capped=self.run.cost_cap is not None)
        rows = [self._row(call, state=ExchangeRow.State.SENT, sent_at=now) for call in calls]
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
            reserve_cost(self.run.pk, most)
            release_cost(self.run.pk, -sum(counted_cost(*each) for each in settled))
        for row in rows:
            self._sent[row.step, row.slot, row.attempt] = (row.pk, row.answerer_id)
        for call, _ in settled:
            self._settled[call.step, call.slot] = self._sent[call.step, call.slot, call.attempt]

    @staticmethod
    def _give_up(calls: Sequence[int]) -> None:
        """Mark calls as lost, whose replies never came in."""
        sent = ExchangeRow.objects.filter(pk__in=calls, state=ExchangeRow.State.SENT)
        if sent.update(state=ExchangeRow.State.LOST) != len(calls):
            raise LeaseLost  # a late worker's reply came in since this one read the log

    def record_verdict(self, call: Call, verdict: CallResult) -> None:
        pk, version = self._sent[call.step, call.slot, call.attempt]
        settled = settled_fields(verdict, timezone.now())
        if verdict.state == "failed" and call.most:
            settled["most"] = 0.0  # nothing was billed, so nothing stays put aside
        back = counted_cost(call, verdict) - (call.most or 0.0)

        def write() -> None:
            with transaction.atomic():
                sent = ExchangeRow.objects.filter(pk=pk, state=ExchangeRow.State.SENT)
                if sent.update(**settled):
                    release_cost(self.run.pk, -back)
                    return
            # Either a try before this one was committed though its connection broke, or another
            # worker gave the call up, because this one had lost its lease.
            if not ExchangeRow.objects.filter(pk=pk, settled_at=settled["settled_at"]).exists():
                raise LeaseLost

        keep_trying(write)
        self._settled[call.step, call.slot] = (pk, version)

    def open_asks(self, calls: Sequence[Call]) -> None:
        """Store asks for people and suspend the trajectory until they reply."""
        now = timezone.now()
        # The row is locked before it is read: of this and a reply, the later sees the earlier.
        with self._writing(now):
            self._tell(calls)
            OpenAsk.objects.bulk_create(
                [ask_row(self.trajectory, call, now) for call in calls], ignore_conflicts=True
            )
            S = Trajectory.Status
            waits = people_are_asked(self.trajectory.pk)
            self._renew(
                now,
                status=S.WAITING if waits else S.PENDING,  # people were quicker
                problem="",
                lease_owner="",
                lease_until=None,
            )

    def record_turn(self, turn: types.Turn) -> None:
        """Keep the turn until the next transaction, or until ``store_kept``."""
        if turn.index <= self._stored_turns:
            check_same_turn(self._stored_turn(turn.index), turn)
            return
        self._kept.append(turn)
        self._stored_turns = turn.index

    def store_kept(self) -> None:
        """Store kept turns that no other write has stored."""
        if self._kept:
            with self._writing(timezone.now()):
                pass

    def record_outcome(self, outcome: Outcome) -> None:
        now = timezone.now()
        ended = {
            "status": Trajectory.Status.DONE,
            "termination": outcome.termination,
            "metrics": dict(outcome.metrics),
            "undefined": dict(outcome.undefined),
            "payload": dict(outcome.payload),
            "problem": "",
            "scorer_version": self.run.pins.get("scorer", ""),
            "finished_at": now,
            "lease_owner": "",
            "lease_until": None,
        }
        with self._writing(now, ends=self._marks_last, **ended):
            if self._marks_last and not self._kept:
                self._mark_last()

    # --- parts ------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self, now: datetime, *, ends: bool = False, **changes: Any) -> Iterator[None]:
        """Open a transaction that renews the lease and stores the kept turns.

        ``ends`` says that the last of them is the trajectory's last turn.
        """
        kept = self._kept
        if kept:
            changes["turn_count"] = kept[-1].index
        with transaction.atomic():
            self._renew(now, **changes)
            for turn in kept:
                row = Turn(
                    trajectory=self.trajectory,
                    index=turn.index,
                    text=turn.text,
                    feedback=turn.feedback,
                    payload=dict(turn.payload),
                    is_final=ends and turn is kept[-1],
                )
                insert_rows([row])
                Violation.objects.bulk_create(self._violations(row, turn))
                JudgeScore.objects.bulk_create(self._scores(row, turn))
            yield
        self._kept = []

    def _row(self, call: Call, **changes: Any) -> ExchangeRow:
        return call_row(self.trajectory, call, self._version(call.by), **changes)

    @staticmethod
    def _judging(trajectory: Trajectory) -> int:
        """Return the judging of new scores: the live one, whichever is primary."""
        run = trajectory.run
        if run.primary_judging is None:
            raise ValueError(f"{run} has no judging to write scores to")
        if run.primary_judging.made_by_id is None:
            return run.primary_judging.pk
        return Judging.objects.filter(run=run, made_by=None).values_list("pk", flat=True).get()

    def _stored_turn(self, index: int) -> types.Turn:
        """Return a turn that was stored before this worker began; all are read at once."""
        if self._turns_before is None:
            self._turns_before = turns_with_scores(
                self.trajectory.pk, scored=self._scored_trajectory().pk, judging=self.judging_id
            )
        return self._turns_before[index]

    def _scored_trajectory(self) -> Trajectory:
        """Return the trajectory that new scores are about."""
        return self.trajectory

    def _mark_last(self) -> None:
        """Mark the last turn, which was stored before it was known to be the last."""
        last = Turn.objects.filter(trajectory=self.trajectory, index=self._stored_turns)
        if last.update(is_final=True):
            JudgeScore.objects.filter(turn__in=last).update(is_final=True)

    def _version(self, identity: Identity) -> int:
        """Return the id of an answerer's row."""
        known = self._versions.get(identity.digest)
        if known is None:
            known = self._versions[identity.digest] = answerer_version(identity)
        return known

    def _renew(self, now: datetime, **changes: Any) -> None:
        changes.setdefault("lease_until", now + LEASE)
        if not self._held.update(**changes):
            raise LeaseLost

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

    def _violations(self, row: Turn, turn: types.Turn) -> list[Violation]:
        if not turn.violations:
            return []
        if self._constraints is None:
            self._constraints = dict(
                Constraint.objects.filter(profile=self.trajectory.profile_id).values_list(
                    "key", "pk"
                )
            )
        return [
            Violation(
                turn=row,
                constraint_id=self._constraints.get(v.key),
                key=v.key,
                kind=v.kind,
                text=v.text,
                revealed=v.revealed,
                new=v.new,
                repeated=v.repeated,
            )
            for v in turn.violations
        ]

    def _scored(self, row: Turn) -> dict[str, Any]:
        """Return the columns that say what a score is about."""
        return {
            "turn": row,
            "trajectory": self.trajectory,
            "run": self.run,
            "agent_id": self.run.agent_id,
            "level": self.run.level,
            "condition": self.run.condition,
            "turn_index": row.index,
            "is_final": row.is_final,
        }

    def _scores(self, row: Turn, turn: types.Turn) -> list[JudgeScore]:
        about = self._scored(row)
        scores = []
        for score in turn.scores:
            exchange, judge = self._settled[score.step, score.slot]
            scores.append(
                JudgeScore(
                    judging_id=self.judging_id,
                    judge_id=judge,
                    seat=score.seat,
                    dimension=score.dimension,
                    replicate=score.replicate,
                    value=score.value,
                    reason=score.reason,
                    exchange_id=exchange,
                    **about,
                )
            )
        return scores


def _asked(trajectory: Trajectory, call: Call) -> dict[str, Any]:
    """Return the columns of an ask, whoever answers it."""
    return {
        "trajectory": trajectory,
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


def call_row(trajectory: Trajectory, call: Call, answerer: int, **changes: Any) -> ExchangeRow:
    """Return a new row for a call; ``answerer`` is the id of the answerer's row."""
    return ExchangeRow(
        **_asked(trajectory, call),
        attempt=call.attempt,
        answerer_id=answerer,
        most=call.most,
        repeats=call.repeats,
        **changes,
    )


def ask_row(trajectory: Trajectory, call: Call, now: datetime) -> OpenAsk:
    """Return a new row for an ask that waits for a person from ``now`` on."""
    context = dict(call.ask.context)
    return OpenAsk(**_asked(trajectory, call), context=context, opened_at=now)


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


def turns_with_scores(trajectory: int, *, scored: int, judging: int) -> dict[int, types.Turn]:
    """Return the stored turns by index, with violations and scores, as values of the core.

    The scores are those of ``judging`` on the trajectory ``scored``. All arguments are ids.
    """
    given: dict[int, list[types.Score]] = defaultdict(list)
    scores = JudgeScore.objects.filter(trajectory=scored, judging=judging).order_by("pk")
    for index, seat, dimension, value, reason, replicate in scores.values_list(
        "turn_index", "seat", "dimension", "value", "reason", "replicate"
    ):
        score = types.Score(seat, dimension, value, reason, replicate=replicate)
        given[index].append(score)
    violated: dict[int, list[Violation]] = defaultdict(list)
    for violation in Violation.objects.filter(turn__trajectory=trajectory).order_by("pk"):
        violated[violation.turn_id].append(violation)
    return {
        row.index: types.Turn(
            row.index,
            row.text,
            row.feedback,
            row.payload,
            core_violations(violated[row.pk]),
            tuple(given[row.index]),
        )
        for row in Turn.objects.filter(trajectory=trajectory).order_by("index")
    }


def insert_rows(rows: Sequence[Model]) -> None:
    """Insert new rows of one model, and give each its id.

    The statement for a single row, the usual case, is kept: to build it takes longer than to carry
    it out, and on SQLite no other thread can write meanwhile. Like ``bulk_create``, this sends no
    signals and calls no ``save``. Fields that make their own value (``auto_now``) are not
    supported.
    """
    if not rows:
        return
    if len(rows) > 1:
        type(rows[0])._default_manager.bulk_create(rows)
        return
    (row,) = rows
    statement, fields = _insert_statement(type(row))
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        (row.pk,) = cursor.fetchone()
    row._state.adding = False


@cache
def _insert_statement(model: type[Model]) -> tuple[str, list[Any]]:
    """Return the statement that inserts one row, and the fields that it takes values of."""
    fields = [
        field
        for field in model._meta.get_fields()
        if isinstance(field, Field) and field.concrete and not field.primary_key
    ]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    table = model._meta.db_table
    return f'INSERT INTO "{table}" ({columns}) VALUES ({places}) RETURNING "id"', fields
