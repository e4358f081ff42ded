"""Starting runs: who plays, who judges, under which settings, and for how much."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from benchmarks.blinding import EVERYTHING, Visibility
from benchmarks.core.errors import CoreError, SettingError
from benchmarks.core.system import Role, Setting, System
from benchmarks.core.words import choices_of, first_settings, plain
from benchmarks.forms.lists import set_choices
from benchmarks.models import Agent, Dataset, Endpoint
from benchmarks.selectors.casting import agents_for
from benchmarks.selectors.datasets import dataset_levels
from benchmarks.selectors.endpoints import agent_title
from benchmarks.services.casting import AT, HUMAN
from benchmarks.services.endpoints import check_cap
from benchmarks.services.runs import check_cost_cap

LARGEST_SEED = 2**63 - 1


class SettingField(forms.CharField):
    """A setting of a system: drawn by its kind, read and refused by the system's own rules."""

    def __init__(self, setting: Setting, meanings: Mapping[str, str]) -> None:
        self.setting = setting
        super().__init__(
            label=plain(setting.name),
            help_text=setting.help,
            initial=_as_text(setting.default),
            required=False,
            widget=_widget(setting, meanings),
        )

    def clean(self, value: Any) -> Any:
        text = str(value or "").strip()
        if not text:
            return self.setting.default
        try:
            return self.setting.read(text)
        except SettingError as error:
            raise forms.ValidationError(f"Expected {error.expected}, found {text!r}.") from None


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _widget(setting: Setting, meanings: Mapping[str, str]) -> forms.Widget:
    if setting.kind == "bool":
        return forms.Select(choices=[("false", "Off"), ("true", "On")])
    if setting.choices:
        return forms.Select(
            choices=[
                (name, f"{name}: {meanings[name]}" if name in meanings else plain(name))
                for name in setting.choices
            ]
        )
    bounds = {"min": setting.minimum, "max": setting.maximum}
    step = "1" if setting.kind == "int" else "any"
    given = {name: f"{bound:g}" for name, bound in bounds.items() if bound is not None}
    return forms.NumberInput(attrs={**given, "step": step})


class CapField(forms.FloatField):
    """An amount that a run may cost; None for no cap."""

    def __init__(self, **given: Any) -> None:
        widget = forms.NumberInput(attrs={"min": "0", "step": "any", "inputmode": "decimal"})
        super().__init__(required=False, widget=widget, **given)

    def clean(self, value: Any) -> float | None:
        cap: float | None = super().clean(value)
        try:
            check_cost_cap(cap)
        except SettingError as error:
            raise forms.ValidationError(f"Expected {error.expected}.") from None
        return cap


class CapForm(forms.Form):
    """Another cap for a run."""

    cap = CapField(label="Cost cap")


