"""Fields that the forms of runs and sessions share: who fills the other roles, and settings."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django import forms

from benchmarks.core.errors import CoreError, SettingError
from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import find_system
from benchmarks.core.system import Role, Setting, System
from benchmarks.endpoints.selectors import agent_title
from benchmarks.endpoints.services import CapError
from benchmarks.models import Dataset, Endpoint
from benchmarks.roles.services import AT, HUMAN
from benchmarks.visibility import EVERYTHING, Visibility


class SettingField(forms.CharField):
    """A setting of a system: drawn by its kind, read and refused by the system's own rules."""

    def __init__(self, setting: Setting, meanings: Mapping[str, str]) -> None:
        self.setting = setting
        super().__init__(
            label=setting.label,
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


def answerer_choices(
    system: System, role: Role, endpoints: Iterable[Endpoint], people: bool
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return who can fill a role, in groups: scripts, language models, and people if they may."""
    policies = [p for p in system.scripted.values() if p.role == role.name]
    groups = [
        ("Scripts", [(p.name, f"{p.title} ({p.label})") for p in policies]),
        ("Language models", [(AT + e.name, agent_title(e)) for e in endpoints]),
        ("People", [(HUMAN, "A person")] if people else []),
    ]
    return [(title, pairs) for title, pairs in groups if pairs]


class RolesForm(forms.Form):
    """The roles besides the agent with who fills them, and the settings of the protocol.

    ``people`` are roles that people fill in any case: they are not asked for.
    """

    use_required_attribute = False
    by_people = True

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        dataset: Dataset,
        system: System,
        seen: Visibility = EVERYTHING,
        people: Collection[str] = (),
    ) -> None:
        super().__init__(data)
        self.dataset, self.system = dataset, system
        endpoints = seen.of(Endpoint.objects.filter(retired=False))
        self.endpoints = {e.name: e for e in endpoints}
        self.role_names: list[str] = []
        for role in (role for role in system.roles if role.name != "agent"):
            for seat in range(1, role.seats + 1) if role.name not in people else ():
                self._add_role(role, seat)
        self.setting_names = []
        for setting in system.settings:
            self.fields[f"set_{setting.name}"] = SettingField(
                setting, find_system(system.key).labels.choices.get(setting.name, {})
            )
            self.setting_names.append(f"set_{setting.name}")

    def _add_role(self, role: Role, seat: int) -> None:
        wanted = self.dataset.roles.get(role.name) or role.default
        name = f"role_{role.name}_{seat}"
        self.fields[name] = forms.ChoiceField(
            label=f"{role.title.removesuffix('s')} {seat}" if role.seats > 1 else role.title,
            choices=answerer_choices(self.system, role, self.endpoints.values(), self.by_people),
            initial=wanted[(seat - 1) % len(wanted)] if wanted else None,
        )
        self.role_names.append(name)

    def add_refusal(self, error: CoreError) -> None:
        """Show why the choices were refused, beside the field that it is about."""
        field, text = None, str(error)
        if isinstance(error, CapError):
            field = "cost_cap"
        elif isinstance(error, SettingError):
            field, text = f"set_{error.name}", f"Expected {error.expected}."
        self.add_error(field if field in self.fields else None, text)

    @property
    def role_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.role_names]

    @property
    def first_fields(self) -> list[forms.BoundField]:
        """The settings that one chooses first, in the open."""
        return [self[f"set_{name}"] for name in find_system(self.system.key).labels.first_settings]

    @property
    def setting_fields(self) -> list[forms.BoundField]:
        """The others, folded."""
        first = [f"set_{name}" for name in find_system(self.system.key).labels.first_settings]
        return [self[name] for name in self.setting_names if name not in first]

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
