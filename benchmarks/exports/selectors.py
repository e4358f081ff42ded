"""Read stored trajectories as the values that exporters take."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.db.models import Prefetch

from benchmarks.asks.participation import people_part
from benchmarks.calls.whole_log import whole_log
from benchmarks.formats.trajectory import (
    ImportedMessage,
    ImportedTask,
    ImportedTrajectory,
    RubricScore,
)
from benchmarks.imports.images import with_images
from benchmarks.imports.stored_messages import StoredRow, read_messages, rows_of_payloads
from benchmarks.mappers import core_messages
from benchmarks.models import JudgeScore, Run, Trajectory

CHUNK = 100


def exported(run: Run, ids: Sequence[int] | None = None) -> Iterator[ImportedTrajectory]:
    """Yield the finished trajectories of a run, or those of them with these ids, in portions.

    A re-judging has none of its own: they are those that it judged, with its scores alone.
    """
    rejudges = run.kind == Run.Kind.JUDGING
    origin = run.makes_judging.run if rejudges else run
    scores = JudgeScore.objects.select_related("judge", "judging")
    if rejudges:
        scores = scores.filter(judging__made_by=run)
    stored = "judged__" if rejudges else ""
    rows = (
        run.trajectories.filter(status=Trajectory.Status.DONE)
        .select_related(f"{stored}task", f"{stored}profile")
        .prefetch_related(
            f"{stored}turns",
            f"{stored}profile__constraints",
            Prefetch(f"{stored}scores", scores),
        )
        .order_by("pk")
    )
    if ids is None:
        matching = rows.iterator(chunk_size=CHUNK)
    else:
        matching = (
            row for portion in in_portions(sorted(ids)) for row in rows.filter(pk__in=portion)
        )
    for row in matching:
        yield _rejudged(origin, row) if rejudges else _trajectory(origin, row)


def in_portions(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield ids in portions that a database takes as the parameters of one query."""
    for start in range(0, len(ids), CHUNK):
        yield ids[start : start + CHUNK]


def _rejudged(origin: Run, row: Trajectory) -> ImportedTrajectory:
    """Return the trajectory of the run ``origin`` that ``row`` judged, with what came of it."""
    assert row.judged is not None
    return replace(
        _trajectory(origin, row.judged),
        scores=row.metrics,
        undefined=row.undefined,
        rubric=tuple(_rubric(row.judged)),
    )


def _trajectory(run: Run, row: Trajectory) -> ImportedTrajectory:
    imported = run.kind == Run.Kind.IMPORTED
    payload = row.payload if imported else {}
    times = payload.get("times") or ["", ""]
    messages = read_messages(_payload_rows(row)) if imported else _made(run, row)
    return ImportedTrajectory(
        task=ImportedTask(
            row.task.external_id,
            row.task.prompt,
            row.task.category,
            hidden=row.task.payload.get("hidden", {}) if imported else _constraints(row),
            payload=row.task.payload.get("stated", {}) if imported else {},
        ),
        messages=tuple(with_images(row, messages)),
        agent=run.agent.title,
        attempt=row.attempt,
        seed=row.seed,
        scores=payload.get("scores", row.metrics),
        undefined=payload.get("undefined", row.undefined),
        termination=payload.get("termination") or row.termination,
        started=times[0],
        finished=times[1],
        tools=tuple(payload.get("tools", ())),
        hidden=payload.get("hidden", {}),
        metadata=payload.get("metadata", {}) if imported else _people(run, row),
        rubric=tuple(RubricScore(**score) for score in payload.get("rubric", ()))
        or tuple(_rubric(row)),
    )


def _people(run: Run, row: Trajectory) -> dict[str, Any]:
    """Return the part of people in it, if any."""
    row.run = run
    part = people_part(row)
    return {} if part is None else {"played": asdict(part)}


def _rubric(row: Trajectory) -> Iterator[RubricScore]:
    """Return the judges' scores by turn."""
    for score in row.scores.all():
        yield RubricScore(
            turn=score.turn_index,
            dimension=score.dimension,
            value=score.value,
            reason=score.reason,
            judge=str(score.judge),
            kind=score.judge.kind,
            seat=score.seat,
            judging=score.judging.name,
            replicate=score.replicate,
        )


def _constraints(row: Trajectory) -> dict[str, list[str]]:
    """Return the hidden conditions of a profile by kind."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for constraint in row.profile.constraints.all() if row.profile else ():
        kinds[constraint.kind].append(constraint.text)
    return dict(kinds)


def _made(run: Run, row: Trajectory) -> Iterator[ImportedMessage]:
    """Return the agent's opening messages from the log, followed by the turns."""
    row.run = run
    first = whole_log(row).filter(role="agent").order_by("step", "slot").first()
    opening = core_messages(first.messages) if first else []
    for message in opening:
        yield ImportedMessage(message.speaker, message.text)
    if not opening:
        yield ImportedMessage("user", row.task.prompt)
    for turn in row.turns.all():
        yield ImportedMessage("assistant", turn.text)
        if turn.feedback:
            yield ImportedMessage("user", turn.feedback)


def _payload_rows(row: Trajectory) -> list[StoredRow]:
    return rows_of_payloads((row.payload, *(turn.payload for turn in row.turns.all())))
