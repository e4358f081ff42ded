"""The filters of the analysis pages as a form; choices are what the selection found."""

from collections.abc import Sequence
from typing import Any

from django import forms

from analysis.filters import ALL_RUNS, FILTERS, LISTS, Filters
from analysis.filters.options import FilterOption
from analysis.filters.selection import Selection

# Filters whose default follows from the data, and which the page itself names.
OWN_DEFAULT = ("published", "simulated")


class PageFilterForm(forms.Form):
    """One field for each filter of a page, in the page's order. It is shown, not validated:
    `analysis.filters.selection` has already held the address against what is there.
    """

    use_required_attribute = False

    def __init__(self, selection: Selection, names: Sequence[str]) -> None:
        super().__init__(auto_id="filter-%s")
        for name in names:
            words, value = FILTERS[name], getattr(selection.filters, name)
            empty = words.empty if selection.study is None else words.empty_in_study
            if words.choices:
                field = _select(words.choices, value)
            elif name in LISTS:
                field = _several(selection.options.get(name, ()), value)
            else:
                choices = [(o.value, _counted(o)) for o in selection.options.get(name, ())]
                if choices and empty and ALL_RUNS not in dict(choices):
                    choices.insert(0, ("", empty))
                field = _select(choices, value)
            field.label = words.label
            if field.choices:
                self.fields[name] = field

    @property
    def usual(self) -> list[forms.BoundField]:
        """The fields that say what the page is about."""
        return [field for field in self if not FILTERS[field.name].rare]

    @property
    def rare(self) -> list[forms.BoundField]:
        """The fields that say how it is counted, which are folded."""
        return [field for field in self if FILTERS[field.name].rare]

    @property
    def shows_rare(self) -> bool:
        """Whether one of them chooses something, so that they are not folded."""
        return any(
            bound.value() and bound.value() != next(iter(dict(getattr(bound.field, "choices", ()))))
            for bound in self.rare
            if bound.name not in OWN_DEFAULT
        )


def unknown_values(wanted: Filters, selection: Selection, names: Sequence[str]) -> list[str]:
    """Return a note on each value of an address that is not among the choices of its filter,
    with what the page shows instead.
    """
    fields, notes = PageFilterForm(selection, names).fields, []
    for name in names:
        words, value = FILTERS[name], getattr(wanted, name)
        asked = [value] if isinstance(value, str) else value
        choices = dict(getattr(fields.get(name), "choices", ()))
        choices |= {option.value: option.label for option in selection.options.get(name, ())}
        if unknown := [f"“{option}”" for option in asked if option and option not in choices]:
            about = f"There is no {words.noun or name} {' or '.join(unknown)} here"
            if words.choices:
                about = f"The filter “{words.label}” has no choice {unknown[0]}"
            shown = getattr(selection.filters, name)
            if not isinstance(shown, str):
                others = any(option in choices for option in asked)
                instead = "the others are shown" if others else words.instead
            else:
                instead = f"“{choices[shown]}” is shown" if shown in choices else words.instead
            notes.append(f"{about}; {instead}.")
    return notes


def _select(choices: Any, value: str) -> forms.ChoiceField:
    return forms.ChoiceField(choices=list(choices), initial=value)


def _several(options: Sequence[FilterOption], value: Sequence[str]) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        choices=[(option.value, option.label) for option in options],
        initial=list(value),
        widget=forms.CheckboxSelectMultiple,
    )


def _counted(option: FilterOption) -> str:
    return option.label if option.count is None else f"{option.label} ({option.count})"
