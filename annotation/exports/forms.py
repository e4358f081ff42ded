"""The options of an export."""

from typing import Any

from django import forms

from annotation.access import StudyAccess
from annotation.exports.scope import Scope, scope_of
from annotation.exports.services import FORMATS, ExportRequest


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
        "download is logged. A dataset folder never holds names.",
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
        """What was asked for, as far as this person may have it."""
        said = self.cleaned_data
        scope = scope_of(
            self.access,
            names=said.get("names", False),
            withdrawn=said.get("withdrawn", False),
        )
        return ExportRequest(
            scope, events=said.get("events", False), licence=said.get("licence", "")
        )
