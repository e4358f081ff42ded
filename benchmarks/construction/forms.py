"""Constructing datasets: problems that come in, who constructs, and what the dataset is called."""

from collections.abc import Mapping
from typing import Any

from django import forms

from benchmarks.core.ports.making import Making
from benchmarks.core.system import System
from benchmarks.models import Dataset
from benchmarks.runs.forms import StartForm
from benchmarks.visibility import EVERYTHING, Visibility


class ProblemsForm(forms.Form):
    """Files of problems."""

    use_required_attribute = False

    file = forms.FileField(
        label="Problems",
        help_text="The MacGyver workbook (.xlsx), or rows with the columns problem and solution as "
        "CSV or JSON; id and category may stand beside them.",
        widget=forms.FileInput(attrs={"accept": ".xlsx,.csv,.json"}),
    )
    results = forms.FileField(
        label="Recorded answers",
        required=False,
        help_text="For a MacGyver workbook: its file of results. Planners without a model recall "
        "these answers, and scripted agents play with them.",
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )
    name = forms.CharField(label="Name of the dataset", max_length=120, initial="Problems")
    licence = forms.CharField(
        label="Licence",
        max_length=200,
        required=False,
        help_text="Left empty, that of MacGyver is noted for its workbook.",
    )


class ConstructionForm(StartForm):
    """A construction: planners on an equal footing, the other roles, settings, seed and cap."""

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        dataset: Dataset,
        system: System,
        making: Making,
        seen: Visibility = EVERYTHING,
    ) -> None:
        super().__init__(data, dataset=dataset, system=system, seen=seen)
        first = next(role for role in system.roles if role.name == making.proposing[0])
        self._add_role(first, 1)
        self.planner_names = [
            f"role_{role.name}_{seat}"
            for role in sorted(system.roles, key=lambda role: role is not first)
            if role.name in making.proposing
            for seat in range(1, role.seats + 1)
        ]
        for number, name in enumerate(self.planner_names, 1):
            self.fields[name].label = f"Planner {number}"
        self.fields["cost_cap"].label = "Cost cap"
        self.fields["name"].help_text = "What you will find it by among the runs."
        self.fields["tasks"].label = "Only these problems"
        self.fields["tasks"].help_text = "Ids, one a line. Left empty, all problems are taken."
        self.fields["seed"].help_text = "The same seed gives the same answers of scripts."

    @property
    def planner_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.planner_names]

    @property
    def role_fields(self) -> list[forms.BoundField]:
        """The roles besides the planners."""
        return [self[name] for name in self.role_names if name not in self.planner_names]

    @property
    def chosen_planners(self) -> list[str]:
        return [self.cleaned_data[name] for name in self.planner_names]

    @property
    def other_roles(self) -> dict[str, list[str]]:
        planning = {name.removeprefix("role_").rpartition("_")[0] for name in self.planner_names}
        return {role: names for role, names in self.chosen_roles.items() if role not in planning}


class DatasetForm(forms.Form):
    """The name of a construction's dataset."""

    use_required_attribute = False

    name = forms.CharField(label="Name of the dataset", max_length=120)
    licence = forms.CharField(label="Licence", max_length=200, required=False)
