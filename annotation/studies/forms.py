"""The settings of a study, and the field for a reason."""

from typing import Any

from django import forms
from django.conf import settings

from annotation.models import Study
from annotation.planning.forms import SettledField
from annotation.planning.plans import BOUNDS
from annotation.studies.services import ERASURE, LONGEST_REASON, SCORES_TOO, WORDS_ALONE

MOMENT = "%Y-%m-%dT%H:%M"


def reason_field(*, required: bool, label: str = "Reason", words: str = "") -> forms.CharField:
    """Why something is done; it is kept in the record."""
    return forms.CharField(
        label=label,
        required=required,
        max_length=LONGEST_REASON,
        error_messages={"required": "Say why in a few words."},
        help_text=words or "It is kept in the study’s record.",
    )


class SettingsForm(forms.Form):
    """What may change while a study runs."""

    name = forms.CharField(max_length=160, help_text="Annotators see it above every item.")
    closes_at = forms.DateTimeField(
        label="Closes by itself",
        required=False,
        input_formats=[MOMENT, f"{MOMENT}:%S"],
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=MOMENT),
        help_text="From then on no answer is taken, and open items are returned. Leave it empty to "
        f"close the study yourself. Time zone: {settings.TIME_ZONE}.",
    )
    lease_minutes = forms.IntegerField(
        label="Minutes for one item",
        min_value=BOUNDS["lease_minutes"][0],
        max_value=BOUNDS["lease_minutes"][1],
        help_text="In a pool: an item that somebody leaves longer than this goes to the next one.",
    )
    idle_seconds = forms.IntegerField(
        label="Idle after seconds",
        min_value=BOUNDS["idle_seconds"][0],
        max_value=BOUNDS["idle_seconds"][1],
        help_text="Time without a key, click or scroll beyond this is not counted as work.",
    )
    break_minutes = forms.IntegerField(
        label="Suggest a break after minutes",
        min_value=BOUNDS["break_minutes"][0],
        max_value=BOUNDS["break_minutes"][1],
        help_text="Of work without a rest. 0 suggests none.",
    )
    erasure = SettledField(
        label="When a person is erased",
        choices=[
            (WORDS_ALONE, "Their name and words go; scores and marks stay, left out of analyses"),
            (SCORES_TOO, "Their scores and marks go too"),
        ],
        help_text="Administrators erase people who ask for it. Write in the consent what holds.",
    )
    reason = reason_field(required=False)

    def __init__(self, data: Any = None, *, study: Study) -> None:
        names = ("name", "closes_at", "lease_minutes", "idle_seconds", "break_minutes")
        stored = {name: getattr(study, name) for name in names}
        super().__init__(data, initial=stored | {ERASURE: study.settings.get(ERASURE, WORDS_ALONE)})
        if study.dealing == Study.Dealing.NAMED:
            del self.fields["lease_minutes"]

    @property
    def wishes(self) -> dict[str, Any]:
        """What was changed; the rest stays as it is stored, to the second."""
        return {name: self.cleaned_data[name] for name in self.changed_data if name != "reason"}
