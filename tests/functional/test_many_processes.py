"""Many processes on one PostgreSQL and Redis: several web processes, workers behind PgBouncer."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError, connection

from benchmarks import outages
from tests import databases
from tests.config.test_serve import answer, is_stopped, stop, wait_until
from tests.functional.test_machines import PREPARE, RING, TASKS, done, machine, wait_for
from tests.installations import Install, Installation
from tests.servers import children, free_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not settings.TEST_DATABASE_URL, reason="needs PostgreSQL and Redis"),
]
with_pooler = pytest.mark.skipif(shutil.which("pgbouncer") is None, reason="needs PgBouncer")

CONNECTIONS, POOLED = 3, "pooled"
# As in docs/operating.md, but for how it knows its clients.
SETTINGS = """
[databases]
* = host={host} port={port} user={user} password={password}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listens}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 1000
query_wait_timeout = 30
"""


@contextmanager
def pooler(place: Installation, folder: Path) -> Iterator[str]:
    """The address of the installation's database through a pooler."""
    parts, listens = urlsplit(place.database_url), free_port()
    file = folder / "pgbouncer.ini"
    file.write_text(
        SETTINGS.format(
            host=parts.hostname, port=parts.port, user=parts.username, password=parts.password,
            listens=listens, connections=CONNECTIONS,
        )
    )  # fmt: skip
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    process = subprocess.Popen(["pgbouncer", "-q", *user, str(file)])

    def listening() -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", listens), 1):
            return True
        return False

    try:
        wait_for(listening)
        address = f"{parts.username}@127.0.0.1:{listens}{parts.path}"
        yield f"postgresql://{address}?pooler=transaction&application_name={POOLED}"
    finally:
        process.terminate()
        process.wait(30)


def connections(place: Installation) -> int:
    """How many connections the pooler has to the database."""
    ((count,),) = place.read(
        "select count(*) from pg_stat_activity "
        f"where datname = current_database() and application_name = '{POOLED}'"
    )
    return int(count)


@with_pooler
def test_two_workers_with_eight_threads_each_share_three_connections(
    install: Install, tmp_path: Path
) -> None:
    place = install("pooled")
    assert place.fork("manage.py", "shell", "-v0", "-c", PREPARE).wait() == 0
    with pooler(place, tmp_path) as url:
        workers = [
            machine(place, name).start(
                "manage.py", "work", DATABASE_URL=url,
                PLANJURY_WORKER_THREADS="8", PLANJURY_WORKERS_PER_RUN="16",
            )
            for name in ("one", "other")
        ]  # fmt: skip
        assert place.fork("manage.py", "shell", "-v0", "-c", RING).wait() == 0
        wait_for(lambda: connections(place) > 0)
        most, limit = 0, time.monotonic() + 120
        while place.read("select status from benchmarks_run") != [("done",)]:
            most = max(most, connections(place))
            assert time.monotonic() < limit, "the run does not end"
            time.sleep(0.02)
        assert done(place) == TASKS
        assert 0 < most <= CONNECTIONS
        for worker in workers:
            worker.terminate()
            assert worker.wait(60) == 0
    for name in ("one", "other"):
        said = (place.folder / name / "output.log").read_text()
        assert "Traceback" not in said and "Outage" not in said, said


@with_pooler
def test_what_needs_a_session_is_refused_at_the_pooler(install: Install, tmp_path: Path) -> None:
    place = install("behind", migrated=False)
    with pooler(place, tmp_path) as url:
        assert place.start("manage.py", "work", DATABASE_URL=url).wait(120) == 1
        backup = place.start("manage.py", "backup", str(tmp_path / "b.zip"), DATABASE_URL=url)
        assert backup.wait(120) == 1
    said = place.log.read_text()
    assert "with manage.py migrate at the address of PostgreSQL itself" in said
    assert "backups need the address of PostgreSQL itself. No backup was made." in said
    assert "Traceback" not in said


@pytest.mark.django_db
def test_a_database_without_a_free_connection_is_named() -> None:
    role = f"crowded_{uuid.uuid4().hex}"
    with databases.server() as server:
        server.execute(f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 0 PASSWORD 'word'")
        try:
            with pytest.raises(OperationalError) as raised, connection.wrap_database_errors:
                psycopg.connect(settings.TEST_DATABASE_URL, user=role, password="word")
        finally:
            server.execute(f"DROP ROLE {role}")
    assert outages.outage_behind(raised.value) is outages.CROWDED


def test_each_of_several_web_processes_answers_and_their_requests_are_added_up(
    install: Install,
) -> None:
    place, port, token = install("several"), free_port(), "a long random word"
    process = place.start(
        "manage.py", "serve", "--web-only",
        PORT=str(port), PLANJURY_WEB_PROCESSES="2", PLANJURY_METRICS_TOKEN=token,
    )  # fmt: skip
    assert answer(port) == 200
    (server,) = children(process.pid)
    wait_until(lambda: len(children(server)) == 2)
    for worker in children(server):
        os.kill(worker, signal.SIGSTOP)
        wait_until(lambda worker=worker: is_stopped(worker))  # type: ignore[misc]
        assert answer(port) == 200  # by the other one
        os.kill(worker, signal.SIGCONT)
    request = urllib.request.Request(f"http://localhost:{port}/metrics")
    request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=60) as reply:
        text = reply.read().decode()
    (count,) = re.findall(
        r'planjury_request_seconds_count{method="GET",status="200"} ([\d.]+)', text
    )
    assert float(count) == 3
    assert 'planjury_ready{part="database"} 1.0' in text
    stop(process, signal.SIGTERM)
