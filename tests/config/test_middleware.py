"""Tests of the middleware that every request and answer passes."""

import gzip
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory

from config.middleware import CompressText
from tests.factories.benchmarks import RunFactory

WANTS = {"accept-encoding": "gzip"}
WORDS = b"<p>The same words again.</p>" * 100


def answer(response: Any, **headers: str) -> Any:
    """Return what the middleware makes of a view's response."""
    request: HttpRequest = RequestFactory(headers=headers or WANTS).get("/")
    return CompressText(lambda _: response)(request)


@pytest.mark.django_db
def test_a_page_and_a_fragment_are_compressed(client: Client) -> None:
    client.force_login(User.objects.create_superuser("admin"))
    RunFactory.create_batch(5)
    for headers in ({}, {"HX-Request": "true"}):
        plain = client.get("/runs/", headers=headers)
        small = client.get("/runs/", headers={**WANTS, **headers})
        assert "Content-Encoding" not in plain.headers
        assert small.headers["Content-Encoding"] == "gzip"
        assert "Accept-Encoding" in small.headers["Vary"]
        assert b"</" in gzip.decompress(small.content)
        assert len(small.content) < len(plain.content) / 2


def test_lengths_do_not_tell_what_a_page_holds() -> None:
    """Random padding, so that guesses repeated by a page cannot be told by its length."""
    assert len({len(answer(HttpResponse(WORDS)).content) for _ in range(40)}) > 1


def test_a_stream_of_text_stays_one() -> None:
    response = answer(StreamingHttpResponse(iter([WORDS, WORDS]), content_type="text/csv"))
    assert response.streaming
    assert gzip.decompress(b"".join(response)) == WORDS * 2


def test_events_go_out_at_once() -> None:
    events = StreamingHttpResponse(iter([b"data: 1\n\n"]), content_type="text/event-stream")
    assert "Content-Encoding" not in answer(events).headers


@pytest.mark.parametrize("kind", ["application/zip", "application/gzip", "image/png"])
def test_an_archive_goes_out_as_it_is(kind: str) -> None:
    response = answer(HttpResponse(WORDS, content_type=kind))
    assert "Content-Encoding" not in response.headers
    assert response.content == WORDS


def test_a_tag_stays_fit_for_the_next_question() -> None:
    """It turns weak, which conditional requests compare as equal."""
    response = HttpResponse(WORDS, headers={"ETag": '"one"'})
    assert answer(response).headers["ETag"] == 'W/"one"'
    unchanged = answer(HttpResponse(status=304))
    assert (unchanged.status_code, unchanged.content) == (304, b"")


@pytest.mark.parametrize(("owner", "status"), [("own", 404), ("other", 401), ("", 404)])
def test_answers_of_somebody_else_are_refused_and_kept(owner: str, status: int, db: None) -> None:
    user = User.objects.create_user("ann")
    client = Client()
    client.force_login(user)
    names = {"own": str(user.pk), "other": str(user.pk + 1), "": ""}
    answer = client.post("/studies/1/annotate/1/answers/", headers={"X-Answers-Of": names[owner]})
    assert answer.status_code == status
    if status == 401:
        assert answer.json()["code"] == "signed_out"
