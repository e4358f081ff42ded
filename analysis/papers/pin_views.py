"""Pinning: which parts of a page, a dataset or a trajectory go to which paper."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from analysis.papers.blocks import Source
from analysis.papers.selectors import may_edit, papers_for
from analysis.papers.services import PaperRefused, create_paper, pin_parts
from analysis.papers.sources import MOST_TURNS, SourceGone, SourceReport, open_source
from analysis.papers.views import MOST_LISTED, paper_url
from annotation.access import person
from benchmarks.access import VIEW, allow, signed_in, visibility
from benchmarks.core.digests import storable
from benchmarks.paging import as_id
from benchmarks.responses import add_error_message

LONGEST_QUERY = 4000
NEW = "new"


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def pin(request: HttpRequest, source_kind: str, source_name: str) -> HttpResponseBase:
    """Ask which parts are pinned to which paper; POST pins them."""
    allow(request, VIEW)
    found = _source(request, source_kind, source_name)
    if request.method == "POST":
        answer = _pinned(request, found)
        if answer is not None:
            return answer
    papers = [
        paper
        for paper in papers_for(person(request), visibility(request))[:MOST_LISTED]
        if may_edit(paper, person(request))
    ]
    chosen = request.POST.getlist("part") or [request.GET.get("part", "")]
    context: dict[str, Any] = {
        "found": found,
        "parts": [(part, title, part in chosen) for part, title in found.parts()],
        "papers": papers,
        "new": NEW,
        "most_turns": MOST_TURNS if source_kind == "trajectory" else None,
        "turns": _turns(found),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "analysis/papers/pin.html", context, status=status)


def _source(request: HttpRequest, kind: str, name: str) -> SourceReport:
    """Return what an address names, or raise 404 with the reason."""
    query = storable(request.META.get("QUERY_STRING", ""))[:LONGEST_QUERY]
    if kind not in ("page", "dataset", "trajectory"):
        raise Http404("Nothing of this kind can be pinned.")
    source = Source.model_validate({"kind": kind, "name": name, "query": query})
    try:
        return open_source(source, person(request), visibility(request))
    except SourceGone as problem:
        raise Http404(str(problem)) from None


def _pinned(request: HttpRequest, found: SourceReport) -> HttpResponseBase | None:
    """Pin what was chosen and go back to where it came from; None where that was refused."""
    user, chosen = person(request), request.POST.get("paper", "")
    known = {part for part, _ in found.parts()}
    parts = [part for part in request.POST.getlist("part") if part in known]
    try:
        if not parts:
            raise PaperRefused("choose at least one part to pin")
        with transaction.atomic():
            if chosen == NEW:
                paper = create_paper(owner=user, title=request.POST.get("title", ""))
            else:
                rows = papers_for(user, visibility(request))
                paper = get_object_or_404(rows, pk=as_id(chosen) or 0)
                if not may_edit(paper, user):
                    raise PaperRefused("you may read this paper, and not change it")
            pin_parts(paper=paper, found=found, parts=parts, by=user)
    except (PaperRefused, SourceGone) as error:
        add_error_message(request, error)
        return None
    words = format_html('Pinned to <a href="{}">{}</a>.', paper_url(paper), paper.title)
    messages.success(request, words)
    return HttpResponseRedirect(found.url)


def _turns(found: SourceReport) -> tuple[str, str]:
    """Return the first and the last turn of an excerpt, as the form shows them."""
    if found.trajectory is None:
        return "", ""
    first, _, last = found.source.query.partition("&")
    return first.removeprefix("from="), last.removeprefix("to=")
