"""The report of a page, for tests of what it shows."""

from analysis.filters.selection import Selection
from analysis.pages.catalogue import PAGES
from analysis.reports.content import Report, join_reports


def report_of(key: str, selection: Selection) -> Report:
    """Answer and details of a page as one report, written now."""
    page = PAGES[key]
    answer = page.content.answer(selection)
    if answer.empty is not None:
        return answer
    return join_reports(answer, page.content.details(selection))
