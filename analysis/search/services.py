"""Filling the index of words: in the background, in portions, from what is stored.

What is missing is always found by looking, never remembered: a run whose stored version is not the
indexed one, or a turn that is newer than all that were there when the index was last complete. A
portion is read and taken apart first and written then, so that other writers wait for moments.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Length
from django.utils import timezone

from analysis.models import IndexedRun
from analysis.search import index
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.locks import named_lock
from benchmarks.models import Job, Run, Task, Trajectory, Turn
from benchmarks.trajectories.turn_texts import calls_text
from benchmarks.visibility import EVERYTHING, Visibility

KIND = "search-index"
ACTIVE = (Job.Status.QUEUED, Job.Status.RUNNING)
# A portion is written when it has this many turns or characters: a few hundredths of a second.
PORTION_TURNS, PORTION_SIGNS = 300, 400_000
# Trajectories that are compared with the index at once.
COMPARED = 500
# Turns of runs under way come every moment; so often they are taken in.
PAUSE = timedelta(seconds=20)
# After a job that failed.
RETRY = timedelta(minutes=10)


def is_behind() -> bool:
    """Return whether anything is missing in the index; three questions that cost nothing where
    not.
    """
    return _stale_runs().exists() or _new_turns().exists() or _outdated()


def unsearched(seen: Visibility = EVERYTHING) -> int:
    """Return how many trajectories with turns this person could not find yet, because they are
    new.
    """
    stale = seen.of(_stale_runs()).order_by().values_list("pk", "indexed__trajectories")
    known = {pk: count or 0 for pk, count in stale}
    rows = Trajectory.objects.order_by()
    counts = rows.filter(run__in=list(known), turn_count__gt=0).values_list("run")
    missing = sum(max(0, int(n) - known[pk]) for pk, n in counts.annotate(n=Count("pk")))
    late = _new_turns().exclude(trajectory__run__in=list(known)).values("trajectory")
    return missing + seen.of(rows.filter(pk__in=late)).count()


def enqueue_index() -> Job | None:
    """Have a worker take in what is missing, unless nothing is or one does so already.

    To be called as often as one likes. There is one row of it: jobs that are over are taken away.
    """
    if not is_behind():
        return None
    now = timezone.now()
    with named_lock("search index"):
        jobs = Job.objects.filter(kind=KIND)
        busy = Q(status__in=ACTIVE) | Q(finished_at__gt=now - PAUSE)
        failed = Q(status=Job.Status.FAILED, finished_at__gt=now - RETRY)
        if jobs.filter(busy | failed).exists():
            return None
        jobs.delete()
        return enqueue_job(kind=KIND, title="Index of words")


@job_kind(KIND)
def fill_index(job: Job, progress: Progress) -> None:
    """Take in all that is missing; begun anew it goes on where it was."""
    if not index.is_current():
        forget_index()
    # Whatever comes while this goes on is newer and will be found missing.
    newest = Turn.objects.aggregate(last=Max("pk"))["last"] or 0
    late = sorted(set(_new_turns().order_by().values_list("trajectory__run", flat=True)))
    runs = list(_stale_runs().order_by("pk").values_list("pk", flat=True))
    every = list(dict.fromkeys([*runs, *late]))
    for done, run in enumerate(every):
        progress.report(done=done, total=len(every))
        index_run(run_id=run, newest=newest, progress=progress)
    progress.report(done=len(every), total=len(every))


def index_run(*, run_id: int, newest: int | None = None, progress: Progress | None = None) -> int:
    """Take in what is missing of a run; returns how many turns that were.

    ``newest`` is the newest turn that was there when the whole was begun.
    """
    if not index.is_current():
        forget_index()
    version = Run.objects.values_list("data_version", flat=True).get(pk=run_id)
    if newest is None:
        newest = Turn.objects.aggregate(last=Max("pk"))["last"] or 0
    row, _ = IndexedRun.objects.update_or_create(run_id=run_id, defaults={"version": None})
    mine = IndexedRun.objects.filter(pk=row.pk, run__data_version=version)
    count = there = 0
    for block in _blocks(run_id):
        _index_tasks(sorted({task for _, task, _ in block}))
        for portion in _portions(_missing(block)):
            if not _write(run_id, version, portion):
                return count  # restored or changed meanwhile: it is found missing again
            count += len(portion)
            if progress is not None:
                progress.report()
        there += sum(1 for _, _, turns in block if turns)
        mine.update(trajectories=there)
    mine.update(version=version, trajectories=there, last_turn=newest)
    return count


def forget_index() -> None:
    """Begin anew: the rows that the index was made from are others now."""
    with transaction.atomic():
        index.clear_index()
        IndexedRun.objects.update(version=None, trajectories=0, last_turn=0)


# --- What is missing --------------------------------------------------------------------------

# A trajectory, its task, and how many turns it has.
Block = Sequence[tuple[int, int, int]]


def _outdated() -> bool:
    return IndexedRun.objects.filter(version__isnull=False).exists() and not index.is_current()


def _stale_runs() -> QuerySet[Run]:
    """Return the runs with anything missing. Those that are hidden are left: an import that fails
    leaves no words behind, as index rows of SQLite cannot be deleted.
    """
    same = IndexedRun.objects.filter(run=OuterRef("pk"), version=OuterRef("data_version"))
    shown = Run.objects.filter(removed_at=None).exclude(kind=Run.Kind.JUDGING)
    return shown.exclude(Exists(same))


def _new_turns() -> QuerySet[Turn]:
    """Return the turns that are newer than the index, of whatever run that is shown; those of a run
    under way, as a rule.
    """
    last = IndexedRun.objects.aggregate(last=Max("last_turn"))["last"] or 0
    return Turn.objects.filter(
        pk__gt=last, trajectory__judged=None, trajectory__run__removed_at=None
    )


def _blocks(run_id: int) -> Iterator[Block]:
    """Yield the trajectories of a run, some at a time, in the order of their ids."""
    rows = Trajectory.objects.filter(run=run_id).order_by("pk")
    last = 0
    while block := list(
        rows.filter(pk__gt=last).values_list("pk", "task", "turn_count")[:COMPARED]
    ):
        last = block[-1][0]
        yield block


def _missing(block: Block) -> Iterator[tuple[int, int]]:
    """Yield (trajectory, turn) of all turns that the index has not."""
    known = index.turns_there(block[0][0], block[-1][0])
    for trajectory, _, turns in block:
        for turn in range(known.get(trajectory, 0) + 1, turns + 1):
            yield trajectory, turn


def _portions(missing: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """Yield ids of turns, as many as are written at once; a long text is alone."""
    rest = iter(missing)
    while some := list(islice(rest, PORTION_TURNS)):
        wanted = set(some)
        rows = Turn.objects.filter(trajectory__in={pk for pk, _ in some}, index__gte=min(some)[1])
        sizes = rows.order_by("trajectory", "index").values_list(
            "pk", "trajectory", "index", Length("text") + Length("feedback")
        )
        portion: list[int] = []
        signs = 0
        for pk, trajectory, turn, size in sizes.iterator():
            if (trajectory, turn) not in wanted:
                continue
            if portion and signs + size > PORTION_SIGNS:
                yield portion
                portion, signs = [], 0
            portion.append(pk)
            signs += size
        if portion:
            yield portion


# --- Taking in --------------------------------------------------------------------------------


def _index_tasks(tasks: list[int]) -> None:
    known = index.tasks_there(tasks)
    new = Task.objects.filter(pk__in=[pk for pk in tasks if pk not in known]).order_by("pk")
    rows = [index.row_of_task(*task) for task in new.values_list("pk", "external_id", "prompt")]
    if rows:
        with transaction.atomic():
            index.add_rows(index.TASKS, rows)


def _write(run_id: int, version: int, portion: Sequence[int]) -> bool:
    """Take turns in, all or none; False where the run is not what it was when they were read."""
    turns = Turn.objects.filter(pk__in=portion).order_by("trajectory", "index")
    rows = [
        row
        for trajectory, number, text, feedback, messages, opening in turns.values_list(
            "trajectory", "index", "text", "feedback", "payload__messages", "payload__opening"
        )
        for row in index.rows_of_turn(
            trajectory, number, text, feedback, calls_text(messages, opening)
        )
    ]
    with transaction.atomic():
        if not Run.objects.filter(pk=run_id, data_version=version).exists():
            return False
        index.add_rows(index.TURNS, rows)
    return True
