"""Runs that leave the database for a file, and come back.

A file holds every row that goes with the trajectories of a run and of its re-judgings; run,
judgings and dataset stay in the database. docs/decisions/detached-runs.md says why it is made this
way.
"""

import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from analysis.models import IndexedRun, RunFacts
from benchmarks.deletion.plans import DeletionPlan, plan_deletion
from benchmarks.deletion.services import KIND as DELETION
from benchmarks.deletion.services import delete_trajectories, locked_plan
from benchmarks.models import Job, JudgeScore, Run, Trajectory
from config.backups.archive import digest_file, put_in_place
from config.backups.errors import BackupError
from config.backups.rows import Model, column_fields, select_column, to_column

PRODUCT, FORMAT = "PlanJury runs", 1
# Trajectories whose rows are read together.
PORTION = 200
ROWS_AT_ONCE = 1000
_UNDER_WAY = (Job.Status.QUEUED, Job.Status.RUNNING)


class DetachedRuns(NamedTuple):
    """A file of detached runs: their ids, and how many rows of each table it holds."""

    path: Path
    runs: Sequence[int]
    rows: Mapping[str, int]
    size: int
    sha256: str


def detached_models() -> dict[Model, str]:
    """Return the models whose rows go with trajectories, each with its path to the trajectory."""
    paths: dict[Model, str] = {Trajectory: "pk"}
    queue: list[Model] = [Trajectory]
    for model in queue:
        for relation in model._meta.related_objects:
            child = relation.related_model
            if relation.on_delete is models.CASCADE and child not in paths:
                above = "" if model is Trajectory else f"__{paths[model]}"
                paths[child] = f"{relation.field.name}{above}"
                queue.append(child)
    return paths


# --- Out ------------------------------------------------------------------------------------------


def plan_detaching(run: Run) -> DeletionPlan:
    """Return what leaves the database with a run and what prevents it, as for a deletion."""
    return plan_deletion(f"run {run.pk}", runs=[run.pk])


def detach(run: Run, folder: Path) -> DetachedRuns:
    """Write a run and its re-judgings to a file in ``folder``, then delete their trajectories.

    Stopped anywhere, it is to be called again: the run is hidden from the beginning on, and nothing
    is deleted before the file is on the disk and was read back.
    """
    if run.archive:
        done = _described(run)
    else:
        runs, path = _hide(run), folder / f"run-{run.pk}.jsonl.gz"
        try:
            done = _write(runs, path)
        except BaseException:
            Run.objects.filter(pk__in=runs).update(removed_at=None)
            raise
        Run.objects.filter(pk__in=runs).update(archive=_description(done))
    rows = Run.objects.filter(pk__in=done.runs)
    for _ in delete_trajectories(rows):
        pass
    for index in (RunFacts, IndexedRun):
        index._default_manager.filter(run__in=done.runs).delete()
    return done


def _hide(run: Run) -> Sequence[int]:
    """Hide a run and its re-judgings from all pages; return their ids."""
    plan = plan_detaching(run)
    if run.removed_at is None:
        with locked_plan(plan) as plan:
            Run.objects.filter(pk__in=plan.runs).update(removed_at=timezone.now())
    elif Job.objects.filter(kind=DELETION, status__in=_UNDER_WAY).exists():
        raise BackupError(f"Run {run.pk} is hidden: it is being deleted, or was to be detached.")
    return plan.runs  # of a run that was hidden before, a killed command had written no file


def _described(run: Run) -> DetachedRuns:
    about = run.archive
    assert about is not None
    path = Path(about["file"])
    if not path.exists() or digest_file(path) != about["sha256"]:
        raise BackupError(f"Run {run.pk} is detached, and its file is no longer at {path}.")
    return DetachedRuns(path, about["runs"], about["rows"], about["bytes"], about["sha256"])


def _description(done: DetachedRuns) -> dict[str, Any]:
    """Return what the rows of the runs say about their file."""
    ids = Trajectory.objects.filter(run__in=done.runs).order_by("pk").values_list("pk", flat=True)
    return {
        "file": str(done.path),
        "bytes": done.size,
        "sha256": done.sha256,
        "runs": list(done.runs),
        "rows": dict(done.rows),
        "trajectories": list(_ranges(ids.iterator())),
        "at": timezone.now().isoformat(),
    }


def _ranges(ids: Iterable[int]) -> Iterator[list[int]]:
    """Return ascending ids as pairs of the first and last of those that follow each other."""
    span: list[int] = []
    for pk in ids:
        if span and pk == span[1] + 1:
            span[1] = pk
            continue
        if span:
            yield span
        span = [pk, pk]
    if span:
        yield span


