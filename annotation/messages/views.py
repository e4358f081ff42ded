"""The page action with which an annotator puts a message away."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import fetch_annotator, fetch_managed_study, person
from annotation.assignments.selectors import present_annotators
from annotation.errors import Refused
from annotation.messages.forms import MessageForm
from annotation.messages.selectors import sent_messages
from annotation.messages.services import read_message, send_message
from annotation.models import Message
from annotation.study_frame.context import study_context
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


@require_http_methods(["GET", "POST"])
@signed_in
def study_messages(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the messages of a study; a POST sends one to an annotator or to all."""
    access = fetch_managed_study(request, pk)
    people = present_annotators(access.study)
    form = MessageForm(request.POST if request.method == "POST" else None, people=people)
    if request.method == "POST" and form.is_valid():
        to = form.recipient
        try:
            send_message(study=access.study, to=to, text=form.cleaned_data["text"], by=access.user)
        except Refused as refused:
            form.add_error("text", f"Not sent: {refused.reason}.")
        else:
            whom = to.get_username() if to else "all annotators"
            messages.success(request, f"The message to {whom} is sent.")
            return redirect("annotation:study_messages", pk=pk)
    sent, page = sent_messages(access.study, request.GET)
    context = {
        **study_context(access, "messages"),
        "form": form,
        "people": people,
        "sent": sent,
        "page": page,
    }
    return render(
        request, "annotation/study_messages.html", context, status=422 if form.errors else 200
    )
