"""Read the stored rows of ended trajectories in portions, and check digests."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, QuerySet

from benchmarks.calls.whole_log import whole_log
from benchmarks.mappers import core_identity, core_message
from benchmarks.models import (
    AnswererVersion,
    Exchange,
    JudgeScore,
    Judging,
    Run,
    StoredMessage,
    Suggestion,
    Trajectory,
    Turn,
    Violation,
)

# The number of correct digests to remember.
MOST_KNOWN = 500_000


@dataclass
class StoredTrajectory:
    """All rows of one trajectory, each kind in the order of creation.

    ``violations`` are by turn, ``scores`` by the number of the turn.
    """

    trajectory: Trajectory
    exchanges: list[Exchange] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    violations: dict[int, list[Violation]] = field(default_factory=lambda: defaultdict(list))
    scores: dict[int, list[JudgeScore]] = field(default_factory=lambda: defaultdict(list))
    suggestions: list[Suggestion] = field(default_factory=list)


def read_stored(run: Run, ids: Sequence[int]) -> list[StoredTrajectory]:
    """Return these trajectories of a run with all their rows."""
    rows = Trajectory.objects.filter(pk__in=ids).order_by("pk")
    rows = rows.select_related("task", "profile", "judged__run")
    stored_by_id = {
        row.pk: StoredTrajectory(row) for row in rows.prefetch_related("profile__constraints")
    }
    for stored in stored_by_id.values():
        stored.trajectory.run = run
        stored.trajectory.task.dataset = run.dataset
    mine = {"trajectory__in": list(stored_by_id)}
    in_order = ("step", "slot", "attempt")
    if run.kind == Run.Kind.BRANCH:
        for stored in stored_by_id.values():
            log = whole_log(stored.trajectory, every=True).select_related("answerer")
            stored.exchanges += log.order_by(*in_order)
    else:
        exchanges = Exchange.every.filter(**mine).select_related("answerer")
        for exchange in exchanges.order_by(*in_order):
            stored_by_id[exchange.trajectory_id].exchanges.append(exchange)
    for turn in Turn.objects.filter(**mine).order_by("index"):
        stored_by_id[turn.trajectory_id].turns.append(turn)
    violations = Violation.objects.filter(turn__trajectory__in=list(stored_by_id))
    for violation in violations.select_related("turn").order_by("pk"):
        stored_by_id[violation.turn.trajectory_id].violations[violation.turn_id].append(violation)
    for score in _scores(run, list(stored_by_id)).order_by("pk"):
        about = stored_by_id.get(score.trajectory_id) or stored_by_id[score.by]
        about.scores[score.turn_index].append(score)
    for suggestion in Suggestion.objects.filter(**mine).order_by(*in_order):
        stored_by_id[suggestion.trajectory_id].suggestions.append(suggestion)
    return list(stored_by_id.values())


def _scores(run: Run, ids: Sequence[int]) -> QuerySet[Any]:
    """Return the scores of a run's own judges; in a re-judging run they are about other turns.

    ``by`` is the trajectory in which they were given.
    """
    rows = JudgeScore.objects.annotate(by=F("exchange__trajectory"))
    if run.kind == Run.Kind.JUDGING:
        return rows.filter(judging=run.primary_judging_id, exchange__trajectory__in=ids)
    # Other judgings of these turns belong to other runs.
    live = Judging.objects.filter(run=run, made_by=None)
    return rows.filter(judging__in=live, trajectory__in=ids)


class KnownRows:
    """Check that messages and answerers match their digests; each is checked once."""

    def __init__(self) -> None:
        self._right: set[str | int] = set()

    def wrong(self, some: Iterable[StoredTrajectory]) -> dict[str | int, str]:
        """Return the true digests of messages and answerers whose stored digest is wrong.

        Messages by digest (empty where none is stored), answerers by id.
        """
        if len(self._right) > MOST_KNOWN:
            self._right.clear()
        rows = [row for stored in some for row in stored.exchanges]
        digests = {name for row in rows for name in row.messages} - self._right
        who = {row.answerer_id for row in rows} - self._right
        messages = StoredMessage.objects.in_bulk(sorted(digests))
        now: dict[str | int, str] = {
            name: core_message(messages[name]).digest if name in messages else ""
            for name in digests
        }
        wrong = {name: current for name, current in now.items() if current != name}
        for answerer in AnswererVersion.objects.filter(pk__in=who):
            current = core_identity(answerer).digest
            if current != answerer.digest:
                wrong[answerer.pk] = current
        self._right |= (digests | who) - set(wrong)
        return wrong
