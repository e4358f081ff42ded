"""Downloads of trajectories: the files that pages and the API offer, and the menu of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import parse_qsl

from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponseBase,
    HttpResponseRedirect,
    StreamingHttpResponse,
)

from benchmarks.core.errors import CoreError
from benchmarks.exports.limits import LIMITS
from benchmarks.exports.publishing import UNKNOWN, check_licence
from benchmarks.exports.selectors import in_portions
from benchmarks.exports.services import Ids
from benchmarks.exports.streams import PUBLISHED, STREAMS, stream_of, zipped
from benchmarks.models import Run, Trajectory
from benchmarks.responses import add_error_message
from benchmarks.visibility import Visibility

# The most trajectories of a list in one download; a whole run has no such limit.
MOST = 100_000
ONE_PER_RUN = "The archive holds one file for each run."


class NothingToExport(CoreError):
    """Raised for a selection that holds no trajectory to export, or too many."""


class RunPart(NamedTuple):
    """The trajectories of a run that a download holds: all that have ended, or those with ids."""

    run: Run
    ids: Ids = None


@dataclass(frozen=True)
class ExportMenu:
    """The formats in which a page offers its trajectories.

    ``url`` sends the file of a ``format``; ``query`` selects the trajectories. ``note`` says what
    an archive holds, or why there is no file.
    """

    url: str = ""
    query: str = ""
    note: str = ""

    @property
    def files(self) -> list[tuple[str, str, str]]:
        """Return (title, address, what it cannot hold) of each file that a link downloads."""
        start = f"{self.url}?{self.query}{'&' if self.query else ''}format="
        plain = [name for name in STREAMS if name != PUBLISHED and self.url]
        return [(STREAMS[name].title, f"{start}{name}", LIMITS[name]) for name in plain]

    @property
    def folder(self) -> str:
        """Return the title of the folder to publish, which a form downloads with its licence."""
        return STREAMS[PUBLISHED].title if self.url else ""

    @property
    def folder_fields(self) -> list[tuple[str, str]]:
        """Return (name, value) of each hidden field of that form."""
        return [*parse_qsl(self.query, keep_blank_values=True), ("format", PUBLISHED)]


def whole_runs(runs: Iterable[Run], seen: Visibility) -> list[RunPart]:
    """Return all trajectories of these runs that a person may see.

    Among several runs, a re-judging is left out: its scores are in the run that it judged.
    """
    chosen = list(runs)
    return [
        RunPart(run, _visible_ids(run, seen) if seen.tasks else None)
        for run in chosen
        if len(chosen) == 1 or run.kind != Run.Kind.JUDGING
    ]


def _visible_ids(run: Run, seen: Visibility) -> Sequence[int]:
    return list(seen.of(run.trajectories.all()).values_list("pk", flat=True))


def selected_parts(ids: Sequence[int], seen: Visibility) -> list[RunPart]:
    """Return the finished trajectories among these ids that a person may see, run by run."""
    if len(ids) > MOST:
        raise NothingToExport(
            f"a download holds at most {MOST:,} trajectories, and these are {len(ids):,}; "
            "narrow the filters, or export whole runs"
        )
    by_run: dict[int, list[int]] = {}
    for portion in in_portions(ids):
        for run, pk in seen.of(_exportable(portion)).values_list("run", "pk"):
            by_run.setdefault(run, []).append(pk)
    runs = Run.objects.select_related("dataset", "agent", "primary_judging").in_bulk(by_run)
    return [RunPart(runs[pk], by_run[pk]) for pk in sorted(runs)]


def _exportable(ids: Sequence[int]) -> QuerySet[Trajectory]:
    return Trajectory.objects.filter(pk__in=ids, status=Trajectory.Status.DONE, judged=None)


def download(
    parts: Sequence[RunPart], format: str, name: str, licence: str = ""
) -> StreamingHttpResponse:
    """Send trajectories as a file called ``name``: those of several runs as a file for each run in
    an archive, because levels and seeds of a task are apart in no format.

    A folder to publish states the licence.
    """
    stream, licence = stream_of(format), licence or UNKNOWN
    check_licence(licence)
    if len(parts) == 1:
        content, kind, ending = stream.write(*parts[0], licence), stream.content_type, stream.ending
    else:
        members = (
            (f"run-{run.pk}{stream.ending}", stream.write(run, ids, licence)) for run, ids in parts
        )
        content, kind, ending = zipped(members), "application/zip", f"-{format}.zip"
    response = StreamingHttpResponse(content, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}{ending}"'
    return response


def _has_ended(part: RunPart) -> bool:
    if part.ids is not None:
        return bool(part.ids)
    return part.run.trajectories.filter(status=Trajectory.Status.DONE).exists()


def page_download(
    request: HttpRequest, choose: Callable[[], Sequence[RunPart]], name: str, page: str
) -> HttpResponseBase:
    """Send the chosen trajectories in the format of the address; where that is not possible,
    return to the page, which then says why.
    """
    format = request.GET.get("format") or "openai-chat"
    if format not in STREAMS:
        raise Http404("Trajectories are not exported in this format.")
    try:
        # A file without a trajectory is refused by every importer.
        parts = [part for part in choose() if _has_ended(part)]
        if not parts:
            raise NothingToExport(
                "there is nothing to export, because none of these trajectories has ended"
            )
        return download(parts, format, name, request.GET.get("licence", ""))
    except CoreError as error:
        add_error_message(request, error)
        return HttpResponseRedirect(page)
