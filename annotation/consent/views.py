"""The texts before the first item: managers write them, annotators read and answer them."""

from typing import NamedTuple

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import (
    fetch_annotator,
    fetch_managed_study,
)
from annotation.consent.selectors import (
    TextBlock,
    current_text,
    has_read_information,
    latest_consent,
    text_blocks,
    text_version,
    text_versions,
)
from annotation.consent.services import (
    LONGEST_TEXT,
    answer_consent,
    note_information_read,
    set_study_text,
)
from annotation.errors import Refused
from annotation.models import Study, StudyText
from annotation.study_frame.context import study_context
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


class TextSection(NamedTuple):
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


@require_http_methods(["GET", "POST"])
@signed_in
def information(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what the study is about; a POST says that it was read."""
    access, participant = fetch_annotator(request, pk)
    text = _text(access.study, Kind.INFORMATION)
    refused = None
    if request.method == "POST":
        try:
            note_information_read(study=access.study, user=access.user, version=_version(request))
        except Refused as refusal:
            refused = refusal
        else:
            return redirect("annotation:next_item", pk=access.study.pk)
    context = {
        "study": access.study,
        "text": text,
        "blocks": text_blocks(text.text),
        "refused": refused,
        "read": has_read_information(access.study, access.user),
    }
    status = 409 if refused else 200
    return render(request, "annotation/information.html", context, status=status)


@require_http_methods(["GET", "POST"])
@signed_in
def consent(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what an annotator agrees to, or not; the answer can be changed at any time."""
    access, participant = fetch_annotator(request, pk)
    study = access.study
    text = _text(study, Kind.CONSENT)
    if not has_read_information(study, access.user):
        return redirect("annotation:information", pk=pk)
    refused = None
    if request.method == "POST":
        answer = request.POST.get("answer", "")
        try:
            if answer not in ("agree", "decline"):
                raise Refused("invalid", "choose one of the two answers")
            answer_consent(
                study=study, user=access.user, version=_version(request), given=answer == "agree"
            )
        except Refused as refusal:
            refused = refusal
        else:
            return (
                redirect("annotation:next_item", pk=study.pk)
                if answer == "agree"
                else redirect("annotation:consent", pk=pk)
            )
    last = latest_consent(study, access.user)
    context = {
        "study": study,
        "live": study.is_live,
        "text": text,
        "blocks": text_blocks(text.text),
        "refused": refused,
        "informed": current_text(study, Kind.INFORMATION) is not None,
        "agreed": participant.consent_version >= study.consent_version,
        "declined": last is not None and not last.given and last.text_id == text.pk,
        "earlier": last if last is not None and last.text_id != text.pk else None,
    }
    status = 200
    if refused is not None:
        status = 422 if refused.code == "invalid" else 409
    return render(request, "annotation/consent.html", context, status=status)


def _text(study: Study, kind: str) -> StudyText:
    text = current_text(study, kind)
    if text is None:
        raise Http404
    return text


def _version(request: HttpRequest) -> int:
    given = request.POST.get("version", "")
    return int(given) if given.isdecimal() and len(given) < 6 else 0
