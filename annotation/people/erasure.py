"""Erase a person: blank their account and texts, and leave a tombstone.

What stays are rows that refer to "erased-N" and, if the study keeps them, scores and marks under
the annotator's number, which analyses leave out. Backups are separate files and are not touched.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Q

from annotation.errors import Refused
from annotation.models import (
    Adjudication,
    Annotator,
    Aspect,
    Assignment,
    Invite,
    Membership,
    Message,
    MessageRead,
    Participant,
    Rating,
    RatingEdit,
    Recruit,
    Remark,
    RemarkText,
    Study,
    StudyEvent,
)
from annotation.people.withdrawal import withdraw_annotator
from annotation.record.events import record_event
from annotation.studies.services import SCORES_TOO, checked_reason
from benchmarks.models import ApiToken, StoredAnswer, Upload

ERASED = "(erased)"


@dataclass(frozen=True)
class StoredData:
    """The stored data of a person, to be read before they are erased.

    ``wholly``: the studies that are set to lose their scores and marks too.
    """

    studies: int
    answers: int
    texts: int
    manages: int
    wholly: Sequence[str]


def stored_data_of(user: User) -> StoredData:
    """Return how much is stored of a person."""
    edits = RatingEdit.objects.filter(by=user)
    notes = RemarkText.objects.filter(by=user)
    wholly = Study.objects.filter(participants__user=user, settings__erasure=SCORES_TOO)
    return StoredData(
        studies=Participant.objects.filter(user=user).count(),
        answers=edits.filter(aspect=Aspect.ANSWER).count(),
        texts=edits.exclude(text="").count()
        + edits.filter(aspect=Aspect.EVIDENCE).count()
        + notes.exclude(text="").count(),
        manages=Membership.objects.filter(user=user, role=Membership.Role.MANAGER).count(),
        wholly=list(wholly.order_by("pk").values_list("name", flat=True)),
    )


def erase_person(*, user: User, by: User, typed: str, reason: str) -> str:
    """Erase a person from all studies and as an account; returns the name of the tombstone.

    Only an administrator may, who types the person's user name to confirm. It cannot be undone.
    """
    if not by.is_superuser:
        raise Refused("not_yours", "only an administrator erases a person")
    if user.pk == by.pk:
        raise Refused("invalid", "nobody erases themselves; another administrator can")
    if typed != user.get_username():
        raise Refused("invalid", "type the user name exactly as it stands, to confirm")
    reason = checked_reason(reason, why="they are erased")
    with transaction.atomic():
        user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if user.get_username() == tombstone(user):
            raise Refused("invalid", "this person is erased already")
        words = _Redaction(user)
        if words.known_in(reason):
            raise Refused("invalid", "the reason is kept, so it must not name the person")
        roles = _roles(user)
        here = Q(participants__user=user) | Q(events__about=user) | Q(events__by=user)
        studies = list(Study.objects.filter(here | Q(pk__in=roles)).distinct().order_by("pk"))
        for person in Participant.objects.filter(user=user).select_related("study"):
            _leave(person, user, by)
        _blank_answers(user)
        _blank_events(user, words)
        _blank_letters(user)
        _blank_notes(user)
        _blank_settings(user, words)
        _blank_account(user, words)
        for study in studies:
            record_event(
                study=study, kind=StudyEvent.Kind.ERASED, by=by, about=user, reason=reason,
                detail={"roles taken": roles[study.pk]} if study.pk in roles else {},
            )  # fmt: skip
        LogEntry.objects.create(
            user=by, content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk),
            object_repr=tombstone(user), action_flag=CHANGE, change_message=f"Erased: {reason}",
        )  # fmt: skip
    return tombstone(user)


def tombstone(user: User) -> str:
    """Return the name that stays."""
    return f"erased-{user.pk}"


class _Redaction:
    """The words by which a person is known, and what stands in for them."""

    def __init__(self, user: User) -> None:
        names = {user.username, user.first_name, user.last_name, user.email, user.get_full_name()}
        known = sorted(filter(None, names), key=len, reverse=True)
        self.instead = tombstone(user)
        self.username = user.username
        self._known = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, known))})(?!\w)")

    def known_in(self, text: str) -> bool:
        """Return whether a text names the person."""
        return bool(self._known.search(text))

    def replaced(self, value: Any) -> Any:
        """Return the same value with the tombstone wherever a text in it names the person."""
        if isinstance(value, str):
            return self._known.sub(self.instead, value)
        if isinstance(value, list):
            return [self.replaced(part) for part in value]
        if isinstance(value, dict):
            return {self.unlisted(name): self.replaced(part) for name, part in value.items()}
        return value

    def unlisted(self, value: Any) -> Any:
        """Return the same value with the tombstone where the user name stands in a list or as a
        key.

        That is how designs name people. Other texts are left: a user name may be a common word.
        """
        if isinstance(value, str):
            return self.instead if value == self.username else value
        if isinstance(value, list):
            return [self.unlisted(part) for part in value]
        if isinstance(value, dict):
            return {
                self.unlisted(name): part if isinstance(part, str) else self.unlisted(part)
                for name, part in value.items()
            }
        return value


def _roles(user: User) -> Mapping[int, list[str]]:
    """Return the roles that go with the account, by study; that of an annotator goes by
    withdrawal.
    """
    rows = Membership.objects.filter(user=user).exclude(role=Membership.Role.ANNOTATOR)
    found: dict[int, list[str]] = {}
    for study, role in rows.order_by("pk").values_list("study", "role"):
        found.setdefault(study, []).append(role)
    return found


def _leave(person: Participant, user: User, by: User) -> None:
    withdraw_annotator(study=person.study, user=user, by=by, reason="erased")
    # The counters stay: they tell how many assignments were filled, by number.
    Participant.objects.filter(pk=person.pk).update(
        state=Participant.State.ERASED, last_seen_at=None, break_since=None
    )


def _blank_answers(user: User) -> None:
    """Erase words and quotes, and what people said of themselves; scores where the study asks
    so.
    """
    assignments = Assignment.objects.filter(annotator=user)
    assignments.exclude(skip_reason="").update(skip_reason=ERASED)
    assignments.exclude(note="").update(note=ERASED)
    edits, ratings = (
        RatingEdit.objects.filter(by=user),
        Rating.objects.filter(assignment__in=assignments),
    )
    edits.erase_words(text="", client_time=None)
    ratings.update(text="")
    edits.filter(aspect=Aspect.EVIDENCE).erase_words(chosen=[])
    ratings.filter(aspect=Aspect.EVIDENCE).update(chosen=[])
    whole = assignments.filter(
        Q(part=Assignment.Part.BACKGROUND) | Q(study__settings__erasure=SCORES_TOO)
    )
    edits.filter(assignment__in=whole).erase_words(value=None, chosen=None)
    ratings.filter(assignment__in=whole).update(value=None, chosen=None)


def _blank_events(user: User, words: _Redaction) -> None:
    """Erase the words of what the record says by them or about them; its facts stay."""
    events = StudyEvent.objects.filter(Q(by=user) | Q(about=user))
    events.exclude(reason="").erase_words(reason=ERASED)
    for pk, detail in list(events.exclude(detail={}).values_list("pk", "detail")):
        blank = words.replaced({name: _dull(name, value) for name, value in detail.items()})
        if blank != detail:
            StudyEvent.objects.filter(pk=pk).erase_words(detail=blank)
    Adjudication.objects.filter(by=user).erase_words(reason=ERASED)


def _dull(name: str, value: Any) -> Any:
    """Free text that an event repeats: labels of invites, texts of messages."""
    return ERASED if name in ("label", "text", "message", "words") and value else value


def _blank_letters(user: User) -> None:
    Invite.objects.filter(Q(used_by=user) | Q(by=user)).exclude(label="").update(label=ERASED)
    Message.objects.filter(Q(to=user) | Q(by=user)).update(text=ERASED)
    MessageRead.objects.filter(user=user).delete()


def _blank_notes(user: User) -> None:
    """Erase the words of notes beside trajectories, also those picked as quotes; their turn stays.

    Labels stay as they are: they are a kind of failure, put by the tombstone. What somebody else
    made of a note of theirs goes with it.
    """
    Remark.objects.filter(by=user).erase_words(quote="", start=None, end=None)
    texts = RemarkText.objects.filter(Q(by=user) | Q(remark__by=user))
    texts.exclude(text="").erase_words(text=ERASED)


def _blank_settings(user: User, words: _Redaction) -> None:
    """Erase names from designs, which name those to whom they dealt."""
    for study in Study.objects.filter(participants__user=user).only("pk", "settings"):
        blank = words.unlisted(study.settings)
        if blank != study.settings:
            Study.objects.filter(pk=study.pk).update(settings=blank)


def _blank_account(user: User, words: _Redaction) -> None:
    _end_sessions(user)
    ApiToken.objects.filter(user=user).delete()
    StoredAnswer.objects.filter(user=user).delete()
    Upload.objects.filter(created_by=user).delete()
    Membership.objects.filter(user=user).delete()
    _blank_recruiting(user)
    for name in ("emailaddress_set", "authenticator_set", "socialaccount_set", "saved_views"):
        getattr(user, name).all().delete()
    Annotator.objects.filter(user=user, is_simulated=False).delete()
    _blank_log(user, words)
    user.groups.clear()
    user.user_permissions.clear()
    user.username, user.email, user.first_name, user.last_name = tombstone(user), "", "", ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.last_login = None
    user.set_unusable_password()
    user.save()


def _blank_recruiting(user: User) -> None:
    """Erase the ids of a platform; that somebody came by a link, finished and got a bonus stays."""
    for row in Recruit.objects.filter(user=user):
        row.external_id = f"erased-{row.pk}"
        row.platform_study = row.platform_session = row.browser = row.code = ""
        row.save()


def _end_sessions(user: User) -> None:
    """End the person's sessions, which tell whose they are only when they are read."""
    mine = [
        row.pk
        for row in Session.objects.iterator()
        if row.get_decoded().get("_auth_user_id") == str(user.pk)
    ]
    Session.objects.filter(pk__in=mine).delete()


def _blank_log(user: User, words: _Redaction) -> None:
    """Erase from the administration's log what it says about this account, and names in its
    other lines.
    """
    of_users = ContentType.objects.get_for_model(User)
    about = LogEntry.objects.filter(content_type=of_users, object_id=str(user.pk))
    about.update(object_repr=tombstone(user), change_message="")
    for row in LogEntry.objects.filter(object_repr__contains=words.username).iterator():
        if words.known_in(row.object_repr):
            blank = words.replaced(row.object_repr)[:200]
            LogEntry.objects.filter(pk=row.pk).update(object_repr=blank, change_message="")
