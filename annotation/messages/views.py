"""The page action with which an annotator puts a message away."""

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotation.access import fetch_annotator, person
from annotation.errors import Refused
from annotation.messages.services import read_message
from annotation.models import Message
from benchmarks.access import signed_in


@require_POST
@signed_in
def message_read(request: HttpRequest, pk: int, message: int) -> HttpResponseBase:
    """Put a message away."""
    access, _ = fetch_annotator(request, pk)
    row = get_object_or_404(Message, pk=message, study=access.study)
    try:
        read_message(message=row, user=person(request))
    except Refused as refused:
        raise Http404 from refused
    if request.POST.get("back") == "home":
        return redirect("annotation:home")
    return redirect("annotation:study", pk=pk)
