"""Installations of the product for tests that start real processes.

On the database and broker under test: a data folder with SQLite and the embedded broker in it, or
an empty database of its own in the PostgreSQL under test, and the Redis.
"""

import os
import sqlite3
import subprocess
import sys
import uuid
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import psycopg
from django.conf import settings
from django.core.cache import cache

from config.settings.services import is_redis
from tests import databases
from tests.forks import Fork, Forks


class Install(Protocol):
    """Makes an installation by name; ``migrated`` is the usual."""

    def __call__(self, name: str, *, migrated: bool = True) -> "Installation": ...


@dataclass
class Installation:
    """An installation: the folder in which the product runs, and the processes started there."""

    folder: Path
    database_url: str
    started: list[subprocess.Popen[str] | Fork] = field(default_factory=list)
    forks: Forks | None = None

    @classmethod
    def begin(cls, folder: Path, *, migrated: bool = False) -> "Installation":
        """An empty one; ``migrated``: with all its tables."""
        folder.mkdir()
        if not settings.TEST_DATABASE_URL:
            if migrated:
                databases.make_copy(path=folder / "planjury.sqlite3")
            return cls(folder, "")
        name = f"planjury_{uuid.uuid4().hex}"
        if migrated:
            databases.make_copy(name=name)
        else:
            with databases.server() as server:
                server.execute(f"create database {name}")
        cache.clear()  # and with it the messages of the test before
        return cls(folder, f"{settings.TEST_DATABASE_URL.rpartition('/')[0]}/{name}")

    def environment(self, **more: str) -> dict[str, str]:
        """Return what a process needs to be told."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PLANJURY_") and name not in ("DATABASE_URL", "PORT")
        }
        broker = settings.CELERY_BROKER_URL if is_redis(settings.CELERY_BROKER_URL) else ""
        return kept | {
            "PLANJURY_DATA_DIR": str(self.folder),
            "PLANJURY_DEMO": "0",
            "PLANJURY_BROKER_URL": broker,
            "DATABASE_URL": self.database_url,
            "DJANGO_SETTINGS_MODULE": "config.settings.local",
            "PYTHONPATH": str(settings.BASE_DIR),
            **more,
        }

    def start(self, *command: str, **environment: str) -> subprocess.Popen[str]:
        """Start Python with this command; its output is kept in a file of the folder."""
        with self.log.open("a") as log:
            process = subprocess.Popen(
                [sys.executable, *command],
                env=self.environment(**environment),
                cwd=settings.BASE_DIR,
                text=True,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.started.append(process)
        return process

    def fork(self, *command: str) -> Fork:
        """The same, from a process of this installation that has loaded the product already."""
        if self.forks is None:
            self.forks = Forks(self.folder, self.environment(), settings.BASE_DIR, self.log)
        process = self.forks.start(command)
        self.started.append(process)
        return process

    @property
    def log(self) -> Path:
        return self.folder / "output.log"

    def read(self, query: str) -> list[Any]:
        """The rows of a query, in words that both databases know."""
        with closing(self._connect()) as database, closing(database.cursor()) as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    def change(self, statement: str) -> None:
        """Change rows behind the product's back."""
        with closing(self._connect()) as database, closing(database.cursor()) as cursor:
            cursor.execute(statement)
            database.commit()

    def _connect(self) -> Any:
        if self.database_url:
            return psycopg.connect(self.database_url)
        return sqlite3.connect(self.folder / "planjury.sqlite3", timeout=20)

    def remove(self) -> None:
        """End what still runs and drop the database."""
        for process in self.started:
            process.kill()
            process.wait()
        if self.forks is not None:
            self.forks.end()
        if self.database_url:
            with databases.server() as server:
                name = self.database_url.rpartition("/")[2]
                server.execute(f"drop database {name} with (force)")
