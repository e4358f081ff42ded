"""With broken plug-ins everything else works, and the page of administrators names each."""

import io
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from benchmarks.models import Run
from tests.annotation.rows import make_person
from tests.factories.benchmarks import play, start_sample_runs
from tests.plug_ins.test_broken import LEFT_OUT

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(make_person("rita", superuser=True))
    return client


@pytest.fixture
def runs(db: None) -> list[Run]:
    runs = start_sample_runs("coin-flipper", level="high")
    play(*runs)
    return runs


def test_the_page_of_administrators_names_each(client: Client) -> None:
    page = client.get("/server/").content.decode()
    for title, problem, remedy in LEFT_OUT:
        assert title[0].upper() + title[1:] in page
        assert problem in page.replace("&#x27;", "'") and remedy in page.replace("&#x27;", "'")


def test_a_page_that_fails_says_so_and_is_named(client: Client, runs: list[Run]) -> None:
    page = client.get("/analysis/failing/").content.decode()
    assert "This page could not be written" in page and "The plug-in “failing” failed." in page
    assert "out of tea" not in page and ".py" not in page
    assert client.get("/analysis/failing/anything.csv").status_code == 404
    assert client.get("/analysis/failing-later/").status_code == 200
    details = client.get("/analysis/failing-later/details/", headers={"HX-Request": "true"})
    assert "failed. Administrators see why" in details.content.decode()
    server = client.get("/server/").content.decode()
    assert (
        server.count(">Page failing<") == 1
        and "Using it raised RuntimeError: out of tea." in server
    )


@pytest.mark.parametrize(
    "url",
    ["/", "/analysis/", "/analysis/leaderboard/", "/analysis/doubtful/", "/runs/", "/runs/new/",
     "/trajectories/", "/trajectories/import/", "/datasets/import/", "/questionnaires/",
     "/studies/new/", "/experiments/new/"],
)  # fmt: skip
def test_other_pages_work(url: str, client: Client, runs: list[Run]) -> None:
    assert client.get(url, follow=True).status_code == 200


def test_a_format_that_fails_recognises_nothing(tmp_path: Path) -> None:
    path, out = tmp_path / "talk.json", io.StringIO()
    path.write_text('[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]')
    call_command("import_trajectories", str(path), stdout=out)
    assert "OpenAI chat messages" in out.getvalue()
