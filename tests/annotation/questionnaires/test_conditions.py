"""Questions under a condition: how they are read, refused, shown and answered."""

import json
import re
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.desk.services import submit_assignment
from annotation.exports.codebook import question_texts
from annotation.exports.scope import Scope
from annotation.models import Rating, RatingEdit
from annotation.questionnaires import Questionnaire, QuestionnaireError, Slot, read_questionnaire
from annotation.questionnaires.services import store_questionnaire
from tests.annotation.desks import first_item, make_kind

HEAD = """\
id: own
version: 1
kind: own
system: adaplanbench
title: Errors
sections:
  - {key: errors, title: Errors}
questions:
"""
KIND = """\
  - key: wrong
    section: errors
    title: Is it wrong?
    scale: {choice: [{value: 0, label: "No", key: x}, {value: 1, label: "Yes", key: y}]}
  - key: how
    section: errors
    title: How bad is it?
    scale: {choice: [{value: 1, label: Slightly, key: a}, {value: 2, label: Badly, key: b}]}
    when: {question: wrong, answers: [1]}
  - key: why
    section: errors
    title: Why so bad?
    scale: {text: 200}
    required: true
    when: {question: how, answers: [2]}
"""


def read(questions: str) -> Questionnaire:
    return read_questionnaire(HEAD + questions, source="typed", id="own@1")


def test_a_condition_is_met_only_if_the_one_before_it_is() -> None:
    questionnaire = read(KIND)
    wrong, how, why = (Slot(question) for question in questionnaire.questions)
    for values, asked in (
        ({}, (True, False, False)),
        ({"wrong": 0, "how": 2}, (True, False, False)),
        ({"wrong": 1}, (True, True, False)),
        ({"wrong": 1, "how": 1}, (True, True, False)),
        ({"wrong": 1, "how": 2}, (True, True, True)),
    ):
        given = {(key, ""): value for key, value in values.items()}
        assert tuple(questionnaire.applies(slot, given) for slot in (wrong, how, why)) == asked
    words = "only if question 1 (Is it wrong?) is answered: Yes"
    assert questionnaire.condition_words(how.question) == words


def test_questions_under_a_condition_stay_behind_theirs_when_rotated() -> None:
    more = "  - {key: last, section: errors, title: Last, scale: {text: 9}}\n"
    questionnaire = read(KIND + more)
    keys = ["wrong", "how", "why", "last"]
    assert [q.key for q in questionnaire.of_keys(keys, 1)] == ["last", "wrong", "how", "why"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("question: wrong, ", "question: gone, ", "a question of this file (wrong, why)"),
        ("question: wrong, ", "question: why, ", "a question with points or a choice"),
        ("answers: [1]", "answers: [1, 7]", "expected one of 0, 1, found the number 7"),
        ("question: wrong, ", "question: how, ", "conditions without a circle"),
        ("answers: [1]", "answers: []", "answers"),
        ("answers: [1]}", "answers: [1], unless: x}", "unless"),
        ("title: Is it wrong?", "title: Is it wrong?\n    about: turn", "of the same part (item)"),
        (
            "title: Is it wrong?",
            "title: Is it wrong?\n    when: {question: how, answers: [1]}",
            "wrong → how → wrong",
        ),
    ],
)
def test_a_condition_that_cannot_be_is_refused_with_its_line(
    old: str, new: str, problem: str
) -> None:
    with pytest.raises(QuestionnaireError) as refused:
        read(KIND.replace(old, new, 1))
    assert problem in str(refused.value)
    assert "line" in str(refused.value)


@pytest.fixture
def tab(client: Client, ann: User) -> Client:
    client.force_login(ann)
    return client


def send(tab: Client, url: str, **answers: Any) -> Any:
    edits = [
        {"id": str(uuid.uuid4()), "question": key, "value": value} for key, value in answers.items()
    ]
    body = json.dumps({"edits": edits})
    return tab.post(f"{url}answers/", data=body, content_type="application/json")


@pytest.mark.django_db
def test_what_is_not_asked_is_not_missing_and_does_not_count(tab: Client, ann: User) -> None:
    text = (HEAD + KIND).replace("id: own\nversion: 1\n", "")
    store_questionnaire(name="conditional", text=text, by=None)
    study = make_kind("conditional@1", ann)
    url, item = f"/studies/{study.pk}/annotate/1/", first_item(study)

    def unmet() -> list[str]:
        page = tab.get(url).content.decode()
        return re.findall(r'<fieldset class="[^"]*\bunmet\b[^"]*" id="q-(\w+)"', page)

    assert unmet() == ["how", "why"]
    assert tab.post(f"{url}submit/").json()["missing"] == ["wrong"]
    send(tab, url, wrong=1)
    assert unmet() == ["why"]
    assert tab.post(f"{url}submit/").json()["missing"] == ["how"]
    send(tab, url, how=2)
    assert unmet() == []
    assert tab.post(f"{url}submit/").json()["missing"] == ["why"]
    # The first answer changes: nothing else is asked any more, and the rest counts no more.
    assert send(tab, url, wrong=0).status_code == 200
    assert Rating.objects.get(assignment=item, question="how").value == 2
    assert tab.post(f"{url}submit/").status_code == 200
    assert Rating.objects.get(assignment=item, question="how").value is None
    edits = RatingEdit.objects.filter(assignment=item, question="how").order_by("pk")
    assert [edit.value for edit in edits] == [2, None]
    # Once more harms nothing.
    submit_assignment(assignment=item, by=ann)
    assert edits.count() == 2
    heading, *rows = question_texts(Scope(study))
    conditions = [row[heading.index("condition")] for row in rows]
    assert conditions[:2] == ["", "only if question 1 (Is it wrong?) is answered: Yes"]
