"""Forms with hostile values: every form that a page offers answers, and never with 500.

``PLANJURY_FORM_CASES`` is how many cases of each form are sent, drawn with a fixed seed; 0 sends
all of them, which takes many minutes.
"""

import logging
import os
import random
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve
from pytest_django import DjangoDbBlocker, Settings

from benchmarks.roles.services import ensure_scripted_agents
from tests.contracts import posted_forms as forms
from tests.contracts.access_table import PERSONAS
from tests.contracts.access_world import World, addresses, build_world
from tests.contracts.posted_forms import Pairs, PostForm
from tests.contracts.test_access import table
from tests.databases import standing_rows, taken_back

pytestmark = [pytest.mark.django_db, pytest.mark.embedded, pytest.mark.slow]
CASES = int(os.environ.get("PLANJURY_FORM_CASES", "3"))
# Between them these people can open every page. Forms with the same fields are sent once.
PEOPLE = ("admin", "annot", "manager", "viewer")
# Files, figures and addresses that only poll offer no forms.
WITHOUT_FORMS = (
    "_csv", "_figure", "_file", "_folder", "_json", "_later", "_latex", "_pdf", "_progress",
    "_table",
)  # fmt: skip
NOT_OURS = {"admin", "contenttypes", "sessions"}
# An annotator's valid answers are kept where another answer on the same page is refused.
KEPT_TABLES = {"annotation_rating", "annotation_ratingedit"}


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """The rows of the test of access, and the agents that some forms make when they are opened."""
    with standing_rows(django_db_blocker):
        ensure_scripted_agents()
        yield build_world()


@pytest.fixture(autouse=True)
def _exceptions_are_raised(caplog: pytest.LogCaptureFixture, settings: Settings) -> None:
    caplog.set_level(logging.CRITICAL, logger="django.request")
    settings.DEBUG_PROPAGATE_EXCEPTIONS = True


@pytest.mark.usefixtures("small_drawings")
def test_forms_answer_hostile_values_and_store_nothing_that_they_refuse(world: World) -> None:
    faults, sent, known, slowest = [], 0, set(), (0.0, "")
    waiting = list(offered(world))
    for persona, form in waiting:
        key = (view_of(form.action), *sorted(form.names))
        if key in known:
            continue
        known.add(key)
        usual, *odd = forms.cases(form)
        drawn = random.Random(repr(key)).sample(odd, min(CASES, len(odd))) if CASES else odd
        for words, pairs in [usual, *drawn]:
            begun = time.process_time()
            fault, page = send(world, persona, form, pairs)
            sent += 1
            called = f"{persona} {form.action} [{words}]"
            slowest = max(slowest, (time.process_time() - begun, called))
            if fault:
                faults.append(f"{called}: {fault}")
            # A form of several steps answers with the form of the next step.
            waiting += [(persona, step) for step in forms.forms_of(form.action, page)]
    print(f"{len(known)} forms, {sent} requests; slowest: {slowest[0]:.2f} s, {slowest[1]}")
    assert len(known) > 60
    assert not faults, f"{len(faults)} faults:\n" + "\n".join(faults)


def offered(world: World) -> Iterator[tuple[str, PostForm]]:
    """Yield every form on the pages that these people can open."""
    for persona in PEOPLE:
        place = list(PERSONAS).index(persona)
        for address in addresses():
            words = table().get((address.name, "GET"))
            if words is None or words[place] != "ok" or address.name.endswith(WITHOUT_FORMS):
                continue
            url = world.url(address)
            for form in forms.forms_of(url, page_of(ask(world, persona, url))):
                yield persona, form


def view_of(action: str) -> str:
    """Return the name of the view that an action leads to."""
    try:
        return resolve(action.partition("?")[0]).view_name
    except Resolver404:
        return action


def page_of(answer: HttpResponseBase) -> str:
    """Return the text of a page, "" for any other answer."""
    is_html = answer.headers.get("Content-Type", "").startswith("text/html")
    if isinstance(answer, HttpResponse) and is_html and answer.status_code in (200, 422):
        return answer.content.decode()
    return ""


def send(world: World, persona: str, form: PostForm, pairs: Pairs) -> tuple[str, str]:
    """Send a form; return what is wrong with the answer ("" for nothing) and the page answered."""
    with taken_back():
        before = rows()
        try:
            answer = ask(world, persona, form.action, form, pairs)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)[-4:]
            places = " > ".join(f"{Path(one.filename).name}:{one.lineno}" for one in frames)
            return f"{type(error).__name__}: {str(error)[:200]} at {places}", ""
        page = page_of(answer)
        refused = answer.status_code >= 400 or 'class="errorlist' in page
        stored = {name: n for name, n in rows().items() if n != before[name]} if refused else {}
    if answer.status_code >= 500:
        return f"answered {answer.status_code}", page
    return f"answered {answer.status_code} and stored {stored}" if stored else "", page


def ask(
    world: World,
    persona: str,
    url: str,
    form: PostForm | None = None,
    pairs: Sequence[tuple[str, bytes]] = (),
) -> HttpResponseBase:
    """Open a page, or send a form to it; exceptions of views are raised."""
    cache.clear()  # nobody is held up by how often something was tried
    if form is None:
        request = world.requests.get(url)
    else:
        kind, body = forms.body_of(form, pairs)
        request = world.requests.generic("POST", url, body, content_type=kind)
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
    request.COOKIES[settings.SESSION_COOKIE_NAME] = world.sessions[persona]
    with taken_back() if form is None else nullcontext():
        return world.handler.get_response(request)


def rows() -> dict[str, int]:
    """Return how many rows each table of the product has."""
    tables = [
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed
        and not model._meta.proxy
        and model._meta.app_label not in NOT_OURS
        and model._meta.db_table not in KEPT_TABLES
    ]
    counts = " union all ".join(f"select '{name}', count(*) from {name}" for name in tables)
    with connection.cursor() as cursor:
        cursor.execute(counts)
        return dict(cursor.fetchall())
