"""Uploaded files: stored in the database until a worker has imported them.

A worker may run on another machine than the web server, and both see only the database.
"""

import hashlib
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import connection, transaction
from django.utils import timezone

from benchmarks.core.errors import CoreError
from benchmarks.core.limited_process import ProcessLimits, check_apart
from benchmarks.core.problems import FileRefused
from benchmarks.formats.registry import FORMATS
from benchmarks.imports.selectors import IMPORT
from benchmarks.imports.services import SavedImport, import_parts, import_trajectories
from benchmarks.jobs.services import (
    JobCancelled,
    Progress,
    enqueue_job,
    job_kind,
    keep_lease,
)
from benchmarks.models import Job, Upload, UploadChunk

CHUNK = 1 << 20
# The time limit for reading a file grows with its size.
SECONDS_PER_MB = 2
LONGEST_NAME = 100
ROOM_FOR_FIELDS = 1 << 16
# An upload without a job after this time belongs to a request that was cut off.
FORGOTTEN = timedelta(hours=1)
ENDED = (Job.Status.DONE, Job.Status.FAILED, Job.Status.CANCELLED)
# The first bytes of gzip, ZIP, Parquet and Zstandard files.
PACKED = (b"\x1f\x8b", b"PK", b"PAR1", b"\x28\xb5\x2f\xfd")
_UNSAFE = re.compile(r"[^\w.+@=,()\[\] -]")


class UploadTooLarge(CoreError):
    """Raised for a file above the limit that the operator set."""


def safe_name(name: str) -> str:
    """Return a file name without path and control characters, not too long for a folder."""
    plain = unicodedata.normalize("NFC", name.replace("\\", "/").rpartition("/")[2])
    plain = _UNSAFE.sub("_", plain).strip(" .")
    stem, dot, ending = plain.partition(".")
    ending = f"{dot}{ending}"[-30:] if dot else ""
    while len(f"{stem}{ending}".encode()) > LONGEST_NAME and stem:
        stem = stem[:-1]
    return f"{stem or 'upload'}{ending}" if len(ending.encode()) <= LONGEST_NAME else "upload"


def check_size(upload: "UploadedFile[bytes]") -> None:
    """Refuse a file above ``PLANJURY_UPLOAD_MB``."""
    if (upload.size or 0) > settings.UPLOAD_BYTES:
        raise UploadTooLarge(
            f"the file is larger than {settings.UPLOAD_BYTES >> 20} MB; gzip it, or import it on "
            "the server: manage.py import_trajectories"
        )


def announces_too_much(length: str, most: int | None = None) -> bool:
    """Return whether a request announces too long a body, before any of it is read.

    ``most`` is the limit in bytes; the default is ``PLANJURY_UPLOAD_MB``.
    """
    announced = int(length) if length.isascii() and length.isdigit() and len(length) < 19 else 0
    return announced > (most or settings.UPLOAD_BYTES) + ROOM_FOR_FIELDS


def _pieces(upload: "UploadedFile[bytes]") -> Iterator[bytes]:
    """Yield a file's content in pieces; Django's ``chunks`` gives a small file as one."""
    upload.seek(0)
    while piece := upload.read(CHUNK):
        yield piece


def store_upload(
    *,
    upload: "UploadedFile[bytes]",
    created_by: User | None,
    check: "Callable[[UploadedFile[bytes]], None]" = check_size,
) -> Upload:
    """Store a file in chunks; each is a transaction, so that other writers wait only briefly.

    ``check`` refuses files that are too large.
    """
    check(upload)
    forget_uploads()
    row = Upload.objects.create(name=safe_name(upload.name or ""), created_by=created_by)
    size = 0
    for index, piece in enumerate(_pieces(upload)):
        UploadChunk.objects.create(upload=row, index=index, data=piece)
        size += len(piece)
    Upload.objects.filter(pk=row.pk).update(size=size)
    row.size = size
    return row


