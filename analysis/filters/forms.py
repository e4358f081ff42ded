"""The filters of the analysis pages as a form; choices are what the selection found."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from analysis.filters import ALL_RUNS, Filters
from analysis.filters.options import FilterOption
from analysis.filters.selection import Selection

LABELS = {
    "dataset": "Dataset",
    "study": "Study",
    "level": "Level",
    "condition": "Condition",
    "experiment": "Experiment",
    "judging": "Judging",
    "agents": "Agents",
    "dimensions": "Dimensions",
    "published": "Published rows",
    "turns": "Turns",
    "align": "Count turns",
    "epsilon": "ε, chosen beforehand",
    "measure": "Measure",
    "against": "Compare",
    "factor": "What is varied",
    "counted": "Dimensions that count",
    "among": "Among",
    "beside": "Beside it",
    "runs": "Runs, in place of an experiment",
    "by": "By",
    "profile": "Agent",
    "mapped": "Map onto people",
    "tasks": "Tasks",
    "simulated": "Simulated annotators",
    "unblinded": "Answers after unblinding",
}
# Choices that are the same whatever is stored; the first is the default.
FIXED: Mapping[str, Sequence[tuple[str, str]]] = {
    "published": (("show", "Beside the runs"), ("hide", "Hidden")),
    "turns": (("", "Final turns"), ("all", "All turns")),
    "align": (("", "From the first"), ("end", "From the last")),
    "epsilon": (
        ("", "0.1: beside crowd workers"),
        ("0.15", "0.15: beside skilled annotators"),
        ("0.2", "0.2: beside experts"),
    ),
    "counted": (("", "As the runs count"), ("all", "All"), ("main", "Main ones")),
    "among": (("", "All trajectories"), ("refined", "Refined ones alone")),
    "mapped": (("", "A straight line"), ("monotone", "Any that never falls")),
    "simulated": (("include", "Counted, and labelled"), ("exclude", "Left out")),
}
# What an empty choice means, where one may be left open.
OPEN = {
    "experiment": "All runs",
    "judging": "Primary judging",
    "against": "All pairs",
    "profile": "The one that fails most often",
}
OPEN_IN_STUDIES = {
    "experiment": "All of the study",
    "level": "All of the study",
    "condition": "All of the study",
    "judging": "Primary judging",
}
SEVERAL = ("agents", "dimensions", "runs")


class PageFilterForm(forms.Form):
    """One field for each filter of a page, in the page's order. It is shown, not validated:
    `analysis.filters.selection` has already held the address against what is there.
    """

    use_required_attribute = False

    def __init__(self, selection: Selection, names: Sequence[str]) -> None:
        super().__init__(auto_id="filter-%s")
        empty = OPEN_IN_STUDIES if selection.study is not None else OPEN
        for name in names:
            value = getattr(selection.filters, name)
            if name in FIXED:
                field = _select(FIXED[name], value)
            elif name in SEVERAL:
                field = _several(selection.options.get(name, ()), value)
            else:
                choices = [(o.value, _counted(o)) for o in selection.options.get(name, ())]
                if choices and name in empty and ALL_RUNS not in dict(choices):
                    choices.insert(0, ("", empty[name]))
                field = _select(choices, value)
            field.label = LABELS[name]
            if field.choices:
                self.fields[name] = field


# What a filter chooses, in the singular, where its label in lower case is not that.
NOUNS = {
    "agents": "agent",
    "against": "agent",
    "profile": "agent",
    "dimensions": "dimension",
    "runs": "run",
    "beside": "judging",
    "factor": "factor",
    "by": "grouping",
}
# What is shown where none of several is known.
ALL = "all are shown"
SHOWN_INSTEAD = {
    "dimensions": "the main ones are shown",
    "runs": "the newest comparison is shown",
}


def unknown_values(wanted: Filters, selection: Selection, names: Sequence[str]) -> list[str]:
    """Return a note on each value of an address that is not among the choices of its filter,
    with what the page shows instead.
    """
    fields, notes = PageFilterForm(selection, names).fields, []
    for name in names:
        value = getattr(wanted, name)
        asked = [value] if isinstance(value, str) else value
        choices = dict(getattr(fields.get(name), "choices", ()))
        choices |= {one.value: one.label for one in selection.options.get(name, ())}
        if unknown := [f"“{one}”" for one in asked if one and one not in choices]:
            about = f"There is no {NOUNS.get(name, name)} {' or '.join(unknown)} here"
            if name in FIXED:
                about = f"The filter “{LABELS[name]}” has no choice {unknown[0]}"
            shown = getattr(selection.filters, name)
            if not isinstance(shown, str):
                others = any(one in choices for one in asked)
                instead = SHOWN_INSTEAD.get(name, ALL) if not others else "the others are shown"
            else:
                instead = f"“{choices[shown]}” is shown" if shown in choices else ALL
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
