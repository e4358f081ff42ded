"""The server commands: what they prepare, and what they do every few seconds while they run."""

import logging
from collections.abc import Callable, Sequence

from django.core.management.base import BaseCommand
from django.db import connections

from benchmarks.source_digest import source_digest
from config import background, preparation
from config.supervisor import Child, Supervisor

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 10.0


def prepare(command: BaseCommand) -> None:
    """See to it that database and broker are there and the database is up to date."""
    source_digest()  # before the processes fork, so that all have that of the code they run
    preparation.reach_database()
    preparation.reach_broker()
    if preparation.migrate_if_needed():
        command.stdout.write("The database was brought up to date.")


def run(children: Sequence[Child], started: Callable[[], None]) -> None:
    """Keep the children running until told to stop, and sweep meanwhile."""
    # A connection must not be shared with forks.
    connections.close_all()
    Supervisor(children=children, every=sweep, interval=SWEEP_SECONDS).run(started=started)


def sweep() -> None:
    """Ring again for what a dead worker held, and do what falls due at a time."""
    try:
        background.sweep_jobs()
        background.sweep_studies()
        background.sweep_sessions()
        background.sweep_search()
    except Exception:
        # A locked or absent database is no reason to take the web server down.
        logger.exception("The sweep failed; it is tried again.")
    finally:
        connections.close_all()