class NewRunForm(forms.Form):
    """Runs on one dataset: agents, levels, and in folds roles, settings, seed and tasks."""

    use_required_attribute = False

    agents = forms.MultipleChoiceField(
        label="Agents",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one agent."},
    )
    levels = forms.MultipleChoiceField(
        label="Levels",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one level."},
    )
    cost_cap = CapField(label="Cost cap per run")
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=160,
        help_text="What you will find these runs by. Left empty, it is made of dataset and levels.",
    )
    seed = forms.IntegerField(
        label="Seed",
        initial=0,
        required=False,
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="The same seed gives the same answers of scripted agents and judges.",
    )
    tasks = forms.CharField(
        label="Only these tasks",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Task ids, one a line. Left empty, all tasks of the dataset are run.",
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        dataset: Dataset,
        system: System,
        seen: Visibility = EVERYTHING,
    ) -> None:
        super().__init__(data)
        self.dataset, self.system = dataset, system
        self.all_agents: list[Agent] = agents_for(system.key, seen)
        self.all_levels = dataset_levels(dataset)
        endpoints = seen.of(Endpoint.objects.filter(retired=False))
        self.endpoints = {e.name: e for e in endpoints}
        self.fields["cost_cap"].help_text = _told_of_cap(self.endpoints.values())
        set_choices(self, "agents", [(a.name, a.title) for a in self.all_agents])
        self.fields["agents"].initial = dataset.roles.get("agent", [])
        if self.all_levels:
            set_choices(self, "levels", [(level, level) for level in self.all_levels])
            self.fields["levels"].initial = self.all_levels[:1]
        else:
            del self.fields["levels"]
        self.role_names: list[str] = []
        for role in system.roles[1:]:
            for seat in range(1, role.seats + 1):
                self._add_role(role, seat)
        self.setting_names = []
        for setting in system.settings:
            self.fields[f"set_{setting.name}"] = SettingField(
                setting, choices_of(system.key, setting.name)
            )
            self.setting_names.append(f"set_{setting.name}")

    def _add_role(self, role: Role, seat: int) -> None:
        policies = [p for p in self.system.scripted.values() if p.role == role.name]
        wanted = self.dataset.roles.get(role.name) or role.default
        title = f"{role.title.removesuffix('s')} {seat}" if role.seats > 1 else role.title
        groups = [
            ("Scripts", [(p.name, f"{p.title} ({p.label})") for p in policies]),
            (
                "Language models",
                [(AT + e.name, agent_title(e)) for e in self.endpoints.values()],
            ),
            ("People", [(HUMAN, "A person")]),
        ]
        name = f"role_{role.name}_{seat}"
        self.fields[name] = forms.ChoiceField(
            label=title,
            choices=[(title, pairs) for title, pairs in groups if pairs],
            initial=wanted[(seat - 1) % len(wanted)] if wanted else None,
        )
        self.role_names.append(name)

    @property
    def agent_groups(self) -> list[tuple[str, list[forms.boundfield.BoundWidget]]]:
        """The agents on offer by kind."""
        options = list(self["agents"])
        groups: dict[str, list[forms.boundfield.BoundWidget]] = {}
        for agent, option in zip(self.all_agents, options, strict=True):
            groups.setdefault(agent.get_kind_display(), []).append(option)
        return list(groups.items())

    @property
    def role_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.role_names]

    @property
    def first_fields(self) -> list[forms.BoundField]:
        """The settings that one chooses first, in the open."""
        return [self[f"set_{name}"] for name in first_settings(self.system.key)]

    @property
    def setting_fields(self) -> list[forms.BoundField]:
        """The others, folded."""
        first = [f"set_{name}" for name in first_settings(self.system.key)]
        return [self[name] for name in self.setting_names if name not in first]

    def clean_seed(self) -> int:
        return self.cleaned_data["seed"] or 0

    def clean_tasks(self) -> list[str]:
        ids = [line.strip() for line in self.cleaned_data["tasks"].splitlines() if line.strip()]
        known = set(
            self.dataset.tasks.filter(external_id__in=ids).values_list("external_id", flat=True)
        )
        unknown = [task for task in ids if task not in known]
        if unknown:
            named = ", ".join(unknown[:5])
            raise forms.ValidationError(f"This dataset has no task {named}.")
        return ids

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        try:
            check_cap(found.get("cost_cap"), self.chosen_endpoints)
        except CoreError as error:
            text = str(error)
            self.add_error("cost_cap", f"{text[:1].upper()}{text[1:]}.")
        return found

    @property
    def chosen_endpoints(self) -> list[Endpoint]:
        """The endpoints that any of the runs would ask, each once."""
        found = {a.endpoint.name: a.endpoint for a in self.chosen_agents if a.endpoint}
        for name in self.role_names:
            if endpoint := self.endpoints.get(self.endpoint_of(self.cleaned_data.get(name, ""))):
                found[endpoint.name] = endpoint
        return sorted(found.values(), key=lambda endpoint: endpoint.title)

    def paid_parts(self) -> list[list[tuple[str, str]]]:
        """For every agent, the (role, endpoint) of each seat that an endpoint would fill."""
        seats = [
            (role, self.endpoint_of(chosen[place % len(chosen)]))
            for role, chosen in self.chosen_roles.items()
            for place, _ in enumerate(self.system.seats(role, self.chosen_settings))
        ]
        others = [(role, name) for role, name in seats if name]
        return [
            [("agent", a.endpoint.name), *others] if a.endpoint else list(others)
            for a in self.chosen_agents
        ]

    @staticmethod
    def endpoint_of(filler: str) -> str:
        """The name of the endpoint that a choice means; empty for scripts and people."""
        return filler.removeprefix(AT) if filler.startswith(AT) else ""

    @property
    def chosen_agents(self) -> list[Agent]:
        wanted = self.cleaned_data.get("agents", ())
        return [agent for agent in self.all_agents if agent.name in wanted]

    @property
    def chosen_roles(self) -> dict[str, list[str]]:
        chosen: dict[str, list[str]] = {}
        for name in self.role_names:
            role = name.removeprefix("role_").rpartition("_")[0]
            chosen.setdefault(role, []).append(self.cleaned_data[name])
        return chosen

    @property
    def chosen_settings(self) -> dict[str, Any]:
        return {name.removeprefix("set_"): self.cleaned_data[name] for name in self.setting_names}


def _told_of_cap(endpoints: Iterable[Endpoint]) -> str:
    """What a cap means, and in which currency it is given."""
    currencies = sorted({endpoint.currency for endpoint in endpoints})
    unit = currencies[0] if len(currencies) == 1 else "the currency of the endpoints that are asked"
    return (
        f"In {unit}. A call that might lift a run above it is not sent; the run is paused, and "
        "goes on when the cap is raised. It needs endpoints with both prices and a max_tokens."
    )
