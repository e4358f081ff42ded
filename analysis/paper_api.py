"""Papers in the HTTP API: writing them, what their pins show then and now, and their files."""

from datetime import datetime
from typing import Any, Literal

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from analysis.api import PartsOut, file_answer, parts_out
from analysis.exports.table_choice import MOST_DIGITS
from analysis.filters import with_query
from analysis.models import Paper, PaperVersion
from analysis.papers.blocks import (
    LONGEST_CAPTION,
    LONGEST_TEXT,
    MOST_BLOCKS,
    PinBlock,
    Source,
    SourceKind,
    TextBlock,
    new_id,
    read_blocks,
)
from analysis.papers.drafts import decided, hidden_ids
from analysis.papers.selectors import ShownPin, may_edit, papers_for, pin_state, shown, shown_blocks
from analysis.papers.services import (
    LONGEST_TITLE,
    AnyBlock,
    Draft,
    PaperChanged,
    create_paper,
    latest_version,
    pin_parts,
    save_draft,
    share_paper,
)
from analysis.papers.sources import open_source
from benchmarks.access import VIEW, allow, visibility
from benchmarks.api.auth import user_of
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.repeats import DESCRIPTION, Answer, once
from benchmarks.api.requests import LARGEST_ID, Strict

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


class NewPaper(Strict):
    """A paper that is begun, with one empty text."""

    title: str = Field(max_length=LONGEST_TITLE)
    sharing: Literal["private", "read", "edit"] = "private"


class NewPins(Strict):
    """Parts of one source, which are added at the end of the paper as they are now."""

    source: SourceKind
    name: str = Field(
        max_length=100, description="The key of the page, or the id of the dataset or trajectory."
    )
    query: str = Field(
        "", max_length=4000, description="Filters of the page, or the turns: `from=2&to=4`."
    )
    parts: list[str] = Field(
        min_length=1, max_length=MOST_BLOCKS,
        description="`answer`, `figure:NAME` or `table:NAME`; a part that is not there is refused "
        "with the names of those that are.",
    )  # fmt: skip


class BlockIn(Strict):
    """A block of the paper, with what is changed of it."""

    id: str = Field("", max_length=40, description="Empty for a new text.")
    text: str | None = Field(None, max_length=LONGEST_TEXT, description="Of texts.")
    caption: str | None = Field(None, max_length=LONGEST_CAPTION)
    width: Literal[85, 170] | None = Field(None, description="In millimetres.")
    digits: int | None = Field(None, ge=0, le=MOST_DIGITS)
    columns: list[str] | None = Field(None, max_length=100)
    decide: str | None = Field(
        None, max_length=80, examples=["keep:0f3a"], pattern=r"^(take|keep):\w+$",
        description="`take:DIGEST` or `keep:DIGEST`, with the digest of `…/pins/BLOCK`.",
    )  # fmt: skip


class PaperChanges(Strict):
    """What a paper is to be: its blocks in order. Those that are left out are removed."""

    base: int = Field(ge=1, le=LARGEST_ID, description="The version that you read.")
    title: str | None = Field(None, max_length=LONGEST_TITLE)
    blocks: list[BlockIn] = Field(max_length=MOST_BLOCKS)


class PinStateOut(Schema):
    """A pin beside what its source shows now."""

    id: str
    state: Literal["same", "changed", "kept", "unknown"] = Field(
        description="`kept`: somebody looked at exactly this and kept the old."
    )
    lines: list[str] = Field(description="What differs.")
    digest: str = Field(description="Names the newer content in a decision.")
    problem: str = Field(description="Why there is nothing to compare with.")
    now: PartsOut | None = Field(description="The newer content.")


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
    return _whole(request, paper, version)


def _whole(request: HttpRequest, paper: Paper, version: PaperVersion) -> dict[str, Any]:
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


# --- Writing --------------------------------------------------------------------------------------


@router.post(
    "/papers", response={201: PaperOut, **refusals(400, 409, 413)}, openapi_extra=DESCRIPTION
)
def begin_paper(request: HttpRequest, wanted: NewPaper) -> Status[Any]:
    """Begin a paper of your own."""
    allow(request, VIEW)

    def act() -> Answer:
        with transaction.atomic():
            paper = create_paper(owner=user_of(request), title=wanted.title)
            share_paper(paper=paper, sharing=wanted.sharing)
        paper.refresh_from_db()
        return 201, _sent(_whole(request, paper, latest_version(paper)))

    return once(request, act, content=wanted.model_dump_json())


