"""Invitations and reminders by mail: what is sent is shown before, and only a server sends it."""

import re
import smtplib
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client
from django.utils import timezone

from annotation.models import Invite, Study, StudyEvent
from annotation.people.invitations import digest_of, make_invite
from annotation.people.mail import address_in
from annotation.people.services import pause_annotator

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(study: Study, manager: User, settings: Any) -> Client:
    """The manager, where a mail server is configured."""
    settings.SENDS_MAIL = True
    manager.email = "mia@example.org"
    manager.save()
    client = Client()
    client.force_login(manager)
    return client


def invite(boss: Client, study: Study, names: str) -> str:
    """Make links for a list, and return the page that shows them."""
    made = boss.post(
        f"/studies/{study.pk}/invites/", {"role": "annotator", "label": names, "days": "7"}
    )
    return made.content.decode()


def test_invitations_are_shown_then_sent(study: Study, boss: Client) -> None:
    page = invite(boss, study, "Eva <eva@example.org>\nfinn@example.org\nthe desk in room 3")
    tokens = re.findall(r'name="token" value="([^"]+)"', page)
    assert "To eva@example.org, finn@example.org; one mail each" in page
    assert "Send 2 mails" in page and "{link}" in page and mail.outbox == []
    where, text = f"/studies/{study.pk}/invites/mail/", "Come!\n{link}"
    wrong = boss.post(where, {"token": tokens, "subject": "A study", "text": "No link"})
    assert wrong.status_code == 422 and "Leave {link} in the text" in wrong.content.decode()
    assert tokens[0] in wrong.content.decode() and mail.outbox == []
    sent = boss.post(where, {"token": [*tokens, "x"], "subject": "A\nstudy", "text": text})
    assert sent.status_code == 302
    eva, finn = mail.outbox
    assert (eva.to, eva.subject, eva.reply_to) == (
        ["eva@example.org"],
        "A study",
        ["mia@example.org"],
    )
    link = re.search(r"http://testserver/join/(\S+)/", str(finn.body))
    assert link and Invite.objects.get(digest=digest_of(link[1])).label == "finn@example.org"
    assert StudyEvent.objects.filter(detail__what="mailed").count() == 2
    people = boss.get(f"/studies/{study.pk}/people/").content.decode()
    assert people.count("mailed <time") == 2


def test_a_failure_is_named_and_its_link_shown_again(
    study: Study, boss: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = invite(boss, study, "eva@example.org\nfinn@example.org")
    tokens = re.findall(r'name="token" value="([^"]+)"', page)
    send = EmailBackend.send_messages

    def refuse(self: EmailBackend, messages: Any) -> int:
        if messages[0].to == ["eva@example.org"]:
            raise smtplib.SMTPRecipientsRefused({"eva@example.org": (550, b"No such mailbox")})
        return send(self, messages)

    monkeypatch.setattr(EmailBackend, "send_messages", refuse)
    form = {"token": tokens, "subject": "A study", "text": "{link}"}
    page = boss.post(f"/studies/{study.pk}/invites/mail/", form).content.decode()
    assert "The mail to eva@example.org was not sent" in page
    assert "refuses the address (550 No such mailbox)." in page
    assert tokens[0] in page and tokens[1] not in page and len(mail.outbox) == 1


def test_who_has_not_begun_or_stopped_is_reminded(
    study: Study,
    boss: Client,
    ann: User,
    bob: User,
    manager: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = timezone.now()
    ann.email = "ann@example.org"
    ann.save()
    study.participants.filter(user=bob).update(submitted=1, last_seen_at=now - timedelta(days=4))
    old = make_invite(study=study, role="annotator", label="eva@example.org", days=1, by=manager)
    make_invite(study=study, role="annotator", label="somebody", days=1, by=manager)
    Invite.objects.filter(digest=digest_of(old)).update(expires_at=now - timedelta(hours=2))
    at = f"/studies/{study.pk}/people/remind/"
    page = boss.get(at).content.decode()
    keys = re.findall(r'name="to" value="([^"]+)" checked', page)
    eva = Invite.objects.get(label="eva@example.org")
    assert keys == [f"invite-{eva.pk}", "person-1"]
    for words in ("2 bob", "stopped", "not joined", "no address is known", "{link}"):
        assert words in page
    form = {"subject": "Reminder", "text": "Go on: {link}"}
    nobody = boss.post(at, {**form, "to": ["person-2", "person-9"]})
    assert nobody.status_code == 422 and "Choose somebody" in nobody.content.decode()
    assert mail.outbox == []
    with monkeypatch.context() as away:

        def refuse(self: EmailBackend) -> None:
            raise ConnectionRefusedError(111, "Connection refused")

        away.setattr(EmailBackend, "open", refuse)
        boss.post(at, {**form, "to": keys})
    eva.refresh_from_db()
    assert eva.revoked_at is None and mail.outbox == []  # the old link is good still
    with monkeypatch.context() as refused:

        def reject(self: EmailBackend, letters: Any) -> int:
            raise smtplib.SMTPDataError(554, b"Not today")

        refused.setattr(EmailBackend, "send_messages", reject)
        page = boss.post(at, {**form, "to": keys}, follow=True).content.decode()
    assert "The mail to ann@example.org was not sent: localhost:25 answered 554 Not today." in page
    assert Invite.objects.filter(label="eva@example.org", revoked_at=None).get() == eva
    assert boss.post(at, {**form, "to": keys}).status_code == 302
    first, second = mail.outbox
    assert second.to == ["ann@example.org"]
    assert str(second.body) == f"Go on: http://testserver/studies/{study.pk}/annotate/"
    eva.refresh_from_db()
    assert eva.revoked_at is not None and old not in str(first.body)
    token = str(first.body).rstrip("/").split("/")[-1]
    assert Client().get(f"/join/{token}/", follow=True).status_code == 200
    assert StudyEvent.objects.get(detail__reminder=True).about == ann
    page = boss.get(at).content.decode()
    assert "person-1" in page and 'value="person-1" checked' not in page  # not twice in a row
    pause_annotator(study=study, user=bob, by=manager, reason="Away.")
    assert "2 bob" not in boss.get(at).content.decode()


def test_without_a_mail_server_nothing_is_sent(
    study: Study, boss: Client, ann: User, settings: Any
) -> None:
    settings.SENDS_MAIL = False
    page = invite(boss, study, "eva@example.org")
    assert "no mail server is configured" in page and 'name="token"' not in page
    User.objects.filter(pk=ann.pk).update(email="ann@example.org")
    form = {"subject": "Reminder", "text": "{link}", "to": "person-1"}
    refused = boss.post(f"/studies/{study.pk}/people/remind/", form)
    assert refused.status_code == 422
    assert "no mail server is configured (PLANJURY_SMTP_URL)" in refused.content.decode()
    assert mail.outbox == []


@pytest.mark.parametrize(
    ("label", "address"),
    [("eva@example.org", "eva@example.org"), ("Eva <eva@example.org>", "eva@example.org"),
     ("Eva", ""), ("", ""), ("eva@", "")],
)  # fmt: skip
def test_addresses_are_found_in_labels(label: str, address: str) -> None:
    assert address_in(label) == address
