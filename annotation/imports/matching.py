"""Find the local task or trajectory for each item of a study document.

A dataset is identified by system and checksum, a run by dataset, agent and level, and a trajectory
by task, level and attempt; fingerprints confirm that the texts are the same. If several runs fit,
the one with most items is taken, and among those the one with the same condition, seed and source.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.exports.fingerprints import task_fingerprints, trajectory_fingerprints
from annotation.exports.study_schema import DatasetIn, ItemIn, RunIn, StudyDocument
from benchmarks.datasets.services import chunks
from benchmarks.models import COUNTED, Dataset, Run, Task

# (task's id in its dataset, level of its hidden conditions, attempt)
Unit = tuple[str, str, int]
MOST_NAMED = 3


@dataclass(frozen=True)
class ItemMatch:
    """Items by number: their (task, trajectory) here; and for the others why there is none."""

    matched: Mapping[int, tuple[int | None, int | None]]
    missing: Mapping[int, str]
    runs: Mapping[int, int]
    notes: list[str] = field(default_factory=list)

    @property
    def reasons(self) -> list[str]:
        """The reasons why items are missing, most frequent first, each with its first few items."""
        items: dict[str, list[int]] = {}
        for number, why in self.missing.items():
            items.setdefault(why, []).append(number)
        return [_reason(why, numbers) for why, numbers in sorted(items.items(), key=_frequency)]


def _frequency(row: tuple[str, list[int]]) -> tuple[int, str]:
    return -len(row[1]), row[0]


def _reason(why: str, numbers: list[int]) -> str:
    named = ", ".join(map(str, numbers[:MOST_NAMED]))
    more = ", …" if len(numbers) > MOST_NAMED else ""
    return f"{len(numbers)} item{'s' * (len(numbers) > 1)} ({named}{more}): {why}"


def match_items(document: StudyDocument) -> ItemMatch:
    """Return what each item is about here; reads only."""
    datasets = {row.key: _dataset(row) for row in document.datasets}
    named = {row.key: row for row in document.datasets}
    matched: dict[int, tuple[int | None, int | None]] = {}
    missing: dict[int, str] = {}
    notes: list[str] = []
    runs: dict[int, int] = {}
    by_run: dict[int, list[ItemIn]] = {}
    about_tasks: dict[int, list[ItemIn]] = {}
    # The second trajectories of pairs are looked for like items, under negative numbers.
    others = [
        item.model_copy(
            update={"trajectory": item.other, "fingerprint": None, "number": -item.number}
        )
        for item in document.items
        if item.other is not None
    ]
    for item in [*document.items, *others]:
        if item.trajectory is not None:
            by_run.setdefault(item.trajectory.run, []).append(item)
        elif item.task is not None:
            about_tasks.setdefault(item.task.dataset, []).append(item)
        else:
            matched[item.number] = (None, None)
    for key, items in about_tasks.items():
        dataset = datasets.get(key)
        if dataset is None:
            missing |= dict.fromkeys((i.number for i in items), _no_dataset(named.get(key)))
            continue
        _match_tasks(dataset, items, matched, missing)
    for run in document.runs:
        items = by_run.pop(run.key, [])
        dataset = datasets.get(run.dataset)
        if dataset is None:
            why = _no_dataset(named.get(run.dataset))
            missing |= dict.fromkeys((i.number for i in items), why)
            continue
        best = _best_run(run, dataset, items, taken=set(runs.values()))
        if best is None:
            why = f"no run of {run.agent} at level {run.level or '–'} on {dataset} is here"
            missing |= dict.fromkeys((i.number for i in items), why)
            continue
        runs[run.key] = best.run.pk
        matched |= best.matched
        missing |= best.missing
        notes += _stands_in(run, best.run)
    for items in by_run.values():
        missing |= dict.fromkeys((i.number for i in items), "the file does not list its run")
    for item in others:
        if item.number in missing:
            matched.pop(-item.number, None)
            missing.setdefault(-item.number, missing.pop(item.number))
    return ItemMatch(matched, missing, runs, notes)


def _dataset(row: DatasetIn) -> Dataset | None:
    same = Dataset.objects.filter(system=row.system, checksum=row.checksum).order_by("pk")
    named = same.filter(name=row.name, version=row.version)
    return named.first() or same.first()


def _no_dataset(row: DatasetIn | None) -> str:
    if row is None:
        return "the file does not list its dataset"
    return (
        f"no dataset of {row.system} with checksum {row.checksum[:12]} is here; import "
        f"{row.name} {row.version} first"
    )


# --- Tasks ----------------------------------------------------------------------------------------


def _match_tasks(
    dataset: Dataset,
    items: Iterable[ItemIn],
    matched: dict[int, tuple[int | None, int | None]],
    missing: dict[int, str],
) -> None:
    for chunk in chunks(items):
        names = [item.task.id for item in chunk if item.task]
        rows = Task.objects.filter(dataset=dataset, external_id__in=names)
        tasks = dict(rows.values_list("external_id", "pk"))
        prints = task_fingerprints(tasks.values())
        for item in chunk:
            pk = tasks.get(item.task.id if item.task else "")
            if pk is None:
                missing[item.number] = f"{dataset} has no such task"
            elif item.fingerprint not in (None, prints[pk]):
                missing[item.number] = (
                    "the task has other words or other candidate constraints here"
                )
            else:
                matched[item.number] = (pk, None)


# --- Runs -----------------------------------------------------------------------------------------


class _RunFit(NamedTuple):
    """The part of an imported run's items that a run here has."""

    run: Run
    matched: Mapping[int, tuple[int | None, int | None]]
    missing: Mapping[int, str]


