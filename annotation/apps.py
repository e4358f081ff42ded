"""The annotation app."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Studies, questionnaires, ratings, adjudication and live sessions."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "annotation"
    label = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        """Close runs to those who annotate them blind, give exports their ratings, and keep what
        studies need from being deleted.
        """
        from annotation import blinding  # noqa: F401
        from annotation.deletion import studies as deletion  # noqa: F401
        from annotation.exports import run_ratings  # noqa: F401
        from annotation.remarks import turn_uses  # noqa: F401
