"""``manage.py work``: a background worker alone, on any machine that sees database and broker."""

import socket
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from config import server
from config.settings.services import is_redis


class Command(BaseCommand):
    """Run a background worker until stopped, start it again when it dies, and sweep."""

    help = "Run a background worker without a web server."

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until SIGINT, SIGTERM or SIGHUP."""
        server.prepare(self)

        server.run([server.background_worker()], started=self._greet)
        self.stdout.write("The worker has stopped.")

    def _greet(self) -> None:
        threads = settings.RUN_THREADS
        self.stdout.write(
            f"Working on {threads} trajectories at once, and on as many more as endpoints take "
            "calls at once (stop it with Ctrl-C)."
        )
        if not is_redis(settings.CELERY_BROKER_URL):
            self.stdout.write(
                f"The broker is the embedded one in {settings.BROKER_DIR}: "
                f"only what is started on {socket.gethostname()} with this folder is heard."
            )
        self.stdout.flush()
