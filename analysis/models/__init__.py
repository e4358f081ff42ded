"""What analysis keeps: tables from elsewhere, saved views, and what is derived of runs."""

from analysis.models.facts import RunFacts
from analysis.models.search import IndexedRun
from analysis.models.tables import RatingTable
from analysis.models.views import SavedView

__all__ = ["IndexedRun", "RatingTable", "RunFacts", "SavedView"]
