"""Erasing a person: nothing that names them or that they wrote is left in any table."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import models
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.adjudication.selectors import find_slot
from annotation.adjudication.services import decide_place
from annotation.audit_log.events import record_event
from annotation.audit_log.selectors import (
    RecordSelection,
    record_cells,
    record_entries,
    record_lines,
)
from annotation.desk.services import skip_assignment
from annotation.errors import Refused
from annotation.joining.invitations import accept_invite
from annotation.messages.services import send_message
from annotation.models import (
    Aspect,
    Assignment,
    Consent,
    Invite,
    Message,
    MessageRead,
    Participant,
    Rating,
    RatingEdit,
    Recruit,
    RecruitingLink,
    RemarkText,
    Study,
    StudyEvent,
    StudyText,
)
from annotation.people.erasure import (
    erase_invitee,
    erase_person,
    find_account,
    find_invitee,
    stored_data_of,
)
from annotation.people.invitations import digest_of, make_invite, revoke_invite
from annotation.people.mail import note_mailed
from annotation.people.mentions import free_texts
from annotation.questionnaires import load_questionnaire
from annotation.ratings.selectors import human_scores
from annotation.ratings.services import EditRequest, record_rating
from annotation.remarks.selectors import labels_of, notes_of
from annotation.remarks.services import add_remark, put_label, reword_remark
from annotation.studies.setup import add_member
from benchmarks.api.tokens import create_token
from benchmarks.models import Job, StoredAnswer, Upload
from tests.annotation.judged import make_judged, say
from tests.annotation.rows import make_person

pytestmark = [pytest.mark.django_db, pytest.mark.either]
# Each occurs nowhere else; the first is in names and addresses, the second in what was written.
NAME, WROTE = "xanthippe", "quixotry"
ADDRESS = f"{NAME}.private@example.net"


def remark(question: str, aspect: str, text: str = "", **said: Any) -> EditRequest:
    return EditRequest(uuid.uuid4(), question, text=text, aspect=aspect, **said)


def invite(study: Study, by: User, label: str) -> Invite:
    """Return a new invitation of an annotator."""
    token = make_invite(study=study, role="annotator", label=label, days=7, by=by)
    return Invite.objects.get(digest=digest_of(token))


@pytest.fixture
def root(db: None) -> User:
    return make_person("root", superuser=True)


@pytest.fixture
def person(db: None) -> User:
    """Somebody with all that an account can have."""
    user = make_person(f"{NAME}.doe", "view_results")
    user.first_name, user.last_name = NAME.title(), f"{NAME}son"
    user.email = f"{NAME}@example.org"
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    Authenticator.objects.create(user=user, type="totp", data={"secret": NAME})
    SocialAccount.objects.create(user=user, provider="oidc", uid=NAME, extra_data={"name": NAME})
    create_token(user=user, name=f"{NAME}'s laptop")
    StoredAnswer.objects.create(user=user, key=NAME, fingerprint="", status=200, body={"a": WROTE})
    Upload.objects.create(name=f"{NAME}.json", created_by=user)
    return user


@pytest.fixture
def study(person: User, ann: User, manager: User) -> Study:
    """They judged, remarked, skipped, decided, agreed, came by an invite and got a message."""
    study = make_judged([person, ann], manager, items=3)
    # First an invitation that a reminder replaced, then the one by which they came.
    earlier = invite(study, manager, ADDRESS)
    revoke_invite(invite=earlier, by=manager)
    used = invite(study, manager, ADDRESS)
    note_mailed(invite=used, by=manager)
    study.memberships.filter(user=person).delete()
    accept_invite(digest=used.digest, user=person)
    send_message(study=study, text=f"{NAME.title()} joins; write to {ADDRESS}.", by=manager)
    Job.objects.create(kind="import", title=f"Importing {NAME}.json", created_by=person)
    span = {"turn": 1, "where": "plan", "start": 0, "end": 3, "quote": WROTE}
    say(
        study, ann, 1, {"safety": 2}, remarks=[remark("safety", Aspect.COMMENT, "Ann's own words.")]
    )
    say(
        study, person, 1, {"safety": 5},
        remarks=[
            remark("safety", Aspect.COMMENT, WROTE),
            remark("safety", Aspect.FLAG, WROTE, value=1),
            remark("safety", Aspect.EVIDENCE, chosen=[span]),
            remark("", Aspect.COMMENT, f"{WROTE}, signed {NAME}"),
        ],
    )  # fmt: skip
    second = study.assignments.get(annotator=person, position=2)
    skip_assignment(assignment=second, by=person, reason=f"{WROTE}, too hard")
    third = study.assignments.get(annotator=person, position=3)
    record_rating(assignment=third, by=person, question="safety", value=3, client_id=uuid.uuid4())
    add_member(study=study, user=person, role="manager", by=manager)
    item = study.items.get(rank=1)
    slot = find_slot(item, load_questionnaire(study.questionnaire), "safety")
    assert slot is not None
    decide_place(item=item, slot=slot, by=person, value=3, reason=WROTE)
    text = StudyText.objects.create(study=study, kind="consent", version=1, text="I agree.")
    Consent.objects.create(study=study, user=person, text=text, given=True)
    Invite.objects.create(
        study=study, digest="d", role="annotator", label=f"For {NAME}", used_by=person,
        expires_at=timezone.now(),
    )  # fmt: skip
    message = Message.objects.create(study=study, to=person, by=manager, text=f"Dear {NAME}")
    MessageRead.objects.create(message=message, user=person)
    Message.objects.create(study=study, to=ann, by=manager, text="Dear Ann")
    record_event(
        study=study, kind=StudyEvent.Kind.MESSAGE, by=manager, about=person, reason=f"of {NAME}",
        detail={"text": "Dear you", "to": f"{NAME}.doe"},
    )  # fmt: skip
    study.settings = {"design": {"kind": "q", "annotators": ["ann", f"{NAME}.doe"]},
                      "dealt": {f"{NAME}.doe": [1], "ann": [2]}}  # fmt: skip
    study.save()
    LogEntry.objects.create(
        user=manager, content_type_id=None, object_id=str(person.pk), action_flag=2,
        object_repr=f"{NAME}.doe", change_message="Changed names.",
    )  # fmt: skip
    trajectory = item.trajectory
    assert trajectory is not None
    note = add_remark(
        trajectory=trajectory, by=person, text=f"{WROTE} by {NAME}", turn=1, quote="Take the hammer"
    )
    reword_remark(remark=note, by=person, text=f"More {WROTE}.")
    add_remark(trajectory=trajectory, by=ann, text="Ann's note.")
    put_label(trajectory=trajectory, key="forgotten_constraint", by=person, turn=1)
    return study


def texts() -> Iterator[tuple[str, str]]:
    """Every text and JSON value of every table."""
    kinds = (models.CharField, models.TextField, models.JSONField)
    for model in apps.get_models():
        fields = [f.name for f in model._meta.concrete_fields if isinstance(f, kinds)]
        for row in model._base_manager.values_list(*fields) if fields else ():
            for name, value in zip(fields, row, strict=True):
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                yield f"{model._meta.label}.{name}", text


def found(*words: str) -> list[str]:
    return sorted({
        where for where, text in texts() if any(word in text.lower() for word in words)
    })  # fmt: skip


def erase(person: User, root: User, **more: Any) -> str:
    given = {"typed": f"{NAME}.doe", "reason": "Asked for by letter on 3 May.", **more}
    return erase_person(user=person, by=root, **given)


def test_no_table_names_them_or_holds_their_words(study: Study, person: User, root: User) -> None:
    before = found(NAME, WROTE)
    assert len(before) > 15, before  # the search does find what there is
    erase(person, root)
    assert found(NAME, WROTE) == []
    everything = "".join(str(row) for row in record_cells(record_entries(None, RecordSelection())))
    everything += "".join(record_lines(record_entries(None, RecordSelection())))
    assert NAME not in everything.lower() and WROTE not in everything
    assert f"erased-{person.pk}" in everything


def test_exports_and_pages_do_not_name_them(
    study: Study, person: User, root: User, client: Client
) -> None:
    erase(person, root)
    client.force_login(root)
    for name, args in (
        ("study_record", []), ("study_record_file", ["csv"]), ("study_record_file", ["jsonl"]),
        ("study_adjudication", []), ("study", []),
    ):  # fmt: skip
        answer = client.get(reverse(f"annotation:{name}", args=[study.pk, *args]))
        assert answer.status_code == 200
        body = answer.getvalue().decode().lower()
        assert NAME not in body and WROTE not in body, name


def test_the_account_is_a_tombstone(study: Study, person: User, root: User, client: Client) -> None:
    client.force_login(person)
    told = erase(person, root)
    person.refresh_from_db()
    assert person.username == told == f"erased-{person.pk}"
    assert not person.is_active and not person.has_usable_password()
    assert not person.user_permissions.exists() and not person.memberships.exists()
    assert client.get("/studies/").status_code == 302  # signed out
    for rows in (EmailAddress, Authenticator, SocialAccount):
        assert not rows.objects.filter(user=person).exists()
    assert not client.login(username=told, password="secret-enough")


def test_scores_stay_under_the_number_and_count_no_more(
    study: Study, person: User, ann: User, root: User
) -> None:
    others = list(Rating.objects.filter(assignment__annotator=ann).order_by("pk").values())
    number = Participant.objects.get(study=study, user=person).number
    erase(person, root)
    assignment = Assignment.objects.get(study=study, annotator=person, position=1)
    assert Rating.objects.get(assignment=assignment, question="safety", aspect="answer").value == 5
    assert (
        Rating.objects.get(assignment=assignment, question="safety", aspect="evidence").chosen == []
    )
    left = Participant.objects.get(study=study, user=person)
    assert (left.state, left.number) == ("erased", number)
    assert {score.annotator for score in human_scores(studies=[study.pk])} == {ann.pk}
    assert list(Rating.objects.filter(assignment__annotator=ann).order_by("pk").values()) == others
    assert Message.objects.get(to=ann).text == "Dear Ann"
    told = Message.objects.get(to=None).text
    assert told == f"erased-{person.pk} joins; write to erased-{person.pk}."
    states = study.assignments.filter(annotator=person).order_by("position")
    assert [assignment.state for assignment in states] == ["submitted", "skipped", "returned"]


def test_notes_lose_their_words_and_labels_stay(study: Study, person: User, root: User) -> None:
    written = RemarkText.objects.filter(by=person).count()
    assert written == 2  # first, and reworded
    erase(person, root)
    row = study.items.get(rank=1).trajectory_id
    assert row is not None
    by_ann, erased = sorted(notes_of(row), key=lambda note: note.by)
    assert (erased.by, erased.text, erased.turn) == (f"erased-{person.pk}", "(erased)", 1)
    assert (erased.quote, erased.start, erased.end) == ("", None, None)
    assert by_ann.text == "Ann's note."
    (label,) = labels_of([row])[row]
    assert (label.key, label.by) == ("forgotten_constraint", f"erased-{person.pk}")


def test_a_study_may_have_scores_deleted_too(study: Study, person: User, root: User) -> None:
    assert stored_data_of(person).wholly == []
    study.settings = {"erasure": "scores"}
    study.save()
    assert stored_data_of(person).wholly == [study.name]
    erase(person, root)
    said = RatingEdit.objects.filter(by=person)
    assert said.exists()
    assert not said.exclude(value=None).exists() and not said.exclude(chosen=None).exists()
    current = Rating.objects.filter(assignment__annotator=person)
    assert not current.exclude(value=None).exists() and not current.exclude(chosen=None).exists()


def test_the_record_keeps_what_was_done(study: Study, person: User, root: User) -> None:
    count = StudyEvent.objects.count()
    erase(person, root)
    event = StudyEvent.objects.get(kind=StudyEvent.Kind.ERASED)
    assert (event.about, event.by, event.study) == (person, root, study)
    assert event.detail == {"roles taken": ["manager"]}
    assert StudyEvent.objects.count() > count
    decided = StudyEvent.objects.get(kind=StudyEvent.Kind.ADJUDICATED)
    assert (decided.reason, decided.detail["after"]) == ("(erased)", 3)
    study.refresh_from_db()
    assert study.settings["design"]["annotators"] == ["ann", f"erased-{person.pk}"]
    assert study.settings["design"]["kind"] == "q"
    log = LogEntry.objects.get(user=root)
    assert log.object_repr == f"erased-{person.pk}" and NAME not in log.change_message


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"typed": f"{NAME.title()}.doe"}, "exactly as it stands"),
        ({"reason": f"By {ADDRESS}."}, "must not name"),
        ({"reason": " "}, "why they are erased"),
        ({"reason": f"{NAME.title()} asked."}, "must not name"),
    ],
)
def test_what_is_refused(
    study: Study, person: User, root: User, given: dict[str, str], told: str
) -> None:
    before = sorted(texts())
    with pytest.raises(Refused, match=told):
        erase(person, root, **given)
    assert sorted(texts()) == before


def test_only_an_administrator_and_nobody_themselves(
    study: Study, person: User, manager: User, root: User
) -> None:
    with pytest.raises(Refused, match="only an administrator"):
        erase_person(user=person, by=manager, typed=person.username, reason="So.")
    with pytest.raises(Refused, match="nobody erases themselves"):
        erase_person(user=root, by=root, typed="root", reason="So.")
    erase(person, root)
    person.refresh_from_db()
    with pytest.raises(Refused, match="erased already"):
        erase(person, root, typed=person.username)


def test_the_page(study: Study, person: User, root: User, manager: User, client: Client) -> None:
    address = reverse("annotation:erase")
    client.force_login(manager)
    assert client.get(address).status_code == 403
    client.force_login(root)
    assert "no-such" in client.get(f"{address}?user=no-such").content.decode()
    page = client.get(f"{address}?user={person.username}").content.decode()
    assert "1 study" in page and str(stored_data_of(person).answers) in page
    bad = client.post(f"{address}?user={person.username}", {"typed": "x", "reason": "So."})
    assert bad.status_code == 422 and User.objects.filter(username=person.username).exists()
    done = client.post(
        f"{address}?user={person.username}", {"typed": person.username, "reason": "A letter."}
    )
    assert done.status_code == 302
    assert not User.objects.filter(username=person.username).exists()


def test_somebody_who_never_joined_is_erased(
    study: Study, manager: User, root: User, client: Client
) -> None:
    waiting = invite(study, manager, "Zenobia Roe <zenobia@example.org>")
    send_message(study=study, text="Zenobia Roe comes later (zenobia@example.org).", by=manager)
    client.force_login(root)
    address = f"{reverse('annotation:erase')}?user=zenobia@example.org"
    page = client.get(address).content.decode()
    assert "without an account" in page and "zenobia@example.org" in page
    given = {"names": "zenobia@example.org\nZenobia Roe", "reason": "By letter."}
    assert client.post(address, {**given, "typed": "zenobia"}).status_code == 422
    assert found("zenobia")
    done = client.post(address, {**given, "typed": "zenobia@example.org"})
    assert done.status_code == 302
    assert found("zenobia") == []
    waiting.refresh_from_db()
    assert waiting.revoked_at is not None
    event = StudyEvent.objects.get(kind=StudyEvent.Kind.ERASED)
    assert (event.about, event.detail) == (None, {"invites": [waiting.pk], "recruits": []})
    assert find_invitee("zenobia@example.org") is None


def test_an_id_that_was_screened_out_is_erased(study: Study, manager: User, root: User) -> None:
    link = RecruitingLink.objects.create(
        study=study, digest="l", platform="prolific", places=1, items_each=1, by=manager,
        expires_at=timezone.now(),
    )  # fmt: skip
    row = Recruit.objects.create(study=study, link=link, external_id="5f3abcde", browser="b")
    invitee = find_invitee("5f3abcde")
    assert invitee is not None
    erase_invitee(invitee=invitee, by=root, typed="5f3abcde", reason="By mail.")
    row.refresh_from_db()
    assert (row.external_id, row.browser) == (f"erased-{row.pk}", "")
    assert found("5f3abcde") == []


def test_events_refer_to_invitations_which_the_record_names(study: Study) -> None:
    events = StudyEvent.objects.filter(kind=StudyEvent.Kind.INVITED)
    assert events.count() == 5 and ADDRESS not in str(list(events.values_list("detail")))
    shown = record_entries(study, RecordSelection(words=ADDRESS))
    assert [entry.detail["label"] for entry in shown] == [ADDRESS] * 5


def test_a_name_that_is_a_common_word_can_be_left(study: Study, person: User, root: User) -> None:
    send_message(study=study, text="The doe is a deer.", by=root)
    erase_person(
        user=person, by=root, typed=person.username, reason="By letter.",
        names=[name for name in stored_data_of(person).names if name != "doe"] + ["Xanthi"],
    )  # fmt: skip
    assert Message.objects.filter(text="The doe is a deer.").exists()
    study.refresh_from_db()
    assert f"erased-{person.pk}" in study.settings["dealt"]  # a design refers to the account


def test_an_account_is_found_by_its_address(study: Study, person: User) -> None:
    assert find_account(person.email.upper()) == person
    User.objects.create_user("double", email=person.email)
    assert find_account(person.email) is None and find_account("") is None


def test_logs_do_not_name_people(
    study: Study, manager: User, client: Client, root: User, caplog: pytest.LogCaptureFixture
) -> None:
    client.force_login(root)
    with caplog.at_level("DEBUG", "planjury"), caplog.at_level("INFO"):
        address = f"{reverse('annotation:erase')}?user={NAME}.doe"
        client.get(address)
        client.post(address, {"typed": f"{NAME}.doe", "reason": "So."})
        client.get(f"/no/such/page/?address={ADDRESS}")
    assert caplog.records and NAME not in caplog.text.lower()


# Texts that the product, a file or a design writes, and ids; people write none of them freely.
NOT_FREE = {
    "Item": {"asked", "subjects", "expected"},
    "StudyPlace": {"ranks"},
    "Invite": {"digest"},
    "LivePlan": {"system"},
    "LivePlace": {"roles", "stand_in"},
    "RecruitingLink": {"digest", "code", "screened_code", "review_code", "return_url"},
    "Duel": {"row"},  # a number of a person or of a row
    "StoredQuestionnaire": {"name", "text"},
    "Assignment": {"pattern", "verdicts"},
    "FailureLabel": {"key", "system"},
    "LabelSet": {"key"},
    "Remark": {"quote"},  # of a trajectory
    # Erased by the person they belong to.
    "Recruit": {"held_for", "external_id", "platform_study", "platform_session", "browser", "code"},
}
PLACES = {"question", "subject", "kind", "questionnaire", "background", "chosen", "mode"}


def test_every_text_field_of_a_study_is_searched_or_known_to_name_nobody() -> None:
    kinds = (models.CharField, models.TextField, models.JSONField)
    forgotten = []
    for model in apps.get_app_config("annotation").get_models():
        known = {*free_texts().get(model, ()), *NOT_FREE.get(model.__name__, ()), *PLACES}
        for field in model._meta.concrete_fields:
            if isinstance(field, kinds) and not field.choices and field.name not in known:
                forgotten.append(f"{model.__name__}.{field.name}")
    assert forgotten == []
