"""The analysis pages and groups of failures in the HTTP API, as JSON: one endpoint for all pages.

A page is declared once (`analysis.pages.catalogue`), so a new one is in the API without a line
here. Answers come from the same stored reports as the pages.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field, create_model

from analysis.browser.groups.failure_groups import (
    GroupChoice,
    GroupOptions,
    choose,
    read_group_options,
    wanted_groups,
)
from analysis.exports.plotly_json import plotly_figure
from analysis.filters import FILTERS, LISTS, LONGEST, Filters, with_query
from analysis.filters.selection import Selection
from analysis.pages.branches.views import branch_runs, read_report
from analysis.pages.catalogue import PAGES, AnalysisPage
from analysis.pages.reports import (
    answer_report,
    deferred_request,
    deferred_state,
    make_report,
    open_selection,
)
from analysis.pages.views import subject_of
from analysis.reports.content import FigureSpec, Report, Table
from analysis.reports.deferred_files import file_of
from analysis.reports.deferred_reports import DeferredReport, find_deferred, request_deferred
from analysis.reports.methods import methods_sentence
from analysis.reports.run_marks import banners
from benchmarks.access import VIEW, allow, fetch, visibility
from benchmarks.api.auth import user_of
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.runs import CertificateOut
from benchmarks.models import Branch

LaterStatus = Literal["none", "not_requested", "queued", "running", "failed", "ready"]


class NoticeOut(Schema):
    """A notice that limits how results may be read; ``url`` lists what it counts."""

    tone: Literal["info", "warning"]
    text: str
    url: str = ""


class MarkOut(Schema):
    """A mark on results that are not the real thing, such as those of scripted agents."""

    title: str
    text: str


class EmptyOut(Schema):
    """The reason why a page has nothing to show."""

    title: str
    text: str


class FigureOut(Schema):
    """A figure as Plotly takes it."""

    name: str
    title: str
    subtitle: str
    table: str = Field(description="Name of the table that holds its numbers; may be empty.")
    plotly: dict[str, Any] = Field(description="`data` and `layout`, for `plotly.graph_objects`.")


class ReasonOut(Schema):
    """The reason why a cell of a table has no value."""

    row: int = Field(description="Number of the row, from 0.")
    column: str
    reason: str


class TableOut(Schema):
    """A table with all of its rows, in numbers that are not rounded for reading."""

    name: str
    title: str
    note: str
    columns: list[str]
    rows: list[list[str | int | float | None]]
    reasons: list[ReasonOut]
    comparability: list[CertificateOut] = Field(
        description="For a table with published values: how the runs beside them compare."
    )


class PartsOut(Schema):
    """The contents of a report: sentences, figures, tables and notices."""

    answer: str = Field(description="The answer in a sentence or two.")
    notices: list[NoticeOut]
    figures: list[FigureOut]
    tables: list[TableOut]
    how: list[str] = Field(description="How it was computed, line by line.")
    methods: str = Field(description="Sentences for the methods section of a paper.")
    comparability: list[CertificateOut] = Field(
        description="How the runs compare with published values in this report; empty without any."
    )


class LaterOut(Schema):
    """The part that takes too long for a request: a job computes it when it is requested."""

    status: LaterStatus
    message: str = Field(description="How far the job is, or why it failed.")
    report: PartsOut | None


class FilterOptionOut(Schema):
    """A choice of a filter; `count` is the number of runs that have it, where it is counted."""

    value: str
    label: str
    count: int | None


class PageSummary(Schema):
    """An analysis page."""

    key: str
    title: str
    question: str
    filters: list[str] = Field(description="The query fields that this page takes.")
    takes_long: bool = Field(description="Whether a part of it is computed by a job.")


class AnalysisOut(PartsOut):
    """An analysis page with its filters as they were resolved."""

    key: str
    title: str
    question: str
    subject: str = Field(description="What the figures are about, in one line.")
    url: str = Field(description="The same page in a browser.")
    filters: dict[str, str | list[str]]
    choices: dict[str, list[FilterOptionOut]] = Field(description="What could be chosen instead.")
    marks: list[MarkOut] = Field(description="Such as: scripted agents, simulated annotators.")
    empty: EmptyOut | None = Field(description="Why there is nothing; null where there is.")
    waits: bool = Field(description="The answer itself waits for the job under `later`.")
    later: LaterOut


class BranchResultsOut(PartsOut):
    """What came of the replays of a run of branches."""

    run: int
    trajectory: int = Field(description="The trajectory from which they leave.")
    turn: int = Field(description="The first turn at which one leaves it.")
    url: str = Field(description="The same in a browser.")
    empty: EmptyOut | None = Field(description="Why there is nothing; null where there is.")


class GroupsOut(Schema):
    """Groups of similar failures: a job makes them when they are requested."""

    status: LaterStatus
    message: str
    url: str = Field(description="The same groups in a browser.")
    matching: int = Field(description="Trajectories in the list.")
    failed: int = Field(description="Those of them that failed.")
    left_out: dict[str, int] = Field(description="Those that are not grouped, by reason.")
    marks: list[MarkOut]
    empty: EmptyOut | None
    report: PartsOut | None


_Word = Annotated[str, Field(max_length=LONGEST)]
_FilterFields: Any = {
    name: (list[_Word], Field([], max_length=100, description=words.label))
    if name in LISTS
    else (_Word, Field("", description=words.label))
    for name, words in FILTERS.items()
}
_Filters = create_model("_Filters", __base__=Schema, **_FilterFields)


class FilterQuery(_Filters):  # type: ignore[misc, valid-type]
    """The filters of the analysis pages; which of them a page takes, its summary says."""


class PageQuery(FilterQuery):
    """The filters of a page, and how much of it is wanted."""

    details: bool = Field(
        True, description="With further figures and tables, and how all was computed."
    )


class TableQuery(FilterQuery):
    """The filters of a page, and how its table is written."""

    format: Literal["csv", "latex"] = "csv"


class FigureQuery(FilterQuery):
    """The filters of a page, and how wide its figure is."""

    width: Literal["column", "wide", "page"] = Field(
        "column", description="85 mm, 178 mm, or a whole page."
    )


class GroupQuery(GroupChoice):
    """The list that is grouped, and the options of grouping."""

    trajectories: str = Field(
        "",
        max_length=4000,
        description="The query string of the trajectory list, such as `run=4` or "
        "`dataset=1&end=early_stop`; all trajectories if left empty.",
    )


router = Router(tags=["Analysis"])
TABLE_FILE = {
    "responses": {
        200: {
            "description": "The file.",
            "content": {
                "text/csv": {"schema": {"type": "string"}},
                "application/x-tex": {"schema": {"type": "string"}},
            },
        }
    }
}
FIGURE_FILE = {
    "responses": {
        200: {
            "description": "The file.",
            "content": {"application/pdf": {"schema": {"type": "string", "format": "binary"}}},
        }
    }
}


# A file that is not written within so many seconds is refused for now: ask again for it.
FILE_SECONDS = 20.0


@router.get("/analysis", response={200: list[PageSummary], **refusals()})
def list_analysis_pages(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the analysis pages with the question that each answers."""
    allow(request, VIEW)
    return [
        {
            "key": page.key,
            "title": page.title,
            "question": page.question,
            "filters": list(page.filters),
            "takes_long": page.deferred,
        }
        for page in PAGES.values()
    ]


