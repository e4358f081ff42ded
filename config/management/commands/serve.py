"""``manage.py serve``: the whole app with one command."""

import fcntl
import logging
import os
import socket
from argparse import ArgumentParser
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TextIO

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections

from config import server
from config.shipped_demo import load_shipped_demo

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    """Prepare, then run the web server and the background worker until stopped."""

    help = "Migrate, collect static files, and run the web server and the background worker."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add ``--web-only``, for machines whose workers are elsewhere."""
        parser.add_argument(
            "--web-only",
            action="store_true",
            help="run no background worker here; start `manage.py work` on this or other machines",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until SIGINT, SIGTERM or SIGHUP."""
        listener = _listen(settings.SERVE_HOST, settings.SERVE_PORT)
        held = None if options["web_only"] else _hold(settings.DATA_DIR / "serve.lock")
        server.reach_database()
        if settings.DEMO and load_shipped_demo():
            self.stdout.write("The demo was loaded.")
        server.prepare(self)
        if server.collect_static_if_needed():
            self.stdout.write("The static files were collected.")

        children = [server.web_server(listener)]
        if not options["web_only"]:
            children.append(server.background_worker(listener))
        with listener, held or nullcontext():
            # The web server closes the port when it is told to end: it must be the last to hold it.
            server.run(children, started=self._greet, stopping=listener.close)
        self.stdout.write("PlanJury has stopped.")

    def _greet(self) -> None:
        self.stdout.write(f"PlanJury is at {_address()} (stop it with Ctrl-C).")
        if settings.DEMO:
            self._offer_demo()
        else:
            self._warn_of_demo_accounts()
        self.stdout.flush()

    def _warn_of_demo_accounts(self) -> None:
        """Say where people can sign in with passwords that everyone knows."""
        from annotation.demo.services import open_demo_accounts

        try:
            names = ", ".join(user.username for user in open_demo_accounts())
        except DatabaseError:
            return  # whatever needs the database says that it is away
        finally:
            connections.close_all()
        if names:
            self.stdout.write(
                f"Warning: anybody can sign in to the demo's accounts ({names}), whose passwords "
                "are known. Close them with manage.py close_demo_accounts."
            )

    def _offer_demo(self) -> None:
        try:
            accounts = server.ensure_demo()
        except Exception:
            # The app is of use without its demo.
            logger.exception("The demo could not be prepared.")
            return
        finally:
            connections.close_all()
        if accounts:
            self.stdout.write("Accounts of the demo:")
        for name, password, role in accounts:
            self.stdout.write(f"  {name:<14} {password:<20} {role}")


def _listen(host: str, port: int) -> socket.socket:
    """Open the port here: a busy one is seen at once, and a restart of the web loses no caller."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise CommandError(
            f"Cannot listen on {host} port {port}: {os.strerror(error.errno or 0)}. "
            "Set PORT to a free port, such as PORT=8001."
        ) from None


def _hold(path: Path) -> TextIO:
    """Keep a second whole server off the same data.

    The lock is this process's alone: one that is killed does not leave it to its children.
    """
    file = None
    try:
        file = path.open("w")
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if file is None:
            raise CommandError(
                f"Cannot write {path}: {error.strerror}. Make it writable for this user, or name "
                "another folder in PLANJURY_DATA_DIR."
            ) from None
        file.close()
        raise CommandError(
            f"Another server uses the data in {path.parent}. Stop it first, name another folder in "
            "PLANJURY_DATA_DIR, or start a second web server for the same data with --web-only."
        ) from None
    return file


def _address() -> str:
    host = settings.SERVE_HOST
    if host in {"127.0.0.1", "0.0.0.0", "::", "::1"}:
        host = "localhost"
    return f"http://{host}:{settings.SERVE_PORT}/"
