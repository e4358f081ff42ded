"""Uploaded tables that a person may see, and their stored reports (by table, settings, code).

One computation makes the reports of all sections, because tests of judges are adjusted together.
"""

import json
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from django.contrib.auth.models import User
from django.core.cache import caches
from django.db.models import Q, QuerySet
from django.urls import reverse

from analysis.models import RatingTable
from analysis.reports.content import Report
from analysis.reports.deferred_reports import (
    KEEP_SECONDS,
    DeferredReport,
    Params,
    ReportRequest,
    find_deferred,
    kept_deferred,
    report_maker,
    request_deferred,
)
from analysis.reports.stored_reports import key_of
from analysis.tables.services import is_quick, read_table, settings_of
from benchmarks.access import VIEW
from benchmarks.visibility import Visibility

# The part that shows all sections; others are numbered from 1.
OVERVIEW = 0


class TablePage(NamedTuple):
    """A page of a table: the progress of its report, and its sections once they are known."""

    deferred: DeferredReport
    part: int
    sections: tuple[str, ...] = ()


def tables_for(person: User) -> QuerySet[RatingTable]:
    """Return a person's own tables and shared ones; all tables for administrators."""
    rows = RatingTable.objects.defer("content").select_related("created_by").order_by("-pk")
    if person.is_superuser:
        return rows
    return rows.filter(Q(created_by=person) | Q(shared=True))


def may_change(table: RatingTable, person: User) -> bool:
    """Return whether a person may rename, share and delete a table: owner or administrator."""
    return person.is_superuser or table.created_by_id == person.pk


def shown(table: RatingTable, part: int | None) -> TablePage:
    """Return how far a page of a table is; reads only, and computes where that takes about a
    second.

    Without a ``part``, or with one that there is not, it is the only section or all of them.
    """
    overview = kept_deferred(_key(table, OVERVIEW))
    if overview is None and is_quick(table):
        overview = _write(table)
    sections = _titles(overview)
    chosen = part if part is not None and 1 <= part <= len(sections) else OVERVIEW
    if chosen == OVERVIEW and len(sections) == 1:
        chosen = 1
    return TablePage(find_deferred(_wanted(table, chosen)), chosen, sections)


def ask_for(table: RatingTable, part: int, person: User) -> DeferredReport:
    """Have a report made in the background, unless it is there or being made."""
    return request_deferred(wanted=_wanted(table, part), person=person)


def _titles(overview: Report | None) -> tuple[str, ...]:
    summary = overview.table("overview") if overview is not None else None
    return tuple(row[0].text for row in summary.rows) if summary is not None else ()


def _wanted(table: RatingTable, part: int) -> ReportRequest:
    params = {"table": table.pk, "part": part}
    return ReportRequest("rating-table", params, _key(table, part), f"Agreement in “{table.name}”")


def _key(table: RatingTable, part: int) -> str:
    given = json.dumps(table.settings, sort_keys=True)
    return key_of("rating-table", str(table.pk), table.checksum, given, str(part))


@report_maker("rating-table")
def make_table_report(params: Params, seen: Visibility) -> tuple[str, Callable[[], Report]]:
    """Return all reports of a table; that of the part that was asked for is handed back."""
    person, part = seen.user, int(params["part"])
    assert person is not None and person.has_perm(VIEW)
    table = tables_for(person).get(pk=params["table"])

    def write() -> Report:
        overview = _write(table)
        return overview if part == OVERVIEW else kept_deferred(_key(table, part)) or overview

    return _key(table, part), write


def _write(table: RatingTable) -> Report:
    """Compute and keep the reports of all sections and of the whole table, which is returned."""
    # Statistics are slow to import: not when the server starts.
    pages = import_module("analysis.pages.own_table.page")
    tidy_report = import_module("analysis.agreement.report").tidy_report
    read = read_table(table)
    report = tidy_report(read, settings_of(table))
    url = reverse("analysis:rating_table", args=[table.pk])
    urls, reports = [], {}
    for number, section in enumerate(read.sections, 1):
        urls.append(f"{url}?section={number}")
        known = section.tasks is not None
        reports[_key(table, number)] = pages.section_page(report, number - 1, has_tasks=known)
    has_tasks = all(section.tasks is not None for section in read.sections)
    overview: Report = pages.overview_page(report, urls, has_tasks=has_tasks)
    caches["kept"].set_many({**reports, _key(table, OVERVIEW): overview}, KEEP_SECONDS)
    return overview