@router.get("/analysis/{slug:page}", response={200: AnalysisOut, **refusals(404)})
def get_analysis(request: HttpRequest, page: str, query: Query[PageQuery]) -> dict[str, Any]:
    """Return one page: answer, figures, tables and methods, for the filters given.

    What is not given is chosen as the page does, and `filters` says how. The first request for new
    data takes as long as the page; after that the report is stored.
    """
    about, selection, key = _open(request, page, query)
    report = make_report(about, selection, key) if query.details else None
    report = report or answer_report(about, selection, key)
    wanted = deferred_request(about, selection)
    later = deferred_state(wanted, waits=report.waits) if wanted is not None else None
    return {
        "key": about.key,
        "title": about.title,
        "question": about.question,
        "subject": subject_of(selection),
        "url": with_query(reverse(f"analysis:{about.key}"), selection.filters.query()),
        "filters": {
            name: list(value) if isinstance(value, tuple) else value
            for name in about.filters
            if (value := getattr(selection.filters, name))
        },
        "choices": {
            name: [{"value": o.value, "label": o.label, "count": o.count} for o in options]
            for name, options in selection.options.items()
            if name in about.filters
        },
        "marks": [*banners(selection), *report.banners],
        "empty": report.empty,
        "waits": report.waits,
        **parts_out(report),
        "later": _later(later),
    }


