"""The project as an app, so that it can bring system checks and the server command."""

import logging
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings

from benchmarks.core import plugins
from config.private_files import make_data_private

logger = logging.getLogger(__name__)


class ConfigConfig(AppConfig):
    """Registers the system checks and makes the Celery app the one that tasks belong to."""

    name = "config"
    label = "config"
    verbose_name = "PlanJury"

    def ready(self) -> None:
        """Import what registers itself, and see to it that there is a private data folder."""
        # Registries load plug-ins when they are imported, so that every process has them from its
        # start.
        # Shared tasks belong to the Celery app that was made last; checks register themselves.
        from analysis.pages import catalogue  # noqa: F401
        from annotation.questionnaires import loader  # noqa: F401
        from benchmarks.formats import registry  # noqa: F401
        from config import celery, checks  # noqa: F401
        from config.operations.error_reports import start_error_reports

        start_error_reports()
        for plug_in in plugins.broken:
            logger.warning(
                "%s of %s is left out. %s %s",
                *(plug_in.title, plug_in.origin, plug_in.problem, plug_in.remedy),
            )

        default = settings.DATABASES["default"]
        embedded = default["ENGINE"] == "config.sqlite"
        make_data_private(Path(settings.DATA_DIR), Path(default["NAME"]) if embedded else None)
