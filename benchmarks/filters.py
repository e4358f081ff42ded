"""The filters of lists: forms that live in the address."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from benchmarks.core.ports.labels import plain
from benchmarks.models import Run
from benchmarks.runs.selectors import ORDERS
from benchmarks.trajectories.selectors import RunOptions

LARGEST_ID = 2**63 - 1
Choices = Sequence[tuple[Any, str]]


def _select(label: str, anything: str, choices: Choices) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[("", anything), *choices], required=False)


class AddressForm(forms.Form):
    """A form that lives in the address; a value that is not on offer is named and left out."""

    use_required_attribute = False

    def chosen(self) -> dict[str, Any]:
        """Return what is chosen and valid."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}

    def active(self) -> list[tuple[str, str, str]]:
        """Return (field, value, words) of every choice, one for each value."""
        found = []
        for name, value in self.chosen().items():
            field = self.fields[name]
            values = value if isinstance(value, list) else [value]
            labels = {str(key): label for key, label in getattr(field, "choices", ())}
            for one in values:
                if name == "order":
                    continue
                text = plain(str(one)) if field.widget.is_hidden else one  # a code, not typed words
                shown = labels.get(str(one), text)
                found.append((name, str(one), f"{field.label}: {shown}"))
        return found


class RunFilter(AddressForm):
    """The filters of the list of runs."""

    dataset = _select("Dataset", "Any dataset", ())
    agent = _select("Agent", "Any agent", ())
    level = _select("Level", "Any level", ())
    status = _select("Status", "Any status", Run.Status.choices)
    condition = _select("Condition", "Any condition", ())
    experiment = forms.IntegerField(
        label="Experiment",
        required=False,
        min_value=1,
        max_value=LARGEST_ID,
        widget=forms.HiddenInput,
    )
    order = forms.ChoiceField(
        choices=[("", "Newest first"), *((name, words) for name, (words, *_) in ORDERS.items())],
        required=False,
        widget=forms.HiddenInput,
    )

    def __init__(self, data: Mapping[str, Any], options: RunOptions) -> None:
        super().__init__(data)
        _offer(self, options)


def set_choices(form: forms.Form, name: str, choices: Choices, anything: str = "") -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = [("", anything), *choices] if anything else list(choices)


def _offer(form: forms.Form, options: RunOptions) -> None:
    set_choices(form, "dataset", options.datasets, "Any dataset")
    set_choices(form, "agent", options.agents, "Any agent")
    set_choices(form, "level", options.levels, "Any level")
    set_choices(form, "condition", options.conditions, "Any condition")
