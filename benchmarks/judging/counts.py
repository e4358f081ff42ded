"""Counts of judges' replies and scores: stored for runs that have ended, counted for the others.

Counting ten million scores takes a database more than a second, so a job counts each run once it
has ended. A stored count holds for one ``data_version`` of its run, which changes whenever the run
ends again.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import accumulate
from typing import Any

from django.db.models import Count, F, Max, Min, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.locks import named_lock
from benchmarks.models import Exchange, Job, JudgeCounts, JudgeScore, Judging, Run
from benchmarks.visibility import EVERYTHING, Visibility

KIND = "judge-counts"
# After a job that failed.
RETRY = timedelta(minutes=10)
# At most this many trajectories are counted within a request, the smallest runs first.
AT_ONCE = 2000
_S = Exchange.State
_ENDED = (Run.Status.DONE, Run.Status.ATTENTION, Run.Status.CANCELLED)


@dataclass
class ReplyCounts:
    """The readable and unreadable replies of an answerer, with its first and last exchange."""

    replies: int = 0
    unreadable: int = 0
    first: int = 0
    last: int = 0

    def add(self, replies: int, unreadable: int, first: int, last: int) -> None:
        """Add the counts of another run or state."""
        self.replies += replies
        self.unreadable += unreadable
        self.first = min(self.first or first, first)
        self.last = max(self.last, last)


@dataclass
class CallCounts:
    """Replies by (answerer, role), and by judge its scores: those with a number, and all.

    ``missing`` runs are not among them: they are too large to be counted within a request.
    """

    replies: dict[tuple[int, str], ReplyCounts] = field(
        default_factory=lambda: defaultdict(ReplyCounts)
    )
    numbers: Counter[int] = field(default_factory=Counter)
    scores: Counter[int] = field(default_factory=Counter)
    missing: int = 0

    def add(self, packed: Mapping[str, Any]) -> None:
        """Add what ``pack`` returned for a run."""
        for answerer, role, *counts in packed["replies"]:
            self.replies[answerer, role].add(*counts)
        for judge, numbers, scores in packed["scores"]:
            self.numbers[judge] += numbers
            self.scores[judge] += scores

    def pack(self) -> dict[str, list[list[Any]]]:
        """Return the counts as JSON."""
        return {
            "replies": [
                [*key, one.replies, one.unreadable, one.first, one.last]
                for key, one in sorted(self.replies.items())
            ],
            "scores": [[judge, self.numbers[judge], n] for judge, n in sorted(self.scores.items())],
        }


def judge_counts(seen: Visibility = EVERYTHING) -> CallCounts:
    """Return the counts of the runs that a person may see, after counting what a request may."""
    runs = seen.of(Run.objects.order_by())
    if seen.closed:  # a re-judging of a closed run is closed, too
        runs = runs.exclude(makes_judging__run__in=seen.closed)
    # Stored counts are of whole runs.
    whole = runs.exclude(dataset__tasks__in=seen.tasks) if seen.tasks else runs
    stored = dict(_stored().filter(run__in=whole).values_list("run", "counts"))
    totals = CallCounts()
    for packed in stored.values():
        totals.add(packed)
    sizes = runs.order_by("created_trajectories").values_list("pk", "created_trajectories")
    rest = [(pk, size) for pk, size in sizes if pk not in stored]
    within = [
        pk for (pk, _), n in zip(rest, accumulate(n for _, n in rest), strict=True) if n <= AT_ONCE
    ]
    totals.missing = len(rest) - len(within)
    for counts in _count(within, seen).values():
        totals.add(counts.pack())
    return totals


def score_totals(runs: Collection[int]) -> dict[int, int]:
    """Return how many scores, with a number or without, the judges of each run gave."""
    packed_by_run = dict(_stored().filter(run__in=runs).values_list("run", "counts"))
    rest = [run for run in runs if run not in packed_by_run]
    packed_by_run |= {run: counts.pack() for run, counts in _count(rest, scores_only=True).items()}
    return {run: sum(n for *_, n in packed["scores"]) for run, packed in packed_by_run.items()}


def _stored() -> QuerySet[JudgeCounts]:
    """Return the stored counts that still hold."""
    rows = JudgeCounts.objects.filter(run__status__in=_ENDED, version=F("run__data_version"))
    return rows.order_by()


def _count(
    runs: Sequence[int], seen: Visibility = EVERYTHING, *, scores_only: bool = False
) -> dict[int, CallCounts]:
    """Count runs. Scores belong to the run whose judges gave them, whichever run they judge."""
    counts_by_run = {run: CallCounts() for run in runs}
    if not runs:
        return counts_by_run
    carrier = Coalesce("made_by", "run")
    carriers = dict(
        Judging.objects.annotate(carrier=carrier)
        .filter(carrier__in=runs)
        .order_by()
        .values_list("pk", "carrier")
    )
    scores = JudgeScore.objects.filter(judging__in=list(carriers)).order_by()
    for judging, judge, numbers, every in scores.values_list("judging", "judge").annotate(
        numbers=Count("value"), every=Count("*")
    ):
        counts_by_run[carriers[judging]].numbers[judge] += numbers
        counts_by_run[carriers[judging]].scores[judge] += every
    if scores_only:
        return counts_by_run
    read = Q(state=_S.ANSWERED) | Q(state=_S.UNREADABLE)
    rows = seen.of(Exchange.objects.filter(read, trajectory__run__in=runs))
    rows = rows.exclude(answerer__kind="human").order_by()
    for run, answerer, role, *counts in rows.values_list(
        "trajectory__run", "answerer", "role"
    ).annotate(
        replies=Count("pk"),
        unreadable=Count("pk", filter=Q(state=_S.UNREADABLE)),
        first=Min("pk"),
        last=Max("pk"),
    ):
        counts_by_run[run].replies[answerer, role].add(*counts)
    return counts_by_run


# --- In the background ----------------------------------------------------------------------------


def _uncounted() -> QuerySet[Run]:
    return Run.objects.filter(status__in=_ENDED).exclude(judge_counts__version=F("data_version"))


def enqueue_counts() -> Job | None:
    """Have a worker count the runs that have ended, unless all are counted or one does so already.

    It may be called as often as one likes. Jobs that are over are deleted.
    """
    if not _uncounted().exists():
        return None
    with named_lock(KIND):
        jobs = Job.objects.filter(kind=KIND)
        busy = Q(status__in=(Job.Status.QUEUED, Job.Status.RUNNING))
        failed = Q(status=Job.Status.FAILED, finished_at__gt=timezone.now() - RETRY)
        if jobs.filter(busy | failed).exists():
            return None
        jobs.delete()
        return enqueue_job(kind=KIND, title="Counting the replies of judges")


@job_kind(KIND)
def count_ended_runs(job: Job, progress: Progress) -> None:
    """Count every run that has ended and is not counted; repeated, it goes on where it was."""
    # Read before the rows are: a run that ends again meanwhile is found uncounted again.
    versions = dict(_uncounted().order_by("pk").values_list("pk", "data_version"))
    # One by one: for some large runs together PostgreSQL would read the calls of all runs.
    for done, (run, version) in enumerate(versions.items()):
        progress.report(done=done, total=len(versions))
        packed = _count([run])[run].pack()
        row = JudgeCounts(run_id=run, version=version, counts=packed)
        JudgeCounts.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["run"],
            update_fields=["version", "counts"],
        )
    progress.report(done=len(versions), total=len(versions))
