"""Store the datasets and trajectories that came with a study, as far as they are not here yet."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, models

from annotation.errors import Refused
from annotation.exports.sources import CAME_FROM, SOURCES, TABLES, SourceTable
from annotation.imports.reading import DAMAGED, damaged_member
from benchmarks.core.digests import storable
from benchmarks.core.json_files import finite, refuse_constant
from benchmarks.core.problems import json_fault
from benchmarks.models import Agent, Dataset, Judging, Run, Trajectory

# Of the whole file, unpacked, and of one of its lines.
MOST_BYTES, LONGEST_LINE = 4 << 30, 64 << 20
BATCH = 500
BY_NAME = {table.name: table for table in TABLES}
# By what a row is found that is here already, beside the row that it belongs to.
FOUND_BY: Mapping[str, tuple[str, ...]] = {
    "dataset": ("system", "checksum"),
    "task": ("dataset", "external_id"),
    "profile": ("task", "level"),
    "constraint": ("profile", "key"),
    "candidate": ("task", "key"),
}


@contextmanager
def opened_sources(path: Path) -> Iterator[IO[bytes] | None]:
    """Open the rows that lie beside a document in its archive or folder; None where none do."""
    if zipfile.is_zipfile(path):
        with _opened(path) as archive:
            member = next((row for row in archive.infolist() if row.filename == SOURCES), None)
            if member is None:
                yield None
                return
            if member.file_size > MOST_BYTES:
                raise Refused("invalid", f"{SOURCES} is larger than {MOST_BYTES >> 30} GB")
            with _opened_member(archive, member) as file:
                yield file
        return
    folder = path if path.is_dir() else path.parent
    target = folder / SOURCES
    if not target.is_file():
        yield None
        return
    with target.open("rb") as file:
        yield file


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except DAMAGED as error:
        raise Refused("invalid", damaged_member(path, SOURCES, error)) from None


def _opened_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    try:
        return archive.open(member)
    except DAMAGED as error:
        path = Path(archive.filename or "")
        raise Refused("invalid", damaged_member(path, SOURCES, error)) from None


def store_sources(file: IO[bytes], *, study_key: str) -> None:
    """Store the rows, within a transaction. What is here already is used as it is.

    Runs are stored as imported ones, because their logs do not come along; their settings keep
    what they were. Raises ``Refused`` with the line for a file that is none of these.
    """
    _SourceRows(study_key).store(file)


@dataclass
class _SourceRows:
    study_key: str
    stored: dict[str, dict[Any, Any]] = field(default_factory=dict)
    waiting: list[tuple[int, models.Model, Any]] = field(default_factory=list)
    table: SourceTable = TABLES[0]
    judgings: dict[int, int] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)

    def store(self, file: IO[bytes]) -> None:
        number = 0
        while line := _next_line(file, number):
            number += 1
            if len(line) > LONGEST_LINE:
                raise _refused(number, f"the line is longer than {LONGEST_LINE >> 20} MB")
            self._line(number, line)
        self._flush()
        for run, judging in self.judgings.items():
            Run.objects.filter(pk=run).update(primary_judging=judging)
        for run, count in self.counts.items():
            Run.objects.filter(pk=run).update(created_trajectories=count)

    def _line(self, number: int, line: bytes) -> None:
        try:
            row = json.loads(line, parse_constant=refuse_constant, parse_float=finite)
        except (ValueError, RecursionError) as error:
            raise _refused(number, f"is not JSON: {json_fault(error)}") from None
        name = row.get("table") if isinstance(row, dict) else None
        if not isinstance(name, str) or name not in BY_NAME:
            raise _refused(number, f"expected a row of {', '.join(BY_NAME)}")
        if storable(row) != row:
            raise _refused(number, "holds a character that no database stores, such as NUL")
        table, key = BY_NAME[row.pop("table")], row.pop("row", None)
        expected = {*table.fields, *table.refers}
        if set(row) != expected or not isinstance(key, int | str):
            wrong = ", ".join(sorted(expected ^ set(row))) or "row"
            raise _refused(number, f"other fields than those of {table.name}: {wrong}")
        if table is not self.table:
            if TABLES.index(table) < TABLES.index(self.table):
                raise _refused(number, f"{table.name} comes before {self.table.name}")
            self._flush()
            self.table = table
        try:
            self._row(number, table, key, row)
        except (TypeError, ValueError, OverflowError) as error:
            # Values of another kind than their column, such as a list where a number belongs.
            raise _refused(number, f"expected the values of {table.name}: {error}") from None

    def _row(self, number: int, table: SourceTable, key: Any, row: dict[str, Any]) -> None:
        known = self.stored.setdefault(table.name, {})
        values = {name: row[name] for name in table.fields}
        for name, of in table.refers.items():
            if row[name] is None:
                values[f"{name}_id"] = None
                continue
            if row[name] not in self.stored.get(of, {}):
                raise _refused(number, f"{name} {row[name]!r} is not in the file before it")
            values[f"{name}_id"] = self.stored[of][row[name]]
        here = self._find(number, table, key, values)
        if here is not None:
            known[key] = here
            return
        instance = table.model(
            **self._made(table, values), **({table.key: key} if table.key else {})
        )
        _check(number, instance, table)
        self.waiting.append((number, instance, key))
        if len(self.waiting) >= BATCH:
            self._flush()

    def _find(
        self, number: int, table: SourceTable, key: Any, values: Mapping[str, Any]
    ) -> Any | None:
        """Return the id of a row that is here already, None where it is to be stored."""
        rows = table.model._default_manager.order_by()
        if table.key:
            return rows.filter(**{table.key: key}).values_list("pk", flat=True).first()
        names = FOUND_BY.get(table.name)
        if names is None:
            return None
        wanted = {
            name: values[f"{name}_id"] if name in table.refers else values[name] for name in names
        }
        stored_id = rows.filter(**wanted).values_list("pk", flat=True).first()
        if stored_id is None and table.model is Dataset:
            same = {name: values[name] for name in ("system", "name", "version")}
            if Dataset.objects.filter(**same).exists():
                named = f"{same['name']} {same['version']}"
                raise _refused(number, f"a dataset {named} with other content is here already")
        return stored_id

    def _made(self, table: SourceTable, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values of a new row with what belongs to this installation."""
        if table.model is Agent:
            return {**values, "kind": Agent.Kind.IMPORTED}
        if table.model is Trajectory:
            self.counts[values["run_id"]] = self.counts.get(values["run_id"], 0) + 1
            return {**values, "status": Trajectory.Status.DONE}
        if table.model is Run:
            was = {"kind": values["kind"], "checksum": values["checksum"]}
            text = json.dumps([self.study_key, values], sort_keys=True, default=str)
            return {
                **values,
                "kind": Run.Kind.IMPORTED,
                "checksum": sha256(text.encode()).hexdigest(),
                "settings": {**values["settings"], CAME_FROM: was},
                "status": Run.Status.DONE,
                "source": f"came with {self.study_key}",
            }
        return values

    def _flush(self) -> None:
        """Store the rows that wait, as they are: with their times."""
        if not self.waiting:
            return
        known = self.stored[self.table.name]
        number = self.waiting[0][0]
        rows = [instance for _, instance, _ in self.waiting]
        try:
            if "created_at" in self.table.fields:
                for instance in rows:  # with the times that they have, as loading a fixture does
                    models.Model.save_base(instance, raw=True, force_insert=True)
            else:
                self.table.model._default_manager.bulk_create(rows)
        except (IntegrityError, ValueError, TypeError) as error:
            raise _refused(number, f"or one after it contradicts another row: {error}") from None
        for _, instance, key in self.waiting:
            known[key] = instance.pk
            if isinstance(instance, Judging):
                self.judgings[instance.run_id] = instance.pk
        self.waiting = []


def _check(number: int, instance: models.Model, table: SourceTable) -> None:
    """Refuse values that are not of their kind; what is empty may stay so."""
    for name in table.fields:
        column: Any = instance._meta.get_field(name)
        try:
            value = column.to_python(getattr(instance, name))
            if value is None and not column.null:
                raise ValidationError("a value is expected")
            if column.choices and value and value not in dict(column.flatchoices):
                raise ValidationError(f"{value!r} is not known")
            column.run_validators(value)
        except ValidationError as error:
            raise _refused(number, f"{name}: {' '.join(error.messages)}") from None
        setattr(instance, name, value)


def _next_line(file: IO[bytes], number: int) -> bytes:
    try:
        return file.readline(LONGEST_LINE + 1)
    except DAMAGED as error:
        why = (str(error) or type(error).__name__)[:120]
        raise _refused(number + 1, f"expected a line that can be unpacked: {why}") from None


def _refused(number: int, words: str) -> Refused:
    return Refused("invalid", f"{SOURCES}, line {number}: {words}")
