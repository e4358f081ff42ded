"""Runs as files that other tools read."""

from typing import Literal

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from benchmarks.access import visibility
from benchmarks.api.errors import refusals
from benchmarks.api.runs import fetch_run
from benchmarks.exports.downloads import download, whole_runs
from benchmarks.exports.limits import LIMITS
from benchmarks.exports.streams import STREAMS

router = Router(tags=["Exports"])
BINARY = {"schema": {"type": "string", "format": "binary"}}
FILES = {
    "responses": {
        200: {
            "description": "The file.",
            "content": {stream.content_type: BINARY for stream in STREAMS.values()},
        }
    }
}


class ExportQuery(Schema):
    """The format of an export."""

    format: Literal["openai-chat", "atif", "inspect", "session-traces", "huggingface"] = Field(
        "openai-chat",
        description="Lines of chat messages, a log for Inspect, or an archive of files. "
        + " ".join(f"{name}: {LIMITS[name]}" for name in STREAMS),
    )
    licence: str = Field(
        "",
        max_length=60,
        description="Licence that a folder to publish states, such as cc-by-4.0.",
    )


@router.get("/runs/{int:run_id}/export", response=refusals(404, 422), openapi_extra=FILES)
def export_run(
    request: HttpRequest, run_id: int, query: Query[ExportQuery]
) -> StreamingHttpResponse:
    """Send what is done of a run: chat messages, ATIF, a log for Inspect, session traces, or a
    Hugging Face folder.
    """
    run = fetch_run(request, run_id)
    parts = whole_runs([run], visibility(request))
    return download(parts, query.format, f"run-{run.pk}", query.licence)
