"""``manage.py migrate`` beside servers and workers that go on: it never waits long for a lock.

On PostgreSQL, changing a table waits until nobody uses it, and meanwhile everybody who wants to use
it waits, too. Where a worker waits for one table and has another, that is a deadlock, and either
of them fails. So a migration gives up first, is undone, and begins again a moment later.
"""

import time
from typing import Any

from django.core.management.commands import migrate
from django.db import OperationalError, connections

from benchmarks.outages import LOCKED, outage_behind
from config.upgrades import refuse_pooler

# Below PostgreSQL's ``deadlock_timeout`` of one second, so that no worker is chosen to fail.
LOCK_WAIT = "500ms"
PAUSE_SECONDS = 1.0
# A backup reads all tables as long as it takes.
PATIENCE_SECONDS = 600.0


class Command(migrate.Command):
    """Django's command, which tries again where tables are in use."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Apply or take back migrations; what is done is not done again."""
        connection = connections[options["database"]]
        if connection.vendor != "postgresql" or connection.in_atomic_block:
            super().handle(*args, **options)
            return
        refuse_pooler(connection)
        limit = time.monotonic() + PATIENCE_SECONDS
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = '{LOCK_WAIT}'")
        while True:
            try:
                super().handle(*args, **options)
                break
            except OperationalError as error:
                if outage_behind(error) is not LOCKED or time.monotonic() > limit:
                    raise
            self.stderr.write("A table is in use; the migration begins again in a moment.")
            time.sleep(PAUSE_SECONDS)
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