@router.post(
    "/papers/{int:paper_id}/pins", response={201: PaperOut, **refusals(400, 404, 409, 413)},
    openapi_extra=DESCRIPTION,
)  # fmt: skip
def pin_to_paper(request: HttpRequest, paper_id: int, wanted: NewPins) -> Status[Any]:
    """Pin answers, figures and tables of a page, turns of a trajectory, or certificates of a
    dataset.
    """
    paper = _editable(request, paper_id)
    source = Source(kind=wanted.source, name=wanted.name, query=wanted.query)

    def act() -> Answer:
        found = open_source(source, user_of(request), visibility(request))
        known = dict(found.parts())
        if unknown := [part for part in wanted.parts if part not in known]:
            names = ", ".join(known) or "none"
            raise ApiError(422, f"No part {unknown[0]!r}; parts are: {names}.", "parts")
        version = pin_parts(paper=paper, found=found, parts=wanted.parts, by=user_of(request))
        return 201, _sent(_whole(request, paper, version))

    return once(request, act, content=wanted.model_dump_json())


@router.post("/papers/{int:paper_id}", response={200: PaperOut, **refusals(400, 404, 409, 413)})
def save_paper(request: HttpRequest, paper_id: int, wanted: PaperChanges) -> dict[str, Any]:
    """Save words, order, what is shown of pins, and decisions about newer content, as a version.

    Refused (409) where somebody else changed blocks since the version that you read.
    """
    paper = _editable(request, paper_id)
    user, seen, latest = user_of(request), visibility(request), latest_version(paper)
    unseen = hidden_ids(shown_blocks(latest, user, seen))
    known = {block.id: block for block in read_blocks(latest.blocks) if block.id not in unseen}
    with transaction.atomic():
        blocks = [
            _changed(paper, known, one, f"blocks.{place}", request)
            for place, one in enumerate(wanted.blocks)
        ]
        draft = Draft(wanted.base, wanted.title or latest.title, blocks, unseen)
        try:
            version = save_draft(paper=paper, draft=draft, by=user)
        except PaperChanged as changed:
            raise ApiError(409, f"Not saved: {changed}. Read it, then save again.") from None
    return _whole(request, paper, version)


def _changed(
    paper: Paper, known: dict[str, AnyBlock], wanted: BlockIn, where: str, request: HttpRequest
) -> AnyBlock:
    """Return a block with what a request changes of it."""
    given = wanted.model_dump(exclude_unset=True, exclude={"id", "decide"})
    if not wanted.id:
        block: AnyBlock = TextBlock(id=new_id())
    elif wanted.id in known:
        block = known.pop(wanted.id)
    else:
        raise ApiError(422, "Each id is that of a block of the newest version, once.", where)
    own = {"text"} if isinstance(block, TextBlock) else {"caption", "width", "digits", "columns"}
    if wrong := set(given) - own:
        raise ApiError(422, f"This block has no {min(wrong)}.", where)
    null = {name for name, value in given.items() if value is None} - {"digits"}
    if null:
        raise ApiError(422, "Null means nothing here; leave it out.", f"{where}.{min(null)}")
    if "columns" in given:
        given["columns"] = tuple(given["columns"])
    block = block.model_copy(update=given)
    if not wanted.decide:
        return block
    if not isinstance(block, PinBlock):
        raise ApiError(422, "Only pins wait for decisions.", f"{where}.decide")
    return decided(paper, block, wanted.decide, user_of(request), visibility(request))


@router.get("/papers/{int:paper_id}/pins/{block_id}", response={200: PinStateOut, **refusals(404)})
def compare_pin(request: HttpRequest, paper_id: int, block_id: str) -> dict[str, Any]:
    """Return whether the data of a pin changed, and what differs."""
    paper, user, seen = _open(request, paper_id), user_of(request), visibility(request)
    blocks = [one for one in read_blocks(latest_version(paper).blocks) if one.id == block_id]
    pin = next(iter(shown(paper, blocks, user, seen)), None)
    if not isinstance(pin, ShownPin) or pin.hidden:
        raise Http404
    state = pin_state(pin, user, seen)
    words = "unknown" if state.problem else "kept" if state.kept else "changed"
    now = state.fresh.report if state.fresh is not None else None
    return {
        "id": block_id,
        "state": words if state.problem or state.lines else "same",
        "lines": state.lines,
        "digest": state.digest,
        "problem": state.problem,
        "now": parts_out(now) if now is not None else None,
    }


def _editable(request: HttpRequest, paper_id: int) -> Paper:
    paper = _open(request, paper_id)
    if not may_edit(paper, user_of(request)):
        raise PermissionDenied("You may read this paper, and not change it.")
    return paper


def _sent(paper: dict[str, Any]) -> dict[str, Any]:
    """Return a paper as it is stored for a request that is sent again."""
    return PaperOut.model_validate(paper).model_dump(mode="json")


# --- Files ----------------------------------------------------------------------------------------


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
