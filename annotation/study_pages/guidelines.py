"""The guidelines of a study, which annotators confirm before their first item."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.access import fetch_annotator
from annotation.models import Participant, Study
from annotation.questionnaires import load_questionnaire
from benchmarks.access import signed_in


def asks_for_guidelines(study: Study, participant: Participant) -> bool:
    """Return whether somebody has to confirm the guidelines: they have not finished an item yet."""
    begun = participant.submitted or participant.skipped or participant.returned
    begun = begun or participant.training != Participant.Training.NONE
    if participant.guidelines_read_at is not None or begun or study.is_live:
        return False
    return bool(load_questionnaire(study.questionnaire).instructions)


@require_http_methods(["GET", "POST"])
@signed_in
def guidelines(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show how to judge; a POST says that it was read, and goes on to the first item."""
    access, participant = fetch_annotator(request, pk)
    if request.method == "POST":
        unread = Participant.objects.filter(pk=participant.pk, guidelines_read_at=None)
        unread.update(guidelines_read_at=timezone.now())
        return redirect("annotation:next_item", pk=pk)
    context = {
        "study": access.study,
        "questionnaire": load_questionnaire(access.study.questionnaire),
        "read": participant.guidelines_read_at,
    }
    return render(request, "annotation/guidelines.html", context)
