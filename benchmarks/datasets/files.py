"""Import files as datasets, and write datasets in the published format of their system."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.db.models import Prefetch

from benchmarks.core import types
from benchmarks.core.errors import CoreError, ExportRefused
from benchmarks.core.ports.importer import Importer, TaskFile, TaskFormat
from benchmarks.core.registry import SYSTEMS, find_system, get_system
from benchmarks.datasets.services import CHUNK, SavedDataset, save_dataset
from benchmarks.mappers import core_profile
from benchmarks.models import Dataset, Profile
from benchmarks.roles.cautions import tasks_cautions


class ImportedFiles(NamedTuple):
    """The contents of files, and what became of them."""

    file: TaskFile
    saved: SavedDataset


def get_importer(system: str) -> Importer:
    """Return the importer of a system, or refuse a system that has none."""
    importer = get_system(system).importer
    if importer is None:
        raise CoreError(f"{get_system(system).title} has no files to import datasets from")
    return importer


def upload_formats() -> dict[str, tuple[str, TaskFormat]]:
    """Return the formats that the import page takes, by ``system:format``."""
    return {
        f"{key}:{known.key}": (key, known)
        for key in SYSTEMS
        if (importer := get_system(key).importer) is not None
        for known in importer.formats
        if known.uploads
    }


def writable_systems() -> list[str]:
    """Return the systems whose datasets can be written in a published format."""
    importers = {key: get_system(key).importer for key in SYSTEMS}
    return [key for key, importer in importers.items() if importer and importer.write]


def import_dataset(
    *,
    system: str,
    paths: Sequence[Path],
    format: str = "",
    name: str = "",
    version: str = "",
    licence: str = "",
    options: Mapping[str, Any] | None = None,
) -> ImportedFiles:
    """Check files as a whole and store them as a whole; the same content again adds nothing."""
    known = get_importer(system).find_format(paths, format)
    file = known.read_files(paths, options or {})
    saved = save_task_file(
        system=system, file=file, name=name or known.name, version=version, licence=licence
    )
    return ImportedFiles(file, saved)


def save_task_file(
    *,
    system: str,
    file: TaskFile,
    name: str,
    version: str = "",
    licence: str = "",
    is_demo: bool = False,
) -> SavedDataset:
    """Store the checked content of files as a dataset."""
    return save_dataset(
        system=system,
        name=name,
        version=version,
        source=file.source[:400],
        licence=licence or file.licence[:200],
        checksum=file.checksum,
        tasks=file.tasks,
        roles=file.roles,
        shared=file.shared,
        is_demo=is_demo,
        notes=file.notes,
    )


def export_published(*, dataset: Dataset, file: IO[str]) -> int:
    """Write a dataset in its system's published format and return the number of tasks written.

    Levels that are no construction round are left out, and so is what the format has no field for.
    """
    importer = find_system(dataset.system).importer
    if importer is None or importer.write is None:
        raise ExportRefused(f"{dataset} has no published format to be written in")
    about = {
        "name": dataset.name, "version": dataset.version, "source": dataset.source,
        "licence": dataset.licence, "checksum": dataset.checksum,
    }  # fmt: skip
    if labels := [one.title for one in tasks_cautions(dataset)]:
        about["label"] = "; ".join(labels)
    return importer.write(_with_profiles(dataset), file, about)


def _with_profiles(dataset: Dataset) -> Iterator[tuple[types.Task, list[types.Profile]]]:
    rows = dataset.tasks.defer("payload").order_by("pk")
    profiles = Prefetch("profiles", Profile.objects.order_by("rank", "pk"))
    for task in rows.prefetch_related(profiles, "profiles__constraints").iterator(CHUNK):
        core_profiles = [core_profile(profile) for profile in task.profiles.all()]
        yield types.Task(task.external_id, task.prompt, task.category), core_profiles
