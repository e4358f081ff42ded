"""Addresses that only the style guide's tests have."""

from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.backends.django import DjangoTemplates
from django.urls import path
from django.views.defaults import page_not_found, permission_denied

from tests.functional.style_guide.context import guide_context, guide_figure

ENGINE = DjangoTemplates(
    {
        "NAME": "style guide",
        "DIRS": [*settings.TEMPLATES[0]["DIRS"], Path(__file__).parent / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {"builtins": settings.TEMPLATES[0]["OPTIONS"]["builtins"]},
    }
)


def page(request: HttpRequest, name: str) -> HttpResponse:
    """Render a page of the guide."""
    template = ENGINE.get_template(f"style_guide/{name}.html")
    return HttpResponse(template.render(guide_context(), request))


def figure(request: HttpRequest) -> JsonResponse:
    """Give the JSON of the one figure that works."""
    return JsonResponse(guide_figure())


urlpatterns = [
    path("guide/<slug:name>/", page),
    path("figure.json", figure),
    path("404/", lambda request: page_not_found(request, Exception())),
    path("403/", lambda request: permission_denied(request, Exception())),
]
