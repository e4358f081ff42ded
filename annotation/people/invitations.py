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
from annotation.audit_log.events import record_event
from annotation.errors import Refused
from annotation.models import (
    Invite,
    LivePlace,
    LivePlan,
    LiveSession,
    Membership,
    Study,
    StudyEvent,
    StudyPlace,
)
from annotation.studies.places import place_name, unlinked_places

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
        record_invitation(invite, "made", by=by)
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
            record_invitation(invite, "revoked", by=by)
        elif not rows.exists():
            raise Refused("conflict", "this invitation was used; remove the role instead")
    invite.refresh_from_db()


def digest_of(token: str) -> str:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def _refuse_unless_pooled(study: Study) -> None:
    plan = LivePlan.objects.filter(study=study).first()
    if plan is None or plan.settings.get("players") != "pool":
        raise Refused("invalid", "one link for everybody needs sessions without named players")


def _refuse_unless_free(place: LivePlace) -> None:
    if place.session.state in LiveSession.OVER:
        raise Refused("closed", "this session is over")
    if place.player_id is not None or place.stand_in:
        raise Refused("conflict", "somebody has this place already")


def record_invitation(invite: Invite, what: str, *, by: User) -> None:
    record_event(
        study=invite.study_id, kind=StudyEvent.Kind.INVITED, by=by,
        about=by if what == "used" else None,
        detail={"invite": invite.pk, "what": what, "role": invite.role},
    )  # fmt: skip
