"""The filters of lists: forms that live in the address."""

from collections.abc import Sequence
from typing import Any

from django import forms

from benchmarks.core.ports.labels import plain

Choices = Sequence[tuple[Any, str]]


class AddressForm(forms.Form):
    """A form that lives in the address; a value that is not on offer is named and left out."""

    use_required_attribute = False

    def chosen(self) -> dict[str, Any]:
        """Return what is chosen and valid."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}

    def active(self) -> list[tuple[str, str, str]]:
        """Return (field, value, words) of every choice, one for each value."""
        filters = []
        for name, value in self.chosen().items():
            field = self.fields[name]
            values = value if isinstance(value, list) else [value]
            labels = {str(key): label for key, label in getattr(field, "choices", ())}
            for one in values:
                if name == "order":
                    continue
                text = plain(str(one)) if field.widget.is_hidden else one  # a code, not typed words
                shown = labels.get(str(one), text)
                filters.append((name, str(one), f"{field.label}: {shown}"))
        return filters


def set_choices(form: forms.Form, name: str, choices: Choices, anything: str = "") -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = [("", anything), *choices] if anything else list(choices)
