"""Forms that start runs: agents, judges, settings, seed, tasks and cost cap."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from django import forms

from benchmarks.core.errors import CoreError, SettingError
from benchmarks.core.system import System
from benchmarks.datasets.selectors import dataset_levels
from benchmarks.endpoints.services import check_cap
from benchmarks.filters import AddressForm, Choices, set_choices
from benchmarks.models import Agent, Dataset, Endpoint, Run
from benchmarks.request_fields import request_form
from benchmarks.roles.forms import RolesForm
from benchmarks.roles.judge_fit import (
    JudgeMisfit,
    fitting_names,
    partial_judges,
    unfit_judges,
    unrecorded,
)
from benchmarks.roles.selectors import agents_for
from benchmarks.roles.services import AT
from benchmarks.runs.requests import RunRequest
from benchmarks.runs.selectors import ORDERS, RunOptions
from benchmarks.runs.services import check_cost_cap
from benchmarks.visibility import EVERYTHING, Visibility

# Ids fit a column of 64 bits.
LARGEST_ID = 2**63 - 1


def _select(label: str, anything: str, choices: Choices) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[("", anything), *choices], required=False)


class RunFilter(AddressForm):
    """The filters of the list of runs."""

    dataset = _select("Dataset", "Any dataset", ())
    agent = _select("Agent", "Any agent", ())
    level = _select("Level", "Any level", ())
    status = _select("Status", "Any status", Run.Status.choices)
    condition = _select("Condition", "Any condition", ())
    kind = _select("Kind", "Any kind", Run.Kind.choices)
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


def _offer(form: forms.Form, options: RunOptions) -> None:
    set_choices(form, "dataset", options.datasets, "Any dataset")
    set_choices(form, "agent", options.agents, "Any agent")
    set_choices(form, "level", options.levels, "Any level")
    set_choices(form, "condition", options.conditions, "Any condition")


class CapField(forms.FloatField):
    """A field for the cost cap of a run; None means no cap."""

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
    """A form for a new cost cap of a run."""

    cap = CapField(label="Cost cap")


_StartFields: Any = request_form(RunRequest, ("name", "seed"))


class StartForm(_StartFields, RolesForm):  # type: ignore[misc]  # made of the request
    """The fields of every form that starts runs: roles, cost cap, seed and name."""

    cost_cap = CapField(label="Cost cap per run")
    tasks = forms.CharField(
        label="Only these tasks",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Task ids, one per line. If empty, all tasks of the dataset are run.",
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        dataset: Dataset,
        system: System,
        seen: Visibility = EVERYTHING,
    ) -> None:
        super().__init__(data, dataset=dataset, system=system, seen=seen)
        self.fields["cost_cap"].help_text = _cap_help(self.endpoints.values())

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
        values: dict[str, Any] = super().clean() or {}
        try:
            check_cap(values.get("cost_cap"), self.chosen_endpoints)
        except CoreError as error:
            text = str(error)
            self.add_error("cost_cap", f"{text[:1].upper()}{text[1:]}.")
        return values

    @property
    def chosen_endpoints(self) -> list[Endpoint]:
        """Return the endpoints that would be asked, each once."""
        names = {self.endpoint_of(self.cleaned_data.get(name, "")) for name in self.role_names}
        chosen = [endpoint for name, endpoint in self.endpoints.items() if name in names]
        return sorted(chosen, key=lambda endpoint: endpoint.title)

    def paid_seats(self) -> list[tuple[str, str]]:
        """Return (role, endpoint) for each seat that is assigned to an endpoint."""
        seats = [
            (role, self.endpoint_of(chosen[place % len(chosen)]))
            for role, chosen in self.chosen_roles.items()
            for place, _ in enumerate(self.system.seats(role, self.chosen_settings))
        ]
        return [(role, name) for role, name in seats if name]

    @staticmethod
    def endpoint_of(assignment: str) -> str:
        """Return the endpoint's name in a choice; empty for scripts and people."""
        return assignment.removeprefix(AT) if assignment.startswith(AT) else ""


