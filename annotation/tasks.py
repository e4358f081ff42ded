"""Celery imports this module in every worker; that registers the app's kinds of jobs."""

from annotation.deletion import retention
from annotation.demo import services as demo
from annotation.planning import services as planned

__all__ = ["demo", "planned", "retention"]
