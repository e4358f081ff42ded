"""Papers in the HTTP API: the list, one paper with what its pins show, and its files."""

from datetime import datetime
from typing import Any, Literal

from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import reverse
from ninja import Query, Router, Schema
from pydantic import Field

from analysis.api import PartsOut, file_answer, parts_out
from analysis.filters import with_query
from analysis.models import Paper
from analysis.papers.blocks import TextBlock
from analysis.papers.selectors import ShownPin, papers_for, shown_blocks
from analysis.papers.services import latest_version
from benchmarks.access import VIEW, allow, visibility
from benchmarks.api.auth import user_of
from benchmarks.api.errors import refusals
from benchmarks.api.requests import LARGEST_ID

MOST_LISTED = 500


class PaperSummary(Schema):
    """A paper: a page on which somebody pins parts of analysis pages."""

    id: int
    title: str
    owner: str
    sharing: Literal["private", "read", "edit"] = Field(
        description="Who else may open it: nobody, readers, or editors."
    )
    updated_at: datetime
    url: str = Field(description="The paper in a browser.")


class PinOut(Schema):
    """A pin: where it comes from, what was chosen, and the report part that it keeps."""

    source: Literal["page", "dataset", "trajectory"]
    name: str = Field(description="The key of the page, or the id of the dataset or trajectory.")
    query: str = Field(description="The filters, or the turns of the trajectory.")
    part: str = Field(description="`answer`, `figure:NAME` or `table:NAME`.")
    title: str
    subject: str
    caption: str
    pinned_at: datetime
    width: int = Field(description="In millimetres.")
    digits: int | None
    columns: list[str]
    url: str = Field(description="The page with these filters.")
    report: PartsOut | None = Field(description="Null where it was deleted with its data.")


class BlockOut(Schema):
    """A text, or a pin. Pins whose data are closed to the reader are left out."""

    id: str
    text: str | None
    pin: PinOut | None


class PaperOut(PaperSummary):
    """A version of a paper."""

    version: int
    saved_at: datetime
    saved_by: str
    changes: str = Field(description="What the version changed.")
    hidden: int = Field(description="Pins that are left out, because their data are closed to you.")
    blocks: list[BlockOut]


class VersionQuery(Schema):
    """The version of a paper; the newest if omitted."""

    version: int | None = Field(None, ge=1, le=LARGEST_ID)


class PaperFileQuery(VersionQuery):
    """The version of a paper, and the form of its file."""

    format: Literal["pdf", "html", "tex", "zip"] = Field(
        "zip", description="`zip` holds LaTeX, HTML, figures, data and a script."
    )


router = Router(tags=["Papers"])
PAPER_FILE = {
    "responses": {
        200: {
            "description": "The file.",
            "content": {
                kind: {"schema": {"type": "string", "format": "binary"}}
                for kind in ("application/pdf", "text/html", "application/x-tex", "application/zip")
            },
        }
    }
}


@router.get("/papers", response={200: list[PaperSummary], **refusals()})
def list_papers(request: HttpRequest) -> list[dict[str, Any]]:
    """Return your papers and those that others share, the newest change first."""
    allow(request, VIEW)
    rows = papers_for(user_of(request), visibility(request))[:MOST_LISTED]
    return [_summary(paper) for paper in rows]


@router.get("/papers/{int:paper_id}", response={200: PaperOut, **refusals(404)})
def get_paper(request: HttpRequest, paper_id: int, query: Query[VersionQuery]) -> dict[str, Any]:
    """Return one version of a paper with what its pins keep."""
    paper = _open(request, paper_id)
    version = (
        paper.versions.filter(number=query.version).first()
        if query.version is not None
        else latest_version(paper)
    )
    if version is None:
        raise Http404
    blocks = shown_blocks(version, user_of(request), visibility(request))
    visible = [block for block in blocks if isinstance(block, TextBlock) or not block.hidden]
    return {
        **_summary(paper),
        "title": version.title,
        "version": version.number,
        "saved_at": version.at,
        "saved_by": str(version.by or ""),
        "changes": version.words,
        "hidden": len(blocks) - len(visible),
        "blocks": [_block(block) for block in visible],
    }


@router.get(
    "/papers/{int:paper_id}/file", response=refusals(404, 501, 503), openapi_extra=PAPER_FILE
)
def get_paper_file(
    request: HttpRequest, paper_id: int, query: Query[PaperFileQuery]
) -> HttpResponseBase:
    """Send a paper as PDF, HTML, LaTeX, or a folder with all of it."""
    paper = _open(request, paper_id)
    at = reverse(f"analysis:paper_{query.format}", args=[paper.pk])
    chosen = {"version": query.version} if query.version is not None else {}
    return file_answer(request, with_query(at, chosen), "not_written")


def _open(request: HttpRequest, paper_id: int) -> Paper:
    allow(request, VIEW)
    paper = papers_for(user_of(request), visibility(request)).filter(pk=paper_id).first()
    if paper is None:
        raise Http404
    return paper


def _summary(paper: Paper) -> dict[str, Any]:
    return {
        "id": paper.pk,
        "title": paper.title,
        "owner": str(paper.owner),
        "sharing": paper.sharing,
        "updated_at": paper.updated_at,
        "url": reverse("analysis:paper", args=[paper.pk]),
    }


def _block(block: TextBlock | ShownPin) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"id": block.id, "text": block.text, "pin": None}
    pin = block.block
    chosen = pin.model_dump(
        include={"part", "title", "subject", "caption", "pinned_at", "width", "digits", "columns",
                 "url"}
    )  # fmt: skip
    source = {"source": pin.source.kind, "name": pin.source.name, "query": pin.source.query}
    report = parts_out(block.report) if block.report is not None else None
    return {"id": pin.id, "text": None, "pin": {**chosen, **source, "report": report}}
