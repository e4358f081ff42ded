"""Forms of recruiting: a new link, and the bonuses."""

from typing import Any, ClassVar

from django import forms

from annotation.models import RecruitingLink, Study
from annotation.people.invitations import LONGEST_DAYS
from annotation.recruiting.screening import (
    EXAMPLE,
    ScreeningError,
    ScreeningQuestion,
    read_screening,
)
from annotation.recruiting.services import CODE, MOST_PLACES
from annotation.studies.places import unlinked_places

LONGEST_SCREENING = 10_000
USUAL_ITEMS = 10


class RecruitingLinkForm(forms.Form):
    """A link for the participants of one platform."""

    platform = forms.ChoiceField(choices=RecruitingLink.Platform.choices)
    places = forms.IntegerField(
        label="Participants", min_value=1, max_value=MOST_PLACES, initial=20,
        help_text="The quota: the link closes when so many have joined. Whoever leaves gives the "
        "place back.",
    )  # fmt: skip
    items_each = forms.IntegerField(
        label="Items for each participant", min_value=1, max_value=100_000,
        help_text="After so many submitted items they get the completion code. Gold items count.",
    )  # fmt: skip
    days = forms.IntegerField(
        label="Valid for (days)", min_value=1, max_value=LONGEST_DAYS, initial=14
    )
    code = forms.RegexField(
        CODE, label="Completion code", required=False, max_length=40,
        help_text="Prolific shows it when you set the study up there. Elsewhere leave it empty: "
        "each participant gets a code of their own.",
        error_messages={"invalid": "A code has letters, digits, - and _ only."},
    )  # fmt: skip
    review_code = forms.RegexField(
        CODE, label="Code while work is checked", required=False, max_length=40,
        help_text="Prolific: a second completion code with the action “Manually review”. People "
        "whose work you check first return with it, so that their time does not run out.",
        error_messages={"invalid": "A code has letters, digits, - and _ only."},
    )  # fmt: skip
    screening = forms.CharField(
        label="Screening questions", required=False, max_length=LONGEST_SCREENING,
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": EXAMPLE}),
        help_text="One a line, with its answers after “|”. Mark answers that let somebody in with "
        "a star. All others end the study for them.",
    )  # fmt: skip
    screened_code = forms.RegexField(
        CODE, label="Code for people who are screened out", required=False, max_length=40,
        help_text="If the platform pays for screening.",
        error_messages={"invalid": "A code has letters, digits, - and _ only."},
    )  # fmt: skip
    return_url = forms.URLField(
        label="Address to return to", required=False, max_length=300, assume_scheme="https",
        help_text="Other platforms only: where the last page leads. {code} and {id} in it are "
        "replaced.",
    )  # fmt: skip

    FOLDED: ClassVar = ("screening", "screened_code", "return_url")

    def __init__(self, data: Any = None, *, study: Study, items: int) -> None:
        super().__init__(data, auto_id="id_link_%s")
        self.study = study
        if study.dealing == Study.Dealing.POOL:
            self.fields["items_each"].initial = min(USUAL_ITEMS, items) or 1
        else:
            del self.fields["items_each"]  # everybody gets a list
            free = unlinked_places(study)
            self.fields["places"].initial = len(free) or None
            self.longest = max((len(place.ranks) for place in free), default=1)

    @property
    def folded_open(self) -> bool:
        """Return whether something that is folded away is filled in or wrong."""
        return any(self[name].value() or self[name].errors for name in self.FOLDED)

    def clean_screening(self) -> list[ScreeningQuestion]:
        try:
            return read_screening(self.cleaned_data["screening"])
        except ScreeningError as error:
            raise forms.ValidationError(list(error.problems)) from None

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        prolific = given.get("platform") == RecruitingLink.Platform.PROLIFIC
        if prolific and not given.get("code") and "code" not in self.errors:
            self.add_error("code", "Paste the completion code that Prolific shows for the study.")
        if "items_each" not in self.fields:
            given["items_each"] = self.longest
        if given.get("return_url") and given.get("platform") != RecruitingLink.Platform.OTHER:
            self.add_error("return_url", "Prolific and Mechanical Turk have their own way back.")
        return given


class BonusForm(forms.Form):
    """One amount of each person, by the number of the row."""

    def __init__(self, data: Any, *, recruits: list[int]) -> None:
        super().__init__(data)
        for pk in recruits:
            self.fields[f"bonus_{pk}"] = forms.DecimalField(
                required=False, min_value=0, max_digits=8, decimal_places=2,
                error_messages={"invalid": "A bonus is an amount such as 1.50."},
            )  # fmt: skip
