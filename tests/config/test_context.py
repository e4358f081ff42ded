"""Tests of the top bar: what it offers, and to whom."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.urls import include, path

from config.context import navigation


def nothing(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


# Not all places: the others have no page yet, and the bar must bear that.
benchmarks = (
    [path("runs/", nothing, name="run_list")],
    "benchmarks",
)
analysis = ([path("trajectories/", nothing, name="trajectory_list")], "analysis")
annotation = ([path("studies/", nothing, name="study_list")], "annotation")
urlpatterns = [path("", include(places)) for places in (benchmarks, annotation, analysis)]

pytestmark = pytest.mark.urls(__name__)


class Person:
    is_authenticated = True

    def __init__(self, *permissions: str) -> None:
        self.permissions = permissions

    def has_perm(self, name: str) -> bool:
        return name in self.permissions


def bar(user: object, at: str = "/") -> dict[str, str]:
    request = RequestFactory().get(at)
    request.user = user  # type: ignore[assignment]
    return {item["label"]: item["current"] for item in navigation(request)["nav"]}


def test_stranger_is_offered_nothing() -> None:
    assert bar(AnonymousUser()) == {}


def test_annotator_is_offered_studies_alone() -> None:
    assert list(bar(Person())) == ["Studies"]


def test_researcher_is_offered_results_too_as_far_as_the_pages_exist() -> None:
    researcher = Person("benchmarks.view_results")
    assert list(bar(researcher)) == ["Runs", "Trajectories", "Studies"]


def test_search_needs_the_right_to_see_results() -> None:
    request = RequestFactory().get("/")
    request.user = Person()  # type: ignore[assignment]
    assert navigation(request)["search_url"] == ""
    request.user = Person("benchmarks.view_results")  # type: ignore[assignment]
    assert navigation(request)["search_url"] == "/trajectories/"


def test_place_is_marked_as_current_on_its_own_page_and_on_those_under_it() -> None:
    assert bar(Person(), "/studies/") == {"Studies": "page"}
    assert bar(Person(), "/studies/3/annotate/") == {"Studies": "true"}
    assert bar(Person(), "/accounts/2fa/") == {"Studies": ""}


def test_request_without_a_user_is_offered_nothing() -> None:
    assert navigation(RequestFactory().get("/")) == {"nav": [], "subnav": [], "search_url": ""}
