"""The texts that annotators read before the first item."""

from django import forms

from annotation.models import StudyText
from annotation.texts.services import LONGEST_TEXT


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
