"""The annotator's desk: the page, and the whole form of it for browsers without script."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import StudyAccess, fetch_assignment
from annotation.assignments.services import was_taken_back
from annotation.desk.answer_views import STATUS
from annotation.desk.break_selectors import minutes_without_break
from annotation.desk.form import Said
from annotation.desk.posted_form import form_edits, shown_before, typed_places
from annotation.desk.presence import note_seen, open_assignment
from annotation.desk.selectors import Desk, load_desk
from annotation.desk.services import (
    reopen_assignment,
    skip_assignment,
    slots_of,
    submit_assignment,
)
from annotation.desk.urls_of_items import after, desk_url
from annotation.errors import Incomplete, Refused
from annotation.models import Assignment, Participant, Study
from annotation.people.message_selectors import count_unread
from annotation.ratings.services import Recorded, record_edits, undo_edit
from annotation.steps.access import in_turn
from annotation.steps.views import rested_at
from annotation.studies.banner import study_banner
from benchmarks.access import signed_in
from benchmarks.core.digests import storable

Part, State = Assignment.Part, Assignment.State


@require_http_methods(["GET", "POST"])
@signed_in
@in_turn
def desk(request: HttpRequest, pk: int, position: int, part: str = Part.MAIN) -> HttpResponseBase:
    """One item with its questions; a POST carries the whole form, for browsers without script."""
    access, item = fetch_assignment(request, pk, position, part)
    if request.method == "POST":
        return _take_form(request, access, item)
    opens = access.study.status == Study.Status.OPEN and item.state == State.OPEN
    if opens and not open_assignment(assignment=item):
        return redirect(desk_url(item))
    return _show(request, access, item)


def _show(
    request: HttpRequest,
    access: StudyAccess,
    item: Assignment,
    *,
    refused: Refused | None = None,
    given: Mapping[str, Said] | None = None,
    reason: str | None = None,
) -> HttpResponse:
    """The desk; ``reason`` is what was given for skipping, None where nobody tried to skip."""
    missing = refused.missing if isinstance(refused, Incomplete) else []
    open_now = access.study.status == Study.Status.OPEN
    locked = not (open_now and item.state == State.OPEN)
    page = load_desk(
        item, participant=access.participant, given=given, missing=missing, locked=locked
    )
    if page.participant is not None:
        note_seen(page.participant)
    working = page.participant is not None and page.participant.state == Participant.State.ACTIVE
    context = {
        "desk": page,
        "reading": [
            f"systems/{page.questionnaire.system}/_desk.html",
            "annotation/partials/_reading.html",
        ],
        "item": item,
        "study": access.study,
        "previous_url": desk_url(item, page.previous) if page.previous else "",
        "next_url": desk_url(item, page.next) if page.next else "",
        "onward": after(item),
        "editable": not locked,
        "reopens": open_now
        and locked
        and working
        and item.part != Part.TRAINING
        and not was_taken_back(item),
        "banner": study_banner(access.study),
        "refused": refused,
        "reason": reason,
        "was": shown_before(page.stored),
        "settings": _settings(page, access),
    }
    if item.part == Part.MAIN and not locked and page.participant is not None:
        rested = rested_at(request, access.study)
        context |= {
            "unread": count_unread(access.user, study=access.study),
            "worked": minutes_without_break(access.study, page.participant, since=rested),
        }
    status = 200 if refused is None else STATUS[refused.code]
    return render(request, "annotation/desk.html", context, status=status)


def _settings(page: Desk, access: StudyAccess) -> dict[str, Any]:
    """What the script needs to know. The queue in the browser is kept apart by person.

    ``places`` maps the names of form fields to what is stored there and its version.
    """
    item = page.item
    return {
        "owner": str(access.user.pk),
        "answers": desk_url(item, name="answers"),
        "submit": desk_url(item, name="submit"),
        "here": desk_url(item),
        "onward": after(item),
        "activeMs": item.active_ms,
        "idleSeconds": access.study.idle_seconds,
        "places": {
            name: {"said": said.scalar, "version": said.version}
            for name, said in page.stored.items()
        },
        "edits": page.edits,
    }


# --- Forms ----------------------------------------------------------------------------------------


def _take_form(request: HttpRequest, access: StudyAccess, item: Assignment) -> HttpResponseBase:
    """Do what the pressed button says; on refusal show the page with everything that was typed."""
    action = request.POST.get("action", "")
    reason = storable(request.POST.get("reason", ""))
    here = redirect(desk_url(item))
    try:
        if action in ("save", "submit"):
            _record_form(request, access, item)
        match action:
            case "save":
                return here
            case "submit":
                submit_assignment(assignment=item, by=access.user)
            case "skip":
                skip_assignment(assignment=item, by=access.user, reason=reason)
            case "undo":
                undo_edit(assignment=item, by=access.user, client_id=uuid.uuid4())
                return here
            case "reopen":
                reopen_assignment(assignment=item, by=access.user)
                return here
            case _:
                raise Refused("invalid", "the form does not say what to do")
    except Refused as refused:
        item.refresh_from_db(fields=["state", "skip_reason", "submitted_at"])
        given = typed_places(slots_of(item), request.POST)
        tried = reason if action == "skip" else None
        return _show(request, access, item, refused=refused, given=given, reason=tried)
    return redirect(after(item))


def _record_form(request: HttpRequest, access: StudyAccess, item: Assignment) -> None:
    """Record what differs from what the page had shown, so that a stale page overwrites nothing."""
    edits = form_edits(slots_of(item), request.POST)
    if not edits:
        return
    for outcome in record_edits(assignment=item, by=access.user, edits=edits):
        if not isinstance(outcome, Recorded):
            raise outcome
