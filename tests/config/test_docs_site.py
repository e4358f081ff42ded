"""The documentation as a site: what is on it, how it is served, and what fails its build."""

import os
import re
from html import unescape
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands
from django.test import Client
from pytest_django import Settings

from config.urls import api
from tests.docs_site import builder, built_site

pytestmark = [pytest.mark.either, pytest.mark.slow]
ROOT = Path(settings.BASE_DIR)
EVERY_COMMAND = {
    name: app if app in builder().APPS else "django" for name, app in get_commands().items()
}


@pytest.fixture
def site(settings: Settings) -> Path:
    """The built site, which the product serves."""
    settings.DOCS_SITE = built_site()
    return built_site()


def text_of(site: Path, page: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", (site / page / "index.html").read_text()))


@pytest.mark.parametrize("app", sorted(set(EVERY_COMMAND.values())))
def test_the_help_of_every_command_is_on_a_page(site: Path, app: str) -> None:
    text = text_of(site, f"commands/{app}")
    for name in (name for name, owner in EVERY_COMMAND.items() if owner == app):
        assert f"usage: planjury {name} " in text
    assert str(ROOT) not in text


def test_help_of_subcommands_is_there(site: Path) -> None:
    assert "usage: planjury import_dataset planbench_xl " in text_of(site, "commands/benchmarks")


def test_every_route_of_the_api_is_on_its_page(site: Path) -> None:
    text = text_of(site, "api-reference")
    paths = api.get_openapi_schema()["paths"]
    assert len(paths) > 60
    for path, methods in paths.items():
        for method in methods:
            assert f"{method.upper()} {path}" in text
    assert (
        'href="../making-studies/">docs/making-studies.md</a>'
        in (site / "api-reference" / "index.html").read_text()
    )


def test_every_page_of_the_docs_has_its_page_on_the_site(site: Path) -> None:
    for place in builder().places_of_pages().values():
        page = site / place.removesuffix(".md")
        page = page.parent if page.name == "index" else page
        assert (page / "index.html").is_file(), place


def test_pictures_are_those_that_the_script_makes() -> None:
    script = (ROOT / "requirements/scripts/screenshots.py").read_text()
    made = {f"{name}.webp" for name in re.findall(r'Picture\(\s*"(\w+)"', script)}
    assert made == {path.name for path in (ROOT / "docs" / "images").iterdir()}
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert made == set(re.findall(r"images/(\w+\.webp)", "".join(p.read_text() for p in pages)))
    assert sum(path.stat().st_size for path in (ROOT / "docs" / "images").iterdir()) < 700_000


# --- Serving --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind", "holds"),
    [
        ("", "text/html; charset=utf-8", b"PlanJury judges agents that plan."),
        ("statistics/", "text/html; charset=utf-8", b"<h1"),
        ("search.json", "application/json", b'"items"'),
        ("css/site.css", "text/css; charset=utf-8", b"--md-text-font"),
        ("fonts/planjury-sans.woff2", "font/woff2", b"wOF2"),
        ("images/desk.webp", "image/webp", b"WEBP"),
        ("LICENSE", "text/plain; charset=utf-8", b"Apache License"),
    ],
)
def test_a_file_of_the_site_is_served_as_what_it_is(
    site: Path, client: Client, path: str, kind: str, holds: bytes
) -> None:
    response = client.get(f"/docs/{path}")
    assert response.status_code == 200
    assert response["Content-Type"] == kind
    assert response["Cache-Control"] == "no-cache"
    assert "script-src 'self'" in response["Content-Security-Policy"].split("; ")
    assert holds in response.content


def test_a_browser_keeps_a_file_until_it_changes(site: Path, client: Client) -> None:
    (script,) = (path.name for path in (site / "assets/javascripts").glob("bundle.*.js"))
    kept = client.get(f"/docs/assets/javascripts/{script}")
    assert kept["Cache-Control"] == "max-age=31536000, immutable"
    etag = client.get("/docs/")["ETag"]
    assert client.get("/docs/", headers={"If-None-Match": etag}).status_code == 304
    assert client.get("/docs/", headers={"If-None-Match": '"other"'}).status_code == 200


def test_an_address_without_its_slash_leads_on(site: Path, client: Client) -> None:
    assert client.get("/docs/statistics")["Location"] == "/docs/statistics/"


@pytest.mark.parametrize(
    "path",
    ["../manage.py", "..%2fmanage.py", "css/../../manage.py", "/etc/passwd", "%2e%2e/", "no-page/"],
)
def test_nothing_outside_the_site_is_served(
    site: Path, client: Client, db: None, path: str
) -> None:
    (site.parent / "manage.py").touch()
    assert client.get(f"/docs/{path}").status_code == 404


def test_only_reading_is_possible(site: Path, client: Client) -> None:
    assert client.post("/docs/").status_code == 405


def test_a_newly_built_site_is_served_at_once(
    tmp_path: Path, settings: Settings, client: Client
) -> None:
    settings.DOCS_SITE = tmp_path
    for n, text in enumerate(("first", "second")):
        builder().write(tmp_path / "index.html", text)
        os.utime(tmp_path / "index.html", (n, n))
        assert client.get("/docs/").content == text.encode()


def test_without_a_built_site_the_page_says_how_to_build_it(
    tmp_path: Path, settings: Settings, client: Client
) -> None:
    settings.DOCS_SITE = tmp_path / "none"
    response = client.get("/docs/statistics/")
    assert response.status_code == 404
    assert "run `make docs`" in response.content.decode()


# --- What fails the build -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<a href="none/">', "index.html links to none/, which does not exist."),
        (
            '<a href="../outside.html">',
            "index.html links to ../outside.html, which does not exist.",
        ),
        ('<a href="other/#no">', "index.html links to other/#no, an anchor that does not exist."),
        (
            '<img src="https://example.org/a.png">',
            "index.html loads https://example.org/a.png from",
        ),
        ("<script>alert()</script>", "index.html holds a script, which"),
        ("", "No page leads to other/index.html: name it in docs/site/zensical.toml."),
    ],
)
def test_a_fault_of_the_site_has_its_sentence(tmp_path: Path, page: str, fault: str) -> None:
    site = tmp_path / "site"
    builder().write(tmp_path / "outside.html", "")
    builder().write(site / "index.html", f"{'<a href=other/#yes></a>' * bool(page)}{page}")
    builder().write(site / "other" / "index.html", '<h1 id="yes"><a href="https://example.org">')
    (found,) = builder().faults_of(site)
    assert found.startswith(fault)


def test_a_link_leads_to_where_its_page_went(tmp_path: Path) -> None:
    places = builder().places_of_pages()
    page = ROOT / "README.md"
    moved = builder().with_moved_links(page, places, tmp_path)
    assert "](running.md#from-a-package)" in moved
    assert "](decisions/index.md)" in moved
    assert "](systems/acpbench_hard_scoring.md)" in moved
    assert "](docs/" not in moved
    assert (tmp_path / "LICENSE").is_file()


def test_scripts_inside_pages_become_files(tmp_path: Path) -> None:
    page = tmp_path / "a" / "index.html"
    builder().write(page, '<script>go("é")</script><script type="application/json">{}</script>')
    (tmp_path / "assets").mkdir()
    builder().finish(tmp_path)
    (script,) = (tmp_path / "assets" / "scripts").iterdir()
    assert script.read_text() == 'go("é")'
    assert f'<script src="../assets/scripts/{script.name}"></script>' in page.read_text()
    assert list(builder().faults_of(tmp_path)) == [
        "No page leads to a/index.html: name it in docs/site/zensical.toml."
    ]
