"""The fragments of the desk that are kept between requests: what they hold, and who gets them."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.cache.utils import make_template_fragment_key
from django.test import Client

from annotation.desk.selectors import load_desk
from annotation.models import Assignment, Study
from annotation.questionnaires import load_questionnaire

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
    assert "<form" not in kept and "csrf" not in kept
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


def test_of_a_question_its_words_are_kept_and_no_field(
    client: Client, ann: User, item: Assignment
) -> None:
    client.force_login(ann)
    page = show(client, item, blinded=True)
    questionnaire = load_questionnaire(item.study.questionnaire)
    asked = questionnaire.of_keys(item.item.asked)
    assert asked
    for question in asked:
        name = make_template_fragment_key("desk-question", [question.digest, True, "en-gb"])
        kept = caches["template_fragments"].get(name)
        assert kept and kept in page and kept.count("score-definition") == 1
        assert not any(field in kept for field in ("<form", "<input", "<textarea", "csrf"))
        assert ann.username not in kept
    assert len({question.digest for question in questionnaire.questions}) == len(
        questionnaire.questions
    )


def test_the_kept_links_of_pages_are_the_same_for_everybody(
    client: Client, ann: User, item: Assignment
) -> None:
    signed_out = client.get("/accounts/login/").text
    kept = caches["template_fragments"].get(make_template_fragment_key("page-links"))
    assert kept and kept in signed_out and "css/base" in kept
    assert "csrf" not in kept and "hx-headers" not in kept
    client.force_login(ann)
    assert kept in show(client, item, blinded=False)
