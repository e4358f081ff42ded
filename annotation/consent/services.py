"""Store texts shown before the first item, and the answers to them.

Nothing is changed: new wording is a new version, a new answer a new row.
"""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from annotation.assignments.services import lock_participant
from annotation.audit_log.events import record_event
from annotation.consent.selectors import current_text, text_version
from annotation.errors import Refused
from annotation.models import Consent, Participant, Study, StudyEvent, StudyText

LONGEST_TEXT = 20_000
Kind = StudyText.Kind


def set_study_text(*, study: Study, kind: str, text: str, by: User | None) -> StudyText | None:
    """Store a new version of a text, which annotators are shown before they go on.

    An empty text is a version too: from then on nothing is shown or asked. The wording that is
    there already is no new version. Returns the version that holds now; None where there is none.
    """
    if kind not in Kind.values:
        raise Refused("invalid", f"a text is one of {', '.join(Kind.values)}, not {kind!r}")
    text = text.replace("\r\n", "\n").strip()
    if len(text) > LONGEST_TEXT:
        raise Refused("invalid", f"a text has at most {LONGEST_TEXT:,} characters")
    with transaction.atomic():
        fresh = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        before = current_text(fresh, kind)
        if text == (before.text if before else ""):
            return before
        last = fresh.texts.filter(kind=kind).aggregate(last=Max("version"))["last"] or 0
        row = StudyText.objects.create(study=fresh, kind=kind, version=last + 1, text=text, by=by)
        version = row.version if text else 0
        if kind == Kind.CONSENT:
            fresh.consent_version = version
            fresh.save(update_fields=["consent_version"])
        else:
            fresh.settings = {**fresh.settings, "information_version": version}
            fresh.save(update_fields=["settings"])
        record_event(
            study=fresh, kind=StudyEvent.Kind.TEXT, by=by,
            detail={"text": kind, "version": row.version, "shown": bool(text)},
        )  # fmt: skip
    study.consent_version, study.settings = fresh.consent_version, fresh.settings
    return row if text else None


def note_information_read(*, study: Study, user: User, version: int) -> None:
    """Note that somebody has read the information; telling it twice is harmless."""
    text = _as_shown(study, Kind.INFORMATION, version)
    with transaction.atomic():
        lock_participant(study=study, user=user)
        if Consent.objects.filter(study=study, user=user, text=text).exists():
            return
        Consent.objects.create(study=study, user=user, text=text, given=True)
        _record(text, user, "read")


def answer_consent(*, study: Study, user: User, version: int, given: bool) -> None:
    """Note that somebody agrees to the consent text, or does not; either can be changed later.

    ``version`` is the one that was on the page: nobody agrees to a text that they did not see.
    """
    text = _as_shown(study, Kind.CONSENT, version)
    with transaction.atomic():
        participant = lock_participant(study=study, user=user)
        if participant.state not in (Participant.State.ACTIVE, Participant.State.PAUSED):
            raise Refused("closed", "you no longer take part in this study")
        last = Consent.objects.filter(study=study, user=user, text=text).order_by("-pk").first()
        if last is not None and last.given == given:
            return
        Consent.objects.create(study=study, user=user, text=text, given=given)
        participant.consent_version = text.version if given else 0
        participant.save(update_fields=["consent_version"])
        _record(text, user, "given" if given else "declined")


def _as_shown(study: Study, kind: str, version: int) -> StudyText:
    """Return the text as it is now, if it is the one that was shown."""
    text = current_text(study, kind)
    if text is None or version != text_version(study, kind):
        raise Refused("conflict", "the text has been changed meanwhile; read it as it is now")
    return text


def _record(text: StudyText, user: User, answer: str) -> None:
    record_event(
        study=text.study_id, kind=StudyEvent.Kind.CONSENT, by=user, about=user,
        detail={"text": text.kind, "version": text.version, "answer": answer},
    )  # fmt: skip
