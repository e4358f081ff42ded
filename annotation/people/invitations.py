"""Invitation links, each for one person and one use, or for everybody who comes to sessions.

Only a digest of the token is stored, so nobody can use a link after reading the database.
"""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.assignments.services import lock_study
from annotation.errors import Refused
from annotation.live.play.services import take_free_place, take_place
from annotation.models import (
    Invite,
    LivePlace,
    LivePlan,
    LiveSession,
    Membership,
    Participant,
    Study,
    StudyEvent,
    StudyPlace,
)
from annotation.record.events import record_event
from annotation.studies.places import place_name, unlinked_places
from annotation.studies.setup import add_member

LONGEST_DAYS, USUAL_DAYS = 90, 7
LONGEST_LABEL = 120
TOKEN_BYTES = 32


def make_invite(
    *,
    study: Study,
    role: str,
    label: str,
    days: int,
    by: User,
    place: LivePlace | None = None,
    study_place: StudyPlace | None = None,
    shared: bool = False,
) -> str:
    """Make a link for one person and return its token, which cannot be read again.

    ``label`` says for the managers whom it is meant for; it is good for ``days``. One to a
    ``place`` of a session gives its user that place too. One for an annotator leads to
    ``study_place``, or else to the next free list of the study without a link, if there is one. A
    ``shared`` one is for everybody who comes to a study whose players are not named.
    """
    if shared:
        _refuse_unless_pooled(study)
    if place is not None:
        _refuse_unless_free(place)
    if role not in Membership.Role.values:
        raise Refused("invalid", f"a role is one of {', '.join(Membership.Role.values)}")
    if not 1 <= days <= LONGEST_DAYS:
        raise Refused("invalid", f"an invite is valid for 1 to {LONGEST_DAYS} days, not {days}")
    if study.status in Study.OVER:
        word = study.get_status_display().lower()
        raise Refused("closed", f"the study is {word}; open it before you invite anybody")
    label = label.strip()
    if len(label) > LONGEST_LABEL:
        raise Refused("invalid", f"a label has at most {LONGEST_LABEL} characters")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with transaction.atomic():
        lock_study(study)  # two links to one list would disappoint somebody
        if study_place is None and role == Membership.Role.ANNOTATOR and not shared:
            study_place = next(iter(unlinked_places(study)), None)
        invite = Invite.objects.create(
            study=study, digest=digest_of(token), role=role, label=label, by=by, place=place,
            study_place=study_place, shared=shared,
            expires_at=timezone.now() + timedelta(days=days),
        )  # fmt: skip
        _record(invite, "made", by=by)
    return token


def make_place_links(*, study: Study, days: int, by: User) -> list[tuple[str, str]]:
    """Make a link to each free list that has none; returns the name of its place and its token."""
    with transaction.atomic():
        lock_study(study)
        places = unlinked_places(study)
        if not places:
            raise Refused("conflict", "every list is taken or has a link")
        names = [place_name(place.number) for place in places]
        return [
            (
                name,
                make_invite(
                    study=study, role=Membership.Role.ANNOTATOR, label=name, days=days, by=by,
                    study_place=place,
                ),
            )
            for name, place in zip(names, places, strict=True)
        ]  # fmt: skip


def revoke_invite(*, invite: Invite, by: User) -> None:
    """Make a link that nobody has used useless; revoking it twice is harmless."""
    with transaction.atomic():
        rows = Invite.objects.filter(pk=invite.pk, used_at=None)
        if rows.filter(revoked_at=None).update(revoked_at=timezone.now()):
            _record(invite, "revoked", by=by)
        elif not rows.exists():
            raise Refused("conflict", "this invitation was used; remove the role instead")
    invite.refresh_from_db()


