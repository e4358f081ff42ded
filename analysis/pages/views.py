"""A page of analysis, its figures as JSON and its tables as CSV, all from the same report."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from analysis.exports.responses import answer_figure, answer_table, poll_deferred
from analysis.filters import SHARED, read_filters, with_query
from analysis.filters.forms import PageFilterForm
from analysis.filters.judgings import counting_here
from analysis.filters.selection import Selection
from analysis.filters.studies import readable_studies
from analysis.pages.catalogue import PAGES, AnalysisPage, pages_of
from analysis.pages.file_names import file_name
from analysis.pages.navigation import all_places, places_from
from analysis.pages.reports import (
    answer_report,
    deferred_request,
    deferred_state,
    details_report,
    make_report,
    open_selection,
)
from analysis.pages.saved_views.selectors import saved_views
from analysis.reports.chosen_runs import dataset_name
from analysis.reports.content import Cell, Report
from analysis.reports.deferred_files import DeferredFile, deferred_file
from analysis.reports.deferred_reports import (
    DeferredReport,
    find_deferred,
    kept_deferred,
    note_progress,
)
from analysis.reports.run_marks import banners
from analysis.reports.stored_reports import kept_report, key_of, same_state, with_state
from annotation.access import person
from benchmarks.access import START, VIEW, allow, signed_in, visibility
from benchmarks.responses import wants_fragment


@require_safe
@signed_in
def index(request: HttpRequest) -> HttpResponseBase:
    """Show which page answers what; links keep the filters of the address."""
    allow(request, VIEW)
    return render(request, "analysis/index.html", {"places": all_places(read_filters(request.GET))})


@require_safe
@signed_in
def of_study(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the first page that is about what a study asks."""
    allow(request, VIEW)
    studies, _ = readable_studies(person(request))
    study = next((study for study in studies if study.pk == pk), None)
    if study is None:
        raise Http404("There is no such study.")
    first = [*pages_of(study), PAGES["ratings"]][0]
    return redirect(with_query(reverse(f"analysis:{first.key}"), {"study": pk}))


@require_safe
@signed_in
def moved(request: HttpRequest, moved: str, rest: str = "") -> HttpResponseBase:
    """Lead from the address that a part had as a page of its own to where it is now."""
    allow(request, VIEW)
    if moved not in PAGES or not PAGES[moved].part_of:
        raise Http404("There is no such analysis.")
    query = request.META.get("QUERY_STRING", "")
    return redirect(with_query(reverse(f"analysis:{moved}") + rest, query), permanent=True)


@require_safe
@signed_in
def page(request: HttpRequest, name: str) -> HttpResponseBase:
    """Show one sentence, the figures, the tables, and how it was computed."""
    found, selection, key = open_page(request, name)
    starts = request.user.has_perm(START)
    report = answer_report(found, selection, key)
    report = report if starts else _without_forms(report)
    query = selection.filters.query()
    wanted = deferred_request(found, selection)
    state = deferred_state(wanted, waits=True) if wanted is not None and report.waits else None
    opened = "details" in request.GET and report.empty is None
    context = {
        "page": found,
        "report": report,
        "key": f"{key if starts else f'{key}-reads'}{'-waits' if report.waits else ''}",
        "selection": selection,
        "form": PageFilterForm(selection, found.filters),
        "banners": banners(selection),
        "places": places_from(found, selection),
        "subject": subject_of(selection),
        **_judging_context(found, selection),
        **_parts(found, report, query, key),
        "page_url": with_query(reverse(f"analysis:{name}"), query),
        "saved": saved_views(
            page=name, query=query, user=person(request), seen=visibility(request)
        ),
        "file_name": file_name(found, selection),
        "file_url": with_query(reverse(f"analysis:{name}_file"), query),
        "pin_url": with_query(
            reverse("analysis:paper_pin", args=["page", name]), f"{query}&part=answer".lstrip("&")
        ),
        "plain_url": reverse(f"analysis:{name}"),
        "empty_url": _empty_url(request, report),
        "details_url": with_state(with_query(reverse(f"analysis:{name}_details"), query), key),
        "opened_url": _opened_url(found, query),
        "opened": opened,
        **(_details_context(request, found, selection, key) if opened else {}),
        **(_deferred_context(found, selection, state) if state is not None else {}),
        "waits": report.waits,
    }
    return render(request, "analysis/page.html", context)


