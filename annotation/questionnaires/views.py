"""Pages that list, show and create questionnaires."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import person
from annotation.questionnaires import (
    QuestionnaireError,
    load_questionnaire,
    questionnaire_text,
    shipped_questionnaires,
)
from annotation.questionnaires.forms import BLANK, QuestionnaireText
from annotation.questionnaires.selectors import questionnaire_versions, shown_sections
from annotation.questionnaires.services import own_text, store_questionnaire
from benchmarks.access import START, allow, signed_in


@require_GET
@signed_in
def questionnaire_list(request: HttpRequest) -> HttpResponseBase:
    """All questionnaires with all versions."""
    allow(request, START)
    context = {"questionnaires": questionnaire_versions()}
    return render(request, "annotation/questionnaire_list.html", context)


@require_GET
@signed_in
def questionnaire(request: HttpRequest, called: str, version: int) -> HttpResponseBase:
    """One version as annotators see it, and its text."""
    allow(request, START)
    id = f"{called}@{version}"
    try:
        found = load_questionnaire(id)
    except QuestionnaireError:
        raise Http404 from None
    context = {
        "questionnaire": found,
        "sections": shown_sections(found),
        "shipped": id in shipped_questionnaires(),
        "text": questionnaire_text(id),
    }
    return render(request, "annotation/questionnaire.html", context)


@require_http_methods(["GET", "POST"])
@signed_in
def questionnaire_new(request: HttpRequest) -> HttpResponseBase:
    """Write a questionnaire, new or from another; it is shown before it is stored."""
    allow(request, START)
    if request.method == "GET":
        form = QuestionnaireText(initial=_start(request.GET.get("from", "")))
        return _page(request, form)
    form = QuestionnaireText(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    if request.POST.get("go") != "store":
        return _page(request, form)
    try:
        stored = store_questionnaire(
            name=form.cleaned_data["name"], text=form.cleaned_data["text"], by=person(request)
        )
    except QuestionnaireError as error:  # somebody stored a version meanwhile
        form.add_error(None, f"Nothing was stored: {error}.")
        return _page(request, form, status=422)
    messages.success(request, f"Version {stored.version} of {stored.name} is stored.")
    return redirect("annotation:questionnaire", called=stored.name, version=stored.version)


def _start(id: str) -> dict[str, str]:
    """What the page begins with: another questionnaire, or a short example."""
    try:
        text = questionnaire_text(id) if id else ""
    except QuestionnaireError:
        raise Http404 from None
    name = id.partition("@")[0]
    shipped = {other.partition("@")[0] for other in shipped_questionnaires()}
    return {
        "name": f"own_{name}" if name in shipped else name,
        "text": own_text(text) if text else BLANK,
    }


def _page(request: HttpRequest, form: QuestionnaireText, status: int = 200) -> HttpResponseBase:
    context = {
        "form": form,
        "questionnaire": form.found,
        "sections": shown_sections(form.found) if form.found else [],
    }
    return render(request, "annotation/questionnaire_new.html", context, status=status)
