"""Datasets and problems that people send by a form: a worker checks and stores them."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile

from benchmarks.construction.services import import_problems
from benchmarks.core.errors import CoreError
from benchmarks.core.workbooks import check_declared
from benchmarks.datasets.files import import_adaplanbench
from benchmarks.datasets.services import SavedDataset
from benchmarks.imports.selectors import DATASET, PROBLEMS
from benchmarks.imports.uploads import (
    check_size,
    check_upload_apart,
    conclude,
    put_together,
    refusal,
    safe_name,
    store_upload,
    upload_of,
)
from benchmarks.jobs.services import JobCancelled, Progress, enqueue_job, job_kind, lease_kept
from benchmarks.models import Job, Upload

CHECKERS = {
    DATASET: "benchmarks.systems.adaplanbench.dataset:check_upload",
    PROBLEMS: "benchmarks.systems.adaplanbench_construction.problem_files:check_problem_files",
}


def enqueue_dataset(
    *, upload: "UploadedFile[bytes]", name: str, licence: str, created_by: User | None
) -> Job:
    """Have a worker import a file in AdaPlanBench's published format."""
    return _enqueue(DATASET, upload, None, name, licence, created_by)


def enqueue_problems(
    *,
    upload: "UploadedFile[bytes]",
    results: "UploadedFile[bytes] | None",
    name: str,
    licence: str,
    created_by: User | None,
) -> Job:
    """Have a worker import problems; a workbook's declared size is refused here."""
    if safe_name(upload.name or "").lower().endswith(".xlsx"):
        check_declared(safe_name(upload.name or ""), upload.file)  # type: ignore[arg-type]
    return _enqueue(PROBLEMS, upload, results, name, licence, created_by)


def _enqueue(
    kind: str,
    upload: "UploadedFile[bytes]",
    results: "UploadedFile[bytes] | None",
    name: str,
    licence: str,
    created_by: User | None,
) -> Job:
    given = [file for file in (upload, results) if file is not None]
    for file in given:
        check_size(file)
    rows = [store_upload(upload=file, created_by=created_by) for file in given]
    payload: dict[str, Any] = {
        "upload": rows[0].pk,
        "file": rows[0].name,
        "size": sum(row.size for row in rows),
        "name": name,
        "licence": licence,
    }
    if results is not None:
        payload["results"] = rows[1].pk
    return enqueue_job(
        kind=kind, title=f"Importing {rows[0].name}", payload=payload, created_by=created_by
    )


@job_kind(DATASET)
def import_dataset(job: Job, progress: Progress) -> None:
    """Import a dataset; begun anew it finds the same file, and what was stored by its checksum."""

    def store(path: Path) -> SavedDataset:
        given = job.payload
        return import_adaplanbench(
            path=path, source=given["file"], name=given["name"], licence=given["licence"]
        ).saved

    _import(job, progress, [upload_of(job)], store)


@job_kind(PROBLEMS)
def import_problem_files(job: Job, progress: Progress) -> None:
    """Import problems, with recorded answers if there are any."""
    uploads = [upload_of(job)]
    if "results" in job.payload:
        uploads.append(upload_of(job, "results"))

    def store(path: Path, results: Path | None = None) -> SavedDataset:
        given = job.payload
        return import_problems(
            path=path, results=results, name=given["name"], licence=given["licence"]
        )

    _import(job, progress, uploads, store)


def _import(
    job: Job, progress: Progress, uploads: list[Upload], store: Callable[..., SavedDataset]
) -> None:
    """Check files apart, store them, and note in the job's payload what came of it."""
    with tempfile.TemporaryDirectory(prefix="planjury-import-") as folder:
        paths = []
        for number, upload in enumerate(uploads):
            place = Path(folder) / str(number)
            place.mkdir()
            paths.append(place / safe_name(upload.name))
            put_together(upload, paths[-1], progress)
        progress.report(message="Checking and storing; nothing is shown until all of it is there")
        try:
            largest = max(uploads, key=lambda upload: upload.size)
            check_upload_apart(
                CHECKERS[job.kind], [str(path) for path in paths], upload=largest, progress=progress
            )
            with lease_kept(progress):
                saved = store(*paths)
        except CoreError as error:
            conclude(job, uploads[0], {"refused": refusal(error)}, *uploads[1:])
            raise
        except JobCancelled:
            raise  # whoever took the job over needs the files
        except Exception:
            conclude(job, uploads[0], {}, *uploads[1:])
            raise
    found = saved.dataset
    result = {"created": saved.created, "dataset": found.pk, "tasks": saved.tasks}
    conclude(job, uploads[0], {"result": {**result, "notes": found.notes}}, *uploads[1:])
