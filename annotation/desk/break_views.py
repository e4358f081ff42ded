"""The page of a break."""

from datetime import datetime

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.access import fetch_annotator
from annotation.desk.breaks import end_break, take_break
from annotation.models import Study
from benchmarks.access import signed_in

# Where the session keeps when the last announced break in a study ended.
RESTED = "rested_in_study_{}"


@require_http_methods(["GET", "POST"])
@signed_in
def take_a_break(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Start a break from the desk, or end it. A POST says which."""
    access, participant = fetch_annotator(request, pk)
    if request.method == "POST":
        if request.POST.get("action") == "end":
            end_break(study=access.study, user=access.user)
            request.session[RESTED.format(pk)] = timezone.now().isoformat()
            return redirect("annotation:next_item", pk=access.study.pk)
        take_break(study=access.study, user=access.user)
        return redirect("annotation:break", pk=pk)
    if participant.break_since is None:
        return redirect("annotation:next_item", pk=access.study.pk)
    context = {"study": access.study, "participant": participant}
    return render(request, "annotation/break.html", context)


def rested_at(request: HttpRequest, study: Study) -> datetime | None:
    """Return when the last announced break ended, as far as this session knows."""
    kept = request.session.get(RESTED.format(study.pk))
    return datetime.fromisoformat(kept) if kept else None
