"""Reading candidate constraints: of tasks, in what was decided, and the share removed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from benchmarks.core import types
from benchmarks.core.words import plain
from benchmarks.datasets.selectors import counted, kind_order
from benchmarks.models import Candidate, Dataset, Task
from benchmarks.visibility import EVERYTHING, Visibility

Decision = Candidate.Decision
TITLES = ((Decision.KEPT, "Kept"), (Decision.REMOVED, "Removed"), (None, "Undecided"))


def tasks_with_candidates(dataset: Dataset) -> QuerySet[Task]:
    """The tasks of a dataset that have candidates."""
    return dataset.tasks.filter(Exists(Candidate.objects.filter(task=OuterRef("pk"))))


def candidates_of(tasks: Iterable[Task]) -> dict[int, list[Candidate]]:
    """The candidates of each task by its id, in the order of keys, which tells nothing of them."""
    found: dict[int, list[Candidate]] = {task.pk: [] for task in tasks}
    for row in Candidate.objects.filter(task__in=found).order_by("task_id", "key"):
        found[row.task_id].append(row)
    return found


def core_candidate(row: Candidate) -> types.Candidate:
    """A stored candidate as a value."""
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


@dataclass(frozen=True)
class Decided:
    """How candidates were decided. ``removed_share`` is undefined where nothing was decided."""

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
    """Datasets with what ``dataset_decisions`` reads, in the query that reads them."""
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


def dataset_decisions(dataset: Dataset, seen: Visibility = EVERYTHING) -> Decided | None:
    """How the candidates of a dataset (from ``with_decisions``) were decided; None without any.

    Also None for those who are deciding about some of them: the share would tell what to expect.
    """
    if seen.tasks and dataset.tasks.filter(pk__in=seen.tasks).exists():
        return None
    read = vars(dataset)
    found = Decided(read["candidate_tasks"], read["kept"], read["removed"], read["undecided"])
    return found if found.total else None


@dataclass(frozen=True)
class DecidedGroup:
    """The candidates with the same decision, by kind, in the order of rounds."""

    title: str
    kinds: tuple[tuple[str, tuple[Candidate, ...]], ...]

    @property
    def size(self) -> int:
        return sum(len(rows) for _, rows in self.kinds)


@dataclass(frozen=True)
class TaskCandidates:
    """The candidates of a task. ``decided_by`` names the checker where all share one.

    ``by_round``: it is known in which round some of them came up.
    """

    counts: Decided
    groups: tuple[DecidedGroup, ...]
    decided_by: str
    by_round: bool


def task_candidates(task: Task) -> TaskCandidates | None:
    """The candidates of a task with what became of them; None where it has none."""
    rows = candidates_of([task])[task.pk]
    if not rows:
        return None
    groups = [(title, [row for row in rows if row.decision == code]) for code, title in TITLES]
    deciders = {row.decided_by for row in rows if row.decision}
    return TaskCandidates(
        Decided(1, *(len(group) for _, group in groups)),
        tuple(DecidedGroup(title, _by_kind(group)) for title, group in groups if group),
        deciders.pop() if len(deciders) == 1 else "",
        any(row.round for row in rows),
    )


def _by_kind(rows: Sequence[Candidate]) -> tuple[tuple[str, tuple[Candidate, ...]], ...]:
    """Rounds in their order; those of an unknown round come last."""
    ordered = sorted(rows, key=lambda row: (row.round is None, row.round))
    kinds = sorted({row.kind for row in rows}, key=kind_order)
    return tuple((plain(kind), tuple(row for row in ordered if row.kind == kind)) for kind in kinds)
