"""The filters of the analysis pages as a form; choices are what the selection found."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from analysis.filters import ALL_RUNS
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
