"""The benchmarks app."""

from django.apps import AppConfig


class BenchmarksConfig(AppConfig):
    """Stored tasks, runs, trajectories and scores, and the systems that make them."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "benchmarks"
    label = "benchmarks"
    verbose_name = "Benchmarks"

    def ready(self) -> None:
        """Import the tasks, so that services in every process can send them by name."""
        from benchmarks import tasks  # noqa: F401
