"""Python client of PlanJury.

>>> from planjury_client import PlanJury
>>> jury = PlanJury("http://localhost:8000", token="pj_…")
>>> jury.analysis("leaderboard").answer
"""

from planjury_client.client import PlanJury
from planjury_client.reports import Analysis, Report
from planjury_client.transport import JobFailed, PlanJuryError

__all__ = ["Analysis", "JobFailed", "PlanJury", "PlanJuryError", "Report"]
__version__ = "0.16.0"
