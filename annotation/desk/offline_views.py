"""What a browser keeps for the time when neither network nor server answers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def away(request: HttpRequest) -> HttpResponse:
    """The page that stands in for a study's pages; the same for everybody."""
    return render(request, "annotation/away.html")


@require_safe
def worker(request: HttpRequest) -> HttpResponse:
    """The service worker that shows it. Its address decides what it may be responsible for."""
    return render(request, "annotation/away.js", content_type="text/javascript")
