"""Divide imported trajectories into other turns, without their file.

Ratings, labels, notes and scores name turns by number. Where any does, the turns of a run stay and
a copy of the run can have others (docs/decisions/turns.md).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.dispatch import Signal
from django.urls import reverse
from django.utils import timezone

from benchmarks.core.digests import digest_text
from benchmarks.core.errors import CoreError
from benchmarks.formats.trajectory import TURNS, split_turns
from benchmarks.imports.images import image_rows
from benchmarks.imports.rows import check_number
from benchmarks.imports.selectors import TURN_CHANGE
from benchmarks.imports.stored_messages import read_messages, rows_of_payloads, stored_turn
from benchmarks.jobs.services import JobCancelled, Progress, enqueue_job, job_kind, keep_lease
from benchmarks.models import Job, JudgeScore, Run, Trajectory, TrajectoryImage, Turn

PORTION = 100
# Sent with ``ids`` of trajectories in the transaction in which their turns become others.
turns_changed = Signal()


class TurnsKept(CoreError):
    """Raised if the turns of a run cannot be changed; the text says why."""


@dataclass(frozen=True)
class TurnUse:
    """Something that names turns of a run by number, and the page on which it can be seen."""

    words: str
    url: str = ""


# From the id of a run to what names its turns.
TurnUser = Callable[[int], Iterable[TurnUse]]
_users: list[TurnUser] = []


def names_turns(rule: TurnUser) -> TurnUser:
    """Register a rule that says what of another app names turns of a run by number."""
    if rule not in _users:
        _users.append(rule)
    return rule


@names_turns
def _scores(run: int) -> Iterable[TurnUse]:
    if JudgeScore.objects.filter(trajectory__run=run).exists():
        yield TurnUse("Judges scored its turns.", reverse("benchmarks:run", args=[run]))


def turns_of(run: Run) -> str:
    """Return what begins a turn of an imported run: a key of ``TURNS``."""
    return str(run.settings.get("turns", "user"))


def uses_of_turns(run: Run) -> list[TurnUse]:
    """Return what names turns of the run by number; they stay as long as anything does."""
    return [use for rule in _users for use in rule(run.pk)]


def states_scores_of_turns(run: Run) -> bool:
    """Return whether the file states scores of single turns, which hold for its own turns only."""
    return run.trajectories.filter(payload__has_key="rubric").exists()


def enqueue_change(*, run: Run, by: str, copy: bool, created_by: User | None) -> Job:
    """Let a worker change the turns of a run, or copy the run with other turns."""
    _check(run, by, copy=copy)
    return enqueue_job(
        kind=TURN_CHANGE,
        title=f"{'Copying' if copy else 'Changing the turns of'} run {run.pk}",
        payload={"run": run.pk, "turns": by, "copy": copy},
        created_by=created_by,
    )


def _check(run: Run, by: str, *, copy: bool) -> None:
    if run.kind != Run.Kind.IMPORTED or run.removed_at is not None:
        raise TurnsKept("only the turns of an imported run can be changed")
    if by not in TURNS:
        raise TurnsKept(f"there are no turns of this kind; known: {', '.join(TURNS)}")
    if by == turns_of(run):
        raise TurnsKept("its turns are of this kind already")
    if states_scores_of_turns(run):
        raise TurnsKept("its file states scores of single turns; they hold for these turns only")
    if not copy and (uses := uses_of_turns(run)):
        raise TurnsKept(" ".join([*(use.words for use in uses), "Copy the run instead."]))


@job_kind(TURN_CHANGE)
def run_change(job: Job, progress: Progress) -> None:
    """Do what a job asks for, in one transaction; note the run that has the new turns."""
    given = job.payload
    run = Run.objects.get(pk=given["run"])
    with keep_lease(progress) as lost:

        def goes_on() -> None:
            if lost.is_set():
                raise JobCancelled

        if given["copy"]:
            run = copy_with_turns(
                run=run, by=given["turns"], created_by=job.created_by, goes_on=goes_on
            )
        else:
            run = change_turns(run=run, by=given["turns"], goes_on=goes_on)
    Job.objects.filter(pk=job.pk).update(payload={**given, "result": {"run": run.pk}})


def change_turns(*, run: Run, by: str, goes_on: Callable[[], None] = lambda: None) -> Run:
    """Divide the trajectories of a run anew; refused if anything names its turns."""
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        rows = run.trajectories.order_by("pk")
        # Whoever adds a label or an item locks the trajectory, so nothing is added unseen.
        ids = list(rows.select_for_update().values_list("pk", flat=True))
        _check(run, by, copy=False)
        for start in range(0, len(ids), PORTION):
            portion = ids[start : start + PORTION]
            for row in rows.filter(pk__in=portion):
                turns = _other_turns(row, row, by)
                row.turns.all().delete()
                Turn.objects.bulk_create(turns, batch_size=PORTION)
                row.save(update_fields=["turn_count", "metrics"])
            turns_changed.send(Trajectory, ids=portion)
            goes_on()
        Run.objects.filter(pk=run.pk).update(
            settings={**run.settings, "turns": by}, data_version=F("data_version") + 1
        )
    run.refresh_from_db()
    return run


def copy_with_turns(
    *, run: Run, by: str, created_by: User | None, goes_on: Callable[[], None] = lambda: None
) -> Run:
    """Return a copy of a run with other turns; the same copy is made once."""
    # In place of the file's: a file is imported once for each agent.
    checksum = digest_text(f"{run.checksum} turns {by}")
    with transaction.atomic():
        made = Run.objects.filter(kind=run.kind, agent=run.agent_id, checksum=checksum).first()
        if made is not None:
            return made
        _check(run, by, copy=True)
        origin, ids = run.pk, list(run.trajectories.order_by("pk").values_list("pk", flat=True))
        copy = Run.objects.get(pk=origin)
        copy.pk, copy.checksum, copy.data_version, copy.primary_judging = None, checksum, 0, None
        copy.settings = {**run.settings, "turns": by, "copy_of_run": origin}
        copy.created_by, copy.finished_at = created_by, timezone.now()
        copy._state.adding = True
        copy.save()
        for start in range(0, len(ids), PORTION):
            for row in Trajectory.objects.filter(pk__in=ids[start : start + PORTION]):
                twin = Trajectory.objects.get(pk=row.pk)
                twin.pk, twin.run = None, copy
                twin._state.adding = True
                turns = _other_turns(row, twin, by)
                twin.save()
                for turn in turns:
                    turn.trajectory_id = twin.pk
                Turn.objects.bulk_create(turns, batch_size=PORTION)
                images = {one.digest: (one.media_type, one.data) for one in row.images.all()}
                TrajectoryImage.objects.bulk_create(image_rows(twin, images))
            goes_on()
    return copy


def _other_turns(row: Trajectory, target: Trajectory, by: str) -> Sequence[Turn]:
    """Return the turns of a trajectory divided otherwise, and count them in the target."""
    payloads = row.turns.order_by("index").values_list("payload", flat=True)
    stored = rows_of_payloads(payloads)
    opening, turns = split_turns(read_messages(stored), by)
    if not turns:  # the agent said nothing; all of it stands before the first turn
        return []
    check_number(turns)
    target.turn_count = len(turns)
    target.metrics = {**target.metrics, "turns": float(len(turns))}
    rows = []
    at = len(opening)
    for turn in turns:
        end = at + len(turn.messages)
        before, own = stored[: len(opening)], stored[at:end]
        rows.append(stored_turn(target.pk, turn, before, own, final=turn.index == len(turns)))
        at = end
    return rows
