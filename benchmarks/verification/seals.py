"""Seal runs: one digest over everything that is stored of a run, to be kept elsewhere.

Replaying a log finds what does not follow from it. Somebody who changes a log and all that follows
from it changes the seal. Rows are named by what stays the same in a restored backup and in another
database, never by their primary keys.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.comparability.certificates import run_certificates
from benchmarks.core.digests import canonical_json
from benchmarks.models import Profile, Run, Task
from benchmarks.verification.stored_rows import KnownRows, StoredTrajectory, read_stored

FORMAT = "planjury-seal/1"
CHUNK = 50
# The columns that a seal covers; a later column of a table changes no seal.
RUN = (
    "kind", "level", "condition", "settings", "roles", "pins", "seed", "status", "is_demo",
    "source", "checksum", "design_tasks", "created_trajectories",
)  # fmt: skip
TRAJECTORY = (
    "seed", "status", "termination", "turn_count", "metrics", "undefined", "payload",
    "schema_version", "scorer_version", "reserved", "role_changes",
)  # fmt: skip
EXCHANGE = (
    "step", "slot", "attempt", "role", "seat", "ask_digest", "messages", "expect", "tools", "seed",
    "repeats", "state", "text", "value", "reason", "reasoning", "model_reported", "tokens_in",
    "tokens_out", "cost", "latency", "finish", "tries",
)  # fmt: skip
BRANCH = ("steps", "turn", "arm", "edited_slot")
SUGGESTION = ("step", "slot", "ask_digest", "seed", "state", "text", "value", "reason")
TURN = ("index", "text", "feedback", "payload", "is_final")
VIOLATION = ("key", "kind", "text", "revealed", "new", "repeated")
SCORE = ("seat", "dimension", "replicate", "value", "reason")


@dataclass(frozen=True)
class RunSeal:
    """The seal of a run, with the digests of its parts, by which a difference is located."""

    run: int
    parts: Mapping[str, str]

    @property
    def digest(self) -> str:
        return _digest([[FORMAT, dict(self.parts)]])

    def as_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "digest": self.digest, "parts": dict(self.parts)}

    def changed(self, sealed: Mapping[str, str]) -> list[str]:
        """Name the parts that differ from sealed ones."""
        return [name for name, digest in self.parts.items() if sealed.get(name) != digest]


def seal_run(run: Run) -> RunSeal:
    """Return the seal of a run as it is stored now; reads the whole log."""
    log, results = hashlib.sha256(), hashlib.sha256()
    known = KnownRows()
    rows = run.trajectories.order_by("task__external_id", "profile__level", "attempt", "pk")
    ids = list(rows.values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        stored = {one.trajectory.pk: one for one in read_stored(run, ids[start : start + CHUNK])}
        some = [stored[pk] for pk in ids[start : start + CHUNK]]
        # A message is in the log by its digest, so a text that does not fit it is sealed besides.
        _add(log, [["wrong digests", sorted(map(str, known.wrong(some).values()))]])
        for one in some:
            _add(log, _log_of(one))
            _add(results, _results_of(one))
    parts = {
        "run": _digest([_columns(run, RUN), _agent(run), _design(run)]),
        "dataset": _digest(_tasks(run)),
        "log": log.hexdigest(),
        "results": results.hexdigest(),
        "certificate": _digest([[one.as_json() for one in run_certificates(run)]]),
    }
    return RunSeal(run.pk, parts)


def _agent(run: Run) -> list[Any]:
    agent = run.agent
    return [agent.name, agent.kind, agent.policy, agent.parameters]


def _design(run: Run) -> Any:
    return run.experiment.design if run.experiment is not None else {}


def _tasks(run: Run) -> Iterator[Any]:
    """Yield the dataset and the run's tasks with their hidden constraints."""
    dataset = run.dataset
    yield [dataset.system, dataset.name, dataset.version, dataset.checksum, dataset.is_demo]
    yield [dataset.shared_id or ""]
    tasks = Task.objects.filter(pk__in=run.trajectories.values("task")).order_by("external_id")
    for task in tasks.iterator():
        yield [task.external_id, task.prompt, task.category, task.payload]
    profiles = Profile.objects.filter(pk__in=run.trajectories.values("profile"))
    for profile in profiles.order_by("task__external_id", "rank").prefetch_related("constraints"):
        rows = sorted(profile.constraints.all(), key=lambda row: row.pk)
        yield [profile.level, [[row.kind, row.key, row.text, row.about] for row in rows]]


def _log_of(stored: StoredTrajectory) -> Iterator[Any]:
    yield _identity(stored)
    if stored.trajectory.run.kind == Run.Kind.BRANCH:
        yield _columns(stored.trajectory.branch, BRANCH)
    for row in stored.exchanges:
        withdrawn = ["withdrawn"] if row.withdrawn_at else []
        yield [*_columns(row, EXCHANGE), row.answerer.digest, *withdrawn]
    for suggestion in stored.suggestions:
        yield _columns(suggestion, SUGGESTION)


def _results_of(stored: StoredTrajectory) -> Iterator[Any]:
    yield [*_identity(stored), *_columns(stored.trajectory, TRAJECTORY)]
    for turn in stored.turns:
        yield _columns(turn, TURN)
        for violation in stored.violations[turn.pk]:
            yield _columns(violation, VIOLATION)
    for index in sorted(stored.scores):
        for score in stored.scores[index]:
            yield [index, *_columns(score, SCORE)]


def _identity(stored: StoredTrajectory) -> list[Any]:
    row = stored.trajectory
    return [row.task.external_id, row.profile.level if row.profile else "", row.attempt]


def _columns(row: Any, names: Iterable[str]) -> list[Any]:
    return [getattr(row, name) for name in names]


def _digest(lines: Iterable[Any]) -> str:
    hashed = hashlib.sha256()
    _add(hashed, lines)
    return hashed.hexdigest()


def _add(hashed: Any, lines: Iterable[Any]) -> None:
    update: Callable[[bytes], None] = hashed.update
    for line in lines:
        update(canonical_json(line).encode() + b"\n")
