"""The export page of a study with its options, and its downloads."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from annotation.access import StudyAccess, fetch_read_study
from annotation.errors import Refused
from annotation.exports.head import runs_of
from annotation.exports.scope import Scope, scope_of
from annotation.exports.services import FORMATS, ExportRequest, export_stream, unavailable
from annotation.exports.sources import datasets_needed
from annotation.exports.table import rating_columns
from annotation.ratings.selectors import left_out
from annotation.study_frame.context import study_banner
from benchmarks.access import signed_in


class ExportForm(forms.Form):
    """A format and what goes into it; names are a manager's to ask for."""

    format = forms.ChoiceField(choices=[(key, row.title) for key, row in FORMATS.items()])
    withdrawn = forms.BooleanField(
        required=False,
        label="Include annotators who withdrew",
        help_text="Analyses exclude their answers. Erased people are in no export.",
    )
    events = forms.BooleanField(
        required=False,
        label="Include the study’s record",
        help_text="In the whole study (JSON): assignments, changes, exports.",
    )
    names = forms.BooleanField(
        required=False,
        label="Include account names",
        help_text="In addition to pseudonyms, without answers to background questions. The "
        "download is logged. A folder to publish never holds names.",
    )
    licence = forms.CharField(
        required=False,
        max_length=60,
        label="Licence of the ratings",
        help_text="For the dataset card, as a Hugging Face identifier such as cc-by-4.0.",
    )

    def __init__(self, *args: Any, access: StudyAccess, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access = access
        self.scope: Scope = scope_of(access)
        if not access.manages or self.scope.blind:
            del self.fields["names"]
        if self.scope.blind:
            for name in ("withdrawn", "events", "licence"):
                del self.fields[name]

    @property
    def wish(self) -> ExportRequest:
        """The requested export, as far as this person may have it."""
        cleaned = self.cleaned_data
        scope = scope_of(
            self.access,
            names=cleaned.get("names", False),
            withdrawn=cleaned.get("withdrawn", False),
        )
        return ExportRequest(
            scope, events=cleaned.get("events", False), licence=cleaned.get("licence", "")
        )


@require_GET
@signed_in
def study_export(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what a study can be exported as, and what is in it and what is left out."""
    access = fetch_read_study(request, pk)
    return _page(request, access, ExportForm(access=access))


@require_GET
@signed_in
def study_download(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show one file, sent while it is written; taking it is put on record."""
    access = fetch_read_study(request, pk)
    form = ExportForm(request.GET, access=access)
    if not form.is_valid():
        return _page(request, access, form, status=422)
    format = form.cleaned_data["format"]
    try:
        return file_of(form.wish, format, access)
    except Refused as refused:
        form.add_error(None, f"Nothing was exported: {refused.reason}.")
        return _page(request, access, form, status=422)


def file_of(wish: ExportRequest, format: str, access: StudyAccess) -> StreamingHttpResponse:
    """Show the response that sends a file of a study."""
    stream = export_stream(wish=wish, format=format, by=access.user)
    file_format = FORMATS[format]
    response = StreamingHttpResponse(stream, content_type=file_format.content_type)
    name = f"{slugify(access.study.name) or 'study'}-{file_format.ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _page(
    request: HttpRequest, access: StudyAccess, form: ExportForm, status: int = 200
) -> HttpResponse:
    scope = form.scope
    context = {
        "study": access.study,
        "access": access,
        "banner": study_banner(access.study),
        "form": form,
        "formats": [
            (key, row, unavailable(ExportRequest(scope), key)) for key, row in FORMATS.items()
        ],
        "scope": scope,
        "people": len(scope.people),
        "left_out": None if scope.blind else scope.left_out,
        "voided": 0 if scope.blind else left_out(access.study).voided,
        "columns": rating_columns(scope),
        "needs": [] if scope.blind else [str(dataset) for dataset in datasets_needed(scope)],
        "runs": 0 if scope.blind else len(runs_of(scope)),
    }
    return render(request, "annotation/study_export.html", context, status=status)
