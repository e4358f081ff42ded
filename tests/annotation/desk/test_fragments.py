"""The fragments of the desk that are kept between requests: what they hold, and who gets them."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.cache.utils import make_template_fragment_key
from django.test import Client

from annotation.desk.selectors import load_desk
from annotation.models import Assignment, Item, Study
from annotation.ratings.services import record_rating

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    caches["template_fragments"].clear()
    yield
    caches["template_fragments"].clear()


def key(item: Assignment, *, blinded: bool) -> str:
    digest = load_desk(item, locked=False).guide.digest
    return make_template_fragment_key("desk-guide", [digest, blinded, "en-gb"])


def show(client: Client, item: Assignment, *, blinded: bool) -> str:
    Study.objects.filter(pk=item.study_id).update(blinded=blinded)
    return client.get(f"/studies/{item.study_id}/annotate/{item.position}/").text


def test_it_holds_no_form_no_token_and_nobodys_name(
    client: Client, ann: User, item: Assignment
) -> None:
    client.force_login(ann)
    page = show(client, item, blinded=True)
    kept = caches["template_fragments"].get(key(item, blinded=True))
    assert kept and kept in page
    # The dialogue in which keys are chosen sends nothing to the server.
    assert kept.count("<form") == kept.count('method="dialog"') and "csrf" not in kept
    assert ann.username not in kept
    assert item.trajectory is not None and item.trajectory.run.agent.title not in kept


def test_whoever_is_blind_never_gets_the_fragment_of_others(
    client: Client, ann: User, item: Assignment
) -> None:
    client.force_login(ann)
    for blinded in (False, True):
        show(client, item, blinded=blinded)
        caches["template_fragments"].set(key(item, blinded=blinded), f"kept for {blinded}")
    assert "kept for False" in show(client, item, blinded=False)
    blind = show(client, item, blinded=True)
    assert "kept for True" in blind and "kept for False" not in blind


def test_of_the_questions_only_a_form_that_nobody_has_written_into_is_kept(
    client: Client, ann: User, item: Assignment
) -> None:
    def kept() -> str | None:
        blank = load_desk(item, locked=False).blank_form
        return fragments.get(make_template_fragment_key("desk-form", [blank, "en-gb"]))

    client.force_login(ann)
    fragments = caches["template_fragments"]
    page = show(client, item, blinded=True)
    blank = kept()
    assert blank and blank in page and blank.count("<fieldset") == len(item.item.asked)
    assert not any(words in blank for words in ("<form", "csrf", " checked", ann.username))
    fragments.clear()
    writes: dict[str, dict[str, Any]] = {"comment": {"text": "a remark"}, "answer": {"value": 4}}
    for aspect, given in writes.items():
        record_rating(
            assignment=item, by=ann, client_id=uuid.uuid4(), question="safety", aspect=aspect,
            **given,
        )  # fmt: skip
        assert load_desk(item, locked=False).blank_form == ""
        assert (" checked" if given.get("value") else "a remark") in show(
            client, item, blinded=True
        )
        assert kept() is None


def test_forms_that_differ_are_kept_apart(item: Assignment) -> None:
    pages = [
        load_desk(item, locked=False),
        load_desk(item, locked=True),
        load_desk(item, locked=False, missing=["safety"]),
    ]
    Item.objects.filter(pk=item.item_id).update(asked=item.item.asked[1:])
    item.refresh_from_db()
    pages.append(load_desk(item, locked=False))
    assert len({page.blank_form for page in pages}) == len(pages)
    assert load_desk(item, locked=False).blank_form == pages[-1].blank_form


def test_the_kept_links_of_pages_are_the_same_for_everybody(
    client: Client, ann: User, item: Assignment
) -> None:
    signed_out = client.get("/accounts/login/").text
    kept = caches["template_fragments"].get(make_template_fragment_key("page-links"))
    assert kept and kept in signed_out and "css/base" in kept
    assert "csrf" not in kept and "hx-headers" not in kept
    client.force_login(ann)
    assert kept in show(client, item, blinded=False)
