# ruff: noqa: F811
"""After a person is erased, no export, file within an archive, table or backup names them or holds
what they wrote. Formats and commands are read from the product.
"""

import gzip
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command, get_commands
from django.db import connection

from annotation.exports.scope import Scope
from annotation.exports.services import FORMATS, unavailable
from annotation.exports.services import ExportRequest as StudyExport
from annotation.models import Message, Recruit, RecruitingLink, Study
from tests.annotation.people.test_erasure import (  # noqa: F401
    ADDRESS,
    NAME,
    WROTE,
    erase,
    person,
    root,
    study,
)

pytestmark = [pytest.mark.django_db, pytest.mark.either]
PLATFORM_ID = "64c1f00dqz"
SECRETS = (NAME, WROTE, PLATFORM_ID)
# Commands that export: their arguments, given the study, a run, and a folder.
COMMANDS = {
    "export_study": lambda study, run, at: [
        str(study), "--out", str(at), "--names", "--withdrawn", "--events",
        "--format", *possible(study),
    ],
    "export_trajectories": lambda study, run, at: [str(run), str(at), "--format", "openai-chat"],
    "export_reflection": None,  # rows of one system, decided by number
    "export_adaplanbench": None,  # tasks alone
    "export_candidates": None,  # tasks alone
}  # fmt: skip


def possible(pk: int) -> list[str]:
    """The formats that this study can be exported in."""
    wish = StudyExport(Scope(Study.objects.get(pk=pk)))
    return [name for name in FORMATS if not unavailable(wish, name)]


def opened(body: bytes, depth: int = 0) -> Iterator[bytes]:
    """Yield a file, and all files within it."""
    yield body
    if depth > 3:
        return
    if body[:2] == b"\x1f\x8b":
        yield from opened(gzip.decompress(body), depth + 1)
    elif body[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            for name in archive.namelist():
                yield name.encode()
                yield from opened(archive.read(name), depth + 1)
    elif body[:4] == b"PAR1":
        from pyarrow import parquet

        table = parquet.read_table(io.BytesIO(body))
        yield repr([table.to_pylist(), table.schema.metadata]).encode()


def told(body: bytes) -> set[str]:
    """Return which of the secrets are in a file or in one within it."""
    texts = [text.lower() for text in opened(body)]
    return {secret for secret in SECRETS if any(secret.encode() in text for text in texts)}


@pytest.fixture
def recruited(study: Study, person: User, manager: User) -> Study:
    """They also came from a platform, and a manager wrote of their ID."""
    link = RecruitingLink.objects.create(
        study=study, digest="d2", platform="prolific", places=1, items_each=1,
        expires_at=study.created_at,
    )  # fmt: skip
    Recruit.objects.create(
        link=link, study=study, user=person, external_id=PLATFORM_ID, platform_session=PLATFORM_ID
    )
    Message.objects.create(study=study, by=manager, text=f"{PLATFORM_ID} is paid.")
    return study


def test_no_command_gives_them_away(
    recruited: Study,
    person: User,
    root: User,
    tmp_path: Path,
) -> None:
    ours = {
        name for name, app in get_commands().items()
        if name.startswith("export") and app in settings.INSTALLED_APPS
    }  # fmt: skip
    assert ours == set(COMMANDS), "say in COMMANDS what a new command that exports is given"
    erase(person, root)
    trajectory = recruited.items.get(rank=1).trajectory
    assert trajectory is not None
    for name, given in COMMANDS.items():
        if given is None:
            continue
        target = tmp_path / name
        call_command(name, *given(recruited.pk, trajectory.run_id, target))
        files = [target] if target.is_file() else [f for f in target.rglob("*") if f.is_file()]
        assert files
        assert not {file for file in files if told(file.read_bytes())}


def dump() -> bytes:
    """Return every column of every table, also of tables without a model."""
    rows: list[Any] = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            for row in cursor.fetchall():
                rows += [bytes(v) if isinstance(v, memoryview) else v for v in row]
    return "\n".join(map(str, rows)).encode()


def test_no_table_gives_them_away(recruited: Study, person: User, root: User) -> None:
    assert told(dump()) == set(SECRETS)
    erase(person, root)
    assert told(dump()) == set()


@pytest.mark.django_db(transaction=True)
@pytest.mark.embedded
def test_no_byte_of_a_backup_gives_them_away(
    recruited: Study,
    person: User,
    root: User,
    tmp_path: Path,
) -> None:
    for name in ("before.zip", "after.zip"):
        call_command("backup", str(tmp_path / name), verbosity=0)
        if name == "before.zip":
            erase(person, root)
    assert told((tmp_path / "before.zip").read_bytes()) == set(SECRETS)
    assert told((tmp_path / "after.zip").read_bytes()) == set()
