"""Modules that register kinds of jobs and makers of reports; each worker imports them."""

from analysis.browser.clusters import services as failure_clusters  # noqa: F401
from analysis.browser.groups import failure_groups  # noqa: F401
from analysis.pages import reports  # noqa: F401
from analysis.pages.decline import services as slopes  # noqa: F401
from analysis.reports import deferred_reports as deferred_reports  # noqa: F401
from analysis.search import services as search_index  # noqa: F401
from analysis.tables import checks as table_checks  # noqa: F401
from analysis.tables import selectors as rating_tables  # noqa: F401
from analysis.trajectory_index import services as index_runs  # noqa: F401
