"""Found by Celery in every worker: importing it makes the app's kinds of jobs known."""

from annotation.demo import services as demo
from annotation.planning import services as planned

__all__ = ["demo", "planned"]
