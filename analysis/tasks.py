"""What workers must know of analysis: the kinds of jobs, and what makes long reports."""

from analysis import pages, rating_tables, table_checks  # noqa: F401
from analysis.browser.groups import failure_groups  # noqa: F401
from analysis.pages.decline import services as slopes  # noqa: F401
from analysis.reports import deferred as later  # noqa: F401
from analysis.services import facts, search_index  # noqa: F401
