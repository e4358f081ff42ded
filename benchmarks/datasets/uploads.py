"""Datasets and problems that people send by a form: a worker checks and stores them."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile

from benchmarks.core.errors import CoreError
from benchmarks.core.ports.importer import TaskFormat
from benchmarks.core.workbooks import check_declared
from benchmarks.datasets.files import import_dataset, upload_formats
from benchmarks.imports.selectors import DATASET, PROBLEMS
from benchmarks.imports.uploads import (
    check_size,
    check_upload_apart,
    conclude,
    concluded_on_error,
    find_upload,
    put_together,
    safe_name,
    store_upload,
    without_mapped_pages,
)
from benchmarks.jobs.services import Progress, enqueue_job, job_kind, keep_lease
from benchmarks.models import Job, Upload

# The system whose tasks are problems.
PROBLEM_SYSTEM = "adaplanbench_construction"
CHECKERS = {
    DATASET: "benchmarks.core.registry:check_dataset_files",
    PROBLEMS: "benchmarks.core.registry:check_dataset_files",
}


def enqueue_dataset(
    *,
    uploads: "Sequence[UploadedFile[bytes]]",
    format: str = "",
    name: str = "",
    licence: str,
    created_by: User | None,
) -> Job:
    """Have a worker import files; ``format`` is ``system:format``, recognised where it is empty."""
    known = upload_formats()
    paths = [Path(safe_name(upload.name or "")) for upload in uploads]
    if not format:
        fits = (key for key, (_, one) in known.items() if _fits(one, paths))
        format = next(fits, "")
    if format not in known:
        raise CoreError("the format of the files was not recognised; choose it")
    system, chosen = known[format]
    if len(paths) > chosen.uploads:
        raise CoreError(f"{chosen.title}: expected {chosen.files}, found {len(paths)} files")
    about = {"system": system, "format": chosen.key}
    return _enqueue(DATASET, uploads, name or chosen.name, licence, created_by, about)


def _fits(known: TaskFormat, paths: Sequence[Path]) -> bool:
    return len(paths) <= known.uploads and known.recognises(paths)


def enqueue_problems(
    *,
    upload: "UploadedFile[bytes]",
    results: "UploadedFile[bytes] | None",
    name: str,
    licence: str,
    created_by: User | None,
) -> Job:
    """Have a worker import problems; a workbook's declared size is refused here."""
    given = [upload] if results is None else [upload, results]
    return _enqueue(PROBLEMS, given, name, licence, created_by, {})


def _enqueue(
    kind: str,
    uploads: "Sequence[UploadedFile[bytes]]",
    name: str,
    licence: str,
    created_by: User | None,
    about: Mapping[str, str],
) -> Job:
    for file in uploads:
        check_size(file)
        if safe_name(file.name or "").lower().endswith(".xlsx"):
            check_declared(safe_name(file.name or ""), file.file)  # type: ignore[arg-type]
    rows = [store_upload(upload=file, created_by=created_by) for file in uploads]
    payload: dict[str, Any] = {
        "upload": rows[0].pk,
        "more": [row.pk for row in rows[1:]],
        "file": rows[0].name,
        "size": sum(row.size for row in rows),
        "name": name,
        "licence": licence,
        **about,
    }
    return enqueue_job(
        kind=kind, title=f"Importing {rows[0].name}", payload=payload, created_by=created_by
    )


def _uploads_of(job: Job) -> list[Upload]:
    """Return the files of a job; jobs of version 0.2 name a second one as ``results``."""
    numbers = [job.payload["upload"], *job.payload.get("more", ())]
    if "results" in job.payload:
        numbers.append(job.payload["results"])
    return [find_upload(number) for number in numbers]


@job_kind(DATASET)
def import_uploaded_dataset(job: Job, progress: Progress) -> None:
    """Import a dataset; begun anew it finds the same files, and what was stored by its checksum."""
    given = job.payload
    _import(job, progress, given.get("system", "adaplanbench"), given.get("format", "published"))


@job_kind(PROBLEMS)
def import_uploaded_problems(job: Job, progress: Progress) -> None:
    """Import problems, with recorded answers if there are any."""
    _import(job, progress, PROBLEM_SYSTEM, "")


def _import(job: Job, progress: Progress, system: str, format: str) -> None:
    """Check files apart, store them, and note in the job's payload what came of it."""
    uploads = _uploads_of(job)
    names = [safe_name(upload.name) for upload in uploads]
    with (
        without_mapped_pages(),
        tempfile.TemporaryDirectory(prefix="planjury-import-") as folder,
    ):
        paths = []
        for number, upload in enumerate(uploads):
            # Files of one name get folders of their own.
            place = Path(folder) / (str(number) if names.count(names[number]) > 1 else "")
            place.mkdir(exist_ok=True)
            paths.append(place / names[number])
            put_together(upload, paths[-1], progress)
        progress.report(message="Checking and storing; nothing is shown until all of it is there")
        with concluded_on_error(job, uploads[0], *uploads[1:]):
            largest = max(uploads, key=lambda upload: upload.size)
            check_upload_apart(
                CHECKERS[job.kind],
                [system, format, *map(str, paths)],
                upload=largest,
                progress=progress,
            )
            with keep_lease(progress):
                saved = import_dataset(
                    system=system,
                    paths=paths,
                    format=format,
                    name=job.payload["name"],
                    licence=job.payload["licence"],
                ).saved
        dataset = saved.dataset
        result = {"created": saved.created, "dataset": dataset.pk, "tasks": saved.tasks}
        conclude(job, uploads[0], {"result": {**result, "notes": dataset.notes}}, *uploads[1:])
