"""Everybody walks every page that they can reach: nothing fails, nothing comes from elsewhere."""

import re
from collections import deque
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.demo import services as study_demo
from annotation.models import Participant
from annotation.planning import preset_plans as demo_plans
from benchmarks.jobs import services as jobs
from benchmarks.models import Job
from tests.small_demo import shrink_demo

PEOPLE = ("researcher", "admin", "manager", "annotator", "observer")
ENOUGH = ("researcher", "annotator")
# Pages of the framework, and the same page under other numbers and filters, are not walked again.
# The documentation, which may name other hosts, is checked where it is built.
SKIP = re.compile(r"^/(admin|static|docs|accounts/logout)")
# The style guide shows how a figure that fails looks; its address fails on purpose.
FAILS_ON_PURPOSE = "/styleguide/figure.json?fails"
# The first person who comes to pages of one shape opens some of them, everybody else one: what they
# show differs by object, and who may open which is in test_access.py. The analysis, of which most
# pages are, is the same for all who may see it: the first asks for one of each page, figure,
# table and file.
PER_SHAPE = 3
ANALYSIS = "/analysis/"
MOST = 1000


class Links(HTMLParser):
    """The links of a page, what it loads, and what its policy forbids."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.forbidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in {"img", "script", "iframe", "source"} and given.get("src"):
            self.loads.append(given["src"])
        if tag == "link" and "href" in given:
            self.loads.append(given["href"])
        for name in ("data-src", "hx-get"):
            if name in given:
                self.links.append(given[name])
        if tag == "form":
            self.loads.append(given.get("action", ""))
        inline = tag == "script" and "src" not in given and "json" not in given.get("type", "")
        handlers = [name for name in given if re.fullmatch(r"on[a-z]+", name)]
        if inline or handlers:
            self.forbidden.append(f"<{tag}> {handlers}")


@pytest.fixture
def small_demo(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo as it is loaded, over eight of its tasks at one level: one for each annotator."""
    shrink_demo(monkeypatch, tasks=8, agents=5, full_levels=("high",))
    monkeypatch.setattr(demo_plans, "QUERIES_EACH", 1)
    study_demo.ensure_demo()
    job = Job.objects.get()
    jobs.perform(job_id=job.pk, owner="test")
    job.refresh_from_db()
    assert job.status == Job.Status.DONE, job.message


def shape(path: str) -> str:
    """A page's address without its numbers and without what is filtered.

    The figures and tables of one page are of one shape. What comes next differs from study to
    study: something to read, an item, a session.
    """
    if re.fullmatch(r"/studies/\d+/annotate/", path):
        return path
    return re.sub(r"[\w-]+(?=\.(json|csv|tex)$)", "part", re.sub(r"\d+", "N", urlsplit(path).path))


def walk(client: Client, analysed: set[str], known: set[str]) -> Iterator[tuple[str, str]]:
    """(address, body) of every page within reach of ``/``, at most a few of each shape.

    Of ``known`` shapes, which others have walked, one is enough. ``analysed`` shapes of the
    analysis were asked for before and are left out; new ones are added.
    """
    waiting, seen, shapes = deque(["/"]), {"/"}, dict[str, int]()
    while waiting and len(seen) < MOST * 4:
        address = waiting.popleft()
        kind = shape(address)
        shapes[kind] = shapes.get(kind, 0) + 1
        if shapes[kind] > (1 if kind in known else PER_SHAPE):
            continue
        if kind.startswith(ANALYSIS):
            if kind in analysed:
                continue
            analysed.add(kind)
        answer = client.get(address, follow=True)
        if address == FAILS_ON_PURPOSE:
            assert answer.status_code == 404
            continue
        assert answer.status_code in (200, 204, 286, 304), (address, answer.status_code)
        policy = answer.headers.get("Content-Security-Policy", "")
        assert "default-src 'self'" in policy, address
        if "html" not in answer.headers.get("Content-Type", ""):
            continue
        body = answer.content.decode()
        if "attachment" in answer.headers.get("Content-Disposition", ""):
            # A file to be kept has its scripts within, and says by their digests which may run.
            assert "default-src &#x27;none&#x27;" in body or "default-src 'none'" in body, address
            continue
        yield answer.request["PATH_INFO"], body
        page = Links()
        page.feed(body)
        assert not page.forbidden, (address, page.forbidden)
        for target in (*page.links, *page.loads):
            split = urlsplit(target)
            assert not split.netloc, f"{address} points to {target}"
            assert split.scheme in ("", "data", "mailto"), (address, target)
        for link in page.links:
            there = urljoin(address, link).partition("#")[0]
            if there not in seen and not SKIP.match(there) and urlsplit(there).scheme == "":
                seen.add(there)
                waiting.append(there)


@pytest.mark.slow
@pytest.mark.usefixtures("small_demo", "small_drawings")
def test_no_page_fails_and_none_needs_another_host() -> None:
    Participant.objects.update(guidelines_read_at=timezone.now())  # a walk confirms nothing
    visited: dict[str, set[str]] = {}
    analysed, known = set[str](), set[str]()
    # On the second engine it is the queries that could fail: those two see what the others see.
    for name in ENOUGH if settings.TEST_DATABASE_URL else PEOPLE:
        client = Client()
        client.force_login(User.objects.get(username=name))
        # An annotator who has a way to the analysis is to be found on it.
        left_out = set[str]() if name == "annotator" else analysed
        visited[name] = {shape(address) for address, _ in walk(client, left_out, known)}
        known |= visited[name]
    assert {"/runs/", "/runs/N/", "/trajectories/N/", "/datasets/N/"} <= visited["researcher"]
    assert {"/analysis/leaderboard/", "/analysis/agreement/"} <= visited["researcher"]
    checks = {
        "/analysis/ratings/violation-check/",
        "/analysis/ratings/filter-check/",
        "/analysis/decline/turn-scores/",
    }
    assert {*checks, "/studies/N/quality/"} <= visited["researcher"]
    assert len(analysed) > 80
    assert "/studies/N/annotate/N/" in visited["annotator"]
    # an annotator of a blinded study has no way to the pages that name models
    assert not any(
        at.startswith(("/runs", "/trajectories", "/analysis")) for at in visited["annotator"]
    )
