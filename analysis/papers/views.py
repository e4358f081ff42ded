"""Papers: the list, a paper to read and to edit, its versions, and who sees it."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.exports.table_choice import MOST_DIGITS, column_key
from analysis.models import Paper, PaperVersion
from analysis.papers.blocks import MOST_BLOCKS, PinBlock, TextBlock, read_blocks
from analysis.papers.drafts import hidden_ids, read_draft
from analysis.papers.markup import linked_numbers, markup_html, spans_html
from analysis.papers.selectors import (
    ShownPin,
    may_edit,
    open_report,
    papers_for,
    pin_state,
    shown,
    shown_blocks,
)
from analysis.papers.services import (
    PaperChanged,
    PaperRefused,
    create_paper,
    delete_paper,
    latest_version,
    restore_version,
    save_draft,
    share_paper,
    with_kept,
)
from annotation.access import person
from benchmarks.access import VIEW, allow, signed_in, visibility
from benchmarks.core.digests import storable
from benchmarks.lists.columns import ListColumn, column_choice, list_csv, wants_csv
from benchmarks.paging import as_id
from benchmarks.responses import add_error_message, wants_fragment

MOST_LISTED = 500
PAPER_COLUMNS = (
    ListColumn("paper", "Paper", {"id": "pk", "paper": "title"}, fixed=True),
    ListColumn("owner", "Owner", {"owner": "owner.username"}),
    ListColumn("sharing", "Who sees it", {"sharing": "sharing"}),
    ListColumn("changed", "Changed", {"changed": "updated_at"}),
    ListColumn("created", "Created", {"created": "created_at"}, usual=False),
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def paper_list(request: HttpRequest) -> HttpResponseBase:
    """Show one's own papers and those that others share; POST begins one."""
    allow(request, VIEW)
    user, status = person(request), 200
    if request.method == "POST":
        try:
            paper = create_paper(owner=user, title=request.POST.get("title", ""))
        except PaperRefused as error:
            add_error_message(request, error)
            status = 422
        else:
            return HttpResponseRedirect(paper_url(paper))
    rows = papers_for(user, visibility(request))[:MOST_LISTED]
    if wants_csv(request):
        return list_csv("papers", PAPER_COLUMNS, rows)
    columns = column_choice(request, "papers", PAPER_COLUMNS)
    context = {
        "papers": [(paper, paper.owner_id == user.pk) for paper in rows],
        "columns": columns,
        "hidden": columns.hidden,
    }
    return render(request, "analysis/papers/list.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def paper(request: HttpRequest, paper_id: int) -> HttpResponseBase:
    """Show a paper, with a form for those who may edit it; POST saves a version."""
    row = open_paper(request, paper_id)
    if request.method == "POST":
        return _save(request, row)
    version = asked_version(request, row)
    edits = may_edit(row, person(request)) and "version" not in request.GET
    blocks = shown_blocks(version, person(request), visibility(request))
    return _page(request, row, version, blocks, edits=edits)


def _save(request: HttpRequest, row: Paper) -> HttpResponseBase:
    user, seen = person(request), visibility(request)
    if not may_edit(row, user):
        raise PermissionDenied("You may read this paper, and not change it.")
    latest = latest_version(row)
    unseen = hidden_ids(shown_blocks(latest, user, seen))
    draft, words, problems = read_draft(row, request.POST, unseen, user, seen)
    for problem in problems:
        messages.error(request, problem)
    try:
        saved = save_draft(paper=row, draft=draft, by=user, words=words)
    except PaperChanged as changed:
        base = row.versions.filter(number=draft.base).first()
        began = {block.id for block in read_blocks(base.blocks)} if base is not None else set()
        newest = read_blocks(changed.latest.blocks)
        added = frozenset(block.id for block in newest if block.id not in began)
        merged = with_kept(draft.blocks, newest, unseen | added)
        more = {"changed": changed, "began": draft.base, "title": draft.title}
        blocks = shown(row, merged, user, seen)
        return _page(request, row, changed.latest, blocks, edits=True, status=409, **more)
    except PaperRefused as error:
        add_error_message(request, error)
        more = {"began": draft.base, "title": draft.title}
        blocks = shown(row, draft.blocks[: 2 * MOST_BLOCKS], user, seen)
        return _page(request, row, latest, blocks, edits=True, status=422, **more)
    if saved.number == latest.number:
        messages.info(request, "Nothing changed, so no version was saved.")
    else:
        messages.success(request, f"Saved as version {saved.number}.")
    return HttpResponseRedirect(f"{paper_url(row)}{_anchor(request, saved, latest)}")


def _anchor(request: HttpRequest, saved: PaperVersion, before: PaperVersion) -> str:
    """Return the block that a button was about, so that one goes on from there."""
    name, _, target = request.POST.get("action", "").partition(":")
    ids = [block.id for block in read_blocks(saved.blocks)]
    if name == "text":
        known = {block.id for block in read_blocks(before.blocks)}
        target = next((key for key in ids if key not in known), "")
    return f"#block-{target}" if target in ids else ""


def _page(
    request: HttpRequest,
    row: Paper,
    version: PaperVersion,
    blocks: Sequence[TextBlock | ShownPin],
    *,
    edits: bool,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    changed: PaperChanged | None = more.get("changed")
    theirs = {}
    if changed is not None:
        texts = {block.id: block for block in read_blocks(changed.latest.blocks)}
        theirs = {key: texts.get(key) for key in changed.others}
    unfolded = request.GET.get("open", "")
    context = {
        "paper": row,
        "version": version,
        "title": more.get("title", version.title),
        "blocks": [_block(row, block, unfolded, theirs) for block in blocks],
        "hidden": sum(isinstance(block, ShownPin) and block.hidden for block in blocks),
        "edits": edits,
        "owns": row.owner_id == request.user.pk,
        "old": "version" in request.GET,
        "sharing": Paper.Sharing.choices,
        "full": len(blocks) >= MOST_BLOCKS,
        **more,
    }
    return render(request, "analysis/papers/paper.html", context, status=status)


def _block(
    row: Paper, block: TextBlock | ShownPin, unfolded: str, theirs: dict[str, Any]
) -> dict[str, Any]:
    """Return what the page shows of a block."""
    if isinstance(block, TextBlock):
        other = theirs.get(block.id)
        return {
            "id": block.id,
            "text": block.text,
            "html": markup_html(block.text),
            "rows": min(20, 3 + block.text.count("\n") + len(block.text) // 90),
            "conflict": block.id in theirs,
            "theirs": other.text if isinstance(other, TextBlock) else "",
        }
    key = block.block.id
    return {
        "id": key,
        "pin": block,
        "conflict": key in theirs,
        "settings": _settings(block) if key == unfolded and not block.hidden else None,
        **_shown_parts(row, block),
    }


def _shown_parts(row: Paper, pin: ShownPin) -> dict[str, Any]:
    """Return the figure, table or sentence of a pin as templates show it."""
    if pin.report is None:
        return {}
    kind, parts = pin.block.part_kind, {}
    if kind == "figure" and pin.figure is not None:
        url = reverse("analysis:paper_figure", args=[row.pk, pin.block.digest])
        parts = {"figure": pin.figure, "figure_src": url}
    elif kind == "answer":
        parts = {"sentence": spans_html(linked_numbers(pin.report.sentence, pin.block.url))}
    return parts


def _settings(pin: ShownPin) -> dict[str, Any]:
    """Return the fields for what can be chosen of a pin."""
    columns = pin.report.tables[0].columns[1:] if pin.block.part_kind == "table" and pin.report \
        else ()  # fmt: skip
    return {
        "columns": [
            (column_key(one), one.label, column_key(one) in pin.block.columns) for one in columns
        ],
        "digits": [str(count) for count in range(MOST_DIGITS + 1)] if columns else [],
        "digit": "" if pin.block.digits is None else str(pin.block.digits),
        "width": pin.block.width,
        "wide": pin.block.part_kind != "answer",
    }


@require_safe
@signed_in
def pin_settings(request: HttpRequest, paper_id: int, block_id: str) -> HttpResponseBase:
    """Show the fields for what can be chosen of a pin."""
    row, pin = _open_pin(request, paper_id, block_id)
    if not may_edit(row, person(request)):
        raise PermissionDenied("You may read this paper, and not change it.")
    if not wants_fragment(request):
        return redirect(f"{paper_url(row)}?open={block_id}#block-{block_id}")
    context = {"block": {"id": block_id, "pin": pin, "settings": _settings(pin)}}
    return render(request, "analysis/papers/_settings.html", context)


@require_safe
@signed_in
def pin_now(request: HttpRequest, paper_id: int, block_id: str) -> HttpResponseBase:
    """Show whether the data of a pin changed since, with old and new side by side."""
    row, pin = _open_pin(request, paper_id, block_id)
    state = pin_state(pin, person(request), visibility(request))
    fresh: dict[str, Any] = {}
    if state.fresh is not None and state.fresh.report is not None:
        fresh = _shown_parts(row, state.fresh)
        if "figure" in fresh:  # it is not stored yet, so its page has it
            at = reverse(f"analysis:{pin.block.source.name}_figure", args=[pin.block.part_name])
            fresh["figure_src"] = f"{at}?{pin.block.source.query}"
    context = {
        "paper": row,
        "block": {"id": block_id, "pin": pin, **_shown_parts(row, pin)},
        "state": state,
        "fresh": {"pin": state.fresh, **fresh} if state.fresh is not None else None,
        "edits": may_edit(row, person(request)),
    }
    if not wants_fragment(request):
        version = latest_version(row)
        ids = [block.id for block in read_blocks(version.blocks)]
        # Within a block of a template, "block" is the block itself.
        context |= {"base": version.number, "ids": ids, "shown": context["block"]}
    name = "_state.html" if wants_fragment(request) else "state.html"
    return render(request, f"analysis/papers/{name}", context)


@require_safe
@signed_in
def paper_figure(request: HttpRequest, paper_id: int, digest: str) -> HttpResponseBase:
    """Send the figure of a pin as it is stored."""
    row = open_paper(request, paper_id)
    report = open_report(row, digest, person(request), visibility(request))
    if report is None or not report.figures:
        raise Http404("There is no such figure.")
    response = HttpResponse(report.figures[0].json, content_type="application/json")
    response["Cache-Control"] = "private, max-age=3600"
    return response


@require_safe
@signed_in
def paper_versions(request: HttpRequest, paper_id: int) -> HttpResponseBase:
    """Show every version of a paper: when it was saved, by whom, and what was changed."""
    row = open_paper(request, paper_id)
    versions = row.versions.select_related("by").defer("blocks").order_by("-number")[:MOST_LISTED]
    context = {"paper": row, "versions": versions, "edits": may_edit(row, person(request))}
    return render(request, "analysis/papers/versions.html", context)


@require_POST
@signed_in
def paper_restore(request: HttpRequest, paper_id: int) -> HttpResponseBase:
    """Save an older version as the newest one."""
    row = open_paper(request, paper_id)
    if not may_edit(row, person(request)):
        raise PermissionDenied("You may read this paper, and not change it.")
    number = as_id(request.POST.get("version", "")) or 0
    try:
        saved = restore_version(paper=row, number=number, by=person(request))
    except PaperRefused as error:
        add_error_message(request, error)
    else:
        messages.success(request, f"Version {number} is now version {saved.number}.")
    return redirect(paper_url(row))


@require_POST
@signed_in
def paper_share(request: HttpRequest, paper_id: int) -> HttpResponseBase:
    """Choose who else reads or edits one's own paper."""
    row = _own(request, paper_id)
    try:
        share_paper(paper=row, sharing=request.POST.get("sharing", ""))
    except PaperRefused as error:
        add_error_message(request, error)
    return redirect(paper_url(row))


@require_POST
@signed_in
def paper_delete(request: HttpRequest, paper_id: int) -> HttpResponseBase:
    """Delete one's own paper, if the box was ticked."""
    row = _own(request, paper_id)
    if request.POST.get("sure") != "1":
        messages.error(request, f"Tick the box to delete “{row.title}”.")
        return redirect(paper_url(row))
    delete_paper(paper=row)
    messages.success(request, f"“{storable(row.title)}” is deleted.")
    return redirect("analysis:paper_list")


def open_paper(request: HttpRequest, paper_id: int) -> Paper:
    """Return a paper that the person may open, or raise 403 or 404."""
    allow(request, VIEW)
    rows = papers_for(person(request), visibility(request))
    return get_object_or_404(rows, pk=paper_id)


def asked_version(request: HttpRequest, row: Paper) -> PaperVersion:
    """Return the version that the address names, else the newest."""
    asked = request.GET.get("version", "")
    if not asked:
        return latest_version(row)
    return get_object_or_404(row.versions, number=as_id(asked) or 0)


def paper_url(row: Paper) -> str:
    """Return the address of a paper."""
    return reverse("analysis:paper", args=[row.pk])


def _own(request: HttpRequest, paper_id: int) -> Paper:
    """Return one's own paper: only its owner shares and deletes it."""
    allow(request, VIEW)
    return get_object_or_404(Paper, pk=paper_id, owner=person(request))


def _open_pin(request: HttpRequest, paper_id: int, block_id: str) -> tuple[Paper, ShownPin]:
    """Return a pin of the newest version that the person may see."""
    row = open_paper(request, paper_id)
    blocks = [block for block in read_blocks(latest_version(row).blocks) if block.id == block_id]
    if not blocks or not isinstance(blocks[0], PinBlock):
        raise Http404("There is no such pin.")
    (pin,) = shown(row, blocks, person(request), visibility(request))
    if not isinstance(pin, ShownPin) or pin.hidden:
        raise Http404("There is no such pin.")
    return row, pin
