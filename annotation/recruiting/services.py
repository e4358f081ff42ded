"""Make and revoke recruiting links, let people in by them, and give out completion codes.

Only digests of a link's token and of a browser's cookie are stored. The record of a study names
links and accounts; the ids that platforms give to people are in `Recruit` rows alone.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.annotator_quality.checks import reasons_for_check
from annotation.annotator_quality.rule import CHECK_ALL, CHECK_NONE, code_check
from annotation.assignments.selectors import has_free_item
from annotation.assignments.services import lock_study
from annotation.audit_log.events import checked_reason, record_event
from annotation.errors import Refused
from annotation.models import (
    Assignment,
    Membership,
    Participant,
    Recruit,
    RecruitingLink,
    Study,
    StudyEvent,
)
from annotation.people.invitations import LONGEST_DAYS, TOKEN_BYTES, digest_of
from annotation.recruiting.screening import ScreeningQuestion
from annotation.studies.places import unlinked_places
from annotation.studies.setup import add_member

Platform = RecruitingLink.Platform
# Ids of all known platforms; none of them begins with a sign that spreadsheets run.
EXTERNAL_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,99}")
CODE = re.compile(r"[A-Za-z0-9_-]{1,40}")
MOST_PLACES = 10_000
# Without letters and digits that look alike.
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
LONGEST_BONUS = Decimal("999999.99")


def recruits_people(study: Study) -> bool:
    """Return whether a study can have recruiting links: its items come from a pool or in lists."""
    return study.dealing == Study.Dealing.POOL or study.places.exists()


def make_recruiting_link(
    *,
    study: Study,
    by: User,
    platform: str,
    places: int,
    items_each: int,
    days: int,
    code: str = "",
    screened_code: str = "",
    review_code: str = "",
    return_url: str = "",
    screening: Sequence[ScreeningQuestion] = (),
) -> str:
    """Make a link for ``places`` people and return its token, which cannot be read again."""
    if not recruits_people(study):
        raise Refused("invalid", "recruiting needs a study of lists, or one with a pool")
    if study.status in Study.OVER:
        word = study.get_status_display().lower()
        raise Refused("closed", f"the study is {word}; open it before you recruit")
    if platform not in Platform.values:
        raise Refused("invalid", f"a platform is one of {', '.join(Platform.values)}")
    if not 1 <= places <= MOST_PLACES or items_each < 1:
        raise Refused("invalid", f"expected 1 to {MOST_PLACES:,} people with at least one item")
    if not 1 <= days <= LONGEST_DAYS:
        raise Refused("invalid", f"a link is valid for 1 to {LONGEST_DAYS} days, not {days}")
    for given in (code, screened_code, review_code):
        if given and not CODE.fullmatch(given):
            raise Refused("invalid", "a code has letters, digits, - and _ only")
    if platform == Platform.PROLIFIC and not code:
        raise Refused("invalid", "Prolific needs the completion code of its study")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with transaction.atomic():
        link = RecruitingLink.objects.create(
            study=study, digest=digest_of(token), platform=platform, places=places,
            items_each=items_each, screening=[question.stored() for question in screening],
            code=code, screened_code=screened_code, review_code=review_code,
            return_url=return_url, by=by,
            expires_at=timezone.now() + timedelta(days=days),
        )  # fmt: skip
        _record(link, "made", by=by)
    return token


def revoke_recruiting_link(*, link: RecruitingLink, by: User) -> None:
    """Let nobody else in by a link. Whoever is in goes on; revoking twice is harmless."""
    with transaction.atomic():
        rows = RecruitingLink.objects.filter(pk=link.pk, revoked_at=None)
        if rows.update(revoked_at=timezone.now()):
            _record(link, "revoked", by=by)


def refuse_unless_open(link: RecruitingLink | None) -> RecruitingLink:
    """Return the link, if it lets people in now. Reasons name neither study nor people."""
    if link is None:
        raise Refused("invalid", "there is no such link; it may be incomplete")
    if link.state == "revoked":
        raise Refused("gone", "this link was closed")
    if link.state == "expired":
        raise Refused("gone", "this link has expired")
    status = link.study.status
    if status in Study.OVER:
        raise Refused("closed", "this study has ended")
    if status != Study.Status.OPEN:
        raise Refused("closed", "the study takes no participants now; try again later")
    if places_left(link) < 1:
        raise Refused("gone", "all places are taken")
    return link


def places_left(link: RecruitingLink) -> int:
    """Return how many more people a link lets in. People who left give their place back.

    In a study of lists, no more than there are lists without an invitation.
    """
    here = Participant.objects.filter(study=link.study).exclude(state__in=Participant.GONE)
    taken = link.recruits.filter(user__in=here.values("user")).count()
    left = max(0, link.places - taken)
    if not left or link.study.dealing == Study.Dealing.POOL:
        return left
    return min(left, len(unlinked_places(link.study)))


def join_by_link(
    *,
    link: RecruitingLink,
    external_id: str,
    browser: str,
    platform_study: str = "",
    platform_session: str = "",
) -> Recruit:
    """Make an account for somebody from a platform and take them into the study.

    ``browser`` is the digest of their browser's cookie. Refused where the id was used before.
    """
    if not EXTERNAL_ID.fullmatch(external_id):
        raise Refused("invalid", "this is not a participant ID")
    with transaction.atomic():
        # Locked, so that two people do not take the last place.
        lock_study(link.study)
        link = RecruitingLink.objects.select_related("study", "by").get(pk=link.pk)
        refuse_unless_open(link)
        if find_recruit(link, external_id) is not None:
            raise Refused("conflict", "this id was used before")
        user = User.objects.create_user(f"participant-{_random(8).lower()}")
        pooled = link.study.dealing == Study.Dealing.POOL
        add_member(
            study=link.study, user=user, role=Membership.Role.ANNOTATOR, by=link.by,
            needs_place=not pooled,
        )  # fmt: skip
        here = Participant.objects.filter(study=link.study, user=user)
        here.update(most_items=link.items_each if pooled else F("assigned"))
        recruit = Recruit.objects.create(
            link=link, study=link.study, external_id=external_id, user=user, browser=browser,
            platform_study=platform_study, platform_session=platform_session,
        )  # fmt: skip
        _record(link, "joined", by=user, about=user)
    return recruit


def screen_out(
    *, link: RecruitingLink, external_id: str, platform_study: str = "", platform_session: str = ""
) -> Recruit:
    """Keep that somebody does not fit, so that they cannot try other answers."""
    if not EXTERNAL_ID.fullmatch(external_id):
        raise Refused("invalid", "this is not a participant ID")
    recruit, _ = Recruit.objects.get_or_create(
        study=link.study, external_id=external_id,
        defaults={
            "link": link, "platform_study": platform_study, "platform_session": platform_session,
        },
    )  # fmt: skip
    return recruit


def find_recruit(link: RecruitingLink, external_id: str) -> Recruit | None:
    """Return who used an id in the study of a link."""
    rows = Recruit.objects.select_related("user", "link", "study")
    return rows.filter(study=link.study_id, external_id=external_id).first()


def admit_browser(*, recruit: Recruit, browser: str) -> bool:
    """Say whether an id may be used in this browser. The first browser after a manager allowed
    another one is kept.
    """
    if recruit.browser == browser:
        return True
    if not recruit.browser:
        rows = Recruit.objects.filter(pk=recruit.pk, browser="")
        return bool(rows.update(browser=browser, refused_at=None))
    Recruit.objects.filter(pk=recruit.pk).update(refused_at=timezone.now())
    return False


def allow_another_browser(*, recruit: Recruit, by: User) -> None:
    """Let the next browser that brings the id in, and no longer the one before."""
    with transaction.atomic():
        if (
            Recruit.objects.filter(pk=recruit.pk)
            .exclude(browser="")
            .update(browser="", refused_at=None)
        ):
            _record(recruit.link, "another browser allowed", by=by, about=recruit.user)


# --- Finishing ------------------------------------------------------------------------------------


def finish_recruit(*, recruit: Recruit) -> Recruit:
    """Give somebody their completion code if their work is done, or hold it for a check first;
    again it changes nothing.

    Work is done once they submitted the items that the link asks for, or nothing is left for them
    although they skipped nothing, or a manager let them have the code. Work that the study's rules
    want checked is held until a manager decides: nobody is refused by a rule.
    """
    if recruit.finished_at is not None or recruit.rejected_at is not None:
        return recruit
    if recruit.user is None or not _is_done(recruit):
        return recruit
    if not recruit.approved:
        if recruit.held_at is None:
            _hold_for_check(recruit)
        if recruit.held_at is not None:
            return recruit
    code = recruit.link.code or f"{_random(5)}-{_random(5)}"
    rows = Recruit.objects.filter(pk=recruit.pk, finished_at=None, rejected_at=None)
    if rows.update(finished_at=timezone.now(), code=code):
        _record(recruit.link, "finished", by=recruit.user, about=recruit.user)
    recruit.refresh_from_db()
    return recruit


def _hold_for_check(recruit: Recruit) -> None:
    """Hold finished work for a manager where the study's rules say so, with the reasons."""
    assert recruit.user is not None  # people who were screened out have no work
    check = code_check(recruit.study)
    if check == CHECK_NONE:
        return
    person = Participant.objects.select_related("user__annotator").get(
        study=recruit.study, user=recruit.user
    )
    reasons = reasons_for_check(recruit.study, person)
    if not reasons and check != CHECK_ALL:
        return
    rows = Recruit.objects.filter(pk=recruit.pk, held_at=None, finished_at=None)
    if rows.update(held_at=timezone.now(), held_for="\n".join(reasons)):
        _record(recruit.link, "held for a check", by=recruit.user, about=recruit.user)
    recruit.refresh_from_db()


