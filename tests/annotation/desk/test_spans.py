"""Passages marked with labels: which are taken, how they are kept, exported and read."""

import json
import uuid
from collections import ChainMap
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.desk.services import submit_assignment
from annotation.errors import Refused
from annotation.exports.codebook import question_texts
from annotation.exports.document import document_text
from annotation.exports.scope import Scope
from annotation.exports.table import rating_parts
from annotation.imports.services import import_study
from annotation.models import Assignment, Rating, Study
from annotation.questionnaires import (
    QuestionnaireError,
    load_questionnaire,
    questionnaire_text,
    read_questionnaire,
)
from annotation.questionnaires.services import store_questionnaire
from annotation.ratings.spans import passage_texts
from annotation.remarks.label_sets import file_text
from annotation.studies.setup import NewItem, store_study
from benchmarks.models import Trajectory
from tests.annotation.desks import first_item, make_kind
from tests.annotation.talks import make_talk_runs

pytestmark = pytest.mark.django_db
TEXT = """\
kind: own
system: adaplanbench
title: Where it goes wrong
shows: [plans, feedback]
sections:
  - {key: errors, title: Errors}
questions:
  - key: errors
    section: errors
    title: Mark what is wrong
    scale: {spans: [{key: wrong, name: Wrong, definition: It is false.}, {key: odd, name: Odd, definition: It is odd.}]}
"""  # noqa: E501
WRONG = {"turn": 1, "where": "plan", "start": 0, "end": 16, "quote": "Take the hammer.", "label": "wrong"}  # fmt: skip  # noqa: E501


def with_scale(scale: str) -> str:
    at = TEXT.index("    scale:")
    return TEXT[:at] + f"    scale: {scale}\n"


@pytest.fixture
def study(ann: User) -> Study:
    store_questionnaire(name="passages", text=TEXT, by=None)
    return make_kind("passages@1", ann)


@pytest.fixture
def tab(client: Client, ann: User) -> Client:
    client.force_login(ann)
    return client


def send(tab: Client, study: Study, chosen: Any) -> Any:
    edit = {"id": str(uuid.uuid4()), "question": "errors", "chosen": chosen}
    url = f"/studies/{study.pk}/annotate/1/answers/"
    return tab.post(url, json.dumps({"edits": [edit]}), content_type="application/json")


def test_passages_are_stored_with_their_labels_and_nothing_is_an_answer(
    tab: Client, study: Study, ann: User
) -> None:
    item = first_item(study)
    page = tab.get(f"/studies/{study.pk}/annotate/1/").content.decode()
    assert 'data-span-label="wrong"' in page and "Nothing to mark" in page
    odd = {**WRONG, "where": "feedback", "end": 6, "quote": "I have", "label": "odd"}
    for chosen, missing in (([WRONG, odd], False), (None, True), ([], False)):
        assert send(tab, study, chosen).status_code == 200
        assert Rating.objects.get(assignment=item).chosen == chosen
        if missing:
            assert tab.post(f"/studies/{study.pk}/annotate/1/submit/").json()["missing"] == [
                "errors"
            ]
    submit_assignment(assignment=item, by=ann)
    assert Assignment.objects.get(pk=item.pk).state == "submitted"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"end": 400}, "ends at character 400, and the text has"),
        ({"quote": "Take the handle."}, "not what is quoted"),
        ({"turn": 9}, "there is no turn 9"),
        ({"where": "reference"}, "turn 1 has feedback, plan"),
        ({"where": "said-1"}, "no text 'said-1'"),
        ({"label": "bad"}, "no label 'bad'; there are wrong, odd"),
        ({"start": 16}, "start before end"),
        ({"start": -1}, "start before end"),
        ({"start": True}, "and nothing else"),
        ({"more": 1}, "and nothing else"),
    ],
)
def test_a_passage_that_is_not_there_is_refused_and_changes_nothing(
    tab: Client, study: Study, change: dict[str, Any], words: str
) -> None:
    assert send(tab, study, [WRONG]).status_code == 200
    reply = send(tab, study, [WRONG, {**WRONG, "label": "odd", **change}])
    assert reply.status_code == 422
    assert words in reply.json()["results"][0]["refused"]
    assert Rating.objects.get().chosen == [WRONG]


def test_other_nonsense_is_refused(tab: Client, study: Study) -> None:
    for chosen in ("all", [WRONG, WRONG], ["wrong"], [WRONG] * 201, [[]], [{}]):
        assert send(tab, study, chosen).status_code == 422
    assert not Rating.objects.exists()


def test_passages_are_exported_and_come_back(
    tab: Client, study: Study, ann: User, tmp_path: Path
) -> None:
    send(tab, study, [WRONG])
    submit_assignment(assignment=first_item(study), by=ann)
    rows = [dict(ChainMap(*parts)) for parts in rating_parts(Scope(study))]
    (row,) = [row for row in rows if row["question"] == "errors"]
    assert row["marked"] == [WRONG] and row["chosen"] is None and row["scale"] == "spans"
    questions = {row[1]: row for row in question_texts(Scope(study))}
    assert "wrong = Wrong; odd = Odd" in questions["errors"]
    path = tmp_path / "study.json"
    path.write_text("".join(document_text(Scope(study))), encoding="utf-8")
    Study.objects.filter(pk=study.pk).update(settings={})
    again = import_study(path=path, by=None).study
    assert again is not None
    assert Rating.objects.get(assignment__study=again).chosen == [WRONG]