@router.post("/analysis/{slug:page}/later", response={202: LaterOut, **refusals(404)})
def request_analysis(request: HttpRequest, page: str, query: Query[FilterQuery]) -> Status[Any]:
    """Have the part computed that takes long; get the page again until `later` is ready."""
    about, selection, key = _open(request, page, query)
    wanted = deferred_request(about, selection)
    if wanted is None:
        raise Http404
    if answer_report(about, selection, key).waits:
        deferred_state(wanted, waits=True)
    return Status(202, _later(request_deferred(wanted=wanted, person=user_of(request))))


@router.get(
    "/analysis/{slug:page}/tables/{slug:name}",
    response=refusals(404, 503),
    openapi_extra=TABLE_FILE,
)
def get_analysis_table(
    request: HttpRequest, page: str, name: str, query: Query[TableQuery]
) -> HttpResponseBase:
    """Send a table of a page as CSV, or as LaTeX for a paper."""
    about, selection, _ = _open(request, page, query)
    form = "table" if query.format == "csv" else "latex"
    at = reverse(f"analysis:{about.key}_{form}", kwargs={"part": name})
    return file_answer(request, with_query(at, selection.filters.query()), "not_written")


@router.get(
    "/analysis/{slug:page}/figures/{slug:name}",
    response=refusals(404, 501, 503),
    openapi_extra=FIGURE_FILE,
)
def get_analysis_figure(
    request: HttpRequest, page: str, name: str, query: Query[FigureQuery]
) -> HttpResponseBase:
    """Send a figure of a page as PDF, where the server has a browser that prints it."""
    about, selection, _ = _open(request, page, query)
    pairs = f"{selection.filters.query()}&width={query.width}".lstrip("&")
    at = reverse(f"analysis:{about.key}_pdf", kwargs={"part": name})
    return file_answer(request, with_query(at, pairs), "not_printed")


def file_answer(request: HttpRequest, at: str, late: str) -> HttpResponseBase:
    """Return the file at an address of the pages, as soon as a job has written it.

    ``late`` is the code of the error where that takes too long or fails.
    """
    answer = file_of(request, at, FILE_SECONDS)
    if answer.status_code != 200:
        words = answer.content.decode() if isinstance(answer, HttpResponse) else ""
        codes = {404: "not_found", 501: "not_installed"}
        status = answer.status_code if answer.status_code in codes else 503
        raise ApiError(status, words, code=codes.get(status, late))
    return answer


def _open(request: HttpRequest, name: str, query: Any) -> tuple[AnalysisPage, Selection, str]:
    allow(request, VIEW)
    if name not in PAGES:
        raise Http404
    page = PAGES[name]
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value.strip()
        for key in FILTERS
        if (value := getattr(query, key))
    }
    for name in given:
        if name not in page.filters:
            known = ", ".join(page.filters)
            raise ApiError(422, f"This page has no such filter; known: {known}.", name, "unknown")
    return page, *open_selection(page, Filters(**given), user_of(request), visibility(request))


