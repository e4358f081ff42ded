"""Saving the filters of a page under a name; renaming, sharing and deleting what one has saved."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from analysis.models import SavedView
from analysis.pages.saved_views.selectors import is_page, page_title, page_url, usual_query
from analysis.pages.saved_views.services import (
    LONGEST_QUERY,
    NameTaken,
    ViewRefused,
    delete_view,
    rename_view,
    save_view,
    share_view,
)
from annotation.access import person
from benchmarks.access import VIEW, allow, signed_in
from benchmarks.core.digests import storable
from benchmarks.responses import add_error_message, go_back


@require_POST
@signed_in
def saved_view_save(request: HttpRequest) -> HttpResponseBase:
    """Keep the filters of a page; where the name is taken, ask what to do."""
    allow(request, VIEW)
    page = request.POST.get("page", "")
    if not is_page(page):
        raise Http404("There is no such page.")
    # longer ones are refused by the service, in words
    query = usual_query(storable(request.POST.get("query", "")[: LONGEST_QUERY * 3]))
    name = storable(request.POST.get("name", ""))
    try:
        view = save_view(
            owner=person(request),
            page=page,
            name=name,
            query=query,
            shared=request.POST.get("shared") == "1",
            replace=request.POST.get("replace") == "1",
        )
    except NameTaken as error:
        return _ask(request, error.view, query)
    except ViewRefused as error:
        add_error_message(request, error)
        return HttpResponseRedirect(page_url(page, query))
    messages.success(request, f"Saved as “{view.name}”.")
    return HttpResponseRedirect(page_url(page, query))


def _ask(request: HttpRequest, view: SavedView, query: str) -> HttpResponse:
    context = {
        "view": view,
        "view_url": page_url(view.page, view.query),
        "page_title": page_title(view.page),
        "page_url": page_url(view.page, query),
        "query": query,
        "shared": request.POST.get("shared") == "1",
    }
    return render(request, "analysis/saved_clash.html", context, status=409)


@require_POST
@signed_in
def saved_view_rename(request: HttpRequest, view_id: int) -> HttpResponseBase:
    """Rename one's own view."""
    view = _own(request, view_id)
    try:
        rename_view(view=view, name=storable(request.POST.get("name", "")))
    except ViewRefused as error:
        add_error_message(request, error)
    return _back(request, view)


@require_POST
@signed_in
def saved_view_share(request: HttpRequest, view_id: int) -> HttpResponseBase:
    """Show one's own view to others, or to oneself alone again."""
    view = _own(request, view_id)
    shared = request.POST.get("shared") == "1"
    share_view(view=view, shared=shared)
    who = "Everybody who may see results sees" if shared else "Only you see"
    messages.success(request, f"{who} “{view.name}” now.")
    return _back(request, view)


@require_POST
@signed_in
def saved_view_delete(request: HttpRequest, view_id: int) -> HttpResponseBase:
    """Delete one's own view, if the box was ticked."""
    view = _own(request, view_id)
    if request.POST.get("sure") != "1":
        messages.error(request, f"Tick the box to delete “{view.name}”.")
        return _back(request, view)
    delete_view(view=view)
    messages.success(request, f"“{view.name}” is deleted.")
    return _back(request, view)


def _own(request: HttpRequest, view_id: int) -> SavedView:
    """Return the user's own view or raise 404: only its owner changes a view, shared or not."""
    allow(request, VIEW)
    return get_object_or_404(SavedView, pk=view_id, owner=person(request))


def _back(request: HttpRequest, view: SavedView) -> HttpResponseRedirect:
    return go_back(request, page_url(view.page) if is_page(view.page) else "/")
