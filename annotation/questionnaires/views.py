"""Pages that list, show and create questionnaires, and the form for writing one."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import MAKE_STUDIES, person
from annotation.questionnaires import (
    Questionnaire,
    QuestionnaireError,
    load_questionnaire,
    plug_in_of,
    questionnaire_text,
    shipped_questionnaires,
)
from annotation.questionnaires.selectors import questionnaire_versions, shown_sections
from annotation.questionnaires.services import (
    LONGEST,
    check_name,
    check_questionnaire,
    own_text,
    store_questionnaire,
)
from benchmarks.access import allow, signed_in
from benchmarks.core.registry import SYSTEMS

# ``SYSTEM`` stands for the system whose items it is about.
BLANK = """\
kind: own
system: SYSTEM
title: My questions on a trajectory
shows: [plans, feedback]
instructions:
  - Read the query and the turns first.
sections:
  - {key: plan, title: About the final plan}
questions:
  - key: useful
    section: plan
    about: final
    title: Useful
    definition: Would this plan help the person who asked?
    needs: [final_plan]
    scale: {points: 5}
    anchors:
      1: It would not help at all.
      3: It would help in part.
      5: It would solve the problem.
    examples:
      1: "“Buy a new carpet.”"
      3: "“Blot it, then wait.”"
      5: "“Blot it, rinse with cold water, dry it with a towel.”"
"""


def blank_text(system: str = "") -> str:
    """Return a short example, for a system's items where there is such a system."""
    return BLANK.replace("SYSTEM", system if system in SYSTEMS else next(iter(SYSTEMS)))


class QuestionnaireText(forms.Form):
    """A name, and the questionnaire itself in YAML."""

    use_required_attribute = False

    name = forms.CharField(
        max_length=60,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocapitalize": "off"}),
        help_text="Lowercase letters, digits and _. A name you used before gets its next version.",
    )
    text = forms.CharField(
        label="Questionnaire",
        max_length=LONGEST,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "class": "yaml"}),
    )
    questionnaire: Questionnaire | None = None

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        try:
            check_name(name)
        except QuestionnaireError as error:
            raise forms.ValidationError(_sentence(str(error))) from None
        return name

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if "name" in given and "text" in given:
            try:
                self.questionnaire = check_questionnaire(name=given["name"], text=given["text"])
            except QuestionnaireError as error:
                for problem in error.problems:
                    self.add_error("text", _sentence(problem))
        return given


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


@require_GET
@signed_in
def questionnaire_list(request: HttpRequest) -> HttpResponseBase:
    """Show all questionnaires with all versions."""
    allow(request, MAKE_STUDIES)
    context = {"questionnaires": questionnaire_versions()}
    return render(request, "annotation/questionnaire_list.html", context)


@require_GET
@signed_in
def questionnaire(request: HttpRequest, called: str, version: int) -> HttpResponseBase:
    """Show one version as annotators see it, and its text."""
    allow(request, MAKE_STUDIES)
    id = f"{called}@{version}"
    try:
        loaded = load_questionnaire(id)
    except QuestionnaireError:
        raise Http404 from None
    context = {
        "questionnaire": loaded,
        "sections": shown_sections(loaded),
        "shipped": id in shipped_questionnaires(),
        "plug_in": plug_in_of(id),
        "text": questionnaire_text(id),
    }
    return render(request, "annotation/questionnaire.html", context)


@require_http_methods(["GET", "POST"])
@signed_in
def questionnaire_new(request: HttpRequest) -> HttpResponseBase:
    """Write a questionnaire, new or from another; it is shown before it is stored."""
    allow(request, MAKE_STUDIES)
    if request.method == "GET":
        given = request.GET
        form = QuestionnaireText(initial=_start(given.get("from", ""), given.get("system", "")))
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


def _start(id: str, system: str) -> dict[str, str]:
    """Return what the page begins with: another questionnaire, or an example for a system."""
    try:
        text = questionnaire_text(id) if id else ""
    except QuestionnaireError:
        raise Http404 from None
    name = id.partition("@")[0]
    shipped = {other.partition("@")[0] for other in shipped_questionnaires()}
    return {
        "name": f"own_{name}" if name in shipped else name,
        "text": own_text(text) if text else blank_text(system),
    }


def _page(request: HttpRequest, form: QuestionnaireText, status: int = 200) -> HttpResponseBase:
    context = {
        "form": form,
        "questionnaire": form.questionnaire,
        "sections": shown_sections(form.questionnaire) if form.questionnaire else [],
    }
    return render(request, "annotation/questionnaire_new.html", context, status=status)