@router.get("/branches/{int:run_id}", response={200: BranchResultsOut, **refusals(404)})
def get_branch_results(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """Return what the replays of a run of branches come to: the effect of an answer, or the turn
    that decided it.
    """
    run = fetch(request, branch_runs(), pk=run_id)
    branch = Branch.objects.filter(trajectory__run=run).order_by("pk").first()
    if branch is None:
        raise Http404
    report = read_report(run)
    return {
        "run": run.pk,
        "trajectory": branch.parent_id,
        "turn": branch.turn,
        "url": reverse("analysis:branches", args=[run.pk]),
        "empty": report.empty,
        **parts_out(report),
    }


# --- Groups of failures ---------------------------------------------------------------------------


@router.get("/failure-groups", response={200: GroupsOut, **refusals()})
def get_failure_groups(request: HttpRequest, query: Query[GroupQuery]) -> dict[str, Any]:
    """Return groups of similar failures of a list of trajectories, once they were requested."""
    asked, state, rest = _groups(request, query)
    return _group_answer(asked, state, rest)


@router.post("/failure-groups", response={202: GroupsOut, **refusals()})
def request_failure_groups(request: HttpRequest, query: Query[GroupQuery]) -> Status[Any]:
    """Have the groups made; get them again until they are ready."""
    asked, state, rest = _groups(request, query)
    state = request_deferred(wanted=state.wanted, person=user_of(request))
    return Status(202, _group_answer(asked, state, rest))


def _groups(
    request: HttpRequest, query: GroupQuery
) -> tuple[GroupOptions, DeferredReport, dict[str, Any]]:
    # Arrays are slow to import: not when the server starts.
    from analysis.trajectory_index.listing import listing

    allow(request, VIEW)
    params = QueryDict(query.trajectories, mutable=True)
    for name in GroupChoice.model_fields:
        value = getattr(query, name)
        params[name] = "" if value is None else str(value)
    asked = read_group_options(params)
    listed = listing(QueryDict(asked.query), visibility(request))
    used = {name for name, _, _ in listed.query.chips}
    problems = [*listed.query.problems] or [
        f"“{name[:40]}” narrows nothing here."
        for name in QueryDict(asked.query)
        if name not in used
    ]
    if problems:
        raise ApiError(422, " ".join(problems), "trajectories")
    chosen = choose(listed, asked)
    rest = {
        "matching": chosen.matching,
        "failed": chosen.failed,
        "left_out": dict(chosen.left_out),
    }
    return asked, find_deferred(wanted_groups(asked, chosen, visibility(request))), rest


def _group_answer(
    asked: GroupOptions, state: DeferredReport, rest: Mapping[str, Any]
) -> dict[str, Any]:
    answer, report = _later(state), state.report
    return {
        "status": answer["status"],
        "message": answer["message"],
        "url": with_query(reverse("analysis:trajectory_groups"), asked.full_query),
        **rest,
        "marks": report.banners if report is not None else [],
        "empty": report.empty if report is not None else None,
        "report": answer["report"],
    }


# --- Reports as JSON values -----------------------------------------------------------------------


def _later(state: DeferredReport | None) -> dict[str, Any]:
    if state is None:
        return {"status": "none", "message": "", "report": None}
    if state.report is not None:
        return {"status": "ready", "message": "", "report": parts_out(state.report)}
    if state.job is None:
        return {"status": "not_requested", "message": "", "report": None}
    status = state.job.status if state.moving else "failed"
    return {"status": status, "message": state.job.message, "report": None}


def parts_out(report: Report) -> dict[str, Any]:
    return {
        "answer": report.sentence,
        "notices": [*report.marks, *report.notices],
        "figures": [_figure(report, one) for one in report.figures],
        "tables": [_table(one) for one in report.tables],
        "how": list(report.how),
        "methods": methods_sentence(report),
        "comparability": [one.as_json() for one in report.certificates],
    }


def _figure(report: Report, figure: FigureSpec) -> dict[str, Any]:
    numbers = report.numbers_of(figure)
    return {
        "name": figure.name,
        "title": figure.title,
        "subtitle": figure.subtitle,
        "table": numbers.name if numbers is not None else "",
        "plotly": plotly_figure(figure),
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "note": table.note,
        "columns": table.header,
        "rows": table.records(),
        "reasons": list(_reasons(table)),
        "comparability": [one.as_json() for one in table.certificates],
    }


def _reasons(table: Table) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(table.rows):
        for cell, column in zip(row, table.columns, strict=True):
            if cell.reason:
                yield {"row": number, "column": column.parts[0], "reason": cell.reason}