def test_a_label_set_is_named_and_copied_in_when_a_questionnaire_is_stored() -> None:
    store_questionnaire(name="mast_spans", text=with_scale("{spans: mast@1}"), by=None)
    assert "mast@1" not in questionnaire_text("mast_spans@1")
    labels = load_questionnaire("mast_spans@1").by_key["errors"].scale.labels
    assert labels["step_repetition"] == "Repeats a step"
    assert "specification" not in labels  # a heading
    assert len(labels) == file_text("mast@1").count("parent:")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (with_scale("{spans: nobody@1}"), "a label set that is here"),
        (with_scale("{spans: mast}"), "KEY@VERSION"),
        (with_scale("{spans: []}"), "spans"),
        (TEXT.replace("key: odd", "key: wrong"), "each key once"),
        (TEXT.replace("section: errors\n", "section: errors\n    about: turn\n"), "item of unit"),
    ],
)
def test_labels_that_cannot_be_put_are_refused(text: str, words: str) -> None:
    with pytest.raises(QuestionnaireError, match=words):
        read_questionnaire(f"id: own\nversion: 1\n{text}", source="typed", id="own@1")


def test_the_texts_are_those_that_the_desk_shows(tab: Client, study: Study) -> None:
    item = first_item(study).item
    texts = passage_texts(item)
    assert set(texts) == {(0, "query"), (1, "plan"), (1, "feedback"), (2, "plan")}
    assert texts[1, "plan"] == "Take the hammer.\nHit it."


TALK_TEXT = TEXT.replace("adaplanbench", "external").replace("shows: [plans, feedback]\n", "")
# Texts of turn 1: the agent's, arguments of its call, the tool's, the user's.
SAID = {"turn": 1, "where": "said-4", "start": 8, "end": 14, "quote": "please", "label": "wrong"}


@pytest.fixture
def talks(ann: User) -> Study:
    """A study of one dialogue, whose user calls a tool that is hidden in this study."""
    store_questionnaire(name="talk_passages", text=TALK_TEXT, by=None)
    make_talk_runs(tasks=1)
    study = Study(name="T", questionnaire="talk_passages@1", status="open", shows_hidden=False)
    item = NewItem(trajectory=Trajectory.objects.order_by("pk")[0].pk)
    return store_study(study=study, items=[item], people=[ann], lists=[range(1)])


def test_a_passage_of_a_dialogue_stands_where_it_says(tab: Client, talks: Study) -> None:
    assert send(tab, talks, [SAID]).status_code == 200
    before = {**SAID, "turn": 0, "where": "said-2", "start": 0, "end": 3, "quote": "Can"}
    assert send(tab, talks, [SAID, before]).status_code == 200
    # The tool's JSON is shown indented, and its passages go over its lines.
    lines = {**SAID, "where": "said-3", "start": 0, "end": 5, "quote": '{\n  "', "label": "odd"}
    assert send(tab, talks, [lines]).status_code == 200
    for change, words in (
        ({"start": 9, "end": 15}, "not what is quoted"),
        ({"where": "said-1"}, "ends at character 14, and the text has 12"),
        ({"where": "said-5"}, "turn 1 has said-1, said-2, said-3, said-4"),
        ({"start": 90, "end": 96}, "ends at character 96, and the text has 25"),
        ({"turn": 3}, "there is no turn 3"),
    ):
        reply = send(tab, talks, [{**SAID, **change}])
        assert reply.status_code == 422
        assert words in reply.json()["results"][0]["refused"]
    assert Rating.objects.get().chosen == [lines]


def test_what_a_study_shows_of_hidden_messages_counts_as_texts(talks: Study) -> None:
    item = first_item(talks).item
    shown = passage_texts(item)
    assert (1, "said-5") not in shown and shown[1, "said-4"] == "Thanks, please extend it."
    talks.shows_hidden = True
    item.study = talks
    every = passage_texts(item)
    assert every[1, "said-4"] == "{}" and every[1, "said-5"] == "Thanks, please extend it."
    assert every[2, "said-3"] == "It is reserved, so I could not extend it."
    assert every[2, "said-4"] == "Say it plainly."


@pytest.mark.parametrize("where", ["seats", "adjudications"])
def test_an_import_refuses_passages_that_are_elsewhere(
    tab: Client, talks: Study, ann: User, tmp_path: Path, where: str
) -> None:
    send(tab, talks, [SAID])
    submit_assignment(assignment=first_item(talks), by=ann)
    document = json.loads("".join(document_text(Scope(talks))))
    path = tmp_path / "study.json"
    row = {
        "item": 1, "question": "errors", "subject": "", "value": None, "chosen": [SAID],
        "reason": "", "revealed": False, "by": "staff-0123456789ab",
        "at": "2026-02-01T00:00:00Z",
    }  # fmt: skip
    document["adjudications"] = [row]
    there = row if where == "adjudications" else document["seats"][0]["edits"][0]
    for chosen, words in (
        ([{**SAID, "end": 99, "quote": "x" * 91}], "ends at character 99, and the text has 25"),
        ([{**SAID, "start": 0, "end": 6}], "not what is quoted"),
    ):
        there["chosen"] = chosen
        path.write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(Refused, match=words) as refused:
            import_study(path=path, by=None)
        named = "adjudication 1: " if where == "adjudications" else "seat 1, edit 1: "
        assert str(refused.value).startswith(named)
    assert Study.objects.count() == 1 and Rating.objects.count() == 1
    there["chosen"] = [SAID]
    path.write_text(json.dumps(document), encoding="utf-8")
    assert import_study(path=path, by=None).study is not None