def accept_invite(*, digest: str, user: User) -> Study:
    """Take a person into the study, where nobody used the link before; returns the study.

    Of two who come at once one gets in. The one who got in may ask again without harm.
    """
    with transaction.atomic():
        invite = find_invite(digest)
        if invite is not None and invite.used_by_id == user.pk:
            return invite.study
        invite = refuse_unless_good(invite)
        if invite.shared:
            _admit_next(invite, user)
            return invite.study
        _refuse_who_needs_none(invite, user)
        now = timezone.now()
        # The moment at which it is decided who gets in.
        free = Invite.objects.filter(
            pk=invite.pk, used_at=None, revoked_at=None, expires_at__gt=now
        )
        if not free.update(used_at=now, used_by=user):
            refuse_unless_good(find_invite(digest))
            raise Refused("gone", "somebody else has used this link")
        if invite.place is not None:
            # Before the study is locked: whoever ends a session locks it first, too.
            take_place(place=invite.place, user=user)
        add_member(
            study=invite.study, user=user, role=invite.role, by=invite.by,
            place=invite.study_place, needs_place=invite.study_place is not None,
        )  # fmt: skip
        _record(invite, "used", by=user)
        return invite.study


def _admit_next(invite: Invite, user: User) -> None:
    """Give whoever comes by a shared link the next free place; once, however often they ask."""
    if LivePlace.objects.filter(session__study=invite.study_id, player=user).exists():
        return
    if Participant.objects.filter(
        study=invite.study, user=user, state__in=Participant.GONE
    ).exists():
        raise Refused("conflict", "you have left this study; ask its manager to let you in again")
    if not take_free_place(study=invite.study, user=user):
        raise Refused("gone", "every place is taken; tell the person who gave you the link")
    add_member(study=invite.study, user=user, role=invite.role, by=invite.by)
    _record(invite, "used", by=user)


def accept_invite_as_new(*, digest: str, username: str, password: str) -> tuple[User, Study]:
    """Make an account and take its person into the study: both or neither.

    Name and password have been checked by a form; raises IntegrityError where the name was taken
    meanwhile.
    """
    with transaction.atomic():
        refuse_unless_good(find_invite(digest))
        user = User.objects.create_user(username, password=password)
        return user, accept_invite(digest=digest, user=user)


def digest_of(token: str) -> str:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def find_invite(digest: str) -> Invite | None:
    """Return the invite of a link, with its study and who made it."""
    rows = Invite.objects.select_related("study", "by", "place__session", "study_place")
    return rows.filter(digest=digest).first()


def refuse_unless_good(invite: Invite | None) -> Invite:
    """Return the invite, if it can be used now. The reasons name neither study nor people."""
    if invite is None:
        raise Refused("invalid", "there is no such invitation; the link may be incomplete")
    if invite.used_at is not None:
        raise Refused("gone", "this link has been used; each link lets one person in, once")
    if invite.revoked_at is not None:
        raise Refused("gone", "this invitation was revoked")
    if invite.expires_at <= timezone.now():
        raise Refused("gone", "this invitation has expired")
    if invite.study.status in Study.OVER:
        raise Refused("closed", "the study of this link has ended")
    if invite.place is not None and invite.place.session.state in LiveSession.OVER:
        raise Refused("closed", "the session that this link leads to is over")
    return invite


def _refuse_unless_pooled(study: Study) -> None:
    plan = LivePlan.objects.filter(study=study).first()
    if plan is None or plan.settings.get("players") != "pool":
        raise Refused("invalid", "one link for everybody needs sessions without named players")


def _refuse_unless_free(place: LivePlace) -> None:
    if place.session.state in LiveSession.OVER:
        raise Refused("closed", "this session is over")
    if place.player_id is not None or place.stand_in:
        raise Refused("conflict", "somebody has this place already")


def _refuse_who_needs_none(invite: Invite, user: User) -> None:
    """Refuse a link to which its user would owe nothing: it is kept for somebody else."""
    has = Membership.objects.filter(study=invite.study, user=user, role=invite.role).exists()
    if has and invite.place is None:
        role = invite.get_role_display().lower()
        raise Refused("conflict", f"you are {role} of this study already; the link still works")
    if invite.role == Membership.Role.ANNOTATOR and invite.study.participants.filter(
        user=user, state__in=Participant.GONE
    ).exists():  # fmt: skip
        raise Refused("conflict", "you have left this study; ask its manager to let you in again")


def _record(invite: Invite, what: str, *, by: User) -> None:
    record_event(
        study=invite.study_id, kind=StudyEvent.Kind.INVITED, by=by,
        about=by if what == "used" else None,
        detail={"invite": invite.pk, "what": what, "role": invite.role},
    )  # fmt: skip
