"""The datasets and trajectories of a study, as rows that another installation can store.

Whole datasets of the study's items are written, with tasks, profiles and conditions; of the runs
those trajectories that are items, with turns, violations, and the scores of the primary judging by
scripts and models. Logs, costs, endpoints and people are not in it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model, Q, QuerySet

from annotation.exports.scope import Scope
from annotation.exports.writing import dumped
from benchmarks.models import (
    Agent,
    AnswererVersion,
    Candidate,
    Constraint,
    Dataset,
    JudgeScore,
    Judging,
    Profile,
    Run,
    SharedData,
    StoredMessage,
    Task,
    Trajectory,
    Turn,
    Violation,
)
from benchmarks.trajectories.messages import stored_rows

Json = dict[str, Any]
SOURCES = "sources.jsonl"
CHUNK = 500
# Where the settings of an imported run keep what it was where it was made.
CAME_FROM = "came_from"


@dataclass(frozen=True)
class SourceTable:
    """A table of the file: its fields, and those that refer to rows of other tables by number.

    ``key`` is the field that names a row everywhere, where rows are not numbered.
    """

    name: str
    model: type[Model]
    fields: Sequence[str]
    refers: Mapping[str, str] = field(default_factory=dict)
    key: str = ""


# Each table comes after those that it refers to.
TABLES: Sequence[SourceTable] = (
    SourceTable("shared", SharedData, ("content",), key="digest"),
    SourceTable(
        "dataset",
        Dataset,
        ("system", "name", "version", "source", "licence", "checksum", "roles", "created_at"),
        {"shared": "shared"},
    ),
    SourceTable(
        "task", Task, ("external_id", "prompt", "category", "payload"), {"dataset": "dataset"}
    ),
    SourceTable("profile", Profile, ("level", "rank"), {"task": "task"}),
    SourceTable(
        "constraint", Constraint, ("kind", "key", "text", "about"), {"profile": "profile"}
    ),
    SourceTable(
        "candidate",
        Candidate,
        ("key", "kind", "text", "round", "decision", "reason", "decided_by", "payload",
         "created_at"),
        {"task": "task"},
    ),
    SourceTable("message", StoredMessage, ("speaker", "text", "tool_calls", "tool_call_id"),
                key="digest"),
    SourceTable("agent", Agent, ("title",), key="name"),
    SourceTable("judge", AnswererVersion, ("kind", "name", "version"), key="digest"),
    SourceTable(
        "run",
        Run,
        ("kind", "level", "condition", "settings", "roles", "pins", "seed", "checksum",
         "created_at", "started_at", "finished_at"),
        {"dataset": "dataset", "agent": "agent"},
    ),
    SourceTable(
        "trajectory",
        Trajectory,
        ("attempt", "seed", "termination", "turn_count", "metrics", "undefined", "payload",
         "schema_version", "scorer_version", "started_at", "finished_at"),
        {"run": "run", "task": "task", "profile": "profile"},
    ),
    SourceTable(
        "turn",
        Turn,
        ("index", "text", "feedback", "payload", "is_final"),
        {"trajectory": "trajectory"},
    ),
    SourceTable(
        "violation",
        Violation,
        ("key", "kind", "text", "revealed", "new", "repeated"),
        {"turn": "turn", "constraint": "constraint"},
    ),
    SourceTable("judging", Judging, ("name", "created_at"), {"run": "run"}),
    SourceTable(
        "score",
        JudgeScore,
        ("seat", "dimension", "replicate", "value", "reason", "level", "condition", "turn_index",
         "is_final"),
        {"judging": "judging", "turn": "turn", "judge": "judge", "trajectory": "trajectory",
         "run": "run", "agent": "agent"},
    ),
)  # fmt: skip


def source_lines(scope: Scope) -> Iterator[str]:
    """Yield the rows as JSON lines: a table's name, the row's number or key, and its fields.

    Rows are numbered in an order that does not depend on their ids (``_ORDER``), so that a file
    that was imported and exported again is the same, whatever else was imported before it.
    """
    numbers: dict[str, dict[Any, Any]] = {}
    for table in TABLES:
        known = numbers.setdefault(table.name, {})
        refers = [f"{name}_id" for name in table.refers]
        columns = ["pk", *table.fields, *refers, *[table.key] * bool(table.key)]
        for number, row in enumerate(_rows(table, scope).values(*columns).iterator(CHUNK), 1):
            known[row["pk"]] = row[table.key] if table.key else number
            written: Json = {name: row[name] for name in table.fields}
            for name, of in table.refers.items():
                written[name] = numbers[of].get(row[f"{name}_id"])
            line = {"table": table.name, "row": known[row["pk"]]}
            yield dumped({**line, **_plain(table, written)}) + "\n"


def _rows(table: SourceTable, scope: Scope) -> QuerySet[Any]:
    rows = _SELECT[table.name](scope)
    return rows.order_by(*_ORDER.get(table.name, (table.key,)))


def _through(name: str, order: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{name}__{each}" for each in order)


# The rows of tables without a key. The rows of one dataset, turn or run are stored together, so
# that their ids have the same order everywhere.
_DATASET = ("system", "name", "version", "checksum")
_RUN = ("created_at", "agent__name", "pk")
_TRAJECTORY = (*_through("run", _RUN), "task_id", "attempt", "pk")
_TURN = (*_through("trajectory", _TRAJECTORY), "index")
_ORDER: Mapping[str, Sequence[str]] = {
    "dataset": _DATASET,
    "task": (*_through("dataset", _DATASET), "pk"),
    "profile": (*_through("task__dataset", _DATASET), "pk"),
    "constraint": (*_through("profile__task__dataset", _DATASET), "pk"),
    "candidate": (*_through("task__dataset", _DATASET), "pk"),
    "run": _RUN,
    "trajectory": _TRAJECTORY,
    "turn": _TURN,
    "violation": (*_through("turn", _TURN), "pk"),
    "judging": (*_through("run", _RUN), "pk"),
    "score": (*_through("turn", _TURN), "pk"),
}


def datasets_needed(scope: Scope) -> QuerySet[Dataset]:
    """Return the datasets that an import of the study needs."""
    items = scope.study.items.order_by()
    by_task = items.filter(task__isnull=False).values("task__dataset")
    by_run = items.filter(trajectory__isnull=False).values("trajectory__run__dataset")
    return Dataset.objects.filter(pk__in=by_task) | Dataset.objects.filter(pk__in=by_run)


def _trajectories(scope: Scope) -> QuerySet[Trajectory]:
    items = scope.study.items.order_by()
    firsts, others = (
        items.filter(**{f"{name}__isnull": False}).values(name) for name in ("trajectory", "other")
    )
    return Trajectory.objects.filter(Q(pk__in=firsts) | Q(pk__in=others))


def _runs(scope: Scope) -> QuerySet[Run]:
    return Run.objects.filter(pk__in=_trajectories(scope).values("run"))


def _messages(scope: Scope) -> QuerySet[StoredMessage]:
    """Return the system prompts that turns name by their digests."""
    turns = Turn.objects.filter(trajectory__in=_trajectories(scope)).order_by("pk")
    digests: set[str] = set()
    for payload in turns.values_list("payload", flat=True).iterator(CHUNK):
        digests.update(row["digest"] for row in stored_rows(payload) if row.get("digest"))
    return StoredMessage.objects.filter(pk__in=digests)


def _scores(scope: Scope) -> QuerySet[JudgeScore]:
    """Return the scores of primary judgings; people who judged are not named in the file."""
    rows = JudgeScore.objects.filter(
        trajectory__in=_trajectories(scope), judging__in=_judgings(scope)
    )
    return rows.exclude(judge__kind="human")


def _judgings(scope: Scope) -> QuerySet[Judging]:
    primary = _runs(scope).filter(primary_judging__isnull=False).order_by()
    return Judging.objects.filter(pk__in=primary.values("primary_judging"))


_SELECT: Mapping[str, Callable[[Scope], QuerySet[Any]]] = {
    "shared": lambda scope: SharedData.objects.filter(
        dataset__in=datasets_needed(scope)
    ).distinct(),
    "dataset": datasets_needed,
    "task": lambda scope: Task.objects.filter(dataset__in=datasets_needed(scope)),
    "profile": lambda scope: Profile.objects.filter(task__dataset__in=datasets_needed(scope)),
    "constraint": lambda scope: Constraint.objects.filter(
        profile__task__dataset__in=datasets_needed(scope)
    ),
    "candidate": lambda scope: Candidate.objects.filter(task__dataset__in=datasets_needed(scope)),
    "message": _messages,
    "agent": lambda scope: Agent.objects.filter(pk__in=_runs(scope).values("agent")),
    "judge": lambda scope: AnswererVersion.objects.filter(
        pk__in=_scores(scope).order_by().values("judge")
    ),
    "run": _runs,
    "trajectory": _trajectories,
    "turn": lambda scope: Turn.objects.filter(trajectory__in=_trajectories(scope)),
    "violation": lambda scope: Violation.objects.filter(turn__trajectory__in=_trajectories(scope)),
    "judging": _judgings,
    "score": _scores,
}


def _plain(table: SourceTable, row: Json) -> Json:
    """Return a row without what belongs to this installation alone."""
    if table.name != "run":
        return row
    origin = origin_of(row["settings"], row["kind"], row["checksum"])
    settings = {name: value for name, value in row["settings"].items() if name != CAME_FROM}
    roles = {
        role: [{k: filler[k] for k in ("kind", "label") if k in filler} for filler in fillers]
        for role, fillers in row["roles"].items()
    }
    return {**row, **origin, "settings": settings, "roles": roles}


def origin_of(settings: Mapping[str, Any], kind: str, checksum: str) -> dict[str, str]:
    """Return kind and checksum of a run where it was made, which an import of a study keeps."""
    kept: dict[str, str] = settings.get(CAME_FROM, {})
    return {"kind": kept.get("kind", kind), "checksum": kept.get("checksum", checksum)}