def forget_uploads() -> None:
    """Delete uploads that no job needs any more."""
    waiting = Job.objects.filter(payload__has_key="upload").exclude(status__in=ENDED)
    payloads = waiting.values_list("payload", flat=True)
    needed = [payload.get(name) for payload in payloads for name in ("upload", "results")]
    needed += [number for payload in payloads for number in payload.get("more", ())]
    old = Upload.objects.filter(created_at__lt=timezone.now() - FORGOTTEN)
    old.exclude(pk__in=[pk for pk in needed if pk is not None]).delete()


def upload_digest(upload: "UploadedFile[bytes]") -> str:
    """Return the SHA-256 of an uploaded file."""
    sha = hashlib.sha256()
    for piece in _pieces(upload):
        sha.update(piece)
    return sha.hexdigest()


def enqueue_import(
    *,
    upload: Upload,
    format: str,
    name: str,
    agent: str,
    created_by: User | None,
    turns: str = "user",
) -> Job:
    """Let a worker import an upload."""
    return enqueue_job(
        kind=IMPORT,
        title=f"Importing {upload.name}",
        payload={
            "upload": upload.pk,
            "file": upload.name,
            "size": upload.size,
            "format": format,
            "name": name,
            "agent": agent,
            "turns": turns,
        },
        created_by=created_by,
    )


def is_quick(upload: "UploadedFile[bytes]") -> bool:
    """Return whether a file is small enough to import it while its sender waits."""
    if (upload.size or 0) > settings.IMPORT_AT_ONCE_BYTES:
        return False
    upload.seek(0)
    start = upload.read(4)
    upload.seek(0)
    return not start.startswith(PACKED)


def import_now(
    *,
    upload: "UploadedFile[bytes]",
    format: str,
    name: str,
    agent: str,
    created_by: User | None,
    turns: str = "user",
) -> SavedImport:
    """Import a small file while its sender waits.

    Raises ``ImportUnderWay`` where another import must end first: a request may hold SQLite's
    writer, for which that other one waits.
    """
    check_size(upload)
    with tempfile.TemporaryDirectory(prefix="planjury-import-") as folder:
        path = Path(folder) / safe_name(upload.name or "")
        with path.open("wb") as file:
            for piece in _pieces(upload):
                file.write(piece)
        return import_trajectories(
            path=path,
            format=format,
            name=name,
            agent=agent,
            created_by=created_by,
            turns_by=turns,
            wait=False,
        )


# --- The job ----------------------------------------------------------------------------------


@job_kind(IMPORT)
def import_upload(job: Job, progress: Progress) -> None:
    """Assemble the file, import it, and store the result in the job's payload.

    A restarted job finds the same file; what is imported already is found by its checksum.
    """
    given = job.payload
    upload = upload_of(job)
    with (
        without_mapped_pages(),
        tempfile.TemporaryDirectory(prefix="planjury-import-") as folder,
    ):
        path = Path(folder) / safe_name(upload.name)
        put_together(upload, path, progress)
        progress.report(message="Checking and storing; results appear when all of it is stored")
        with concluded_on_error(job, upload):
            check_upload_apart(
                "benchmarks.formats.registry:check_upload",
                [str(path), given["format"], given["agent"]],
                upload=upload,
                progress=progress,
            )
            parts, refusals = [], []
            with _progress_reporter(progress) as tell:
                for format, name in import_parts(path, (), given["format"], given["name"]):
                    try:
                        saved = import_trajectories(
                            path=path,
                            format=format,
                            name=name,
                            agent=given["agent"],
                            created_by=job.created_by,
                            progress=tell,
                            turns_by=given.get("turns", "user"),
                        )
                    except CoreError as error:
                        refusals.append((format, error))
                    else:
                        parts.append(saved)
            if not parts:
                raise refusals[0][1]
        result = _merged([import_result(part) for part in parts])
        result["refused"] = [[FORMATS[format][0], str(error)] for format, error in refusals]
        # Deleting the file's pieces reads all of their pages once more.
        conclude(job, upload, {"result": result})


