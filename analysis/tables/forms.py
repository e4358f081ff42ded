"""The forms of uploaded tables: what is sent with one, and which section of it is shown."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings as django_settings

from analysis.tables.agreement.settings import AgreementSettings
from analysis.tables.services import LONGEST_NAME, MOST_RATINGS, too_large
from benchmarks.core.problems import text_fault

EPSILONS = (
    ("0.1", "0.1 – people here are crowd workers (the strictest)"),
    ("0.15", "0.15 – people here are skilled annotators"),
    ("0.2", "0.2 – people here are experts"),
)
FARTHEST = 10_000


class TableForm(forms.Form):
    """A table and everything that is chosen before looking at its report."""

    use_required_attribute = False

    file = forms.FileField(
        label="File",
        max_length=255,
        error_messages={"required": "Choose a file.", "empty": "The file is empty."},
    )
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=LONGEST_NAME,
        help_text="Left empty, it is the file’s name.",
    )
    low = forms.IntegerField(
        label="Lowest score",
        initial=1,
        min_value=-FARTHEST,
        max_value=FARTHEST,
        help_text="That could be given, whether it occurs or not: weights depend on the whole "
        "scale.",
    )
    high = forms.IntegerField(
        label="Highest score", initial=5, min_value=-FARTHEST, max_value=FARTHEST
    )
    epsilon = forms.ChoiceField(
        label="ε, how much worse than a person a judge may be",
        choices=EPSILONS,
        initial="0.1",
        widget=forms.RadioSelect,
        help_text="A judge is cheaper than a person, so it may be a little worse and still stand "
        "in. The more a person’s time costs, the larger ε may be.",
    )
    half_width = forms.FloatField(
        label="Wanted precision, ±",
        initial=0.1,
        help_text="The half-width of interval for which the items needed are told: between 0 "
        "and 1.",
    )
    seed = forms.IntegerField(
        label="Seed",
        initial=1,
        min_value=0,
        max_value=2**32 - 1,
        help_text="Resampling draws by chance; the same seed gives the same numbers.",
    )
    resamples = forms.IntegerField(
        label="Resamples",
        initial=1000,
        min_value=100,
        max_value=10_000,
        help_text="Of each resampled interval: more are smoother and slower.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = (
            f"CSV, plain or gzipped; at most {django_settings.TABLE_BYTES >> 20} MB and "
            f"{MOST_RATINGS:,} ratings."
        )

    def clean_file(self) -> object:
        file = self.cleaned_data["file"]
        if file.size > django_settings.TABLE_BYTES:
            raise forms.ValidationError(too_large())
        return file

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name and (fault := text_fault(name, LONGEST_NAME)):
            raise forms.ValidationError(f"Expected {fault}.")
        return name

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if not self.errors:
            try:
                self.settings = AgreementSettings(
                    scale=(given["low"], given["high"]),
                    seed=given["seed"],
                    resamples=given["resamples"],
                    epsilon=float(given["epsilon"]),
                    half_width=given["half_width"],
                )
            except ValueError as error:
                raise forms.ValidationError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
        return given


class SectionForm(forms.Form):
    """The choice of the section of a table; it is only displayed, never validated."""

    use_required_attribute = False

    def __init__(self, sections: Sequence[str], part: int) -> None:
        super().__init__(auto_id="filter-%s")
        choices = [(str(number), title) for number, title in enumerate(sections, 1)]
        self.fields["section"] = forms.ChoiceField(
            label="Dataset and criterion",
            choices=[("", "All, side by side"), *choices],
            initial=str(part) if part else "",
        )
