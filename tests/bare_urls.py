"""One view that says who asks."""

from django.http import HttpRequest, HttpResponse
from django.urls import path


def who(request: HttpRequest) -> HttpResponse:
    """The name of whoever is signed in."""
    return HttpResponse(request.user.get_username())


urlpatterns = [path("", who)]
