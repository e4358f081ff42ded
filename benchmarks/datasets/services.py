"""Store datasets: an import is stored in one transaction, or not at all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from benchmarks.core import types
from benchmarks.core.digests import digest
from benchmarks.core.errors import ImportRefused
from benchmarks.locks import named_lock
from benchmarks.models import Constraint, Dataset, Profile, SharedData, Task

CHUNK = 200

R = TypeVar("R")
TaskWithProfiles = tuple[types.Task, Sequence[types.Profile]]


class SavedDataset(NamedTuple):
    """The stored dataset, and whether this call is what stored it.

    ``warnings`` name entries of its files that were taken although something about them is odd.
    """

    dataset: Dataset
    created: bool
    tasks: int
    warnings: tuple[str, ...] = ()


def save_dataset(
    *,
    system: str,
    name: str,
    version: str,
    source: str,
    licence: str,
    checksum: str,
    tasks: Iterable[TaskWithProfiles],
    roles: Mapping[str, Sequence[str]] | None = None,
    shared: types.Json | None = None,
    is_demo: bool = False,
    notes: str = "",
) -> SavedDataset:
    """Store a validated dataset; the same content (checksum) a second time adds nothing.

    Versions never change: other content under the same name gets the next free version number
    where ``version`` is left empty, and is refused where it names a version that exists.
    ``shared`` is what all tasks have in common.
    """
    with named_lock("dataset"):
        stored = Dataset.objects.filter(system=system, checksum=checksum).first()
        if stored is not None and stored.removed_at is not None:
            raise ImportRefused(f"{stored} has this content and is being deleted; try again later")
        if stored is not None:
            return SavedDataset(stored, False, stored.tasks.count())
        named = Dataset.objects.filter(system=system, name=name)
        if version and named.filter(version=version).exists():
            raise ImportRefused(
                f"{name} {version} is stored with other content; give another name or version"
            )
        dataset = Dataset.objects.create(
            system=system,
            name=name,
            version=version or str(named.count() + 1),
            source=source,
            licence=licence,
            checksum=checksum,
            roles={role: list(names) for role, names in (roles or {}).items()},
            shared=_save_shared(shared) if shared else None,
            is_demo=is_demo,
            notes=notes,
        )
        count = sum(_save_chunk(dataset, chunk) for chunk in chunks(tasks))
    return SavedDataset(dataset, True, count)


def _save_shared(content: types.Json) -> SharedData:
    row, _ = SharedData.objects.get_or_create(
        digest=digest(content), defaults={"content": dict(content)}
    )
    return row


def chunks(rows: Iterable[R]) -> Iterator[list[R]]:
    """Yield lists of at most CHUNK rows, so that a large file never lies in memory as a whole."""
    source = iter(rows)
    while chunk := list(islice(source, CHUNK)):
        yield chunk


def _save_chunk(dataset: Dataset, chunk: Sequence[TaskWithProfiles]) -> int:
    rows = Task.objects.bulk_create(
        [
            Task(
                dataset=dataset,
                external_id=task.id,
                prompt=task.prompt,
                category=task.category,
                payload=dict(task.payload),
            )
            for task, _ in chunk
        ]
    )
    profiles = [
        (Profile(task=row, level=profile.level, rank=rank), profile)
        for row, (_, given) in zip(rows, chunk, strict=True)
        for rank, profile in enumerate(given, 1)
    ]
    Profile.objects.bulk_create([row for row, _ in profiles])
    Constraint.objects.bulk_create(
        [
            Constraint(profile=row, kind=c.kind, key=c.key, text=c.text, about=c.about)
            for row, profile in profiles
            for c in profile.constraints
        ],
        batch_size=2000,
    )
    return len(rows)
