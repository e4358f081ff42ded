"""Mail to people of a study: invitations with their links, and reminders."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parseaddr
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, get_connection
from django.core.validators import validate_email
from django.db.models import Max
from django.utils import timezone

from annotation.audit_log.events import record_event
from annotation.errors import Refused
from annotation.models import Invite, Membership, Study, StudyEvent
from annotation.people.invitations import digest_of, make_invite, revoke_invite
from annotation.studies.progress import AWAY, STAGES, study_progress
from benchmarks.mail import mail_problem

Kind = StudyEvent.Kind
# Stands in a text where each person's own link goes.
LINK = "{link}"
LONGEST_SUBJECT, LONGEST_TEXT = 200, 4_000
# A new link that comes with a reminder is good for so long.
RENEWED_DAYS = 7
NOT_JOINED, NOT_BEGUN, STOPPED = "not joined", "not begun", "stopped"
BEFORE = {STAGES[name] for name in ("consent", "background", "training", "before")}


def sends_mail() -> bool:
    """Say whether a mail server is configured."""
    return bool(settings.SENDS_MAIL)


def address_in(label: str) -> str:
    """Return the e-mail address in what an invite says about its person; empty where it has none.

    ``Ada <ada@example.org>`` is understood, too.
    """
    _, address = parseaddr(label)
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return address


def name_in(label: str) -> str:
    """Return the name beside the address in such a label; empty where it has none."""
    return parseaddr(label)[0]


class OutgoingMail(NamedTuple):
    """One mail to one person. ``link`` gives its link once the mail server is reached."""

    to: str
    link: Callable[[], str]


class NewLink(NamedTuple):
    """A link that was made a moment ago, with what is said about its person."""

    label: str
    token: str
    url: str

    @property
    def address(self) -> str:
        return address_in(self.label)


@dataclass
class SentMail:
    """The addresses to which mail was sent, and those to which it was not, with the reason."""

    sent: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def send_letters(letters: Sequence[OutgoingMail], *, subject: str, text: str, by: User) -> SentMail:
    """Send a text to each person with their own link; one connection, one mail each.

    Where the server cannot be reached, nothing is changed.
    """
    mail = SentMail()
    connection = get_connection()
    try:
        connection.open()
        for letter in letters:
            try:
                EmailMessage(
                    subject, text.replace(LINK, letter.link()), to=[letter.to],
                    reply_to=[by.email] if by.email else None, connection=connection,
                ).send()  # fmt: skip
            except (OSError, ValueError, Refused) as error:
                mail.failed[letter.to] = _reason(error)
            else:
                mail.sent.append(letter.to)
    except OSError as error:  # the server cannot be reached; smtplib's errors are OSErrors, too
        mail.failed |= {letter.to: _reason(error) for letter in letters}
    finally:
        connection.close()
    return mail


def _reason(error: Exception) -> str:
    """Return why a mail was not sent."""
    return error.reason if isinstance(error, Refused) else mail_problem(error)


# --- Invitations ----------------------------------------------------------------------------------


def invitation_subject(study: Study) -> str:
    """Return the subject that is proposed for an invitation."""
    return f"Invitation to the study “{study.name}”"[:LONGEST_SUBJECT]


def invitation_text(study: Study, by: User, days: int) -> str:
    """Return the text that is proposed for an invitation."""
    return (
        f"{by.get_full_name() or by.get_username()} invites you to the study “{study.name}”.\n\n"
        f"Open this link to join:\n{LINK}\n\n"
        f"It works once, for one person, for {days} day{'s' * (days != 1)}. You choose a name and "
        "a password, and read what the study is about before you agree to anything.\n"
    )


def open_invites(study: Study, tokens: Sequence[str]) -> dict[str, Invite]:
    """Return the invites of a study that these tokens open and whose label has an address, by
    token.
    """
    digests = {digest_of(token): token for token in tokens}
    rows = study.invites.filter(
        digest__in=digests, used_at=None, revoked_at=None, expires_at__gt=timezone.now()
    ).order_by("pk")
    return {digests[row.digest]: row for row in rows if address_in(row.label)}


def note_mailed(*, invite: Invite, by: User) -> None:
    """Put on record that an invitation was sent by mail."""
    record_event(
        study=invite.study_id, kind=Kind.INVITED, by=by,
        detail={"invite": invite.pk, "what": "mailed", "role": invite.role},
    )  # fmt: skip


# --- Reminders ------------------------------------------------------------------------------------


class ReminderRow(NamedTuple):
    """Somebody who has not begun or has stopped. ``key`` names them in a form; ``address`` is empty
    where none is known; ``since``: when they were invited, joined or seen last.
    """

    key: str
    name: str
    address: str
    why: str
    since: datetime | None
    reminded_at: datetime | None
    user: User | None = None
    invite: Invite | None = None

    @property
    def proposed(self) -> bool:
        """Return whether a reminder is proposed: there is an address, and none was sent lately."""
        lately = self.reminded_at is not None and timezone.now() - self.reminded_at < AWAY
        return bool(self.address) and not lately


def reminder_rows(study: Study) -> list[ReminderRow]:
    """Return the annotators who were invited and did not join, who joined and did not begin, and
    who have items left and were not seen for `AWAY`.
    """
    used = study.invites.filter(used_by__isnull=False).order_by("pk")
    labels = dict(used.values_list("used_by", "label"))
    events = StudyEvent.objects.filter(
        study=study, kind=Kind.MESSAGE, detail__reminder=True, about__isnull=False
    ).order_by()
    reminded = dict(events.values_list("about").annotate(last=Max("at")))
    people = study.participants.select_related("user").order_by("number")
    by_number = {person.number: person for person in people}
    rows = [_invited(invite) for invite in _not_joined(study)]
    for row in study_progress(study).people:
        person = by_number[row.number]
        if row.is_simulated and not person.user.has_usable_password():
            continue  # a program of the product, which reads no mail
        begun = row.stage not in BEFORE
        if begun and not (row.stage == STAGES["items"] and _is_away(row.last_seen)):
            continue
        rows.append(
            ReminderRow(
                f"person-{row.number}", f"{row.number} {row.username}",
                person.user.email or address_in(labels.get(person.user_id, "")),
                STOPPED if begun else NOT_BEGUN,
                row.last_seen if begun else person.joined_at,
                reminded.get(person.user_id), user=person.user,
            )
        )  # fmt: skip
    return rows


def _is_away(seen: datetime | None) -> bool:
    return seen is None or timezone.now() - seen > AWAY


def _not_joined(study: Study) -> Sequence[Invite]:
    return list(
        study.invites.filter(
            used_at=None, revoked_at=None, place=None, role=Membership.Role.ANNOTATOR
        ).exclude(label="").order_by("pk")
    )  # fmt: skip


def _invited(invite: Invite) -> ReminderRow:
    return ReminderRow(
        f"invite-{invite.pk}", invite.label, address_in(invite.label), NOT_JOINED, invite.at, None,
        invite=invite,
    )  # fmt: skip


def renew_invite(*, invite: Invite, by: User) -> str:
    """Make another link like one whose token is not stored; return its token."""
    return make_invite(
        study=invite.study, role=invite.role, label=invite.label, days=RENEWED_DAYS, by=by,
        study_place=invite.study_place,
    )  # fmt: skip


def keep_one(*, old: Invite, token: str, sent: bool, by: User) -> None:
    """Revoke the old link where the new one was sent, else the new one."""
    new = old.study.invites.get(digest=digest_of(token))
    with suppress(Refused):  # somebody has used it meanwhile
        revoke_invite(invite=old if sent else new, by=by)


def note_reminded(*, study: Study, row: ReminderRow, by: User) -> None:
    """Put on record that somebody who takes part was reminded."""
    record_event(study=study, kind=Kind.MESSAGE, by=by, about=row.user, detail={"reminder": True})


def reminder_subject(study: Study) -> str:
    """Return the subject that is proposed for a reminder."""
    return f"Reminder: the study “{study.name}”"[:LONGEST_SUBJECT]


def reminder_text(study: Study) -> str:
    """Return the text that is proposed for a reminder."""
    return (
        f"You were invited to the study “{study.name}”, and you have not finished your part. "
        f"Open this link to continue:\n{LINK}\n\n"
        "If you do not want to take part any more, you can ignore this mail, or withdraw on the "
        "page of the study without giving a reason.\n"
    )