def _best_run(
    wanted: RunIn, dataset: Dataset, items: list[ItemIn], *, taken: set[int]
) -> _RunFit | None:
    runs = Run.objects.filter(dataset=dataset, agent__name=wanted.agent, level=wanted.level)
    runs = runs.filter(COUNTED).exclude(pk__in=taken).select_related("agent").order_by("pk")
    fits = [_fit(run, items) for run in runs]
    return min(fits, key=lambda fit: (-len(fit.matched), -_alike(wanted, fit.run)), default=None)


def _alike(wanted: RunIn, run: Run) -> int:
    names = ("condition", "seed", "kind", "checksum")
    return sum(getattr(wanted, name) == getattr(run, name) for name in names)


def _stands_in(wanted: RunIn, run: Run) -> Iterator[str]:
    """Return the note about a run that has the same texts and differs in something else."""
    for name in ("condition", "seed"):
        if getattr(wanted, name) != getattr(run, name):
            yield (
                f"run {run.pk} of {wanted.agent} has {name} {getattr(run, name)!r}, and that of "
                f"the file {getattr(wanted, name)!r}"
            )


def _fit(run: Run, items: list[ItemIn]) -> _RunFit:
    matched: dict[int, tuple[int | None, int | None]] = {}
    missing: dict[int, str] = {}
    for chunk in chunks(items):
        tasks = {item.task.id for item in chunk if item.task}
        rows = run.trajectories.filter(task__external_id__in=tasks)
        names = ("task__external_id", "profile__level", "attempt", "pk", "task")
        units: dict[Unit, tuple[int, int]] = {
            (task, level or "", attempt): (pk, task_pk)
            for task, level, attempt, pk, task_pk in rows.values_list(*names)
        }
        prints = trajectory_fingerprints(pk for pk, _ in units.values())
        for item in chunk:
            unit = _unit(item)
            if unit not in units:
                missing[item.number] = (
                    f"{run.agent.name} has no trajectory for it at level {run.level or '–'}"
                )
            elif item.fingerprint not in (None, prints[units[unit][0]]):
                missing[item.number] = f"{run.agent.name} said something else on it here"
            else:
                pk, task = units[unit]
                matched[item.number] = (task, pk)
    return _RunFit(run, matched, missing)


def _unit(item: ItemIn) -> Unit:
    assert item.trajectory is not None  # they were sorted by their run
    return item.task.id if item.task else "", item.trajectory.level, item.trajectory.attempt


def duplicates(keys: Iterable[object]) -> list[object]:
    """Return what stands more than once."""
    return [key for key, count in Counter(keys).items() if count > 1]