def _merged(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the imports of one file, a format each, as one result."""
    return {
        **results[0],
        "created": any(each["created"] for each in results),
        "runs": [run for each in results for run in each["runs"]],
        "trajectories": sum(each["trajectories"] for each in results),
        "turns": sum(each["turns"] for each in results),
    }


@contextmanager
def without_mapped_pages() -> Iterator[None]:
    """Let the connection read SQLite's file without mapping it into memory.

    An import touches every page that it writes, and mapped pages count as the worker's memory, up
    to ``mmap_size``: so it would grow with the file. Queries of pages keep the mapping, which
    spares them copies.
    """
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        (size,) = cursor.execute("PRAGMA mmap_size").fetchone() or (0,)
        cursor.execute("PRAGMA mmap_size = 0")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA mmap_size = {int(size)}")


def check_upload_apart(
    checker: str, arguments: list[str], *, upload: Upload, progress: Progress
) -> None:
    """Let a child process read a file within limits, while the job keeps its lease.

    Raises the checker's refusals, and ``LimitReached`` if the child had to be stopped.
    """
    seconds = settings.READING_SECONDS + SECONDS_PER_MB * (upload.size >> 20)
    with keep_lease(progress) as lost:

        def goes_on() -> None:
            if lost.is_set():
                raise JobCancelled

        check_apart(
            checker,
            arguments,
            file=upload.name,
            limits=ProcessLimits(seconds, settings.READING_MB),
            goes_on=goes_on,
        )


def import_result(saved: SavedImport) -> dict[str, Any]:
    """Return the result of an import as JSON values."""
    return {
        "created": saved.created,
        "dataset": saved.dataset.pk,
        "runs": [run.pk for run in saved.runs],
        "trajectories": saved.trajectories,
        "turns": saved.turns,
    }


def refusal(error: CoreError) -> dict[str, Any]:
    """Return the reasons for refusing a file as JSON values."""
    if isinstance(error, FileRefused):
        faults = [[p.where, p.expected, p.found] for p in error.problems]
        return {"faults": faults, "total": error.total, "message": ""}
    return {"faults": [], "total": 0, "message": str(error)}


def upload_of(job: Job) -> Upload:
    """Return the file that a job is about."""
    return find_upload(job.payload["upload"])


def find_upload(number: int) -> Upload:
    """Return a stored file by its id, or refuse one that is not kept any more."""
    upload = Upload.objects.filter(pk=number).first()
    if upload is None:
        raise CoreError("the file is no longer stored; upload it again")
    return upload


def put_together(upload: Upload, path: Path, progress: Progress) -> None:
    """Write the chunks of an upload into one file."""
    indexes = list(upload.chunks.order_by("index").values_list("index", flat=True))
    with path.open("wb") as file:
        for done, index in enumerate(indexes):
            progress.report(done=done, total=len(indexes), message="Fetching the file")
            file.write(bytes(UploadChunk.objects.get(upload=upload, index=index).data))
    progress.report(done=len(indexes), total=len(indexes))


def conclude(job: Job, upload: Upload, outcome: dict[str, Any], *others: Upload) -> None:
    """Store the outcome and delete the uploads in one transaction."""
    with transaction.atomic():
        job.payload = {**job.payload, **outcome}
        Job.objects.filter(pk=job.pk).update(payload=job.payload, message="")
        for row in (upload, *others):
            row.delete()


@contextmanager
def concluded_on_error(job: Job, upload: Upload, *others: Upload) -> Iterator[None]:
    """Store why the block was refused, if it was, and delete the uploads after any error."""
    try:
        yield
    except JobCancelled:
        raise  # whoever took the job over needs the file
    except Exception as error:
        refused = {"refused": refusal(error)} if isinstance(error, CoreError) else {}
        conclude(job, upload, refused, *others)
        raise


@contextmanager
def _progress_reporter(progress: Progress) -> Iterator[Callable[[int], None]]:
    """Report progress while the import goes on, and renew the job's lease.

    If the lease is lost even so, another worker waits until this import has ended.
    """
    turns = 0

    def words() -> str | None:
        return f"{turns:,} turns stored so far" if turns else None

    with keep_lease(progress, words) as lost:

        def note(stored: int) -> None:
            nonlocal turns
            turns = stored
            if lost.is_set():
                raise JobCancelled

        yield note
