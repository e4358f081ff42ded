"""What workers must know of analysis: the kinds of jobs, and what makes long reports."""

from analysis import failure_groups, later, pages, rating_tables, table_checks  # noqa: F401
from analysis.services import facts, search_index, slopes  # noqa: F401
