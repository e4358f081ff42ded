"""Erase a person: blank their account and texts, and leave a tombstone.

What stays are rows that refer to "erased-N" and, if the study keeps them, scores and marks under
the annotator's number, which analyses leave out. Their name and addresses go from other people's
texts, too. Backups are separate files and are not touched.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.core.cache.backends.db import DatabaseCache
from django.db import transaction
from django.db.models import CharField, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from annotation.audit_log.events import checked_reason, record_event
from annotation.errors import Refused
from annotation.models import (
    Adjudication,
    Annotator,
    Aspect,
    Assignment,
    DuelVote,
    Invite,
    LiveDraft,
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
    TrajectoryLabel,
)
from annotation.models.append_only import AppendOnlyQuerySet
from annotation.people.mail import address_in
from annotation.people.mentions import Redaction, names_in, names_of
from annotation.people.withdrawal import withdraw_annotator
from annotation.studies.services import SCORES_TOO
from benchmarks.models import ApiToken, Job, StoredAnswer, Upload

ERASED = "(erased)"


@dataclass(frozen=True)
class StoredData:
    """The stored data of a person, to be read before they are erased.

    ``wholly``: the studies that are set to lose their scores and marks too. ``names``: the names
    and addresses by which the person is known; ``mentions``: how many texts hold each.
    """

    studies: int
    answers: int
    texts: int
    manages: int
    wholly: Sequence[str]
    names: Sequence[str]
    mentions: Sequence[tuple[str, int]]


def stored_data_of(user: User) -> StoredData:
    """Return how much is stored of a person."""
    edits = RatingEdit.objects.filter(by=user)
    notes = RemarkText.objects.filter(by=user)
    wholly = Study.objects.filter(participants__user=user, settings__erasure=SCORES_TOO)
    names = names_of(user)
    return StoredData(
        studies=Participant.objects.filter(user=user).count(),
        answers=edits.filter(aspect=Aspect.ANSWER).count(),
        texts=edits.exclude(text="").count()
        + edits.filter(aspect=Aspect.EVIDENCE).count()
        + notes.exclude(text="").count(),
        manages=Membership.objects.filter(user=user, role=Membership.Role.MANAGER).count(),
        wholly=list(wholly.order_by("pk").values_list("name", flat=True)),
        names=names,
        mentions=[(name, Redaction([name], ERASED).count_everywhere()) for name in names],
    )


def find_account(name: str) -> User | None:
    """Return the account with this user name, or the one with this e-mail address or ID at a
    platform; None where there is none, or more than one.
    """
    user = User.objects.filter(username=name).first()
    if user is not None or not name:
        return user
    known = Q(email__iexact=name) | Q(recruited__external_id=name)
    rows = list(User.objects.filter(known).distinct()[:2])
    return rows[0] if len(rows) == 1 else None


def erase_person(
    *, user: User, by: User, typed: str, reason: str, names: Sequence[str] | None = None
) -> str:
    """Erase a person from all studies and as an account; returns the name of the tombstone.

    Only an administrator may, who types the person's user name to confirm. ``names`` are also taken
    out of other people's texts (default: `names_of`). It cannot be undone.
    """
    if user.pk == by.pk:
        raise Refused("invalid", "nobody erases themselves; another administrator can")
    _refuse_unless_confirmed(by, typed, user.get_username())
    reason = checked_reason(reason, why="they are erased")
    with transaction.atomic():
        user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if user.get_username() == tombstone(user):
            raise Refused("invalid", "this person is erased already")
        own = names_of(user)
        _refuse_naming(reason, own)
        words = Redaction(own if names is None else names, tombstone(user))
        roles = _roles(user)
        here = Q(participants__user=user) | Q(events__about=user) | Q(events__by=user)
        studies = list(Study.objects.filter(here | Q(pk__in=roles)).distinct().order_by("pk"))
        for person in Participant.objects.filter(user=user).select_related("study"):
            _leave(person, user, by)
        blank_answers(Assignment.objects.filter(annotator=user), RatingEdit.objects.filter(by=user))
        erase_votes(DuelVote.objects.filter(by=user))
        _blank_events(user, Redaction(own, tombstone(user)))
        _blank_letters(user)
        _blank_notes(user)
        _blank_account(user)
        words.replace_everywhere()
        _clear_kept_reports()
        _rename_in_designs(user, Redaction(own[:1], tombstone(user)))
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


@dataclass(frozen=True)
class Invitee:
    """Somebody without an account, known by an address, a label or an ID at a platform."""

    name: str
    names: Sequence[str]
    invites: Sequence[Invite]
    recruits: Sequence[Recruit]
    mentions: Sequence[tuple[str, int]]


def find_invitee(name: str) -> Invitee | None:
    """Return somebody who was invited and never joined, or was screened out; None where nobody by
    this name was.
    """
    if not name:
        return None
    unused = Invite.objects.filter(used_by=None, label__icontains=name).order_by("pk")
    wanted = name.casefold()
    invites = [
        row for row in unused if wanted in (row.label.casefold(), address_in(row.label).casefold())
    ]
    recruits = list(Recruit.objects.filter(user=None, external_id=name).order_by("pk"))
    if not invites and not recruits:
        return None
    names = [name, *(part for row in invites for part in (row.label, *names_in(row.label)))]
    names = list(dict.fromkeys(filter(None, names)))
    mentions = [(name, Redaction([name], ERASED).count_everywhere()) for name in names]
    return Invitee(name, names, invites, recruits, mentions)


def erase_invitee(
    *, invitee: Invitee, by: User, typed: str, reason: str, names: Sequence[str] | None = None
) -> None:
    """Erase somebody without an account: their invitations, which no longer work, and their IDs."""
    _refuse_unless_confirmed(by, typed, invitee.name)
    reason = checked_reason(reason, why="they are erased")
    _refuse_naming(reason, invitee.names)
    with transaction.atomic():
        blank_invitations(
            Invite.objects.filter(pk__in=[row.pk for row in invitee.invites], used_by=None)
        )
        erase_platform_ids(Recruit.objects.filter(pk__in=[row.pk for row in invitee.recruits]))
        Redaction(invitee.names if names is None else names, ERASED).replace_everywhere()
        studies = {row.study_id for row in invitee.invites}
        studies |= {row.study_id for row in invitee.recruits}
        for study in sorted(studies):
            record_event(
                study=study, kind=StudyEvent.Kind.ERASED, by=by, reason=reason,
                detail={
                    "invites": [row.pk for row in invitee.invites if row.study_id == study],
                    "recruits": [row.pk for row in invitee.recruits if row.study_id == study],
                },
            )  # fmt: skip


def _refuse_unless_confirmed(by: User, typed: str, name: str) -> None:
    if not by.is_superuser:
        raise Refused("not_yours", "only an administrator erases a person")
    if typed != name:
        raise Refused("invalid", "type the name exactly as it stands, to confirm")


def _refuse_naming(reason: str, names: Sequence[str]) -> None:
    if Redaction(names, ERASED).known_in(reason):
        raise Refused("invalid", "the reason is kept, so it must not name the person")


def tombstone(user: User) -> str:
    """Return the name that stays."""
    return f"erased-{user.pk}"


def _roles(user: User) -> Mapping[int, list[str]]:
    """Return the roles that go with the account, by study; that of an annotator goes by
    withdrawal.
    """
    rows = Membership.objects.filter(user=user).exclude(role=Membership.Role.ANNOTATOR)
    roles: dict[int, list[str]] = {}
    for study, role in rows.order_by("pk").values_list("study", "role"):
        roles.setdefault(study, []).append(role)
    return roles


def _leave(person: Participant, user: User, by: User) -> None:
    withdraw_annotator(study=person.study, user=user, by=by, reason="erased")
    # The counters stay: they tell how many assignments were filled, by number.
    Participant.objects.filter(pk=person.pk).update(
        state=Participant.State.ERASED, last_seen_at=None, break_since=None
    )


def blank_answers(assignments: QuerySet[Assignment], edits: AppendOnlyQuerySet[RatingEdit]) -> None:
    """Erase words and quotes, and what people said of themselves; scores where the study asks
    so. ``edits`` are those of these assignments.
    """
    assignments.exclude(skip_reason="").update(skip_reason=ERASED)
    assignments.exclude(note="").update(note=ERASED)
    ratings = Rating.objects.filter(assignment__in=assignments)
    edits.erase_words(text="", client_time=None)
    ratings.update(text="")
    edits.filter(aspect=Aspect.EVIDENCE).erase_words(chosen=[])
    ratings.filter(aspect=Aspect.EVIDENCE).update(chosen=[])
    whole = assignments.filter(
        Q(part=Assignment.Part.BACKGROUND) | Q(study__settings__erasure=SCORES_TOO)
    )
    edits.filter(assignment__in=whole).erase_words(value=None, chosen=None)
    ratings.filter(assignment__in=whole).update(value=None, chosen=None)


def erase_votes(votes: "AppendOnlyQuerySet[DuelVote]") -> None:
    """Erase these votes in duels where their study asks that scores go, too."""
    votes.filter(duel__left__study__settings__erasure=SCORES_TOO).erase_rows()


def _blank_events(user: User, words: Redaction) -> None:
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
    labels = Invite.objects.filter(used_by=user).exclude(label="").values_list("label", flat=True)
    # A reminder makes a new invitation with the same label, and revokes the earlier one.
    mine = Q(used_by=user) | Q(by=user) | Q(used_by=None, label__in=list(labels))
    Invite.objects.filter(mine).exclude(label="").update(label=ERASED)
    Message.objects.filter(Q(to=user) | Q(by=user)).update(text=ERASED)
    MessageRead.objects.filter(user=user).delete()
    LiveDraft.objects.filter(user=user).delete()


def _blank_notes(user: User) -> None:
    """Erase the words of notes beside trajectories, also those picked as quotes; their turn stays.

    Labels stay as they are, without the words beside them: they are a kind of failure, put by the
    tombstone. What somebody else made of a note of theirs goes with it.
    """
    TrajectoryLabel.objects.filter(by=user).exclude(note="").erase_words(note=ERASED)
    Remark.objects.filter(by=user).erase_words(quote="", start=None, end=None)
    texts = RemarkText.objects.filter(Q(by=user) | Q(remark__by=user))
    texts.exclude(text="").erase_words(text=ERASED)


def _clear_kept_reports() -> None:
    """Clear the reports that are kept in the database, which may name the person.

    A Redis is left alone: it may hold other things, and forgets reports by itself.
    """
    if isinstance(caches["kept"], DatabaseCache):
        caches["kept"].clear()


def _rename_in_designs(user: User, username: Redaction) -> None:
    """Put the tombstone into designs, where the user name refers to the account."""
    for study in Study.objects.filter(participants__user=user).only("pk", "settings"):
        blank = username.replaced_in_settings(study.settings)
        if blank != study.settings:
            Study.objects.filter(pk=study.pk).update(settings=blank)


def _blank_account(user: User) -> None:
    _end_sessions(user)
    ApiToken.objects.filter(user=user).delete()
    StoredAnswer.objects.filter(user=user).delete()
    Upload.objects.filter(created_by=user).delete()
    # Titles of jobs are names of files.
    Job.objects.filter(created_by=user).update(title=ERASED)
    Membership.objects.filter(user=user).delete()
    erase_platform_ids(Recruit.objects.filter(user=user))
    owned = ("emailaddress_set", "authenticator_set", "socialaccount_set", "saved_views")
    for name in (*owned, "list_columns"):
        getattr(user, name).all().delete()
    # What is shared belongs to others, too: it stays, by the tombstone.
    user.papers.filter(sharing="private").delete()
    Annotator.objects.filter(user=user, is_simulated=False).delete()
    _blank_log(user)
    user.groups.clear()
    user.user_permissions.clear()
    user.username, user.email, user.first_name, user.last_name = tombstone(user), "", "", ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.last_login = None
    user.set_unusable_password()
    user.save()


def erase_platform_ids(rows: QuerySet[Recruit]) -> None:
    """Erase the IDs of a platform; that somebody came by a link, finished and got a bonus stays."""
    rows.exclude(rejection="").update(rejection=ERASED)
    rows.update(
        external_id=Concat(Value("erased-"), Cast("pk", CharField())),
        platform_study="",
        platform_session="",
        browser="",
        code="",
    )


def blank_invitations(rows: QuerySet[Invite]) -> None:
    """Erase the names and addresses of invitations; those that nobody used work no longer."""
    rows.filter(used_by=None, revoked_at=None).update(revoked_at=timezone.now())
    rows.exclude(label="").update(label=ERASED)


def _end_sessions(user: User) -> None:
    """End the person's sessions, which tell whose they are only when they are read."""
    mine = [
        row.pk
        for row in Session.objects.iterator()
        if row.get_decoded().get("_auth_user_id") == str(user.pk)
    ]
    Session.objects.filter(pk__in=mine).delete()


def _blank_log(user: User) -> None:
    """Erase from the administration's log what it says about this account."""
    of_users = ContentType.objects.get_for_model(User)
    about = LogEntry.objects.filter(content_type=of_users, object_id=str(user.pk))
    about.update(object_repr=tombstone(user), change_message="")