def _is_done(recruit: Recruit) -> bool:
    person = Participant.objects.filter(study=recruit.study, user=recruit.user).first()
    if person is None or person.state in Participant.GONE or recruit.user is None:
        return False
    if recruit.approved or person.has_enough:
        return True
    if not person.submitted or person.skipped or recruit.study.status != Study.Status.OPEN:
        return False
    held = Assignment.objects.filter(
        study=recruit.study, annotator=recruit.user, state=Assignment.State.OPEN
    )
    return not held.exists() and not has_free_item(recruit.study, recruit.user)


def approve_recruit(*, recruit: Recruit, by: User) -> None:
    """Let somebody have the completion code: after a check, or although not all items are done."""
    if recruit.user is None:
        raise Refused("invalid", "this person was screened out")
    with transaction.atomic():
        rows = Recruit.objects.filter(pk=recruit.pk, finished_at=None)
        if rows.update(approved=True, rejected_at=None, rejection="") and not recruit.approved:
            _record(recruit.link, "code given by hand", by=by, about=recruit.user)
        recruit.refresh_from_db()
        finish_recruit(recruit=recruit)


def reject_recruit(*, recruit: Recruit, by: User, reason: str) -> None:
    """Decide that somebody gets no completion code; they read the reason. It can be revised."""
    reason = checked_reason(reason, why="there is no code: the participant reads it")
    if recruit.user is None:
        raise Refused("invalid", "this person was screened out")
    with transaction.atomic():
        rows = Recruit.objects.filter(pk=recruit.pk, finished_at=None, held_at__isnull=False)
        if not rows.update(rejected_at=timezone.now(), rejection=reason, approved=False):
            raise Refused("conflict", "only work that waits for a check can be refused the code")
        _record(recruit.link, "code refused", by=by, about=recruit.user, reason=reason)
        recruit.refresh_from_db()


def set_bonus(*, recruit: Recruit, bonus: Decimal | None) -> None:
    """Keep what somebody is to get on top; None for nothing."""
    if bonus is not None and not 0 <= bonus <= LONGEST_BONUS:
        raise Refused("invalid", "a bonus is an amount of 0 or more, such as 1.50")
    Recruit.objects.filter(pk=recruit.pk).update(bonus=bonus)


def _random(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def _record(
    link: RecruitingLink, what: str, *, by: User, about: User | None = None, reason: str = ""
) -> None:
    record_event(
        study=link.study_id, kind=StudyEvent.Kind.INVITED, by=by, about=about, reason=reason,
        detail={"recruiting link": link.pk, "platform": link.platform, "what": what},
    )  # fmt: skip
