"""What managers write to annotators, and who has read it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import fetch_managed_study
from annotation.errors import Refused
from annotation.people.messages import send_message
from annotation.people.selectors import present_annotators, sent_messages
from annotation.studies.forms import MessageForm
from annotation.studies.settings_views import study_context
from benchmarks.access import signed_in


@require_http_methods(["GET", "POST"])
@signed_in
def study_messages(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The messages of a study; a POST sends one to an annotator or to all."""
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
