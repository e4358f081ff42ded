"""The benchmarks app."""

from django.apps import AppConfig


class BenchmarksConfig(AppConfig):
    """Stored tasks, runs, trajectories and scores, and the systems that make them."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "benchmarks"
    label = "benchmarks"
    verbose_name = "Benchmarks"

    def ready(self) -> None:
        """Make the tasks known by name in every process: services ring for them."""
        from benchmarks import tasks  # noqa: F401
