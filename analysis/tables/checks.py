"""Checking and storing large uploaded tables in a background job, with progress."""

import tempfile
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet

from analysis.agreement.inputs import AgreementSettings
from analysis.tables.selectors import OVERVIEW, ask_for
from analysis.tables.services import (
    READING,
    STORING,
    as_stored,
    check_table_size,
    settings_from,
    store_table,
)
from benchmarks.access import VIEW
from benchmarks.core.errors import CoreError
from benchmarks.imports.selectors import ImportView
from benchmarks.imports.uploads import (
    check_upload_apart,
    conclude,
    concluded_on_error,
    put_together,
    safe_name,
    store_upload,
    upload_of,
)
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.models import Job

KIND = "rating-table"


class TableCheck(ImportView):
    """The check of a table: how far it is, and what came of it."""

    @property
    def words(self) -> str:
        """The progress in words, for the progress bar."""
        if self.job.message not in (READING, STORING):
            return super().words
        return f"{self.job.done:,} of {self.job.total:,} lines read"

    @property
    def aside(self) -> str:
        """The text beside the progress bar."""
        return self.job.message if self.job.message == STORING else ""

    @property
    def given(self) -> dict[str, Any]:
        """The values of the upload form without the file."""
        chosen = dict(self.job.payload["settings"])
        low, high = chosen.pop("scale")
        return {**chosen, "low": low, "high": high, "name": self.job.payload["name"]}


def checks_of(person: User) -> QuerySet[Job]:
    """Return the checks of tables that this person sent, the newest first."""
    return Job.objects.filter(kind=KIND, created_by=person).order_by("-pk")


def moving_checks(person: User) -> list[TableCheck]:
    """Return this person's tables that are still being checked."""
    moving = (Job.Status.QUEUED, Job.Status.RUNNING)
    return [TableCheck(job) for job in checks_of(person).filter(status__in=moving)]


def enqueue_check(
    *, upload: "UploadedFile[bytes]", name: str, settings: AgreementSettings, created_by: User
) -> Job:
    """Have a worker check a table and store it; raises ``TooLarge``."""
    kept = store_upload(upload=upload, created_by=created_by, check=check_table_size)
    return enqueue_job(
        kind=KIND,
        title=f"Checking {kept.name}",
        payload={
            "upload": kept.pk,
            "file": kept.name,
            "size": kept.size,
            "name": name,
            "settings": as_stored(settings),
        },
        created_by=created_by,
    )


@job_kind(KIND)
def check_table(job: Job, progress: Progress) -> None:
    """Check the file as a whole, store it, ask for its report; or note what is wrong with it.

    Begun anew it finds the same file; what was stored already is found by its content.
    """
    given, upload = job.payload, upload_of(job)
    person = job.created_by
    if person is None or not person.is_active or not person.has_perm(VIEW):
        conclude(job, upload, {})
        raise CoreError("whoever sent it may not read results any more")

    def report_progress(words: str, done: int, total: int) -> None:
        progress.report(done=done, total=total, message=words)

    with tempfile.TemporaryDirectory(prefix="planjury-table-") as folder:
        path = Path(folder) / safe_name(upload.name)
        put_together(upload, path, progress)
        low, high = given["settings"]["scale"]
        with concluded_on_error(job, upload):
            check_upload_apart(
                "analysis.agreement.csv_table:check_upload",
                [str(path), str(low), str(high)],
                upload=upload,
                progress=progress,
            )
            with path.open("rb") as file:
                table, created = store_table(
                    upload=File(file, name=upload.name),
                    name=given["name"],
                    settings=settings_from(given["settings"]),
                    created_by=person,
                    report_progress=report_progress,
                )
    ask_for(table, OVERVIEW, person)
    conclude(job, upload, {"result": {"table": table.pk, "created": created}})