@require_safe
@signed_in
def details(request: HttpRequest, name: str) -> HttpResponseBase:
    """Show what is folded on the page: further figures and tables, and how all was computed."""
    page, selection, key = open_page(request, name)
    query = selection.filters.query()
    opened = f"{_opened_url(page, query)}#details"
    if not wants_fragment(request):
        return redirect(opened)
    if not same_state(request.GET.get("state", key), key):
        # The answer above is older than these details would be: all of the page is loaded anew.
        return HttpResponse(headers={"HX-Redirect": opened})
    context = _details_context(request, page, selection, key)
    return render(request, "analysis/_details.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def deferred_part(request: HttpRequest, name: str) -> HttpResponseBase:
    """Show what takes longer than a page: POST has it made, GET tells how far it is."""
    page, selection, key = open_page(request, name)
    wanted = deferred_request(page, selection)
    if wanted is None:
        raise Http404("There is nothing more to compute here.")
    state = poll_deferred(request, wanted)
    if state is None:
        return HttpResponse(status=204)
    if not wants_fragment(request):
        return redirect(f"{_opened_url(page, selection.filters.query())}#later")
    waits = "waits" in (request.POST if request.method == "POST" else request.GET)
    context = {**_deferred_context(page, selection, state), "waits": waits}
    response = render(request, "analysis/_deferred.html", context)
    if waits and state.report is not None:
        # The page's own answer waited for this, so all of it is another one now.
        response["HX-Refresh"] = "true"
    return response


@require_safe
@signed_in
def figure(request: HttpRequest, name: str, part: str) -> HttpResponseBase:
    """Show a figure as JSON; unchanged (304) as long as nothing behind it changed."""
    page, selection, key = open_page(request, name)
    return answer_figure(
        request,
        key,
        part,
        lambda: report_with_part(page, selection, key, part, "figure"),
        lambda state: (
            kept_report(state),
            kept_report(key_of("details", state)),
            kept_deferred(state),
        ),
    )


@require_safe
@signed_in
@deferred_file
def table(request: HttpRequest, name: str, part: str) -> DeferredFile | HttpResponseBase:
    """Show a table as CSV: the rows of the page, in numbers that are not rounded for reading."""
    page, selection, key = open_page(request, name)

    def write(report: Report) -> HttpResponse:
        return answer_table(report, part, [file_name(page, selection, part)])

    return table_file(page, selection, key, part, "CSV", write)


def table_file(
    page: AnalysisPage,
    selection: Selection,
    key: str,
    part: str,
    form: str,
    write: Callable[[Report], HttpResponse],
    variant: str = "",
) -> DeferredFile | HttpResponseBase:
    """Return a table of a page as a file: at once where its report is stored, else by a job.

    ``variant`` tells apart the files that a reader may choose.
    """

    def written() -> HttpResponse:
        note_progress(f"computing {page.title}")
        return write(report_with_part(page, selection, key, part, "table"))

    answer = kept_report(key)
    if answer is not None and (
        answer.table(part) is not None or kept_report(key_of("details", key)) is not None
    ):
        return written()
    title = f"{page.title}: table as {form}"
    return DeferredFile(f"{form}:{key}:{part}:{variant}", title, written)


def open_page(request: HttpRequest, name: str) -> tuple[AnalysisPage, Selection, str]:
    """Authorise, then find the page, selection and report key of an address."""
    allow(request, VIEW)
    page = PAGES[name]
    return (
        page,
        *open_selection(page, read_filters(request.GET), person(request), visibility(request)),
    )


def report_with_part(
    page: AnalysisPage, selection: Selection, key: str, part: str, kind: Literal["figure", "table"]
) -> Report:
    """Return the report with this figure or table: the answer, the details, or what took longer."""

    def has(report: Report) -> bool:
        return (report.figure(part) if kind == "figure" else report.table(part)) is not None

    report = answer_report(page, selection, key)
    if has(report):
        return report
    report = details_report(page, selection, key)
    if has(report):
        return report
    wanted = deferred_request(page, selection)
    return (kept_deferred(wanted.key) if wanted is not None else None) or report


def _judging_context(page: AnalysisPage, selection: Selection) -> dict[str, object]:
    """Return which judging counts on the page, where there are several to choose from."""
    if "judging" not in page.filters:
        return {}
    counting = counting_here(selection, reverse(f"analysis:{page.key}"))
    compared = "beside" in page.filters or selection.study is not None
    query = selection.filters.only(SHARED).query(judging="")
    return {
        "counting": counting,
        "compare_judgings": "" if compared else with_query(reverse("analysis:judgings"), query),
    }


def _parts(page: AnalysisPage, report: Report, query: str, state: str) -> dict[str, object]:
    """Return figures and tables, each with the address of its numbers.

    A figure is asked for in the state that its page shows, for a run may go on meanwhile.
    """
    return {
        "figures": [
            (f, with_state(_part_url(page, "figure", f.name, query), state)) for f in report.figures
        ],
        "tables": [(t, _part_url(page, "table", t.name, query)) for t in report.tables],
    }


def _without_forms(report: Report) -> Report:
    """Return the report for those who may not start runs: it leads to no form that would refuse
    them.
    """
    form = reverse("benchmarks:run_new")
    return replace(
        report,
        tables=tuple(
            replace(table, rows=tuple(tuple(_without(cell, form) for cell in row)
                                      for row in table.rows))
            for table in report.tables
        ),
    )  # fmt: skip


def _without(cell: Cell, form: str) -> Cell:
    return replace(cell, url="") if cell.url.startswith(form) else cell


def _details_context(
    request: HttpRequest, page: AnalysisPage, selection: Selection, key: str
) -> dict[str, object]:
    """Return what the fragment of the details shows; what takes longer stands at its end."""
    starts = request.user.has_perm(START)
    report = details_report(page, selection, key)
    report = report if starts else _without_forms(report)
    query = selection.filters.query()
    wanted = deferred_request(page, selection)
    parts, whole = _parts(page, report, query, key), make_report(page, selection, key)
    return {
        "page": page,
        "details": report,
        "whole": whole,
        "details_key": f"{key_of('details', key)}{'' if starts else '-reads'}"
        f"{'-waits' if report.waits else ''}",
        "details_figures": parts["figures"],
        "here": _parts(page, whole, query, key)["tables"],
        "details_tables": parts["tables"],
        **(_deferred_context(page, selection, find_deferred(wanted)) if wanted is not None else {}),
    }


def _deferred_context(
    page: AnalysisPage, selection: Selection, state: DeferredReport
) -> dict[str, object]:
    """Return what the fragment of a long report shows."""
    query = selection.filters.query()
    context: dict[str, object] = {
        "deferred": state,
        "opened_url": _opened_url(page, query),
        "deferred_url": with_query(reverse(f"analysis:{page.key}_later"), query),
        "deferred_settled": all(run.finished for run in selection.runs),
    }
    if state.report is not None:
        parts = _parts(page, state.report, query, state.wanted.key)
        context |= {"deferred_figures": parts["figures"], "deferred_tables": parts["tables"]}
    return context


def _opened_url(page: AnalysisPage, query: str) -> str:
    """Return the address of the page with its details open, for those without scripts."""
    more = f"{query}&details=open" if query else "details=open"
    return with_query(reverse(f"analysis:{page.key}"), more)


def _part_url(page: AnalysisPage, kind: str, part: str, query: str) -> str:
    return with_query(reverse(f"analysis:{page.key}_{kind}", kwargs={"part": part}), query)


def _empty_url(request: HttpRequest, report: Report) -> str:
    """Return where the button of an empty page leads, for those who may go there."""
    empty = report.empty
    if empty is None or (empty.needs and not request.user.has_perm(empty.needs)):
        return ""
    return empty.action_url


def subject_of(selection: Selection) -> str:
    """Return what the figures are about, in one line under the title."""
    chosen = selection.filters
    words = [selection.study.name] if selection.study is not None else []
    words += [dataset_name(selection)] if selection.dataset is not None else []
    words += [f"level {chosen.level}"] if chosen.level else []
    words += [f"condition {_condition(selection)}"] if chosen.condition else []
    if selection.runs or selection.study is None:
        words += [f"{len(selection.runs)} runs" if len(selection.runs) != 1 else "1 run"]
    return " · ".join(words) if selection.dataset or selection.study else ""


def _condition(selection: Selection) -> str:
    """Return the chosen condition as its filter calls it."""
    known = {option.value: option.label for option in selection.options.get("condition", ())}
    return known.get(selection.filters.condition, selection.filters.condition)
