"""Questionnaires are written on a page: checked, shown, stored as versions that never change."""

from pathlib import Path

import pytest
from django.template.loader import render_to_string
from django.test import Client

from annotation.models import StoredQuestionnaire
from annotation.planning.forms import QuestionnaireForm
from annotation.planning.source_choices import SourceChoice
from annotation.plans.study_plan import ItemSource
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.services import check_questionnaire
from annotation.questionnaires.views import blank_text
from annotation.remarks.label_sets import file_text, read_label_set
from benchmarks.core.registry import SYSTEMS
from tests.annotation.rows import make_person

pytestmark = pytest.mark.django_db
URL = "/questionnaires/new/"
DOCS = Path(__file__).parents[3] / "docs"
BLANK = blank_text()


@pytest.fixture
def writer(db: None) -> Client:
    client = Client()
    client.force_login(make_person("rita", "start_runs"))
    return client


def test_the_example_of_failure_labels_can_be_stored() -> None:
    text = (DOCS / "examples" / "failure_labels.yaml").read_text("utf-8")
    failures, decided = check_questionnaire(name="failure_labels", text=text).questions
    assert failures.scale.kind == "spans" and "Disobeys its role" in failures.scale.labels.values()
    mast = read_label_set(file_text("mast@1")).labels
    heads = [row.name for row in mast if row.key in {other.parent for other in mast}]
    # The categories of the label set are the answers to what decided it.
    assert [option.label for option in decided.scale.options] == ["No failure", *heads]


def test_all_are_listed_and_one_is_shown_as_asked(writer: Client) -> None:
    page = writer.get("/questionnaires/").content.decode()
    for title in ("Ten questions on a trajectory", "Violation check", "About you"):
        assert title in page
    page = writer.get("/questionnaires/violation_check/1/").content.decode()
    assert "Situation violated" in page
    assert "mark conditions of the situation, or none" in page
    page = writer.get("/questionnaires/ten_questions/1/").content.decode()
    assert "All of it is what an ordinary person" in page and "Example: " in page
    assert writer.get("/questionnaires/ten_questions/9/").status_code == 404


def test_what_is_shown_is_stored_as_the_next_version(writer: Client) -> None:
    assert "My questions on a trajectory" in writer.get(URL).content.decode()
    page = writer.post(URL, {"name": "mine_of_test", "text": BLANK, "go": "show"})
    assert page.status_code == 200
    assert "It will be stored as version 1 of mine_of_test" in page.content.decode()
    assert not StoredQuestionnaire.objects.exists()
    for version in (1, 2):
        answer = writer.post(URL, {"name": "mine_of_test", "text": BLANK, "go": "store"})
        assert answer.headers["Location"] == f"/questionnaires/mine_of_test/{version}/"
    assert load_questionnaire("mine_of_test@2").questions[0].key == "useful"
    first = StoredQuestionnaire.objects.get(version=1)
    assert (first.by is not None and first.by.username) == "rita"
    load_questionnaire.cache_clear()


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_has_a_questionnaire_or_the_way_to_one(writer: Client, system: str) -> None:
    source = SourceChoice("x", "Runs of today (2 agents)", system, "trajectory", ItemSource())
    form = QuestionnaireForm(chosen=source)
    step = render_to_string("annotation/partials/_plan_form.html", {"form": form})
    if form.known:
        assert f'value="{form.known[0].id}"' in step
    else:
        assert "There is no questionnaire for Runs of today (2 agents) yet." in step
        assert f'href="{URL}?system={system}"' in step
    page = writer.get(f"{URL}?system={system}").content.decode()
    assert f"system: {system}" in page
    assert check_questionnaire(name="own", text=blank_text(system)).system == system


def test_from_another_one(writer: Client) -> None:
    page = writer.get(f"{URL}?from=filter_check@1").content.decode()
    assert 'value="own_filter_check"' in page and "Keep or remove" in page
    assert "version: 1" not in page
    assert writer.get(f"{URL}?from=none@1").status_code == 404


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("ten_questions", BLANK, "Ten_questions ships with the product"),
        ("Not so", BLANK, "A name has small letters"),
        ("fine", "\ntitle: ]", "Line 2: expected YAML"),
        (
            "fine",
            BLANK.replace("about: final", "about: moon"),
            "Line 12, questions 1, about: expected one of item, final",
        ),
        (
            "fine",
            BLANK.replace("points: 5", "points: 77"),
            "Line 16, questions 1, scale, points: expected a whole number from 2 to 9",
        ),
        ("fine", "a: &x [1]\nb: *x", "Line 2: expected a value of its own"),
        ("", "", "This field is required"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_stored(
    writer: Client, name: str, text: str, said: str
) -> None:
    answer = writer.post(URL, {"name": name, "text": text, "go": "store"})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not StoredQuestionnaire.objects.exists()


def test_several_problems_are_told_one_by_one(writer: Client) -> None:
    text = BLANK.replace("about: final", "about: moon").replace("[final_plan]", "[x]")
    page = writer.post(URL, {"name": "fine", "text": text}).content.decode()
    assert page.count(", questions 1, ") == 2
