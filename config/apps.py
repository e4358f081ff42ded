"""The project as an app, so that it can bring system checks and the server command."""

from contextlib import suppress
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings


class ConfigConfig(AppConfig):
    """Registers the system checks and makes the Celery app the one that tasks belong to."""

    name = "config"
    label = "config"
    verbose_name = "PlanJury"

    def ready(self) -> None:
        """Import what registers itself, and see to it that there is a data folder."""
        # Shared tasks belong to the Celery app that was made last; checks register themselves.
        from config import celery, checks  # noqa: F401

        with suppress(OSError):  # a system check says so in words
            Path(settings.DATA_DIR).mkdir(parents=True, exist_ok=True)
