"""The page on which managers write information and consent."""

from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import fetch_managed_study
from annotation.errors import Refused
from annotation.models import Study, StudyText
from annotation.study_frame.context import study_context
from annotation.texts.selectors import TextBlock, text_blocks, text_version, text_versions
from annotation.texts.services import LONGEST_TEXT, set_study_text
from benchmarks.access import signed_in


class TextForm(forms.Form):
    """A new version of one text."""

    kind = forms.ChoiceField(choices=StudyText.Kind.choices, widget=forms.HiddenInput)
    text = forms.CharField(
        required=False,
        max_length=LONGEST_TEXT,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text="An empty line begins a new paragraph, a line that begins with “- ” is an item "
        "of a list. Leave it empty and nothing is shown or asked.",
    )


Kind = StudyText.Kind
WHAT = {
    Kind.INFORMATION: "What the study is about, how long it takes, what is stored and whom to ask. "
    "Annotators confirm that they have read it.",
    Kind.CONSENT: "What annotators agree to. Nobody is shown an item before they have agreed; who "
    "declines is shown none.",
}


@dataclass(frozen=True)
class TextSection:
    """One kind of text with its form; ``older`` are earlier versions, the newest first."""

    kind: str
    title: str
    what: str
    form: TextForm
    current: StudyText | None
    blocks: list[TextBlock]
    older: list[StudyText]


@require_http_methods(["GET", "POST"])
@signed_in
def study_texts(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the texts of a study and their versions; a POST stores a new version of one."""
    access = fetch_managed_study(request, pk)
    sent: TextForm | None = None
    if request.method == "POST":
        kind = request.POST.get("kind", "")
        sent = TextForm(request.POST, prefix=None, auto_id=f"id_{kind}_%s")
        if sent.is_valid():
            given = sent.cleaned_data
            before = text_version(access.study, given["kind"])
            try:
                set_study_text(
                    study=access.study, kind=given["kind"], text=given["text"], by=access.user
                )
            except Refused as refused:
                sent.add_error("text", f"{refused.reason.capitalize()}.")
            else:
                messages.success(request, _change_message(access.study, given["kind"], before))
                return redirect("annotation:study_texts", pk=pk)
    context = study_context(access, "texts")
    context["texts"] = [_written(access.study, kind, sent) for kind in Kind.values]
    return render(
        request, "annotation/study_texts.html", context, status=200 if sent is None else 422
    )


def _change_message(study: Study, kind: str, before: int) -> str:
    now, title = text_version(study, kind), Kind(kind).label
    if now == before:
        return "Nothing was changed: this is the wording that was there."
    if not now:
        return f"{title}: nothing is shown or asked from now on. The earlier versions are kept."
    again = " Annotators are asked again before they go on." if before else ""
    return f"{title}: version {now} is stored.{again}"


def _written(study: Study, kind: str, sent: TextForm | None) -> TextSection:
    rows = list(text_versions(study, kind))
    version = text_version(study, kind)
    current = next((row for row in rows if version and row.version == version), None)
    form = sent if sent is not None and sent.data.get("kind") == kind else None
    if form is None:
        form = TextForm(
            initial={"kind": kind, "text": current.text if current else ""},
            auto_id=f"id_{kind}_%s",
        )
    return TextSection(
        kind=kind,
        title=Kind(kind).label,
        what=WHAT[Kind(kind)],
        form=form,
        current=current,
        blocks=text_blocks(current.text) if current else [],
        older=[row for row in rows if row != current],
    )