def _write(runs: Sequence[int], path: Path) -> DetachedRuns:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    counts: Counter[str] = Counter()
    try:
        with draft.open("xb") as raw:
            draft.chmod(0o600)
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
                head = {"product": PRODUCT, "format": FORMAT, "version": settings.VERSION}
                file.write(_line({**head, "runs": list(runs)}))
                for model, rows in _row_sets(runs):
                    _write_rows(file, model, rows, counts)
                file.write(_line({"rows": counts}))
            raw.flush()
            os.fsync(raw.fileno())
        if Counter({name: n for name, n in _counted(draft).items() if n}) != counts:
            raise BackupError(f"{draft} does not hold what was written to it.")
        sha256, size = digest_file(draft), draft.stat().st_size
        put_in_place(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return DetachedRuns(path, runs, dict(counts), size, sha256)


def _row_sets(runs: Sequence[int]) -> Iterator[tuple[Model, QuerySet[Any]]]:
    """Yield the rows that go with the runs, those of some trajectories after the other."""
    paths = detached_models()
    rows = Trajectory.objects.filter(run__in=runs).order_by("pk").values_list("pk", flat=True)
    last = 0
    while ids := list(rows.filter(pk__gt=last)[:PORTION]):
        last = ids[-1]
        for model, path in paths.items():
            yield model, model._base_manager.filter(**{f"{path}__in": ids})
        # A re-judging's scores are about trajectories of another run, which may stay.
        yield (
            JudgeScore,
            JudgeScore.objects.filter(exchange__trajectory__in=ids).exclude(
                trajectory__run__in=runs
            ),
        )


def _write_rows(
    file: gzip.GzipFile, model: Model, rows: QuerySet[Any], counts: "Counter[str]"
) -> None:
    fields = column_fields(model)
    table, begun = model._meta.db_table, False
    selected = rows.order_by("pk").values_list(*map(select_column, fields))
    for row in selected.iterator(chunk_size=ROWS_AT_ONCE):
        if not begun:
            file.write(_line({"table": table, "columns": [field.column for field in fields]}))
            begun = True
        file.write(_line(row))
        counts[table] += 1


def _line(value: Any) -> bytes:
    text = json.dumps(value, default=datetime.isoformat, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n".encode()


# --- Back -----------------------------------------------------------------------------------------


def read_detached(path: Path) -> DetachedRuns:
    """Return what a file holds, after reading all of it; raise an error if it is damaged."""
    counts = _counted(path)
    with gzip.open(path) as file:
        head = json.loads(file.readline())
    return DetachedRuns(path, head["runs"], counts, path.stat().st_size, digest_file(path))


def _counted(path: Path) -> dict[str, int]:
    counts: Counter[str] = Counter()
    try:
        for table, _, rows in _sections(path):
            counts[table] += sum(1 for _ in rows)
    except (gzip.BadGzipFile, EOFError, ValueError, KeyError, zlib.error) as error:
        reason = str(error) or "it ends early"
        raise BackupError(f"{path} is damaged or cut off: {reason}.") from None
    return dict(counts)


def attach(path: Path) -> DetachedRuns:
    """Put the rows of a file back under their ids, all or none, and show the runs again."""
    detached = read_detached(path)
    with transaction.atomic():
        runs = Run.objects.select_for_update().filter(pk__in=detached.runs).order_by("pk")
        for run in (known := list(runs)):
            if not run.archive or run.archive["sha256"] != detached.sha256:
                raise BackupError(f"Run {run.pk} was not detached into {path} from this database.")
        if len(known) != len(detached.runs) or not known:
            raise BackupError("A run of the file is not in this database.")
        if Trajectory.objects.filter(run__in=detached.runs).exists():
            raise BackupError(
                f"Run {known[0].pk} was not detached to its end; call detach_runs again first."
            )
        for table, columns, rows in _sections(path):
            _insert(table, columns, rows)
        # What was kept of the runs is computed again.
        Run.objects.filter(pk__in=detached.runs).update(
            removed_at=None, archive=None, data_version=F("data_version") + 1
        )
    return detached


def _sections(path: Path) -> Iterator[tuple[str, Sequence[str], Iterator[Any]]]:
    """Yield (table, columns, rows); the rows are to be read before the next section."""
    with gzip.open(path) as file:
        head = json.loads(file.readline())
        if not isinstance(head, dict) or head.get("product") != PRODUCT:
            raise BackupError(f"{path} is not a file of detached runs.")
        if head["format"] != FORMAT:
            raise BackupError(f"{path} was made by PlanJury {head['version']}; use that one.")
        upcoming = json.loads(file.readline())

        def rows() -> Iterator[Any]:
            nonlocal upcoming
            for line in file:
                upcoming = json.loads(line)
                if isinstance(upcoming, dict):
                    return
                yield upcoming
            raise EOFError

        while "table" in upcoming:
            yield upcoming["table"], upcoming["columns"], rows()


def _insert(table: str, columns: Sequence[str], rows: Iterator[Any]) -> None:
    model = next((m for m in apps.get_models() if m._meta.db_table == table), None)
    fields = {field.column: field for field in column_fields(model)} if model else {}
    if unknown := set(columns) - set(fields):
        raise BackupError(
            f"The file holds {table}.{min(unknown)}, which this version does not have. Attach it "
            "with the version that made it, then upgrade."
        )
    given = [fields[column] for column in columns]
    # Columns that came later have their default.
    later = [field for column, field in fields.items() if column not in columns]
    defaults = [field.get_db_prep_save(field.get_default(), connection) for field in later]
    quote = connection.ops.quote_name
    names = ", ".join(quote(str(field.column)) for field in (*given, *later))
    marks = ", ".join(["%s"] * (len(given) + len(later)))
    statement = f"INSERT INTO {quote(table)} ({names}) VALUES ({marks})"
    with connection.cursor() as cursor:
        while block := list(islice(rows, ROWS_AT_ONCE)):
            cursor.executemany(statement, [[*map(_stored, given, row), *defaults] for row in block])


def _stored(field: Any, value: Any) -> Any:
    """Return a column's value from the file as the database takes it; JSON is text already."""
    if not isinstance(field, models.JSONField):
        value = field.to_python(value)
    return to_column(field, value, connection)
