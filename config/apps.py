"""The project as an app, so that it can bring system checks and the server command."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Registers the system checks and makes the Celery app the one that tasks belong to."""

    name = "config"
    label = "config"
    verbose_name = "PlanJury"

    def ready(self) -> None:
        """Import what registers itself."""
        # Shared tasks belong to the Celery app that was made last; checks register themselves.
        from config import celery, checks  # noqa: F401
