"""The Celery app. Its embedded broker is config/broker.py; settings begin with ``CELERY_``."""

import os
from typing import Any

from celery import Celery, bootsteps
from celery.signals import setup_logging
from kombu.transport import TRANSPORT_ALIASES

from benchmarks.outages import BROKER, note_recovery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")

# A broker URL cannot name a class, so the scheme is made known here.
TRANSPORT_ALIASES["fsq"] = "config.broker:Transport"

app = Celery("planjury")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


class NoteRecovery(bootsteps.StartStopStep):
    """A step of a worker after each connection to the broker, the first and later ones."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, consumer: Any) -> None:
        """Log that an outage of the broker is over, if there was one."""
        note_recovery(BROKER)


app.steps["consumer"].add(NoteRecovery)


@setup_logging.connect
def keep_logging_settings(**kwargs: Any) -> None:
    """Keep logging as the Django settings have it: with a receiver here, Celery does so."""
