"""Every address of the site by everybody, against the literal table in access_table.py."""

import logging
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import pytest
from django.http import HttpResponse
from pytest_django import DjangoDbBlocker, Settings

from config import urls
from tests.contracts.access_table import PERSONAS, TABLE
from tests.contracts.access_world import METHODS, Address, World, addresses, build_world
from tests.databases import standing_rows

pytestmark = [pytest.mark.django_db, pytest.mark.embedded, pytest.mark.slow]
Words = tuple[str, ...]
WIDTH = max(len(persona) for persona in PERSONAS) + 1
# Somebody who may not write is told so in one of these ways.
REFUSED = ("login", "403", "404", "405")


def line(name: str, method: str, words: Words) -> str:
    """A line of the table."""
    return f"{name:<33} {method:<4} {''.join(word.ljust(WIDTH) for word in words)}".rstrip()


@cache
def table() -> dict[tuple[str, str], Words]:
    """Return what each person gets, by name of the address and method."""
    rows: dict[tuple[str, str], Words] = {}
    for text in TABLE.splitlines():
        if not text.strip() or text.startswith("#"):
            continue
        name, method, *words = text.split()
        assert method in METHODS, f"not a method: {text}"
        assert len(words) == len(PERSONAS), f"not one word for each person: {text}"
        assert (name, method) not in rows, f"{method} {name} has two lines in the table"
        rows[name, method] = tuple(words)
    return rows


@pytest.fixture(autouse=True)
def _refusals_need_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of all answers are refusals; what their pages say is another test's matter."""
    for status in (403, 404):
        refuse = partial(_refuse, status)
        monkeypatch.setattr(urls, f"handler{status}", refuse, raising=False)


def _refuse(status: int, *_: object, **__: object) -> HttpResponse:
    return HttpResponse(status=status)


@pytest.fixture(autouse=True)
def _only_faults_are_news(caplog: pytest.LogCaptureFixture, settings: Settings) -> None:
    caplog.set_level(logging.CRITICAL, logger="django.request")
    settings.DEBUG_PROPAGATE_EXCEPTIONS = True


@pytest.fixture(autouse=True)
def _a_site_of_docs(settings: Settings, tmp_path: Path) -> None:
    """One page is there, whether or not the sources hold a built site."""
    (tmp_path / "index.html").touch()
    settings.DOCS_SITE = tmp_path


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """The study and everybody around it, made once and taken back at the end."""
    with standing_rows(django_db_blocker):
        yield build_world()


def test_every_address_has_a_line(request: pytest.FixtureRequest) -> None:
    listed = {name for name, _ in table()}
    missing = [address for address in site() if address.name not in listed]
    if not missing:
        return
    world: World = request.getfixturevalue("world")
    lines = []
    for address in missing:
        got = {method: world.everybody(address, method) for method in METHODS}
        if set(got["GET"]) - set(REFUSED) or not set(got["POST"]) - set(REFUSED):
            lines.append(line(address.name, "GET", got["GET"]))
        if not follows(got["POST"], got["GET"]):
            lines.append(line(address.name, "POST", got["POST"]))
    pytest.fail(
        "These addresses are not in tests/contracts/access_table.py. This is what the site answers "
        "now. Where a word is not what that person should get, mend the view; then add:\n\n"
        + "\n".join([line("#", "", tuple(PERSONAS)), *lines])
    )


def test_every_line_has_an_address() -> None:
    there = {address.name for address in site()}
    gone = sorted({name for name, _ in table()} - there)
    assert not gone, f"Delete from access_table.py, for there is no such address: {gone}"


@pytest.mark.usefixtures("small_drawings")
def test_everybody_gets_what_the_table_says(world: World) -> None:
    wrong = []
    for address in site():
        for method in METHODS:
            wrong += differences(world, address, method)
    assert not wrong, "Not as in tests/contracts/access_table.py:\n" + "\n".join(wrong)


def test_the_administration_is_for_administrators_alone(world: World) -> None:
    others = [persona for persona in PERSONAS if persona != "admin"]
    # Whoever is signed out of the administration was never in it.
    within = [
        address for address in addresses() if address.of_admin and address.name != "admin:logout"
    ]
    let_in = [
        f"{method} {address.pattern}: {persona} gets {got}"
        for address in within
        for method in METHODS
        for persona, got in zip(others, world.everybody(address, method, others), strict=True)
        if got not in REFUSED
    ]
    assert len(within) > 30
    assert not let_in, "\n".join(let_in)


def site() -> list[Address]:
    """Every address but those of the administration, which are many and made by the framework."""
    return [address for address in addresses() if not address.of_admin]


def differences(world: World, address: Address, method: str) -> list[str]:
    """Return where the site and the table differ about an address, in words."""
    said = table().get((address.name, method))
    other = table().get((address.name, "GET" if method == "POST" else "POST"))
    if said is None and other is None:
        return []  # another test says that the line is missing
    if said is None and is_not_taken(world, address, method):
        return []
    got = world.everybody(address, method)
    at = f"{method} {address.name} ({address.pattern})"
    if said is not None:
        return [
            f"{at}: {persona} gets {is_}, the table says {should}"
            for persona, is_, should in zip(PERSONAS, got, said, strict=True)
            if is_ != should
        ]
    if not set(got) - set(REFUSED) or (method == "POST" and other and follows(got, other)):
        return []
    return [f"{at} needs a line of its own:\n{line(address.name, method, got)}"]


def is_not_taken(world: World, address: Address, method: str) -> bool:
    """Return whether a view refuses a method as such, before it looks at who asks."""
    return set(world.everybody(address, method, ("stranger", "annot", "admin"))) == {"405"}


def follows(post: Words, get: Words) -> bool:
    """Return whether POST does for nobody what GET does not."""
    return all(word == of_get or word in REFUSED for word, of_get in zip(post, get, strict=True))
