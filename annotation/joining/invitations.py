"""Accept invitations: each link lets one person in, or everybody who comes to sessions."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.errors import Refused
from annotation.live.play.services import take_free_place, take_place
from annotation.models import (
    Invite,
    LivePlace,
    LiveSession,
    Membership,
    Participant,
    Study,
)
from annotation.people.invitations import record_invitation
from annotation.studies.setup import add_member


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
        record_invitation(invite, "used", by=user)
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
    record_invitation(invite, "used", by=user)


def accept_invite_as_new(*, digest: str, username: str, password: str) -> tuple[User, Study]:
    """Make an account and take its person into the study: both or neither.

    Name and password have been checked by a form; raises IntegrityError where the name was taken
    meanwhile.
    """
    with transaction.atomic():
        refuse_unless_good(find_invite(digest))
        user = User.objects.create_user(username, password=password)
        return user, accept_invite(digest=digest, user=user)


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
