"""A paper of somebody, runs that its pins are about, and pages that nobody has opened yet."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client

from analysis.models import Paper, PaperVersion
from analysis.papers.blocks import PinBlock, Source, TextBlock, read_blocks
from analysis.papers.services import create_paper, latest_version, pin_parts
from analysis.papers.sources import open_source
from benchmarks.models import Run
from benchmarks.visibility import Visibility
from tests.analysis.rows import flat, make_dataset, make_person, make_run, make_trajectory


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    for name in ("kept", "reports"):
        caches[name].clear()


@pytest.fixture
def run(db: None) -> Run:
    """A run whose agent is right on two of three tasks."""
    made = make_run(make_dataset(is_demo=True), "ada")
    for task in (1, 2, 3):
        make_trajectory(made, task, scores=[flat(4), flat(5)], accurate=task % 2)
    return made


@pytest.fixture
def rita(db: None) -> User:
    return make_person("rita", "view_results")


@pytest.fixture
def sven(db: None) -> User:
    return make_person("sven", "view_results")


@pytest.fixture
def paper(rita: User) -> Paper:
    return create_paper(owner=rita, title="Agents & <b>plans</b> at 50 % \\input{x}")


@pytest.fixture
def editor(client: Client, rita: User) -> Client:
    client.force_login(rita)
    return client


def board(query: str = "") -> Source:
    return Source(kind="page", name="leaderboard", query=query)


def pin(paper: Paper, *parts: str, source: Source | None = None) -> PaperVersion:
    """Pin parts of the leaderboard, as the owner of the paper."""
    owner = paper.owner
    found = open_source(source or board(), owner, Visibility.to(owner))
    return pin_parts(paper=paper, found=found, parts=parts or ("table:board",), by=owner)


def blocks_of(paper: Paper) -> list[TextBlock | PinBlock]:
    return read_blocks(latest_version(paper).blocks)


def form_of(paper: Paper, **changes: Any) -> dict[str, Any]:
    """Return what a browser posts of a paper where nothing was changed, with changes."""
    version = latest_version(paper)
    blocks = read_blocks(version.blocks)
    return {
        "base": str(version.number),
        "title": version.title,
        "action": "save",
        "block": [block.id for block in blocks],
        **{f"text-{block.id}": block.text for block in blocks if isinstance(block, TextBlock)},
        **changes,
    }
