"""The style guide: every part of the pages in its states, on invented data, for staff."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotFound, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.style_guide.examples import guide_context, guide_figure
from benchmarks.access import signed_in


@require_GET
@signed_in
def guide(request: HttpRequest, page: str = "parts") -> HttpResponseBase:
    """Show the parts, or an example of the desk."""
    _allow_staff(request)
    return render(request, f"annotation/style_guide/{page}.html", guide_context())


@require_GET
@signed_in
def figure(request: HttpRequest) -> HttpResponseBase:
    """Give the figure of the page, or an error where the page shows how one fails."""
    _allow_staff(request)
    if "fails" in request.GET:
        return HttpResponseNotFound("This figure fails, so that the page can show it.")
    return JsonResponse(guide_figure())


def _allow_staff(request: HttpRequest) -> None:
    if not request.user.is_staff:
        raise PermissionDenied("The style guide is for administrators.")
