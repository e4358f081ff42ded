"""Re-judging: whose turns, by whom, how, and for how much; and trying one judge on one turn."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from benchmarks.core.registry import find_system
from benchmarks.core.system import Rejudging
from benchmarks.judging.requests import JudgingRequest
from benchmarks.judging.selectors import TrajectoryChoice, listed_ids
from benchmarks.models import Dataset, Endpoint
from benchmarks.paging import as_id
from benchmarks.request_fields import request_form
from benchmarks.roles.forms import RolesForm, SettingField, answerer_choices
from benchmarks.runs.forms import CapField
from benchmarks.visibility import EVERYTHING, Visibility

NOBODY = ""
SEATS = "rubric_judges"
# The settings that a single ask depends on.
_TRIED = ("calls", "anchors")


def read_chosen(params: QueryDict, seen: Visibility) -> TrajectoryChoice:
    """Return the trajectories that a query string chooses by ``run``, ``id`` and ``list``."""
    runs = tuple(pk for text in params.getlist("run") if (pk := as_id(text)) is not None)
    ids: list[int] | None = None
    if "list" in params:
        ids = listed_ids(QueryDict(params.get("list")), seen)
    elif params.getlist("id"):
        ids = [pk for text in params.getlist("id") if (pk := as_id(text)) is not None]
    elif not runs:
        ids = []
    return TrajectoryChoice(runs, None if ids is None else tuple(ids), seen=seen)


_JudgingFields: Any = request_form(
    JudgingRequest,
    ("name", "seed"),
    name={"required": True, "error_messages": {"required": "Enter a name for the judging."}},
)


class RejudgeForm(_JudgingFields, RolesForm):  # type: ignore[misc]  # made of the request
    """The judge of each seat and the settings; rubric seats after the first may stay empty."""

    cost_cap = CapField(label="Cost cap per re-judged run")
    expected = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        dataset: Dataset,
        rejudging: Rejudging,
        seen: Visibility = EVERYTHING,
    ) -> None:
        super().__init__(data, dataset=dataset, system=rejudging, seen=seen)
        self.setting_names.remove(f"set_{SEATS}")
        del self.fields[f"set_{SEATS}"]
        for role in rejudging.roles:
            for seat in range(2, role.seats + 1):
                field = self.fields[f"role_{role.name}_{seat}"]
                assert isinstance(field, forms.ChoiceField)
                field.choices = [
                    (NOBODY, "Nobody"),
                    *answerer_choices(self.system, role, self.endpoints.values(), self.by_people),
                ]
                field.required = False

    @property
    def first_fields(self) -> list[forms.BoundField]:
        return []

    @property
    def setting_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.setting_names]

    @property
    def chosen_roles(self) -> dict[str, list[str]]:
        """Return the chosen judges by role; before any choice, the usual ones."""
        if not self.is_bound:
            usual: dict[str, list[str]] = {}
            for name in self.role_names:
                role = name.removeprefix("role_").rpartition("_")[0]
                usual.setdefault(role, []).append(str(self[name].initial))
            return usual
        roles = super().chosen_roles
        return {role: [name for name in names if name] for role, names in roles.items()}

    @property
    def chosen_settings(self) -> dict[str, Any]:
        return super().chosen_settings if self.is_bound else {}

    def clean_seed(self) -> int:
        return self.cleaned_data["seed"] or 0

    @property
    def constraint_fields(self) -> list[forms.BoundField]:
        """Return the chosen constraint judges, if the settings ask for them."""
        return [f for f in self.role_fields if not f.name.startswith("role_rubric_judge")]

    @property
    def rubric_fields(self) -> list[forms.BoundField]:
        return [f for f in self.role_fields if f.name.startswith("role_rubric_judge")]


class TryJudgeForm(request_form(JudgingRequest, ("seed",))):  # type: ignore[misc]
    """One turn of a trajectory, one judge, and the settings."""

    use_required_attribute = False

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        rejudging: Rejudging,
        turns: Sequence[int],
        seen: Visibility = EVERYTHING,
    ) -> None:
        super().__init__(data)
        endpoints = list(seen.of(Endpoint.objects.filter(retired=False)))
        self.fields["turn"] = forms.TypedChoiceField(
            label="Turn",
            coerce=int,
            initial=turns[-1] if turns else None,
            choices=[(index, index) for index in turns],
        )
        self.fields["judge"] = forms.ChoiceField(
            label="Judge",
            choices=[
                (
                    f"{role.title}: {group.lower()}",
                    [(f"{role.name}/{name}", t) for name, t in pairs],
                )
                for role in rejudging.roles
                for group, pairs in answerer_choices(rejudging, role, endpoints, people=False)
            ],
        )
        self.setting_names = []
        for setting in rejudging.settings:
            if setting.name in _TRIED:
                self.fields[f"set_{setting.name}"] = SettingField(
                    setting, find_system(rejudging.key).labels.choices.get(setting.name, {})
                )
                self.setting_names.append(f"set_{setting.name}")

    @property
    def chosen(self) -> dict[str, Any]:
        """Return the arguments of ``try_judge``."""
        role, _, judge = self.cleaned_data["judge"].partition("/")
        return {
            "index": self.cleaned_data["turn"],
            "role": role,
            "judge": judge,
            "settings": {
                name.removeprefix("set_"): self.cleaned_data[name] for name in self.setting_names
            },
            "seed": self.cleaned_data["seed"] or 0,
        }
