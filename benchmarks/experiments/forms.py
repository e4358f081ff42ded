"""Forms for designs of experiments: as YAML text or file, or from a few choices."""

from collections.abc import Mapping
from typing import Any

from django import forms

from benchmarks.core.yaml_files import LONGEST
from benchmarks.datasets.selectors import dataset_levels
from benchmarks.experiments.design import HOTTEST, Design
from benchmarks.filters import set_choices
from benchmarks.models import Dataset
from benchmarks.roles.selectors import agents_for
from benchmarks.visibility import EVERYTHING, Visibility

MOST_REPLICATES = 20


# The limit in bytes: a character takes at most four.
LONGEST_FILE = 4 * LONGEST


class DesignForm(forms.Form):
    """A design as text; an uploaded file replaces the text field."""

    use_required_attribute = False

    text = forms.CharField(
        label="Design",
        required=False,
        strip=False,
        max_length=LONGEST,
        help_text="YAML; its fields are listed below.",
        widget=forms.Textarea(
            attrs={"rows": 18, "class": "code", "spellcheck": "false", "autocapitalize": "off"}
        ),
    )
    file = forms.FileField(
        label="Or a file",
        required=False,
        help_text="YAML. It replaces the fields above.",
        widget=forms.FileInput(attrs={"accept": ".yaml,.yml,text/yaml"}),
    )
    take = forms.BooleanField(required=False)
    counted = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if (file := values.get("file")) is not None:
            if file.size > LONGEST_FILE:
                self.add_error("file", f"Expected at most {LONGEST:,} characters.")
                return values
            try:
                values["text"] = file.read().decode()
            except UnicodeDecodeError:
                self.add_error("file", "Expected text in UTF-8.")
                return values
        if not values.get("text", "").strip() and not self.errors:
            self.add_error("text", "Write a design, choose a shipped one, or upload a file.")
        return values


class ChoicesForm(forms.Form):
    """The simple case: agents and levels of one dataset, replicates and temperatures."""

    use_required_attribute = False

    agents = forms.MultipleChoiceField(
        label="Agents",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one agent."},
    )
    levels = forms.MultipleChoiceField(
        label="Levels", required=False, widget=forms.CheckboxSelectMultiple
    )
    replicates = forms.IntegerField(
        label="Runs of each",
        initial=3,
        min_value=1,
        max_value=MOST_REPLICATES,
        help_text="They differ in their seed alone. It takes two to see how far figures spread.",
    )
    temperatures = forms.CharField(
        label="Temperatures",
        required=False,
        help_text="Such as 0, 0.5, 1, for agents that take one. Left empty, agents stay as they "
        "are.",
    )
    tasks = forms.IntegerField(
        label="Only the first tasks",
        required=False,
        min_value=1,
        help_text="How many. Left empty, all tasks of the dataset are run.",
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        dataset: Dataset,
        seen: Visibility = EVERYTHING,
    ) -> None:
        super().__init__(data, prefix="c")
        self.dataset = dataset
        offered = agents_for(dataset.system, seen)
        set_choices(self, "agents", [(agent.name, agent.title) for agent in offered])
        levels = dataset_levels(dataset)
        if levels:
            set_choices(self, "levels", [(level, level) for level in levels])
            self.fields["levels"].initial = levels[:1]
        else:
            del self.fields["levels"]

    def clean_temperatures(self) -> tuple[float | None, ...]:
        words = self.cleaned_data["temperatures"].replace(";", ",").split(",")
        try:
            temperatures = tuple(float(word) for word in map(str.strip, words) if word)
        except ValueError:
            raise forms.ValidationError("Expected numbers with commas between them.") from None
        if any(not 0 <= one <= HOTTEST for one in temperatures):
            raise forms.ValidationError(f"Expected numbers from 0 to {HOTTEST:g}.")
        return temperatures or (None,)

    @property
    def design(self) -> Design:
        """Return the design of these choices."""
        chosen = self.cleaned_data
        return Design(
            name=f"{self.dataset.name}, {chosen['replicates']} runs of each",
            dataset=f"{self.dataset.name}@{self.dataset.version}",
            agents=tuple(chosen["agents"]),
            levels=tuple(chosen.get("levels", ())),
            temperatures=chosen["temperatures"],
            seeds=tuple(range(1, chosen["replicates"] + 1)),
            tasks=chosen["tasks"],
        )
