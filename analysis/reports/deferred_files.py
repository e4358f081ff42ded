"""Files that take longer than a request may: a job writes them, a page shows how far it is.

A view returns a `DeferredFile`: the key of the data behind the file, and the function that writes
it. Asked by a browser, `deferred_file` sends the file where it is stored, else has a job call the
same view as the same person. How many jobs run at once is bounded (`AT_ONCE`), and so is how many
a person may have waiting.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from time import monotonic, sleep
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.urls import resolve

from analysis.reports.deferred_reports import (
    ACTIVE,
    DeferredReport,
    Params,
    ReportRequest,
    find_deferred,
    report_maker,
    request_deferred,
    run_report_job,
)
from annotation.access import person
from benchmarks.core.digests import digest_text
from benchmarks.core.errors import CoreError
from benchmarks.jobs.services import job_kind
from benchmarks.models import Job
from benchmarks.responses import wants_fragment
from benchmarks.visibility import Visibility

KIND = "analysis-file"
MAKER = "file"
KEEP_SECONDS = 60 * 60
# So many files are written at once, on all machines together: each may take a processor and,
# where a browser draws figures, some 200 MB.
AT_ONCE = 2
# So many files of one person may wait or be written.
MOST_WAITING = 10
# A request waits so many seconds for its file before it answers with a page on the progress.
PATIENCE = 2.0
LOOK_SECONDS = 0.1
TOO_MANY = "{} files of yours are being written. Wait for one of them, then ask again."


class StoredFile(NamedTuple):
    """A file as it is sent; ``status`` 404 with a sentence where the data hold no such part."""

    content: bytes
    content_type: str
    disposition: str
    status: int = 200

    def response(self) -> HttpResponse:
        """Return the file as a download that nothing on the way keeps."""
        response = HttpResponse(self.content, self.content_type, self.status)
        if self.disposition:
            response["Content-Disposition"] = self.disposition
        response["Cache-Control"] = "private, no-cache"
        return response


@dataclass(frozen=True)
class DeferredFile:
    """A file that a job writes. ``key`` changes with the data, ``write`` returns the download.

    ``title`` names it to the person who waits.
    """

    key: str
    title: str
    write: Callable[[], HttpResponse]


Plan = Callable[..., DeferredFile | HttpResponseBase]
View = Callable[..., HttpResponseBase]


class JobRequest(HttpRequest):
    """The request that a job makes again, as the person who asked, with what they may see now."""

    def __init__(self, path: str, server: str, user: User) -> None:
        super().__init__()
        parts = urlsplit(path)
        self.method = "GET"
        self.path = self.path_info = parts.path
        self.META["QUERY_STRING"] = parts.query
        self.GET = QueryDict(parts.query)
        self.user = user
        self.server = server

    def build_absolute_uri(self, location: str | None = None) -> str:
        """Return an address on the server that the person used."""
        return urljoin(self.server + self.get_full_path(), location or "")


def deferred_file(plan: Plan) -> View:
    """Return the view of a file: it sends the file, or a page on how far the job is."""

    @wraps(plan)
    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        wanted = plan(request, *args, **kwargs)
        if not isinstance(wanted, DeferredFile):
            # A page that waits must not get the file itself into its fragment.
            ready = wants_fragment(request) and "Content-Disposition" in wanted.headers
            return _progress(request, None, ready=True) if ready else wanted
        server = request.build_absolute_uri("/").rstrip("/")
        return _answer(request, _find(wanted, request, server, PATIENCE))

    view.plan = plan  # type: ignore[attr-defined]
    return view


def file_of(request: HttpRequest, path: str, patience: float) -> HttpResponseBase:
    """Return the file at another address of the server, for the API; 202 while it is written."""
    asked = JobRequest(path, request.build_absolute_uri("/").rstrip("/"), person(request))
    wanted = _plan(asked)
    if not isinstance(wanted, DeferredFile):
        return wanted
    return _answer(asked, _find(wanted, asked, asked.server, patience))


def _plan(request: "JobRequest") -> DeferredFile | HttpResponseBase:
    match = resolve(request.path)
    planned: DeferredFile | HttpResponseBase = match.func.plan(  # type: ignore[attr-defined]
        request, *match.args, **match.kwargs
    )
    return planned


def _find(
    wanted: DeferredFile, request: HttpRequest, server: str, patience: float
) -> DeferredReport | str:
    """Return the state of a file, and request it where nobody has; or why it is not requested.

    It waits ``patience`` seconds for the file.
    """
    asker = person(request)
    asked = _asked_before(request, asker)
    asked = asked or _file_request(wanted, request.get_full_path(), server, asker)
    state = find_deferred(asked)
    if state.unasked or (state.failed and "again" in request.GET):
        mine = Job.objects.filter(kind=KIND, created_by=asker, status__in=ACTIVE).count()
        if mine >= MOST_WAITING:
            return TOO_MANY.format(mine)
        state = request_deferred(wanted=asked, person=asker)
    until = monotonic() + patience
    while state.moving and not wants_fragment(request) and monotonic() < until:
        sleep(LOOK_SECONDS)
        state = find_deferred(asked)
    return state


def _file_request(wanted: DeferredFile, path: str, server: str, asker: User) -> ReportRequest:
    # A key may name columns, and caches take no blanks and only short keys.
    key = f"file:{digest_text(wanted.key)}:{asker.pk}"
    return ReportRequest(
        MAKER, {"path": path, "server": server, "key": key}, key, wanted.title, KIND
    )


def _asked_before(request: HttpRequest, asker: User) -> ReportRequest | None:
    """Return the request whose job the address names: where data change while it is written, the
    person gets what was written, and not another job.
    """
    number = request.GET.get("job", "")
    if not number.isdecimal() or len(number) > 18:
        return None
    job = Job.objects.filter(pk=int(number), kind=KIND, created_by=asker).first()
    if job is None or urlsplit(job.payload["params"]["path"]).path != request.path:
        return None
    given = job.payload
    return ReportRequest(given["maker"], given["params"], given["key"], job.title, KIND)


def stored_file(state: DeferredReport) -> StoredFile | None:
    """Return the file of a state, once it is there."""
    kept: Any = state.report
    return kept if isinstance(kept, StoredFile) else None


def _answer(request: HttpRequest, state: DeferredReport | str) -> HttpResponseBase:
    """Send the file, or say how far it is: to people as a page, to programs as a sentence."""
    if isinstance(state, str):
        return HttpResponse(state, content_type="text/plain; charset=utf-8", status=429)
    file = stored_file(state)
    fragment = wants_fragment(request)
    if file is not None and not fragment:
        return file.response()
    if not fragment and "text/html" not in request.headers.get("Accept", ""):
        words = (state.job.message if state.job else "") or "The file is being written."
        response = HttpResponse(words, content_type="text/plain; charset=utf-8")
        response.status_code = 503 if state.failed else 202
        if not state.failed:
            response["Retry-After"] = "2"
        return response
    return _progress(request, state, ready=file is not None)


def _progress(
    request: HttpRequest, state: DeferredReport | None, *, ready: bool
) -> HttpResponseBase:
    """Return the page that waits for a file, or its fragment."""
    query = request.GET.copy()
    if state is not None and state.job is not None:
        query["job"] = str(state.job.pk)
    query.pop("again", None)
    address = f"{request.path}?{query.urlencode()}"
    context = {"state": state, "ready": ready, "address": address, "again": f"{address}&again=1"}
    fragment, failed = wants_fragment(request), state is not None and state.failed
    name = "analysis/_file_wait.html" if fragment else "analysis/file_wait.html"
    response = render(request, name, context, status=200 if fragment or failed else 202)
    response["Cache-Control"] = "no-store"
    return response


@report_maker(MAKER, keep_seconds=KEEP_SECONDS)
def make_file(params: Params, seen: Visibility) -> tuple[str, Callable[[], Any]]:
    """Return the key under which a file was requested, and the function that writes it."""
    asker = seen.user
    assert asker is not None
    wanted = _plan(JobRequest(params["path"], params["server"], asker))
    if isinstance(wanted, DeferredFile):
        return params["key"], lambda: _stored(wanted.write)
    if not isinstance(wanted, HttpResponse) or "Content-Disposition" not in wanted.headers:
        raise CoreError("This file cannot be written any more. Reload the page that leads to it.")
    # Its report was stored since the file was asked for, so the view has the file at once.
    return params["key"], lambda: _stored(lambda: wanted)


def _stored(write: Callable[[], HttpResponse]) -> StoredFile:
    try:
        response = write()
    except Http404 as problem:
        return StoredFile(str(problem).encode(), "text/plain; charset=utf-8", "", 404)
    return StoredFile(response.content, response["Content-Type"], response["Content-Disposition"])


job_kind(KIND, at_once=AT_ONCE)(run_report_job)
