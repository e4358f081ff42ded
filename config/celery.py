"""The Celery app. Its embedded broker is config/broker.py; settings begin with ``CELERY_``."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")

# A broker URL cannot name a class, so the scheme is made known here.
TRANSPORT_ALIASES["fsq"] = "config.broker:Transport"

app = Celery("planjury")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_logging_settings(**kwargs: Any) -> None:
    """Keep logging as the Django settings have it: with a receiver here, Celery does so."""
