"""The page of an installed package has all that our own have, without further code."""

import csv
import json
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from analysis.pages.catalogue import PAGES, RESERVED
from analysis.urls import urlpatterns
from benchmarks.api.tokens import create_token
from benchmarks.models import Run
from tests.annotation.rows import make_person
from tests.factories.benchmarks import play, start_sample_runs

pytestmark = [pytest.mark.django_db, pytest.mark.either]

AT = "/analysis/turn-lengths/"


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(make_person("rita", superuser=True))
    return client


@pytest.fixture
def runs(db: None) -> list[Run]:
    runs = start_sample_runs("coin-flipper", "careful-tracker", level="high")
    play(*runs)
    return runs


def test_it_is_listed_and_answers(client: Client, runs: list[Run]) -> None:
    assert "How much do agents write per turn?" in client.get("/analysis/").content.decode()
    page = client.get(AT).content.decode()
    assert re.search(r"Characters per turn: .* to .*\.", page)
    assert 'aria-current="page"' in page
    assert f'href="{AT}' in client.get("/analysis/leaderboard/").content.decode()


def test_without_runs_it_says_what_to_do(client: Client) -> None:
    assert "Start a run" in client.get(AT).content.decode()


def test_filters_choose_agents(client: Client, runs: list[Run]) -> None:
    query = f"dataset={runs[0].dataset_id}&level=high&agents=coin-flipper"
    lines = client.get(f"{AT}lengths.csv?{query}").content.decode().splitlines()
    assert [row["agent"] for row in csv.DictReader(lines)] == ["Coin flipper"]
    both = client.get(f"{AT}lengths.csv?dataset={runs[0].dataset_id}").content.decode()
    assert len(both.strip().splitlines()) == 3


def test_it_leaves_as_figure_latex_one_file_and_by_the_api(client: Client, runs: list[Run]) -> None:
    figure = json.loads(client.get(f"{AT}lengths.json").content)
    assert figure["data"]
    assert "\\begin{tabular" in client.get(f"{AT}lengths.tex").content.decode()
    one_file = client.get(f"{AT}report.html").content.decode()
    assert "Characters per turn" in one_file and "Length is the mean number" in one_file
    details = client.get(f"{AT}details/", headers={"HX-Request": "true"}).content.decode()
    assert "Of each trajectory the mean length" in details
    token = create_token(user=User.objects.get(), name="t")[1]
    program = {"Authorization": f"Bearer {token}"}
    listed = client.get("/api/v1/analysis", headers=program).json()
    assert "turn-lengths" in [page["key"] for page in listed]
    answer = client.get("/api/v1/analysis/turn-lengths", headers=program).json()
    assert answer["tables"][0]["name"] == "lengths"
    assert answer["answer"].startswith("Characters per turn")


def test_no_page_can_take_the_name_of_another_address() -> None:
    names = {str(pattern.name) for pattern in urlpatterns}  # type: ignore[union-attr]
    slugs = {name for name in names if re.fullmatch("[a-z0-9-]+", name)}
    assert slugs - PAGES.keys() <= RESERVED
