"""Uploaded tables of ratings: the list, the upload form and check, and the agreement pages."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.conf import settings as django_settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.agreement.inputs import AgreementSettings, example_csv
from analysis.exports.about import about_file
from analysis.exports.figure_pdf import pdf_file
from analysis.exports.latex import TableSource
from analysis.exports.responses import answer_figure, answer_latex, answer_table
from analysis.exports.table_choice import read_choice
from analysis.filters import with_query
from analysis.models import RatingTable
from analysis.pages.navigation import own_tables
from analysis.reports.content import Report
from analysis.reports.deferred_files import DeferredFile, deferred_file
from analysis.reports.deferred_reports import kept_deferred
from analysis.reports.stored_reports import with_state
from analysis.tables.checks import TableCheck, checks_of, enqueue_check, moving_checks
from analysis.tables.selectors import TablePage, ask_for, may_change, shown, tables_for
from analysis.tables.services import (
    LONGEST_NAME,
    MOST_RATINGS,
    QUICK_CELLS,
    delete_table,
    is_small,
    rename_table,
    settings_of,
    share_table,
    store_table,
    too_large,
)
from annotation.access import person
from benchmarks import paging
from benchmarks.access import VIEW, allow, signed_in
from benchmarks.core.problems import FileRefused, text_fault
from benchmarks.imports.uploads import announces_too_much
from benchmarks.imports.views import throw_away
from benchmarks.lists.columns import ListColumn, column_choice, list_csv, wants_csv
from benchmarks.paging import as_id
from benchmarks.responses import STOP_POLLING, wants_fragment

EPSILONS = (
    ("0.1", "0.1 – people here are crowd workers (the strictest)"),
    ("0.15", "0.15 – people here are skilled annotators"),
    ("0.2", "0.2 – people here are experts"),
)
FARTHEST = 10_000
TABLES = 50


class TableForm(forms.Form):
    """The form for a new table: the file, and the settings of its report."""

    use_required_attribute = False

    file = forms.FileField(
        label="File",
        max_length=255,
        error_messages={"required": "Choose a file.", "empty": "The file is empty."},
    )
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=LONGEST_NAME,
        help_text="Left empty, it is the file’s name.",
    )
    low = forms.IntegerField(
        label="Lowest score",
        initial=1,
        min_value=-FARTHEST,
        max_value=FARTHEST,
        help_text="The lowest score that raters could give, even if nobody did: weights depend "
        "on the whole scale.",
    )
    high = forms.IntegerField(
        label="Highest score", initial=5, min_value=-FARTHEST, max_value=FARTHEST
    )
    epsilon = forms.ChoiceField(
        label="ε, how much worse than a person a judge may be",
        choices=EPSILONS,
        initial="0.1",
        widget=forms.RadioSelect,
        help_text="A judge is cheaper than a person, so it may be a little worse and still stand "
        "in. The more a person’s time costs, the larger ε may be.",
    )
    margin = forms.FloatField(
        label="Margin, how far a judge’s kappa may lie below people’s",
        initial=0.15,
        help_text="A judge passes when the interval of its kappa with people, minus people’s own, "
        "lies above minus this margin: between 0 and 1.",
    )
    half_width = forms.FloatField(
        label="Wanted precision, ±",
        initial=0.1,
        help_text="The report says how many items an interval of this half-width needs: between "
        "0 and 1.",
    )
    seed = forms.IntegerField(
        label="Seed",
        initial=1,
        min_value=0,
        max_value=2**32 - 1,
        help_text="Resampling draws by chance; the same seed gives the same numbers.",
    )
    resamples = forms.IntegerField(
        label="Resamples",
        initial=1000,
        min_value=100,
        max_value=10_000,
        help_text="Draws for each bootstrap interval: more are smoother and slower.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = (
            f"CSV, plain or gzipped; at most {django_settings.TABLE_BYTES >> 20} MB and "
            f"{MOST_RATINGS:,} ratings."
        )

    def clean_file(self) -> object:
        file = self.cleaned_data["file"]
        if file.size > django_settings.TABLE_BYTES:
            raise forms.ValidationError(too_large())
        return file

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name and (fault := text_fault(name, LONGEST_NAME)):
            raise forms.ValidationError(f"Expected {fault}.")
        return name

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if not self.errors:
            try:
                self.settings = AgreementSettings(
                    scale=(given["low"], given["high"]),
                    seed=given["seed"],
                    resamples=given["resamples"],
                    epsilon=float(given["epsilon"]),
                    margin=given["margin"],
                    half_width=given["half_width"],
                )
            except ValueError as error:
                raise forms.ValidationError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
        return given


class SectionForm(forms.Form):
    """The choice of the section of a table; it is only displayed, never validated."""

    use_required_attribute = False

    def __init__(self, sections: Sequence[str], part: int) -> None:
        super().__init__(auto_id="filter-%s")
        choices = [(str(number), title) for number, title in enumerate(sections, 1)]
        self.fields["section"] = forms.ChoiceField(
            label="Dataset and criterion",
            choices=[("", "All, side by side"), *choices],
            initial=str(part) if part else "",
        )


TABLE_COLUMNS = (
    ListColumn("table", "Table", {"id": "pk", "table": "name", "file": "file"}, fixed=True),
    ListColumn("ratings", "Ratings", {"ratings": "rows"}),
    ListColumn(
        "settings",
        "Chosen before looking",
        {
            name: f"settings.{name}"
            for name in ("scale", "epsilon", "margin", "seed", "resamples", "half_width")
        },
    ),
    ListColumn(
        "uploaded", "Uploaded", {"uploaded": "created_at", "uploaded_by": "created_by.username"}
    ),
    ListColumn("sharing", "Who sees it", {"shared": "shared"}),
)


@require_safe
@signed_in
def table_list(request: HttpRequest) -> HttpResponseBase:
    """Show one's own tables and those that others share."""
    allow(request, VIEW)
    who = person(request)
    if wants_csv(request):
        return list_csv("tables", TABLE_COLUMNS, tables_for(who))
    page = paging.page_by_id(tables_for(who), request.GET, size=TABLES)
    columns = column_choice(request, "tables", TABLE_COLUMNS)
    context = {
        "columns": columns,
        "hidden": columns.hidden,
        "page": page,
        "places": own_tables(),
        "me": who,
        "checks": moving_checks(who),
    }
    return render(request, "analysis/tables/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@csrf_exempt  # the length is looked at before anything is read; what follows is protected
def table_new(request: HttpRequest) -> HttpResponseBase:
    """Show the form for a new table; POST checks and stores the file."""
    allow(request, VIEW)
    length = request.META.get("CONTENT_LENGTH") or ""
    if request.method == "POST" and announces_too_much(length, settings.TABLE_BYTES):
        throw_away(request, settings.TABLE_BYTES)
        return _form(request, TableForm(), status=413, too_large=too_large())
    return _new(request)


@csrf_protect
def _new(request: HttpRequest) -> HttpResponse:
    form = TableForm(request.POST or None, request.FILES or None)
    if request.method != "POST":
        return _form(request, form)
    if not form.is_valid():
        return _form(request, form, status=422)
    given, who = form.cleaned_data, person(request)
    sent = {"upload": given["file"], "name": given["name"], "settings": form.settings}
    if not is_small(given["file"]):
        return _queue_check(**sent, created_by=who)
    try:
        table, created = store_table(**sent, created_by=who, most_cells=QUICK_CELLS)
    except FileRefused as error:
        # Imports numpy, which the server starts without.
        from analysis.agreement.csv_table import TooWide

        if isinstance(error, TooWide):
            return _queue_check(**sent, created_by=who)
        return _form(request, form, status=422, refused=error)
    if not created:
        messages.info(request, "You have this file with these settings already; this is it.")
    page = shown(table, None)
    if page.deferred.unasked:
        ask_for(table, page.part, who)
    return HttpResponseRedirect(reverse("analysis:rating_table", args=[table.pk]))


def _queue_check(**given: Any) -> HttpResponse:
    job = enqueue_check(**given)
    return HttpResponseRedirect(reverse("analysis:table_check", args=[job.pk]))


def _form(request: HttpRequest, form: TableForm, *, status: int = 200, **more: Any) -> HttpResponse:
    context = {"form": form, "places": own_tables(), **more}
    return render(request, "analysis/tables/new.html", context, status=status)


@require_safe
@signed_in
def table_example(request: HttpRequest) -> HttpResponseBase:
    """Send a small example table as CSV."""
    allow(request, VIEW)
    response = HttpResponse(example_csv(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="ratings-example.csv"'
    return response


@require_safe
@signed_in
def rating_table(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Show the agreement pages of a table: one section, or all side by side."""
    table, page = _open(request, table_id)
    context = {
        "table_row": table,
        "settings": settings_of(table),
        "places": own_tables(),
        "may_change": may_change(table, person(request)),
        "form": SectionForm(page.sections, page.part) if len(page.sections) > 1 else None,
        "plain_url": reverse("analysis:rating_table", args=[table.pk]),
        **_context(table, page),
    }
    return render(request, "analysis/tables/table.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def rating_table_later(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Show the deferred report: POST starts it, GET returns its progress."""
    table, page = _open(request, table_id)
    page_url = _url("rating_table", table, page)
    if request.method == "POST":
        page = TablePage(ask_for(table, page.part, person(request)), page.part, page.sections)
    elif page.deferred.moving and "waiting" in request.GET:
        return HttpResponse(status=204)
    if not wants_fragment(request):
        return redirect(page_url)
    if page.deferred.report is not None:
        # With the report come the sections to choose from, so the page is loaded anew.
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "analysis/_deferred.html", _context(table, page))


@require_safe
@signed_in
def rating_table_figure(request: HttpRequest, table_id: int, part: str) -> HttpResponseBase:
    """Show a figure as JSON."""
    _, page = _open(request, table_id)
    return answer_figure(
        request,
        page.deferred.wanted.key,
        part,
        lambda: _ready_report(page),
        lambda state: (kept_deferred(state),),
    )


@require_safe
@signed_in
def rating_table_csv(request: HttpRequest, table_id: int, part: str) -> HttpResponseBase:
    """Show a table of the report as CSV."""
    table, page = _open(request, table_id)
    title = page.sections[page.part - 1] if page.part else ""
    return answer_table(_ready_report(page), part, [table.name, part, title])


@require_safe
@signed_in
def rating_table_latex(request: HttpRequest, table_id: int, part: str) -> HttpResponseBase:
    """Show a table of the report as LaTeX."""
    table, page = _open(request, table_id)
    title = page.sections[page.part - 1] if page.part else ""
    url = request.build_absolute_uri(_url("rating_table", table, page))
    subject = " · ".join(word for word in (table.name, title) if word)
    report = _ready_report(page)
    choice = read_choice(request.GET)
    source = TableSource("table", subject, about_file(url), report.banners, choice)
    return answer_latex(report, part, [table.name, part, title], source)


@require_safe
@signed_in
@deferred_file
def rating_table_pdf(
    request: HttpRequest, table_id: int, part: str
) -> DeferredFile | HttpResponseBase:
    """Show a figure as PDF."""
    table, page = _open(request, table_id)
    spec = _ready_report(page).figure(part)
    key = f"{page.deferred.wanted.key}:{part}"
    return pdf_file(request, lambda: spec, key, [table.name, part])


@require_POST
@signed_in
def rating_table_rename(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Rename a table."""
    table = _own(request, table_id)
    try:
        rename_table(table=table, name=request.POST.get("name", "").strip())
    except ValueError as error:
        messages.error(request, str(error))
    return redirect("analysis:rating_table", table_id)


@require_POST
@signed_in
def rating_table_share(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Share a table with everybody who may see results, or stop sharing it."""
    shared = request.POST.get("shared") == "1"
    share_table(table=_own(request, table_id), shared=shared)
    message = "Everybody who may see results sees it now." if shared else "Only you see it now."
    messages.success(request, message)
    return redirect("analysis:rating_table", table_id)


@require_POST
@signed_in
def rating_table_delete(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Delete a table for good, if the box was ticked."""
    table = _own(request, table_id)
    if request.POST.get("sure") != "1":
        messages.error(request, "Tick the box to delete the table for good.")
        return redirect("analysis:rating_table", table_id)
    name = table.name
    delete_table(table=table)
    messages.success(request, f"“{name}” is deleted.")
    return redirect("analysis:table_list")


def _open(request: HttpRequest, table_id: int) -> tuple[RatingTable, TablePage]:
    """Authorise, then find the table and what the address shows of it."""
    allow(request, VIEW)
    table = get_object_or_404(tables_for(person(request)), pk=table_id)
    return table, shown(table, as_id(request.GET.get("section", "")))


def _own(request: HttpRequest, table_id: int) -> RatingTable:
    allow(request, VIEW)
    who = person(request)
    table = get_object_or_404(tables_for(who), pk=table_id)
    if not may_change(table, who):
        raise PermissionDenied("This table is somebody else’s.")
    return table


def _ready_report(page: TablePage) -> Report:
    if page.deferred.report is None:
        raise Http404("This is not computed yet.")
    return page.deferred.report


def _url(name: str, table: RatingTable, page: TablePage, **more: str) -> str:
    url = reverse(f"analysis:{name}", kwargs={"table_id": table.pk, **more})
    return with_query(url, {"section": page.part} if page.part else "")


def _context(table: RatingTable, page: TablePage) -> dict[str, object]:
    """Return the context of the fragment: the report or its progress."""
    report, key = page.deferred.report, page.deferred.wanted.key
    context: dict[str, object] = {
        "deferred": page.deferred,
        "deferred_url": _url("rating_table_later", table, page),
        "deferred_settled": True,
    }
    if report is not None:
        context |= {
            "report": report,
            "key": key,
            "empty_url": report.empty.action_url if report.empty else "",
            "figures": [
                (f, with_state(_url("rating_table_figure", table, page, part=f.name), key))
                for f in report.figures
            ],
            "tables": [
                (t, _url("rating_table_csv", table, page, part=t.name)) for t in report.tables
            ],
        }
    return context


@require_safe
@signed_in
def table_check(request: HttpRequest, job_id: int) -> HttpResponseBase:
    """Redirect to the table once it is stored; where it was refused, show the form without the
    file.
    """
    view = _find(request, job_id)
    if view.result:
        if not view.result["created"]:
            messages.info(request, "You have this file with these settings already; this is it.")
        return HttpResponseRedirect(reverse("analysis:rating_table", args=[view.result["table"]]))
    if view.moving:
        return render(request, "analysis/tables/check.html", {"view": view})
    context: dict[str, object] = {"form": TableForm(initial=view.given)}
    if view.refused and view.faults:
        context["refused"] = {"problems": view.faults, "total": view.refused["total"]}
    else:
        context["too_large"] = view.job.message
    return render(request, "analysis/tables/new.html", context)


@require_safe
@signed_in
def table_check_progress(request: HttpRequest, job_id: int) -> HttpResponse:
    """Show the fragment, asked for every second: 204 while nothing moved; the page anew at the
    end.
    """
    view = _find(request, job_id)
    if view.moving and request.GET.get("v") == view.mark:
        return HttpResponse(status=204)
    response = render(request, "analysis/tables/_check_progress.html", {"view": view})
    if view.over:
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response


def _find(request: HttpRequest, job_id: int) -> TableCheck:
    """Authorise; only who sent a table sees how far its check is."""
    allow(request, VIEW)
    return TableCheck(get_object_or_404(checks_of(person(request)), pk=job_id))
