"""What the steps of planning a study have in common."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms


class StepForm(forms.Form):
    """One step. ``paths``: wishes of the plan that this form's fields hold, path → field.

    ``short`` is its name in the row of steps.
    """

    use_required_attribute = False
    key: ClassVar[str]
    short: ClassVar[str]
    title: ClassVar[str]
    lead: ClassVar[str]
    paths: ClassVar[Mapping[str, str]] = {}

    def wishes(self) -> dict[str, Any]:
        """The fields of the plan that this step gives, by name."""
        return {path: self.cleaned_data[name] for path, name in self.paths.items()}


class SettledField(forms.ChoiceField):
    """A choice that has always been made: what is left out is the first one."""

    def clean(self, value: Any) -> Any:
        usual = next(iter(self.widget.choices))[0]
        return super().clean(value or usual)


def offer_choices(form: forms.Form, name: str, choices: list[tuple[str, str]]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices
