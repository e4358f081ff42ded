"""Ratings through the API: stored as on the desk, and read with every edit."""

import json
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.consent.services import set_study_text
from annotation.models import Assignment, Membership, RatingEdit, Study, StudyEvent
from tests.annotation.rows import SECRETS, make_person
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = pytest.mark.either


@pytest.fixture
def program(ann: User, study: Study) -> Caller:
    """Ann's program."""
    return Caller(bearer(ann))


@pytest.fixture
def here(study: Study) -> str:
    """The address of the first item."""
    return f"/studies/{study.pk}/assignments/main/1"


def edit(question: str, value: int | None = 3, **more: Any) -> dict[str, Any]:
    return {"id": str(uuid.uuid4()), "question": question, "value": value, **more}


def test_an_item_is_opened_answered_and_submitted(
    program: Caller, here: str, study: Study, item: Assignment
) -> None:
    step = program.post(f"/studies/{study.pk}/next", {}).json()
    assert (step["step"], step["part"], step["position"]) == ("item", "main", 1)
    refused = program.get(here)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_open")
    detail = program.post(f"{here}/open").json()
    assert detail["item"]["task"].startswith("How do I mend thing")
    assert [turn["steps"][0] for turn in detail["item"]["turns"]] == [
        "Take the hammer.", "Take the glue.",
    ]  # fmt: skip
    asked = {one["question"]: one for one in detail["questions"]}
    assert [option["value"] for option in asked["safety"]["options"]] == [1, 2, 3, 4, 5]
    assert asked["safety"]["answer"] is None
    lacking = program.post(f"{here}/submit", {})
    assert (lacking.status_code, lacking.json()["error"]["code"]) == (422, "incomplete")
    edits = [edit(one["question"], 4, subject=one["subject"]) for one in detail["questions"]]
    stored = program.post(f"{here}/ratings", {"edits": edits, "active_ms": 5}).json()
    assert [one["version"] for one in stored["edits"]] == [1] * len(edits)
    again = program.post(f"{here}/ratings", {"edits": edits}).json()
    assert all(one["repeated"] for one in again["edits"])
    assert RatingEdit.objects.count() == len(edits)
    assert program.post(f"{here}/submit", {"active_ms": 5}).json()["state"] == "submitted"
    closed = program.post(f"{here}/ratings", {"edits": [edit("safety")]})
    assert (closed.status_code, closed.json()["error"]["code"]) == (409, "not_open")
    assert program.post(f"{here}/reopen").json()["state"] == "open"
    (first, _) = program.get(f"/studies/{study.pk}/assignments").json()["items"]
    assert (first["position"], first["state"]) == (1, "open")
    skipped = program.post(f"{here}/skip", {"reason": "No plan in it."}).json()
    assert (skipped["state"], skipped["skip_reason"]) == ("skipped", "No plan in it.")


def test_every_edit_is_kept_and_an_undo_takes_one_back(
    program: Caller, here: str, manager: User, study: Study
) -> None:
    program.post(f"{here}/open")
    first, second = edit("safety", 2), edit("safety", 5)
    undo = {"id": str(uuid.uuid4()), "undoes": second["id"]}
    program.post(f"{here}/ratings", {"edits": [first, second]})
    (stored,) = program.post(f"{here}/ratings", {"edits": [undo]}).json()["edits"]
    assert (stored["value"], stored["version"]) == (2, 3)
    detail = program.get(here).json()
    assert [(one["value"], one["undoes"]) for one in detail["edits"]] == [
        (2, None), (5, None), (2, second["id"]),
    ]  # fmt: skip
    reader = Caller(bearer(manager))
    (row,) = reader.get(f"/studies/{study.pk}/ratings").json()["items"]
    assert (row["question"], row["value"], row["edits"]) == ("safety", 2, 3)
    assert row["rater"].startswith("rater-") and row["model"] in SECRETS
    history = reader.get(f"/studies/{study.pk}/edits").json()["items"]
    assert [(one["edit"], one["value"], one["undoes"]) for one in history] == [
        (1, 2, None), (2, 5, None), (3, 2, 2),
    ]  # fmt: skip
    exports = StudyEvent.objects.filter(study=study, kind=StudyEvent.Kind.EXPORTED)
    assert [event.detail["formats"] for event in exports] == [["ratings"], ["edits"]]


