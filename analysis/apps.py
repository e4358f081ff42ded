"""The analysis app."""

from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    """Statistics, figures and reports."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "analysis"
    label = "analysis"
    verbose_name = "Analysis"

    def ready(self) -> None:
        """Let what a list shows be judged anew, and fit slopes where runs have ended."""
        from analysis.browser import listed_trajectories  # noqa: F401
        from analysis.pages.decline.services import fit_after_run
        from benchmarks.runs.signals import run_ended

        run_ended.connect(fit_after_run, dispatch_uid="slopes-over-turns")
