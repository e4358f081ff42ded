"""How a search that is being typed goes on."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from analysis.browser import list_views
from benchmarks.models import Run
from benchmarks.visibility import Visibility
from tests.factories.benchmarks import play, start_sample_runs


@pytest.fixture(autouse=True)
def two_runs(db: None) -> list[Run]:
    runs = start_sample_runs("explorer", "last-word")
    play(*runs)
    return runs


def offered(client: Client, typed: str) -> list[str]:
    answer = client.get(reverse("analysis:search_completions"), {"q": typed})
    assert answer.status_code == 200
    return [unescape(text) for text in re.findall(r'value="([^"]*)"', answer.content.decode())]


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("ag", ["agent:"]),
        ("-vio", ["-violated:", "-violations:"]),
        ('hammer "two words" en', ['hammer "two words" ended:']),
        ("agent:la", ['agent:"Last word"']),
        ('agent:"last w', ['agent:"Last word"']),
        ("AGENT:explo", ["agent:Explorer"]),
        ("score:", ["score:<3", "score:>=4", "score:2..4"]),
        ("agent:nobody", []),
        ("nothing:x", []),
        ("hammer", []),
        ('"open quote agent:', []),
    ],
)
def test_the_last_word_goes_on(researcher: Client, typed: str, wanted: list[str]) -> None:
    assert offered(researcher, typed) == wanted


def test_every_completion_of_a_value_finds_what_it_says(researcher: Client) -> None:
    page = reverse("analysis:trajectory_list")
    for name in ("agent", "ended", "valid", "level", "run"):
        options = offered(researcher, f"{name}:")
        assert options
        for text in options:
            shown = researcher.get(page, {"q": text})
            assert not shown.context["list"].query.problems, text
            assert shown.context["list"].count > 0, text


def test_tasks_are_completed_by_their_names(researcher: Client, two_runs: list[Run]) -> None:
    name = two_runs[0].trajectories.first().task.external_id
    assert f"task:{name}" in offered(researcher, f"task:{name[:-1]}")


def test_the_page_offers_completions_without_a_script(researcher: Client) -> None:
    text = researcher.get(reverse("analysis:trajectory_list"), {"q": "agent:la"}).content.decode()
    options = text.split('<datalist id="search-completions">')[1].split("</datalist>")[0]
    assert "agent:&quot;Last word&quot;" in options


@pytest.mark.parametrize("typed", ["\x00agent:", "a" * 5000, "<script>:", '"' * 200, ":::", "-"])
def test_strange_words_offer_what_is_safe(researcher: Client, typed: str) -> None:
    answer = researcher.get(reverse("analysis:search_completions"), {"q": typed})
    assert answer.status_code == 200
    assert b"<script" not in answer.content


def test_values_of_closed_runs_are_not_offered(
    researcher: Client, two_runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    user = User.objects.get(username="researcher")
    closed = Visibility(user, closed=[two_runs[1].pk])
    monkeypatch.setattr(list_views, "visibility", lambda request: closed)
    names = {two_runs[0].agent.title, two_runs[1].agent.title}
    told = {name for name in names if any(name in text for text in offered(researcher, "agent:"))}
    assert told == {two_runs[0].agent.title}
    assert not any(str(two_runs[1].pk) in text for text in offered(researcher, "run:"))
