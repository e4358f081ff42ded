"""The project as an app, so that it can bring system checks and the server command."""

from pathlib import Path

from django.apps import AppConfig
from django.conf import settings

from config.private_files import make_data_private


class ConfigConfig(AppConfig):
    """Registers the system checks and makes the Celery app the one that tasks belong to."""

    name = "config"
    label = "config"
    verbose_name = "PlanJury"

    def ready(self) -> None:
        """Import what registers itself, and see to it that there is a private data folder."""
        # Shared tasks belong to the Celery app that was made last; checks register themselves.
        from config import celery, checks  # noqa: F401
        from config.operations.error_reports import start_error_reports

        start_error_reports()

        default = settings.DATABASES["default"]
        embedded = default["ENGINE"] == "config.sqlite"
        make_data_private(Path(settings.DATA_DIR), Path(default["NAME"]) if embedded else None)
