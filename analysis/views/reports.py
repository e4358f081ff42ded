"""A page of analysis, its figures as JSON and its tables as CSV, all from the same report."""

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from analysis.filters import Filters, read_filters, with_query
from analysis.forms import FilterForm
from analysis.pages import PAGES, Page, make_report, pages_of, report_key, select
from analysis.reports.common import banners, dataset_name
from analysis.reports.parts import Report
from analysis.selection import Selection
from analysis.study_choice import readable_studies
from analysis.views.answers import answer_figure, answer_table
from annotation.access import person
from benchmarks.access import VIEW, allow, signed_in, visibility


@require_safe
@signed_in
def index(request: HttpRequest) -> HttpResponseBase:
    """The first page, with the filters of the address."""
    allow(request, VIEW)
    return redirect(with_query(reverse("analysis:leaderboard"), request.GET.urlencode()))


@require_safe
@signed_in
def of_study(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The first page that is about what a study asks."""
    allow(request, VIEW)
    studies, _ = readable_studies(person(request))
    study = next((study for study in studies if study.pk == pk), None)
    if study is None:
        raise Http404("There is no such study.")
    found = [*pages_of(study), PAGES["ratings"]][0]
    return redirect(with_query(reverse(f"analysis:{found.name}"), {"study": pk}))


@require_safe
@signed_in
def page(request: HttpRequest, name: str) -> HttpResponseBase:
    """One sentence, the figures, the tables, and how it was computed."""
    found, selection, key = _open(request, name)
    report = make_report(found, selection, key)
    query = selection.filters.query()
    context = {
        "page": found,
        "report": report,
        "selection": selection,
        "form": FilterForm(selection, found.filters),
        "banners": banners(selection),
        "tabs": _tabs(found, selection),
        "subject": _subject(selection),
        "figures": [
            (figure, _part_url(found, "figure", figure.name, query)) for figure in report.figures
        ],
        "tables": [
            (table, _part_url(found, "table", table.name, query)) for table in report.tables
        ],
        "page_url": with_query(reverse(f"analysis:{name}"), query),
        "plain_url": reverse(f"analysis:{name}"),
        "empty_url": _empty_url(request, report),
    }
    return render(request, "analysis/page.html", context)


@require_safe
@signed_in
def figure(request: HttpRequest, name: str, part: str) -> HttpResponseBase:
    """A figure as JSON; unchanged (304) as long as nothing behind it changed."""
    found, selection, key = _open(request, name)
    return answer_figure(request, key, part, lambda: make_report(found, selection, key))


@require_safe
@signed_in
def table(request: HttpRequest, name: str, part: str) -> HttpResponseBase:
    """A table as CSV: the rows of the page, in numbers that are not rounded for reading."""
    found, selection, key = _open(request, name)
    about = slugify(str(selection.study or selection.dataset or ""))
    report = make_report(found, selection, key)
    return answer_table(report, part, [name, part, about, selection.filters.level])


def _open(request: HttpRequest, name: str) -> tuple[Page, Selection, str]:
    """Authorise, then find what the address is about."""
    allow(request, VIEW)
    found = PAGES[name]
    selection = select(
        found,
        read_filters(request.GET),
        request.user,  # type: ignore[arg-type]
        visibility(request),
    )
    return found, selection, report_key(found, selection)


def _part_url(found: Page, kind: str, part: str, query: str) -> str:
    return with_query(reverse(f"analysis:{found.name}_{kind}", kwargs={"part": part}), query)


def _empty_url(request: HttpRequest, report: Report) -> str:
    """Where the button of an empty page leads, for those who may go there."""
    empty = report.empty
    if empty is None or (empty.needs and not request.user.has_perm(empty.needs)):
        return ""
    return empty.action_url


def _tabs(found: Page, selection: Selection) -> list[dict[str, object]]:
    """The other pages, with the filters that mean the same there."""
    chosen = selection.filters
    if found.of_study:
        shared = Filters(dataset=chosen.dataset, agents=chosen.agents)
    else:
        shared = Filters(
            dataset=chosen.dataset,
            level=chosen.level,
            condition=chosen.condition,
            agents=chosen.agents,
            experiment=chosen.experiment,
            judging=chosen.judging,
        )
    same = pages_of(selection.study) if selection.study is not None else []
    tabs: list[dict[str, object]] = []
    for other in PAGES.values():
        query = "" if other.of_study else shared.query()
        if other in same:
            query = Filters(study=chosen.study, unblinded=chosen.unblinded).query()
        url = with_query(reverse(f"analysis:{other.name}"), query)
        tabs.append({"title": other.title, "url": url, "current": other is found})
    return tabs


def _subject(selection: Selection) -> str:
    """What the figures are about, in one line under the title."""
    chosen = selection.filters
    words = [selection.study.name] if selection.study is not None else []
    words += [dataset_name(selection)] if selection.dataset is not None else []
    words += [f"level {chosen.level}"] if chosen.level else []
    words += [f"condition {_condition(selection)}"] if chosen.condition else []
    if selection.runs or selection.study is None:
        words += [f"{len(selection.runs)} runs" if len(selection.runs) != 1 else "1 run"]
    return " · ".join(words) if selection.dataset or selection.study else ""


def _condition(selection: Selection) -> str:
    """The chosen condition as its filter calls it."""
    known = {option.value: option.label for option in selection.options.get("condition", ())}
    return known.get(selection.filters.condition, selection.filters.condition)
