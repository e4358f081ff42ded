"""Found by Celery in every worker: importing it makes the app's kinds of jobs known."""

from annotation.services import demo, planned

__all__ = ["demo", "planned"]
