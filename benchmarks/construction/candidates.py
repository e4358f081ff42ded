"""Storing candidate constraints, and writing them to files: all of a call or nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from benchmarks.core import types
from benchmarks.core.candidates import (
    FIELDS,
    CandidateRow,
    CheckedCandidates,
    candidate_faults,
    check_candidates,
    read_candidates,
    write_candidates,
)
from benchmarks.core.digests import canonical_json
from benchmarks.core.errors import ExportRefused
from benchmarks.core.ports.labels import plain
from benchmarks.core.problems import Problems, Unquoted
from benchmarks.datasets.selectors import counted, kind_order
from benchmarks.datasets.services import chunks
from benchmarks.locks import named_lock
from benchmarks.models import Candidate, Dataset, Task
from benchmarks.visibility import EVERYTHING, Visibility


class SavedCandidates(NamedTuple):
    """The number of candidates that a call added, and of its rows that were stored already."""

    added: int
    known: int


class ImportedCandidates(NamedTuple):
    """The contents of a file, and what became of them."""

    checked: CheckedCandidates
    saved: SavedCandidates


def save_candidates(*, dataset: Dataset, rows: Iterable[CandidateRow]) -> SavedCandidates:
    """Store candidates of a dataset's tasks; rows that are stored already are left as they are.

    A candidate is known by task and key and never changes. ``FileRefused`` names every row that
    is at fault, belongs to no task of the dataset, or says of a known key, or of a known text,
    something else than what is stored; then nothing of the call is stored.
    """
    problems = Problems()
    added = known = place = 0
    with named_lock(f"candidates of {dataset.pk}"):
        for chunk in chunks(rows):
            new = list(_Chunk(dataset, chunk, place, problems).new())
            if not problems.total:
                Candidate.objects.bulk_create(new)
            added += len(new)
            known += len(chunk) - len(new)
            place += len(chunk)
        problems.check()
    return SavedCandidates(added, known)


class _Chunk:
    """Some rows beside what is stored of their tasks."""

    def __init__(
        self, dataset: Dataset, rows: Sequence[CandidateRow], place: int, problems: Problems
    ) -> None:
        self.dataset, self.rows, self.place, self.problems = dataset, rows, place, problems
        named = {row.task for row in rows}
        self.tasks: Mapping[str, int] = dict(
            dataset.tasks.filter(external_id__in=named).values_list("external_id", "pk")
        )
        self.by_key: dict[tuple[int, str], types.Candidate] = {}
        self.by_text: dict[tuple[int, str, str], str] = {}
        for row in Candidate.objects.filter(task__in=self.tasks.values()).order_by():
            self._remember(row.task_id, core_candidate(row))

    def _remember(self, task: int, candidate: types.Candidate) -> None:
        self.by_key[task, candidate.key] = candidate
        self.by_text[task, candidate.kind, candidate.text] = candidate.key

    def new(self) -> Iterator[Candidate]:
        """Yield the rows that are sound and not stored; faults of the others are noted."""
        for number, row in enumerate(self.rows, self.place):
            where = row.where or f"rows[{number}] (task {row.task[:40]}, key {row.candidate.key})"
            if self._is_new(row, where):
                task = self.tasks[row.task]
                self._remember(task, row.candidate)
                yield Candidate(task_id=task, **_values(row.candidate))

    def _is_new(self, row: CandidateRow, where: str) -> bool:
        given, values = row.candidate, _values(row.candidate)
        faults = list(candidate_faults(values))
        for name, expected, same_text in faults:
            self.problems.add(f"{where}, {name}", expected, same_text)
        task = self.tasks.get(row.task)
        if task is None:
            expected = f"the id of a task of {self.dataset}"
            self.problems.add(f"{where}, query_id", expected, row.task)
        if faults or task is None:
            return False
        stored = self.by_key.get((task, given.key))
        if stored is None:
            other = self.by_text.get((task, given.kind, given.text))
            if other is not None:
                same_text = Unquoted(f"that of the stored candidate {other}")
                self.problems.add(f"{where}, text", "a text of its own within its kind", same_text)
            return other is None
        before = _values(stored)
        for name in FIELDS:
            if canonical_json(before[name]) != canonical_json(values[name]):
                old = canonical_json(before[name])
                short = old if len(old) <= 120 else old[:119] + "…"
                expected = f"what is stored under the key {given.key}, {short}"
                self.problems.add(f"{where}, {name}", expected, values[name])
        return False


def _values(candidate: types.Candidate) -> dict[str, object]:
    return {name: getattr(candidate, name) for name in FIELDS}


def import_candidates(*, dataset: Dataset, path: Path, decided_by: str = "") -> ImportedCandidates:
    """Return the candidates in a file; the same content a second time adds nothing.

    ``decided_by`` names the checker for decisions that name nobody themselves.
    """
    checked = check_candidates(path, decided_by=decided_by)
    rows = read_candidates(path, decided_by=decided_by)
    return ImportedCandidates(checked, save_candidates(dataset=dataset, rows=rows))


def export_candidates(*, dataset: Dataset, path: Path) -> int:
    """Write the candidates of a dataset in the format that is imported; how many there were.

    Nothing is overwritten, and a dataset without candidates makes no file.
    """
    tasks = tasks_with_candidates(dataset).only("external_id").order_by("pk")
    if not tasks.exists():
        raise ExportRefused(f"{dataset} has no candidate constraints")
    about = {
        "system": dataset.system, "dataset": dataset.name, "version": dataset.version,
        "source": dataset.source, "licence": dataset.licence, "checksum": dataset.checksum,
    }  # fmt: skip
    try:
        with path.open("x", encoding="utf-8") as file:
            return write_candidates(_queries(tasks.iterator()), file, about)
    except FileExistsError:
        raise ExportRefused(f"{path.name} exists; name a new file") from None
    except OSError as error:
        raise ExportRefused(f"{path.name} cannot be written: {error.strerror}") from None


def _queries(tasks: Iterable[Task]) -> Iterator[tuple[str, list[types.Candidate]]]:
    for chunk in chunks(tasks):
        candidates = candidates_of(chunk)
        for task in chunk:
            yield task.external_id, [core_candidate(row) for row in candidates[task.pk]]


Decision = Candidate.Decision
TITLES = ((Decision.KEPT, "Kept"), (Decision.REMOVED, "Removed"), (None, "Undecided"))


def tasks_with_candidates(dataset: Dataset) -> QuerySet[Task]:
    """Return the tasks of a dataset that have candidates."""
    return dataset.tasks.filter(Exists(Candidate.objects.filter(task=OuterRef("pk"))))


def candidates_of(tasks: Iterable[Task]) -> dict[int, list[Candidate]]:
    """Return the candidates of each task by its id, in the order of keys, which tells nothing of
    them.
    """
    by_task: dict[int, list[Candidate]] = {task.pk: [] for task in tasks}
    for row in Candidate.objects.filter(task__in=by_task).order_by():
        by_task[row.task_id].append(row)
    for rows in by_task.values():
        # Not by the database, which may sort texts by the rules of a language.
        rows.sort(key=lambda row: row.key)
    return by_task


def core_candidate(row: Candidate) -> types.Candidate:
    """Return a stored candidate as a value."""
    return types.Candidate(
        key=row.key,
        kind=row.kind,
        text=row.text,
        round=row.round,
        decision=row.decision,
        reason=row.reason,
        decided_by=row.decided_by,
        payload=row.payload,
    )


class DecisionCounts(NamedTuple):
    """The number of candidates by decision. ``removed_share`` is undefined where nothing was
    decided.
    """

    tasks: int
    kept: int
    removed: int
    undecided: int

    @property
    def decided(self) -> int:
        return self.kept + self.removed

    @property
    def total(self) -> int:
        return self.decided + self.undecided

    @property
    def removed_share(self) -> float | None:
        return self.removed / self.decided if self.decided else None


def with_decisions(rows: QuerySet[Dataset]) -> QuerySet[Dataset]:
    """Add to datasets what ``dataset_decisions`` reads, in the query that reads them."""
    of = Candidate.objects.filter
    return rows.annotate(
        kept=counted(of(decision=Decision.KEPT), "task__dataset"),
        removed=counted(of(decision=Decision.REMOVED), "task__dataset"),
        undecided=counted(of(decision=None), "task__dataset"),
        candidate_tasks=counted(
            Task.objects.filter(Exists(of(task=OuterRef("pk")))),
            "dataset",
        ),
    )


def dataset_decisions(dataset: Dataset, seen: Visibility = EVERYTHING) -> DecisionCounts | None:
    """Return how the candidates of a dataset (from ``with_decisions``) were decided; None without
    any.

    Also None for those who are deciding about some of them: the share would tell what to expect.
    """
    if seen.tasks and dataset.tasks.filter(pk__in=seen.tasks).exists():
        return None
    read = vars(dataset)
    counts = DecisionCounts(
        read["candidate_tasks"], read["kept"], read["removed"], read["undecided"]
    )
    return counts if counts.total else None


class DecidedGroup(NamedTuple):
    """The candidates with the same decision, by kind, in the order of rounds."""

    title: str
    kinds: tuple[tuple[str, tuple[Candidate, ...]], ...]

    @property
    def size(self) -> int:
        return sum(len(rows) for _, rows in self.kinds)


class TaskCandidates(NamedTuple):
    """The candidates of a task. ``decided_by`` names the checker where all share one.

    ``by_round``: it is known in which round some of them came up.
    """

    counts: DecisionCounts
    groups: tuple[DecidedGroup, ...]
    decided_by: str
    by_round: bool


def task_candidates(task: Task) -> TaskCandidates | None:
    """Return the candidates of a task with what became of them; None where it has none."""
    rows = candidates_of([task])[task.pk]
    if not rows:
        return None
    groups = [(title, [row for row in rows if row.decision == code]) for code, title in TITLES]
    deciders = {row.decided_by for row in rows if row.decision}
    return TaskCandidates(
        DecisionCounts(1, *(len(group) for _, group in groups)),
        tuple(DecidedGroup(title, _by_kind(group)) for title, group in groups if group),
        deciders.pop() if len(deciders) == 1 else "",
        any(row.round for row in rows),
    )


def _by_kind(rows: Sequence[Candidate]) -> tuple[tuple[str, tuple[Candidate, ...]], ...]:
    """Return rounds in their order; those of an unknown round come last."""
    ordered = sorted(rows, key=lambda row: (row.round is None, row.round))
    kinds = sorted({row.kind for row in rows}, key=kind_order)
    return tuple((plain(kind), tuple(row for row in ordered if row.kind == kind)) for kind in kinds)