class NewRunForm(StartForm):
    """Runs on one dataset: agents and levels, then roles, settings, seed and tasks in folds."""

    agents = forms.MultipleChoiceField(
        label="Agents",
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose at least one agent.",
            "invalid_choice": "Select a valid choice. %(value)s cannot play this dataset: there is "
            "no such agent, or the dataset holds no recorded answers of it.",
        },
    )
    levels = forms.MultipleChoiceField(
        label="Levels",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one level."},
    )
    accept_undefined = forms.BooleanField(
        label="Start anyway. Metrics may stay undefined.", required=False
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        dataset: Dataset,
        system: System,
        seen: Visibility = EVERYTHING,
    ) -> None:
        super().__init__(data, dataset=dataset, system=system, seen=seen)
        offered = agents_for(system.key, seen)
        self.unrecorded = unrecorded(system, dataset, offered)
        self.all_agents: list[Agent] = [one for one in offered if one not in self.unrecorded]
        self.all_levels = dataset_levels(dataset)
        set_choices(self, "agents", [(a.name, a.title) for a in self.all_agents])
        self.fields["agents"].initial = dataset.roles.get("agent", [])
        if self.all_levels:
            set_choices(self, "levels", [(level, level) for level in self.all_levels])
            self.fields["levels"].initial = self.all_levels[:1]
        else:
            del self.fields["levels"]

    def prefill(self, agent: str, first: int | None = None) -> None:
        """Choose an agent, judges that can read what it writes, and the first tasks if asked."""
        chosen = [one for one in self.all_agents if one.name == agent]
        if not chosen:
            return
        self.initial["agents"] = [agent]
        levels = self.fields["levels"].initial if "levels" in self.fields else ()
        usual: dict[str, list[str]] = {}
        for name in self.role_names:
            role = name.removeprefix("role_").rpartition("_")[0]
            usual.setdefault(role, []).append(self.fields[name].initial)
        names = fitting_names(
            self.system, self.dataset, levels, chosen, usual, list(self.endpoints)
        )
        for name in self.role_names:
            role, _, seat = name.removeprefix("role_").rpartition("_")
            if wanted := names.get(role):
                self.initial[name] = wanted[(int(seat) - 1) % len(wanted)]
        if first:
            tasks = self.dataset.tasks.order_by("pk").values_list("external_id", flat=True)[:first]
            self.initial["tasks"] = "\n".join(tasks)

    @cached_property
    def misfits(self) -> list[JudgeMisfit]:
        """Return the judges that cannot read a chosen agent; none while roles are invalid."""
        if any(name in self.errors for name in (*self.role_names, *self.setting_names)):
            return []
        return unfit_judges(
            dataset=self.dataset,
            agents=self.chosen_agents,
            levels=self.cleaned_data.get("levels", ()),
            settings=self.chosen_settings,
            roles=self.chosen_roles,
        )

    @property
    def partial(self) -> list[JudgeMisfit]:
        """Return the chosen judges that leave dimensions unscored."""
        assignments = {
            role: [{"kind": "scripted", "policy": name} for name in names]
            for role, names in self.chosen_roles.items()
            if self.system.seats(role, self.chosen_settings)
        }
        return partial_judges(self.system, assignments)

    def fitting_roles(self) -> dict[str, str]:
        """Return, by role field, judges that can read what the chosen agents write."""
        names = fitting_names(
            self.system,
            self.dataset,
            self.cleaned_data.get("levels", ()),
            self.chosen_agents,
            self.chosen_roles,
            list(self.endpoints),
        )
        fitting = {}
        for name in self.role_names:
            role, _, seat = name.removeprefix("role_").rpartition("_")
            wanted = names.get(role) or [self.cleaned_data[name]]
            fitting[name] = wanted[(int(seat) - 1) % len(wanted)]
        return fitting

    @property
    def proposed(self) -> list[tuple[str, list[str]]]:
        """Return the judges that ``fitting_roles`` newly chooses, with their roles."""
        titles = {
            value: title
            for name in self.role_names
            for _, pairs in self.fields[name].choices  # type: ignore[attr-defined]
            for value, title in pairs
        }
        fields_by_title: dict[str, list[str]] = {}
        for name, value in self.fitting_roles().items():
            if value != self.cleaned_data[name]:
                fields_by_title.setdefault(titles.get(value, value), []).append(
                    str(self.fields[name].label)
                )
        return list(fields_by_title.items())

    @property
    def agent_groups(self) -> list[tuple[str, list[forms.boundfield.BoundWidget]]]:
        """Return the agents on offer by kind."""
        options = list(self["agents"])
        groups: dict[str, list[forms.boundfield.BoundWidget]] = {}
        for agent, option in zip(self.all_agents, options, strict=True):
            groups.setdefault(agent.get_kind_display(), []).append(option)
        return list(groups.items())

    @property
    def chosen_endpoints(self) -> list[Endpoint]:
        """Return the endpoints that any of the runs would ask, each once."""
        by_name = {a.endpoint.name: a.endpoint for a in self.chosen_agents if a.endpoint}
        by_name |= {endpoint.name: endpoint for endpoint in super().chosen_endpoints}
        return sorted(by_name.values(), key=lambda endpoint: endpoint.title)

    def paid_parts(self) -> list[list[tuple[str, str]]]:
        """Return (role, endpoint) for each seat assigned to an endpoint, for every agent."""
        others = self.paid_seats()
        return [
            [("agent", a.endpoint.name), *others] if a.endpoint else list(others)
            for a in self.chosen_agents
        ]

    def asked_roles(self) -> list[tuple[str, list[str]]]:
        """Return the title of each endpoint that would be asked, with the roles that it fills."""
        seats = Counter(("agent", a.endpoint.name) for a in self.chosen_agents if a.endpoint)
        seats.update(self.paid_seats())
        titles = {role.name: role.title for role in self.system.roles}
        asked: dict[str, list[str]] = defaultdict(list)
        for (role, name), count in seats.items():
            times = f" × {count}" if count > 1 else ""
            asked[self.endpoints[name].title].append(f"{titles[role]}{times}")
        return list(asked.items())

    @property
    def chosen_agents(self) -> list[Agent]:
        wanted = self.cleaned_data.get("agents", ())
        return [agent for agent in self.all_agents if agent.name in wanted]


def _cap_help(endpoints: Iterable[Endpoint]) -> str:
    """Return the help text of a cost cap, with its currency."""
    currencies = sorted({endpoint.currency for endpoint in endpoints})
    unit = currencies[0] if len(currencies) == 1 else "the currency of the endpoints that are asked"
    return (
        f"In {unit}. A call that might lift a run above it is not sent; the run is paused, and "
        "goes on when the cap is raised. It needs endpoints with both prices and a max_tokens."
    )
