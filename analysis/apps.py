"""The analysis app."""

from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    """Statistics, figures and reports."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "analysis"
    label = "analysis"
    verbose_name = "Analysis"

    def ready(self) -> None:
        """Let what a list shows be judged anew."""
        from analysis import listed_trajectories  # noqa: F401
