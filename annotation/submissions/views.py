"""The page of one submission, where a manager reads it, sends it back, voids or restores it."""

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import StudyAccess, fetch_managed_study
from annotation.errors import Refused
from annotation.models import Assignment, Study
from annotation.study_frame.context import attempt, study_context
from annotation.submissions.selectors import submission_events, submitted_answers
from annotation.submissions.services import restore_submission, send_back, void_submission
from benchmarks.access import signed_in
from benchmarks.core.digests import storable


@require_http_methods(["GET", "POST"])
@signed_in
def submission(request: HttpRequest, pk: int, number: int, position: int) -> HttpResponseBase:
    """Show what an annotator submitted about one item; a POST does what its button says.

    Whoever annotates the study blind does not see it: other people's answers would sway them.
    """
    access = fetch_managed_study(request, pk)
    if access.blind:
        raise Http404
    annotator, assignment = _fetch_assignment(access, number, position)
    if request.method == "POST":
        reason = storable(request.POST.get("reason", ""))
        action = request.POST.get("action", "")
        attempt(request, lambda: _act(access, assignment, action, reason))
        return redirect("annotation:submission", pk=pk, number=number, position=position)
    context = {
        **study_context(access, "people"),
        "annotator": annotator,
        "item": assignment,
        "answers": submitted_answers(assignment),
        "events": submission_events(assignment),
        "working": access.study.status in Study.WORKING,
    }
    return render(request, "annotation/submission.html", context)


def _fetch_assignment(access: StudyAccess, number: int, position: int) -> tuple[object, Assignment]:
    people = access.study.participants.select_related("user__annotator").filter(number=number)
    person = people.first()
    if person is None:
        raise Http404
    rows = Assignment.objects.filter(
        study=access.study, annotator=person.user_id, part=Assignment.Part.MAIN, position=position
    )
    assignment = rows.select_related("study", "item__task", "annotator").first()
    if assignment is None:
        raise Http404
    return person, assignment


def _act(access: StudyAccess, assignment: Assignment, action: str, reason: str) -> str:
    name = assignment.annotator.get_username()
    match action:
        case "back":
            send_back(assignment=assignment, by=access.user, note=reason)
            return f"The item is open for {name} again, with your note."
        case "void":
            void_submission(assignment=assignment, by=access.user, reason=reason)
            return "The submission is voided. The assignment is free for somebody else."
        case "restore":
            restore_submission(assignment=assignment, by=access.user, reason=reason)
            return "The submission counts again."
    raise Refused("invalid", "the form does not say what to do")
