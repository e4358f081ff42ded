"""The failure labels: what each means, where it comes from, how often it is on, and its history."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import person
from annotation.errors import Refused
from annotation.models import FailureLabel
from annotation.remarks import services
from annotation.remarks.selectors import label_uses, set_title, system_title, wordings_of
from benchmarks.access import VIEW, allow, signed_in, visibility
from benchmarks.core.registry import SYSTEMS
from benchmarks.models import Trajectory


class WordingForm(forms.Form):
    """The words of a label."""

    title = forms.CharField(max_length=services.LONGEST_TITLE)
    definition = forms.CharField(
        max_length=services.LONGEST_DEFINITION,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="When does a trajectory get it? Another reader should decide alike.",
    )
    source = forms.CharField(
        max_length=services.LONGEST_SOURCE,
        required=False,
        help_text="Where this kind of failure was described.",
    )


def _systems() -> list[tuple[str, str]]:
    return [("", "Every system"), *((key, system_title(key)) for key in SYSTEMS)]


class NewLabelForm(WordingForm):
    """The words of a new label, and the system that it belongs to."""

    system = forms.ChoiceField(
        choices=_systems,
        required=False,
        help_text="Only trajectories of this system are offered the label.",
    )


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def failure_labels(request: HttpRequest) -> HttpResponse:
    allow(request, VIEW)
    form = NewLabelForm(request.POST) if request.method == "POST" else NewLabelForm()
    if request.method == "POST" and form.is_valid():
        try:
            label = services.make_failure_label(**form.cleaned_data, by=person(request))
        except Refused as error:
            form.add_error(None, _sentence(error))
        else:
            messages.success(request, f"“{label.title}” can be put on trajectories now.")
            return redirect("analysis:failure_labels")
    seen = visibility(request)
    visible = Q(trajectory__in=seen.of(Trajectory.objects.all())) if seen.closed else None
    context: dict[str, Any] = {"uses": label_uses(visible), "form": form}
    status = 422 if form.is_bound else 200
    return render(request, "analysis/failure_labels.html", context, status=status)


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def failure_label(request: HttpRequest, label_key: str) -> HttpResponse:
    allow(request, VIEW)
    label = get_object_or_404(FailureLabel, key=label_key)
    form = WordingForm(initial={name: getattr(label, name) for name in WordingForm.base_fields})
    if request.method == "POST":
        user = person(request)
        if "retired" in request.POST:
            retired = request.POST["retired"] == "1"
            label = services.retire_failure_label(label=label, by=user, retired=retired)
            words = (
                "is offered no more; it stays where it was put" if retired else "is offered again"
            )
            messages.success(request, f"“{label.title}” {words}.")
            return redirect("analysis:failure_label", label_key=label_key)
        form = WordingForm(request.POST)
        if form.is_valid():
            try:
                services.reword_failure_label(label=label, **form.cleaned_data, by=user)
            except Refused as error:
                form.add_error(None, _sentence(error))
            else:
                messages.success(request, "The new wording holds; the old one is in the history.")
                return redirect("analysis:failure_label", label_key=label_key)
    context = {
        "label": label,
        "group": set_title(label),
        "wordings": wordings_of(label),
        "form": form,
    }
    status = 422 if form.is_bound else 200
    return render(request, "analysis/failure_label.html", context, status=status)


def _sentence(error: Refused) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
