"""Divide imported trajectories into other turns, without their file.

Ratings, labels, notes and scores name turns by number. Where any does, the turns of a run stay and
a copy of the run can have others (docs/decisions/turns.md).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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
from benchmarks.imports.spans import Spans, bounds, check_spans
from benchmarks.imports.stored_messages import read_messages, rows_of_payloads, stored_turn
from benchmarks.jobs.services import JobCancelled, Progress, enqueue_job, job_kind, keep_lease
from benchmarks.models import Job, JudgeScore, Run, Trajectory, TrajectoryImage, Turn

PORTION = 100
OF_WHOLE = "it is stated of the whole trajectory, of which this is a span"
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


def enqueue_spans(*, run: Run, spans: Spans, created_by: User | None) -> Job:
    """Let a worker copy a run in spans of so many turns, or in chosen spans."""
    _check_spans(run, spans)
    return enqueue_job(
        kind=TURN_CHANGE,
        title=f"Copying run {run.pk} in spans",
        payload={"run": run.pk, "spans": spans},
        created_by=created_by,
    )


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
    _check_run(run)
    if by not in TURNS:
        raise TurnsKept(f"there are no turns of this kind; known: {', '.join(TURNS)}")
    if by == turns_of(run):
        raise TurnsKept("its turns are of this kind already")
    if not copy and (uses := uses_of_turns(run)):
        raise TurnsKept(" ".join([*(use.words for use in uses), "Copy the run instead."]))


def _check_run(run: Run) -> None:
    if run.kind != Run.Kind.IMPORTED or run.removed_at is not None:
        raise TurnsKept("only the turns of an imported run can be changed")
    if states_scores_of_turns(run):
        raise TurnsKept("its file states scores of single turns; they hold for these turns only")


def _check_spans(run: Run, spans: Spans) -> None:
    _check_run(run)
    if "spans" in run.settings:
        raise TurnsKept("its trajectories are spans already")
    check_spans(spans, dict(run.trajectories.values_list("pk", "turn_count")))


@job_kind(TURN_CHANGE)
def run_change(job: Job, progress: Progress) -> None:
    """Do what a job asks for, in one transaction; note the run that has the new turns."""
    given = job.payload
    run = Run.objects.get(pk=given["run"])
    with keep_lease(progress) as lost:

        def goes_on() -> None:
            if lost.is_set():
                raise JobCancelled

        if "spans" in given:
            run = copy_in_spans(
                run=run, spans=given["spans"], created_by=job.created_by, goes_on=goes_on
            )
        elif given["copy"]:
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
    with transaction.atomic():
        copy, made = _copy_of(run, {"turns": by}, created_by)
        if not made:
            return copy
        _check(run, by, copy=True)
        for row in _portions(run, goes_on):
            twin = _twin(row, copy)
            turns = _other_turns(row, twin, by)
            _store(row, twin, turns)
    return copy


def copy_in_spans(
    *, run: Run, spans: Spans, created_by: User | None, goes_on: Callable[[], None] = lambda: None
) -> Run:
    """Return a copy of a run in which each span of turns is a trajectory of its own.

    A span is an attempt at its task and says which turns it holds (``span`` in its metadata); what
    was stated of the whole trajectory is undefined for it. The same copy is made once.
    """
    with transaction.atomic():
        copy, made = _copy_of(run, {"spans": spans}, created_by)
        if not made:
            return copy
        _check_spans(run, spans)
        words = f"spans of {spans} turns" if isinstance(spans, int) else "chosen spans"
        Run.objects.filter(pk=copy.pk).update(condition=f"{copy.condition}, {words}")
        attempts: Counter[int] = Counter()
        for row in _portions(run, goes_on):
            turns = list(row.turns.order_by("index"))
            for first, last in bounds(spans, row.pk, len(turns)):
                attempts[row.task_id] += 1
                part = turns[first - 1 : last]
                twin = _span(row, copy, part, len(turns), attempts[row.task_id])
                _store(
                    row,
                    twin,
                    [_span_turn(turn, at, part, turns[0]) for at, turn in enumerate(part, 1)],
                )
        Run.objects.filter(pk=copy.pk).update(created_trajectories=sum(attempts.values()))
    copy.refresh_from_db()
    return copy


def _copy_of(run: Run, settings: dict[str, Any], created_by: User | None) -> tuple[Run, bool]:
    """Return the copy of a run with these settings, and whether it was made just now."""
    # In place of the file's checksum: a file is imported once for each agent.
    words = " ".join(f"{name} {value}" for name, value in settings.items())
    checksum = digest_text(f"{run.checksum} {words}")
    known = Run.objects.filter(kind=run.kind, agent=run.agent_id, checksum=checksum).first()
    if known is not None:
        return known, False
    copy = Run.objects.get(pk=run.pk)
    copy.pk, copy.checksum, copy.data_version, copy.primary_judging = None, checksum, 0, None
    copy.settings = {**run.settings, **settings, "copy_of_run": run.pk}
    copy.created_by, copy.finished_at = created_by, timezone.now()
    copy._state.adding = True
    copy.save()
    return copy, True


def _portions(run: Run, goes_on: Callable[[], None]) -> Iterator[Trajectory]:
    ids = list(run.trajectories.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), PORTION):
        yield from Trajectory.objects.filter(pk__in=ids[start : start + PORTION]).order_by("pk")
        goes_on()


def _twin(row: Trajectory, run: Run) -> Trajectory:
    twin = Trajectory.objects.get(pk=row.pk)
    twin.pk, twin.run = None, run
    twin._state.adding = True
    return twin


def _store(row: Trajectory, twin: Trajectory, turns: Sequence[Turn]) -> None:
    """Store a copy of a trajectory with these turns, and its images."""
    twin.save()
    for turn in turns:
        turn.trajectory_id = twin.pk
    Turn.objects.bulk_create(turns, batch_size=PORTION)
    images = {one.digest: (one.media_type, one.data) for one in row.images.all()}
    TrajectoryImage.objects.bulk_create(image_rows(twin, images))


def _span(row: Trajectory, run: Run, part: Sequence[Turn], of: int, attempt: int) -> Trajectory:
    twin = _twin(row, run)
    ends = part[-1].index == of
    twin.attempt, twin.turn_count = attempt, len(part)
    twin.termination = row.termination if ends else "not_stated"
    twin.started_at = twin.finished_at = None
    calls = [
        call
        for turn in part
        for message in turn.payload.get("messages", ())
        for call in message.get("calls", ())
    ]
    counted = {
        "turns": float(len(part)),
        "tool_calls": float(sum(call.get("by", "agent") == "agent" for call in calls)),
    }
    twin.metrics = {**dict.fromkeys(row.metrics), **counted}
    twin.undefined = {name: OF_WHOLE for name, value in twin.metrics.items() if value is None}
    metadata = dict(row.payload.get("metadata") or {})
    if isinstance(session := metadata.get("session"), dict):
        metadata["session"] = {name: session[name] for name in session if name != "counts"}
    metadata["span"] = {
        "trajectory": row.pk,
        "first": part[0].index,
        "last": part[-1].index,
        "turns": of,
    }
    twin.payload = {
        **row.payload,
        "termination": twin.termination,
        "metadata": metadata,
        "times": ["", ""],
        "scores": {},
        "undefined": {},
    }
    return twin


def _span_turn(turn: Turn, index: int, part: Sequence[Turn], first: Turn) -> Turn:
    """Return a turn of a span; its first one has what stood before the whole trajectory."""
    payload = {name: value for name, value in turn.payload.items() if name != "opening"}
    if index == 1:
        payload["opening"] = first.payload.get("opening", [])
    return Turn(
        index=index,
        text=turn.text,
        feedback=turn.feedback,
        payload=payload,
        is_final=turn is part[-1],
    )


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
