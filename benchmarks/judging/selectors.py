"""What can be re-judged, and what a judging says about a run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.http import QueryDict

from benchmarks.core.registry import EXTERNAL, TOOL_CALLS
from benchmarks.core.types import Outcome
from benchmarks.mappers import core_outcome
from benchmarks.models import Judging, Run, Trajectory
from benchmarks.trajectories.selectors import trajectory_list
from benchmarks.visibility import EVERYTHING, Visibility

# So many ids go into one query.
IDS = 10_000
# Plans are texts: who acts through tools has written none that the rubric could rate.
_ACTS = Q(run__dataset__system=EXTERNAL) & Q(**{f"metrics__{TOOL_CALLS}__gt": 0})
_KINDS = Q(run__kind__in=[Run.Kind.MADE, Run.Kind.IMPORTED])


@dataclass(frozen=True)
class Chosen:
    """Stored trajectories: by ids, else by what lists of trajectories are filtered by.

    ``runs`` restricts either to these runs. What is closed to a reader is never among them.
    """

    runs: tuple[int, ...] = ()
    ids: tuple[int, ...] | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)
    seen: Visibility = EVERYTHING

    def parts(self) -> Iterator[QuerySet[Trajectory]]:
        """The trajectories as queries that together have each of them once."""
        rows = self.seen.of(trajectory_list(self.filters))
        if self.runs:
            rows = rows.filter(run__in=self.runs)
        if self.ids is None:
            yield rows
            return
        ids = sorted(set(self.ids))
        for start in range(0, len(ids), IDS):
            yield rows.filter(pk__in=ids[start : start + IDS])


def judgeable(rows: QuerySet[Trajectory]) -> QuerySet[Trajectory]:
    """Those of these trajectories that judges can look at again: ended, of runs that count."""
    return rows.filter(_KINDS, status=Trajectory.Status.DONE).exclude(_ACTS)


@dataclass(frozen=True)
class RunShare:
    """How much of one run is chosen: its trajectories, those with a turn, and their turns."""

    run: Run
    trajectories: int
    begun: int
    turns: int


@dataclass(frozen=True)
class Found:
    """What a choice comes to, run by run; ``left_out`` cannot be judged."""

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


def chosen_shares(chosen: Chosen) -> Found:
    """What a choice comes to; two sums for every ten thousand ids, or for all."""
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
    return Found(shares_, everything - sum(share.trajectories for share in shares_))


# --- What a judging says of a run ----------------------------------------------------------------


def outcomes_by(run: Run, rows: Sequence[Trajectory]) -> list[Outcome]:
    """The outcomes of a run's ended trajectories as its primary judging has them.

    The live judging has decided what is stored with them. A later one has outcomes of its own, in
    the run that made it; what it did not look at is undefined.
    """
    judging = run.primary_judging
    if judging is None or judging.made_by_id is None or judging.made_by_id == run.pk:
        return [core_outcome(row) for row in rows]
    anew = Trajectory.objects.filter(run=judging.made_by_id, status=Trajectory.Status.DONE)
    found = {row.judged_id: core_outcome(row) for row in anew}
    return [found.get(row.pk) or _unjudged(row, judging.name) for row in rows]


def _unjudged(row: Trajectory, judging: str) -> Outcome:
    why = f"the judging “{judging}” did not look at it"
    return Outcome(row.termination, dict.fromkeys(row.metrics), dict.fromkeys(row.metrics, why), {})


def not_covered(judging: Judging) -> int:
    """How many ended trajectories of its run a judging has not looked at to the end."""
    done = Trajectory.objects.filter(status=Trajectory.Status.DONE)
    anew = done.filter(run=judging.made_by_id, judged=OuterRef("pk"))
    return done.filter(run=judging.run_id).exclude(Exists(anew)).count()


# --- Lists of trajectories in apps above ---------------------------------------------------------

ListedIds = Callable[[QueryDict, Visibility], Sequence[int]]
_listed: list[ListedIds] = []


def lists_trajectories(find: ListedIds) -> ListedIds:
    """Register what finds the trajectories that the address of a list shows to somebody."""
    _listed[:] = [find]
    return find


def listed_ids(params: QueryDict, seen: Visibility) -> list[int]:
    """The trajectories of a list, as its address chooses them for this reader."""
    return [pk for find in _listed for pk in find(params, seen)]
