"""Selections of trajectories to re-judge, and the results of a judging for a run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.http import QueryDict

from benchmarks.core.registry import EXTERNAL, TOOL_CALLS
from benchmarks.models import Judging, Run, Trajectory
from benchmarks.trajectories.selectors import trajectory_list
from benchmarks.visibility import EVERYTHING, Visibility

# The number of ids in one query.
IDS = 10_000
# The rubric rates plans, which are texts; agents that act through tools write none.
_ACTS = Q(run__dataset__system=EXTERNAL) & Q(**{f"metrics__{TOOL_CALLS}__gt": 0})
_KINDS = Q(run__kind__in=[Run.Kind.MADE, Run.Kind.IMPORTED])


@dataclass(frozen=True)
class TrajectoryChoice:
    """A choice of stored trajectories, by ids or by the filters of a list.

    ``runs`` restricts either to these runs. Rows hidden from the reader are never included.
    """

    runs: tuple[int, ...] = ()
    ids: tuple[int, ...] | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)
    seen: Visibility = EVERYTHING

    def parts(self) -> Iterator[QuerySet[Trajectory]]:
        """Yield queries that together return each trajectory once."""
        rows = self.seen.of(trajectory_list(self.filters, self.seen))
        if self.runs:
            rows = rows.filter(run__in=self.runs)
        if self.ids is None:
            yield rows
            return
        ids = sorted(set(self.ids))
        for start in range(0, len(ids), IDS):
            yield rows.filter(pk__in=ids[start : start + IDS])


def judgeable(rows: QuerySet[Trajectory]) -> QuerySet[Trajectory]:
    """Return those of the trajectories that can be re-judged: ended, of runs that count."""
    return rows.filter(_KINDS, status=Trajectory.Status.DONE).exclude(_ACTS)


class RunShare(NamedTuple):
    """The chosen part of a run: its trajectories, those with a turn, and their turns."""

    run: Run
    trajectories: int
    begun: int
    turns: int


class JudgingScope(NamedTuple):
    """The size of a choice by run; ``left_out`` counts trajectories that cannot be re-judged."""

    shares: tuple[RunShare, ...]
    left_out: int

    @property
    def runs(self) -> list[Run]:
        return [share.run for share in self.shares]

    @property
    def trajectories(self) -> int:
        return sum(share.trajectories for share in self.shares)

    @property
    def turns(self) -> int:
        return sum(share.turns for share in self.shares)


def chosen_shares(chosen: TrajectoryChoice) -> JudgingScope:
    """Return the size of a choice, in two queries per ten thousand ids, or for all."""
    sums: dict[int, tuple[int, ...]] = {}
    everything = 0
    for rows in chosen.parts():
        everything += rows.count()
        shares = (
            judgeable(rows)
            .order_by()
            .values_list("run")
            .annotate(
                n=Count("pk"),
                begun=Count("pk", filter=Q(turn_count__gt=0)),
                total=Sum("turn_count"),
            )
        )
        for pk, *numbers in shares:
            before = sums.get(pk, (0, 0, 0))
            sums[pk] = tuple(map(add, before, numbers))
    runs = Run.objects.select_related("dataset", "agent", "agent__endpoint").in_bulk(sums)
    shares_ = tuple(RunShare(runs[pk], *sums[pk]) for pk in sorted(sums) if sums[pk][1])
    return JudgingScope(shares_, everything - sum(share.trajectories for share in shares_))


def not_covered(judging: Judging) -> int:
    """Count the ended trajectories of its run that a judging has not finished."""
    done = Trajectory.objects.filter(status=Trajectory.Status.DONE)
    anew = done.filter(run=judging.made_by_id, judged=OuterRef("pk"))
    return done.filter(run=judging.run_id).exclude(Exists(anew)).count()


# --- Lists of trajectories in other apps ----------------------------------------------------------

ListedIds = Callable[[QueryDict, Visibility], Sequence[int]]
_listed: list[ListedIds] = []


def lists_trajectories(find: ListedIds) -> ListedIds:
    """Register the function that returns the trajectory ids of a list's query string."""
    _listed[:] = [find]
    return find


def listed_ids(params: QueryDict, seen: Visibility) -> list[int]:
    """Return the trajectory ids that a list's query string chooses for this reader."""
    return [pk for find in _listed for pk in find(params, seen)]
