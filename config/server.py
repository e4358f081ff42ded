"""Shared code of the server commands, before and beside their work.

They reach the servers that are configured, bring the database and the static files up to date, and
sweep every few seconds while they run.
"""

import hashlib
import logging
import socket
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import CommandError, call_command
from django.core.management.base import BaseCommand
from django.db import DatabaseError, OperationalError, connection, connections
from kombu.exceptions import OperationalError as BrokerError

from benchmarks.source_digest import source_digest
from config.celery import app
from config.supervisor import Child, Supervisor
from config.upgrades import migrate_if_needed


class Unreachable(CommandError):
    """A server that is configured does not answer; the message is one line and holds no secret."""


def reach_database() -> None:
    """Connect once, so that a wrong address is told at the start and in a line."""
    settings_dict = connection.settings_dict
    try:
        connection.ensure_connection()
    except OperationalError as error:
        if connection.vendor == "sqlite":
            raise Unreachable(
                f"Cannot open the database {settings_dict['NAME']}: {error}. Its folder must be "
                "writable for this user and have room; PLANJURY_DATA_DIR can name another."
            ) from None
        place = f"{settings_dict['HOST'] or 'a local socket'}:{settings_dict['PORT'] or 5432}"
        raise Unreachable(
            f"Cannot reach PostgreSQL at {place}, database {settings_dict['NAME']} "
            f"(DATABASE_URL): {_first_line(error)}"
        ) from None


def reach_broker() -> None:
    """Connect to the broker once; where it is Redis, it is the cache, too."""
    with app.connection_for_write() as broker:
        away: tuple[type[BaseException], ...] = (
            BrokerError,
            *broker.connection_errors,
            *broker.channel_errors,
        )
        try:
            broker.ensure_connection(max_retries=1, interval_start=0)
            broker.default_channel  # noqa: B018  (made when first asked for; speaks to the server)
        except away as error:
            raise Unreachable(
                f"Cannot reach the broker at {broker.as_uri()} "
                f"(PLANJURY_BROKER_URL): {_first_line(error)}"
            ) from None


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def collect_static_if_needed() -> bool:
    """Collect the static files if one has changed; say whether one has."""
    stamp = Path(settings.STATIC_ROOT) / ".fingerprint"
    fingerprint = static_fingerprint()
    try:
        if stamp.read_text(encoding="ascii") == fingerprint:
            return False
    except FileNotFoundError:
        pass
    call_command("collectstatic", interactive=False, verbosity=0, clear=stamp.exists())
    stamp.write_text(fingerprint, encoding="ascii")
    return True


def static_fingerprint() -> str:
    """Return a mark that changes whenever a source file does; reads no contents."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            facts = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


logger = logging.getLogger(__name__)

SWEEP_SECONDS = 10.0


def prepare(command: BaseCommand) -> None:
    """See to it that database and broker are there and the database is up to date."""
    source_digest()  # before the processes fork, so that all have that of the code they run
    reach_database()
    reach_broker()
    if migrate_if_needed():
        command.stdout.write("The database was brought up to date.")


def run(
    children: Sequence[Child],
    started: Callable[[], None],
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Keep the children running until told to stop, and sweep meanwhile."""
    # A connection must not be shared with forks.
    connections.close_all()
    Supervisor(children=children, every=sweep, interval=SWEEP_SECONDS, stopping=stopping).run(
        started=started
    )


def web_server(listener: socket.socket) -> Child:
    """Return the child that serves pages; it is given time to finish its requests."""
    from config.processes import run_web

    return Child("web server", partial(run_web, listener), lambda: settings.WEB_DRAIN_SECONDS)


def background_worker(listener: socket.socket | None = None) -> Child:
    """Return the child that does background work; it is given time to finish its calls."""
    from config.processes import run_worker

    return Child("background worker", partial(run_worker, listener), _drain_seconds)


def _drain_seconds() -> float:
    """Return how long the worker may finish calls; without a database it knows of none."""
    from benchmarks.runs.drain import MARGIN, drain_seconds

    try:
        seconds = drain_seconds()
    except DatabaseError:
        return MARGIN
    finally:
        connections.close_all()
    if seconds > MARGIN:
        logger.info("Calls under way have up to %.0f s to end; a second signal ends them.", seconds)
    return seconds


def sweep() -> None:
    """Enqueue again what a dead worker held, and do what falls due at a time."""
    from analysis.search.services import enqueue_index
    from annotation.deletion.retention import enqueue_retention
    from annotation.live.control.timeouts import sweep_sessions
    from annotation.studies.services import close_ended_studies
    from benchmarks.judging.counts import enqueue_counts
    from benchmarks.runs.sweep import sweep as sweep_jobs

    try:
        sweep_jobs()
        close_ended_studies()
        enqueue_retention()
        sweep_sessions()
        enqueue_index()  # texts that are new to the search
        enqueue_counts()  # replies of judges in runs that have ended
    except Exception:
        # A locked or absent database is no reason to take the web server down.
        logger.exception("The sweep failed; it is tried again.")
    finally:
        connections.close_all()


def ensure_demo() -> list[tuple[str, str, str]]:
    """Fill an empty database with the demo; its accounts as (name, password, role)."""
    from annotation.demo import services as demo

    return demo.ensure_demo()
