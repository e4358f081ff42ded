"""What workers must know of analysis: the kinds of jobs, and what makes long reports."""

from analysis.browser.groups import failure_groups  # noqa: F401
from analysis.browser.search import services as search_index  # noqa: F401
from analysis.pages import reports  # noqa: F401
from analysis.pages.decline import services as slopes  # noqa: F401
from analysis.reports import deferred as later  # noqa: F401
from analysis.tables import checks as table_checks  # noqa: F401
from analysis.tables import selectors as rating_tables  # noqa: F401
from analysis.trajectory_index import services as facts  # noqa: F401