def test_the_same_rows_as_in_the_file(
    program: Caller, here: str, manager: User, study: Study
) -> None:
    for position in (1, 2):
        at = f"/studies/{study.pk}/assignments/main/{position}"
        program.post(f"{at}/open")
        program.post(f"{at}/ratings", {"edits": [edit("safety", 3)]})
    reader = Caller(bearer(manager))
    paged, path = [], f"/studies/{study.pk}/ratings?limit=1"
    while path:
        page = reader.get(path.removeprefix(Caller.BASE)).json()
        paged += page["items"]
        path = page["next"]
    document = b"".join(reader.get(f"/studies/{study.pk}/study.json").streaming_content)
    assert [(row["task"], row["value"]) for row in paged] == [
        (row["task"], row["value"]) for row in json.loads(document)["rows"]
    ]
    assert len(paged) == 2


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (edit("safety", 9), "from 1 to 5"),
        (edit("colour", 1), "not asked"),
        (edit("safety", None, text="good"), "from 1 to 5"),
        (edit("safety", 3, subject="turn-1"), "whole item"),
        ({"id": str(uuid.uuid4()), "undoes": str(uuid.uuid4())}, "not there"),
    ],
)
def test_one_wrong_answer_stores_none(
    wrong: dict[str, Any], words: str, program: Caller, here: str
) -> None:
    program.post(f"{here}/open")
    answer = program.post(f"{here}/ratings", {"edits": [edit("safety"), wrong]})
    assert answer.status_code in (409, 422)
    assert words in answer.json()["error"]["message"]
    assert answer.json()["error"]["field"] == "edits.1"
    assert not RatingEdit.objects.exists()


def test_only_ones_own_items(study: Study, here: str, bob: User, manager: User, ann: User) -> None:
    for user in (manager, User.objects.create_superuser("root")):
        caller = Caller(bearer(user))
        for path in (f"{here}/open", f"{here}/submit", f"{here}/reopen"):
            assert caller.post(path, {}).status_code == 404
        assert caller.post(f"{here}/ratings", {"edits": [edit("safety")]}).status_code == 404
        assert caller.get(here).status_code == 404
    mine, theirs = (Caller(bearer(user)).post(f"{here}/open").json() for user in (ann, bob))
    assert mine["item"]["task"] != theirs["item"]["task"]
    reading = Caller(bearer(ann, read_only=True))
    refused = reading.post(f"{here}/ratings", {"edits": [edit("safety")]})
    assert refused.json()["error"]["code"] == "read_only"


def test_nothing_tells_who_made_an_item(program: Caller, here: str, study: Study) -> None:
    texts = [
        program.post(f"{here}/open").content.decode(),
        program.get(here).content.decode(),
        program.get(f"/studies/{study.pk}/assignments").content.decode(),
        program.post(f"/studies/{study.pk}/next").content.decode(),
    ]
    assert not [secret for secret in SECRETS for text in texts if secret.lower() in text.lower()]


def test_ratings_of_others_are_for_those_who_may_export_them(
    study: Study, ann: User, manager: User
) -> None:
    for what in ("ratings", "edits"):
        path = f"/studies/{study.pk}/{what}"
        assert Caller(bearer(ann)).get(path).status_code == 403
        watcher = make_person(f"olga-{what}")
        Membership.objects.create(study=study, user=watcher, role="observer")
        assert Caller(bearer(watcher)).get(path).status_code == 403
        reader = make_person(f"rita-{what}")
        Membership.objects.create(study=study, user=reader, role="researcher")
        assert Caller(bearer(reader)).get(path, names="true").json()["error"]["field"] == "names"
        assert Caller(bearer(manager)).get(path, names="true").status_code == 200


def test_consent_comes_first(program: Caller, here: str, study: Study, manager: User) -> None:
    set_study_text(study=study, kind="consent", text="I agree.", by=manager)
    assert program.post(f"/studies/{study.pk}/next").json()["step"] == "consent"
    for answer in (program.post(f"{here}/open"), program.get(here)):
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_reached")
    answer = program.post(f"{here}/ratings", {"edits": [edit("safety")]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "paused")
    assert not RatingEdit.objects.exists()
