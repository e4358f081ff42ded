"""The log of a trajectory in the database: what a method records is committed when it returns."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from benchmarks.calls.log import PLAYED_BACK, CallLog, LeaseLost
from benchmarks.calls.rows import asked_fields
from benchmarks.core import types
from benchmarks.core.log import Call, check_same_turn
from benchmarks.core.types import Outcome
from benchmarks.jobs.leases import LEASE
from benchmarks.mappers import core_violations
from benchmarks.models import (
    Constraint,
    Exchange,
    JudgeScore,
    Judging,
    OpenAsk,
    Run,
    Trajectory,
    Turn,
    Violation,
)
from benchmarks.models.statements import insert_rows, update_row


def people_are_asked(trajectory: int) -> bool:
    """Return whether an ask of this trajectory waits for a person."""
    return OpenAsk.objects.filter(trajectory=trajectory, answered_at=None).exists()


class DatabaseLog(CallLog):
    """Implement ``benchmarks.core.log.Log`` for one trajectory whose lease ``owner`` holds.

    Every write checks the lease: without it, ``LeaseLost`` is raised and nothing changes.
    """

    _columns = (*PLAYED_BACK, "withdrawn_at")
    _marks_last = True  # the trajectory's last turn, and its scores, as final

    def __init__(
        self, trajectory: Trajectory, owner: str, answerer_rows: dict[str, int] | None = None
    ) -> None:
        run = trajectory.run
        super().__init__(
            Exchange,
            {"trajectory_id": trajectory.pk},
            Run.objects.filter(pk=run.pk),
            capped=run.cost_cap is not None,
            answerer_rows=answerer_rows,
        )
        self.judging_id = self._judging(trajectory)
        self.trajectory, self.run = trajectory, run
        self._stored_turns = trajectory.turn_count
        self._kept: list[types.Turn] = []
        self._turns_before: dict[int, types.Turn] | None = None
        self._constraints: dict[str, int] | None = None
        self.lease_owner = owner

    # --- writing ----------------------------------------------------------------------------------

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
                insert_rows(self._violations(row, turn))
                insert_rows(self._scores(row, turn))
            yield
        self._kept = []

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

    def _renew(self, now: datetime, **changes: Any) -> None:
        changes.setdefault("lease_until", now + LEASE)
        if not update_row(Trajectory, changes, id=self.trajectory.pk, lease_owner=self.lease_owner):
            raise LeaseLost

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


def ask_row(trajectory: Trajectory, call: Call, now: datetime) -> OpenAsk:
    """Return a new row for an ask that waits for a person from ``now`` on."""
    context = dict(call.ask.context)
    return OpenAsk(trajectory=trajectory, **asked_fields(call), context=context, opened_at=now)


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
