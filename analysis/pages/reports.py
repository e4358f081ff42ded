"""The reports of the analysis pages: written when first asked for, stored under their keys.

A page has an answer, shown at once, and details, written when they are opened. Some have a part
that takes too long for a request; a job writes that (`analysis.reports.deferred_reports`). A key
names the page, the filters as they were resolved, and the version of every run and study behind it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.http import QueryDict

from analysis.filters import Filters, read_filters
from analysis.filters.selection import Selection
from analysis.pages.catalogue import PAGES, AnalysisPage, select
from analysis.registrations.marks import is_withheld, registered_state, with_marks
from analysis.reports.comparability import certified, cites_paper
from analysis.reports.content import Report, join_reports
from analysis.reports.deferred_reports import (
    DeferredReport,
    Params,
    ReportRequest,
    drop_deferred,
    find_deferred,
    keep_deferred,
    report_maker,
)
from analysis.reports.stored_reports import keep_report, key_of, key_of_state
from benchmarks.visibility import Visibility

# So many datasets or studies are tried by a page whose usual one has nothing to show.
MOST_TRIED = 8


def report_key(page: AnalysisPage, selection: Selection) -> str:
    """Return a key that changes exactly when the report may change.

    Whoever annotates blind shares reports with those alone to whom the same runs are closed.
    """
    return key_of_state(*_subject_and_state(page, selection), selection.notes)


def _subject_and_state(
    page: AnalysisPage, selection: Selection
) -> tuple[Sequence[str], Sequence[str]]:
    shown = {run.pk for run in selection.runs}
    subject = (
        page.key,
        selection.filters.query(),
        *(f"closed {pk}" for pk in sorted(selection.closed)),
        *(f"closed task {pk}" for pk in sorted(selection.closed_tasks)),
    )
    state = (
        selection.study_version,
        selection.certificate.row.digest if selection.certificate is not None else "",
        *(run.version for run in selection.runs),
        *(f"family {run.version}" for run in selection.family if run.pk not in shown),
        *selection.left_out,
        *registered_state(selection),
    )
    return subject, state


def open_selection(
    page: AnalysisPage, filters: Filters, user: User, seen: Visibility
) -> tuple[Selection, str]:
    """Return what the page is about, with the key of its report.

    Where the address names no dataset or study and the page has no answer about the usual one, it
    is the newest about which it has, else the newest of which it can draw anything, else the newest
    with a report. The reports that are tried are kept.
    """
    name = "study" if page.of_study else "dataset"
    given = select(page, filters, user, seen)
    drawn: Selection | None = None
    told: Selection | None = None
    key = report_key(page, given)
    options = given.options.get(name, ())
    named = filters.study or filters.dataset or filters.runs
    if named or len(options) < 2 or page.waits:
        return given, key
    tried = (filters, *(_with(filters, name, option.value) for option in options[:MOST_TRIED]))
    for one in tried:
        selection = given if one is filters else select(page, one, user, seen)
        report = answer_report(page, selection, report_key(page, selection))
        if report.waits or (report.figures and report.answers):
            return selection, report_key(page, selection)
        if drawn is None and report.figures:
            drawn = selection
        if told is None and report.empty is None:
            told = selection
    chosen = drawn or told or given
    return chosen, report_key(page, chosen)


def _with(filters: Filters, name: str, value: str) -> Filters:
    changed: dict[str, Any] = {name: value}
    return replace(filters, **changed)


def answer_report(page: AnalysisPage, selection: Selection, key: str) -> Report:
    """Return what the page shows at once: its answer, one figure and one table."""
    cites = page.cites or ("published" in page.filters and cites_paper(selection))
    return keep_report(
        key,
        lambda: with_marks(
            certified(page.content.answer(selection), selection, cites=cites), page.key, selection
        ),
    )


def details_report(page: AnalysisPage, selection: Selection, key: str) -> Report:
    """Return what the page shows when its details are opened."""
    return keep_report(
        key_of("details", key),
        lambda: (
            Report()
            if is_withheld(page.key, selection)
            else certified(page.content.details(selection), selection)
        ),
    )


def make_report(page: AnalysisPage, selection: Selection, key: str) -> Report:
    """Return answer and details as one report, as files and exports have it."""
    answer = answer_report(page, selection, key)
    if answer.empty is not None:
        return answer
    return join_reports(answer, details_report(page, selection, key))


def deferred_request(page: AnalysisPage, selection: Selection) -> ReportRequest | None:
    """Return the part that takes too long for a request; None where there is nothing to show."""
    if not page.deferred or not selection.runs or is_withheld(page.key, selection):
        return None
    params = {"page": page.key, "query": selection.filters.query()}
    return ReportRequest(
        "page", params, _deferred_key(page, selection), f"{page.title}: what takes longer"
    )


def _deferred_key(page: AnalysisPage, selection: Selection) -> str:
    """Return the key of a page's long part.

    Notes on how the choice came about are not in it: the job gets the choice spelled out, and finds
    none to make.
    """
    subject, state = _subject_and_state(page, selection)
    return key_of_state(subject, ("deferred", *state))


def deferred_state(wanted: ReportRequest, *, waits: bool) -> DeferredReport:
    """Return how far the long part of a page is; ``waits``: its answer waits for that part.

    If such a part is stored, what the answer reads from it was dropped: it has to be made again.
    """
    state = find_deferred(wanted)
    if waits and state.report is not None:
        drop_deferred(wanted)
        return DeferredReport(wanted)
    return state


def write_deferred(page: AnalysisPage, selection: Selection, wanted: ReportRequest) -> Report:
    """Return the long part of a page; write it now where it is not stored."""
    return keep_deferred(wanted.key, lambda: _long_part(page, selection))


@report_maker("page")
def make_page_part(params: Params, seen: Visibility) -> tuple[str, Callable[[], Report]]:
    """Return the key of a page's long part as of now, and the function that writes it."""
    page, person = PAGES[params["page"]], seen.user
    assert person is not None
    selection = select(page, read_filters(QueryDict(params["query"])), person, seen)
    key = _deferred_key(page, selection)
    return key, lambda: _long_part(page, selection)


def _long_part(page: AnalysisPage, selection: Selection) -> Report:
    return certified(page.content.deferred_report(selection), selection)
