"""What analysis keeps: tables of ratings from elsewhere, saved views, and derived facts of runs."""

from analysis.models.facts import RunFacts
from analysis.models.tables import RatingTable
from analysis.models.views import SavedView

__all__ = ["RatingTable", "RunFacts", "SavedView"]
