"""Check a design against the database: dataset, agents, levels, settings, roles and tasks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any

from benchmarks.core.errors import CoreError, SettingError, UnknownName
from benchmarks.core.problems import FileRefused, Problem, Problems, Unquoted
from benchmarks.core.registry import system_of
from benchmarks.core.system import System, read_settings
from benchmarks.core.yaml_files import Path, place_of, read_yaml
from benchmarks.datasets.selectors import dataset_levels, find_dataset
from benchmarks.endpoints.services import check_cap, currency_of
from benchmarks.experiments.design import Design, design_of
from benchmarks.experiments.variants import takes_temperature
from benchmarks.mappers import shared_content
from benchmarks.models import Agent, Dataset, Endpoint
from benchmarks.roles.judge_fit import misfit_words, unfit_judges, unrecorded
from benchmarks.roles.selectors import agents_for
from benchmarks.roles.services import AT, assign_by_name, assign_roles, ensure_scripted_agents
from benchmarks.runs.selectors import run_size
from benchmarks.visibility import EVERYTHING, Visibility

MOST_RUNS = 2_000
_NAMED = 12


@dataclass(frozen=True)
class CheckedDesign:
    """A design whose names have all been found.

    ``levels`` is never empty ("" where tasks have no profiles); ``conditions`` are complete
    settings, each once; ``tasks`` are ids, empty for all; ``sizes`` says how many trajectories a
    run at a level has.
    """

    design: Design
    dataset: Dataset
    system: System
    agents: tuple[Agent, ...]
    levels: tuple[str, ...]
    conditions: tuple[dict[str, Any], ...]
    tasks: tuple[str, ...]
    sizes: Mapping[str, int]


def read_checked(text: str, seen: Visibility = EVERYTHING) -> CheckedDesign:
    """Read and check the design of a YAML text; `FileRefused` names the line of each fault."""
    document = read_yaml(text)
    checked = check_design(
        design_of(document.value, document.lines), lines=document.lines, seen=seen
    )
    _refuse_unfit(checked, document.lines)
    return checked


def _refuse_unfit(checked: CheckedDesign, lines: Mapping[Path, int]) -> None:
    """Refuse a new design whose judges cannot read what its agents write."""
    design = checked.design
    if design.accept_undefined:
        return
    misfits = {
        misfit.policy.name: misfit
        for settings in checked.conditions
        for misfit in unfit_judges(
            dataset=checked.dataset,
            agents=checked.agents,
            levels=[level for level in checked.levels if level],
            settings=settings,
            roles=design.roles,
        )
    }
    if misfits:
        field = "roles" if design.roles else "agents"
        expected = "judges that can read what the agents write, or accept_undefined: true"
        why = " ".join(misfit_words(list(misfits.values())))
        raise FileRefused([Problem(place_of((field,), lines), expected, why)])


def check_design(
    design: Design, *, lines: Mapping[Path, int] | None = None, seen: Visibility = EVERYTHING
) -> CheckedDesign:
    """Check a design and refuse it with all its faults; only missing scripted agents are created.

    For a blinded annotator, hidden rows count as missing.
    """
    ensure_scripted_agents()
    return _DesignChecker(design, lines or {}, seen).check()


class _DesignChecker:
    """Check a design field by field and collect its faults."""

    def __init__(self, design: Design, lines: Mapping[Path, int], seen: Visibility) -> None:
        self.design, self.lines, self.seen, self.problems = design, lines, seen, Problems()

    def check(self) -> CheckedDesign:
        design = self.design
        dataset = self.dataset()
        system = system_of(dataset.system)
        if system is None:
            self.fault(("dataset",), "a dataset that can be run here", Unquoted("an imported one"))
            self.problems.check()
        assert system is not None
        agents = self.agents(system)
        levels = self.levels(dataset)
        conditions = self.conditions(system, dataset)
        self.roles(system)
        tasks = self.tasks(dataset)
        sizes = {level: run_size(dataset, [level] * bool(level), tasks) for level in levels}
        for level, size in sizes.items():
            if size < (len(tasks) or 1):
                where = f"a profile at level {level}" if level else "a place in the dataset"
                self.fault(("tasks",), f"tasks that all have {where}", Unquoted(f"{size} such"))
        self.problems.check()
        self.money(system, dataset, agents, conditions)
        runs = len(agents) * len(levels) * len(conditions)
        runs *= len(set(design.temperatures)) * len(set(design.seeds))
        if runs > MOST_RUNS:
            self.fault((), f"at most {MOST_RUNS:,} runs", Unquoted(f"{runs:,}"))
        self.problems.check()
        return CheckedDesign(design, dataset, system, agents, levels, conditions, tasks, sizes)

    def fault(self, path: Path, expected: str, found: Any) -> None:
        where = place_of(path, self.lines) if path else "the whole"
        self.problems.add(where, expected, found)

    def dataset(self) -> Dataset:
        name = self.design.dataset
        try:
            dataset = find_dataset(name)
        except CoreError:
            dataset = None
        if dataset is None or not self.seen.of(Dataset.objects.filter(pk=dataset.pk)).exists():
            known = [f"{d.name}@{d.version}" for d in self.seen.of(Dataset.objects.all())]
            expected = f"a dataset among {_listed(known, name)}"
            place = place_of(("dataset",), self.lines)
            raise FileRefused([Problem(place, expected, repr(name))])
        return dataset

    def agents(self, system: System) -> tuple[Agent, ...]:
        known = {agent.name: agent for agent in agents_for(system.key, self.seen)}
        warm = any(one is not None for one in self.design.temperatures)
        agents = []
        for place, name in enumerate(self.design.agents):
            agent = known.get(name)
            if agent is None:
                self.fault(("agents", place), f"an agent among {_listed(known, name)}", name)
            elif warm and not takes_temperature(system, agent):
                able = [one.name for one in known.values() if takes_temperature(system, one)]
                self.fault(
                    ("agents", place),
                    "an agent that takes a temperature "
                    f"({_listed(able)}), or no temperatures but null",
                    name,
                )
            else:
                agents.append(agent)
        self.recordings(system, agents)
        return tuple(dict.fromkeys(agents))

    def recordings(self, system: System, agents: Sequence[Agent]) -> None:
        dataset = self.dataset()
        for agent in unrecorded(system, dataset, agents):
            place = self.design.agents.index(agent.name)
            expected = f"an agent that can play {dataset}, which holds no recorded answers of it"
            self.fault(("agents", place), expected, agent.name)

    def levels(self, dataset: Dataset) -> tuple[str, ...]:
        known = dataset_levels(dataset)
        for place, level in enumerate(self.design.levels):
            if level not in known:
                self.fault(("levels", place), f"a level among {_listed(known, level)}", level)
        wanted = dict.fromkeys(level for level in self.design.levels if level in known)
        return tuple(wanted) or tuple(known[:1]) or ("",)

    def conditions(self, system: System, dataset: Dataset) -> tuple[dict[str, Any], ...]:
        conditions: list[dict[str, Any]] = []
        for place, condition in enumerate(self.design.conditions):
            for name, value in condition.items():
                path: Path = ("conditions", place, name)
                self.attempt(path, value, partial(_read_setting, system, name, value))
            if all(name in _names(system) for name in condition):
                try:
                    complete = read_settings(system.settings, condition)
                except SettingError:
                    continue  # named above
                check = partial(system.check_settings, complete, shared_content(dataset))
                self.attempt(("conditions", place), condition, check)
                if complete not in conditions:
                    conditions.append(complete)
        return tuple(conditions)

    def roles(self, system: System) -> None:
        known = [role.name for role in system.roles[1:]]
        for role, names in self.design.roles.items():
            if role not in known:
                self.fault(("roles", role), f"a role among {_listed(known, role)}", role)
                continue
            for place, name in enumerate(names):
                path: Path = ("roles", role, place)
                if name.startswith(AT) and not self.endpoint(name.removeprefix(AT)):
                    rows = self.seen.of(Endpoint.objects.filter(retired=False))
                    endpoints = [AT + one for one in rows.values_list("name", flat=True)]
                    self.fault(path, f"an endpoint among {_listed(endpoints, name)}", name)
                else:
                    self.attempt(path, name, partial(assign_by_name, system, role, name))

    def endpoint(self, name: str) -> bool:
        return self.seen.of(Endpoint.objects.filter(name=name, retired=False)).exists()

    def tasks(self, dataset: Dataset) -> tuple[str, ...]:
        wanted = self.design.tasks
        if wanted is None:
            return ()
        rows = dataset.tasks.order_by("pk")
        if isinstance(wanted, int):
            first = tuple(rows.values_list("external_id", flat=True)[:wanted])
            if len(first) < wanted:
                self.fault(("tasks",), f"at most {len(first)}, which is all", wanted)
            return first
        known = set(rows.filter(external_id__in=wanted).values_list("external_id", flat=True))
        for place, name in enumerate(wanted):
            if name not in known:
                self.fault(("tasks", place), f"the id of a task of {dataset}", name)
        return tuple(name for name in wanted if name in known)

    def money(
        self,
        system: System,
        dataset: Dataset,
        agents: Sequence[Agent],
        conditions: Sequence[Mapping[str, Any]],
    ) -> None:
        """Check each run: one currency, an enforceable cap, an answerer in every role."""
        for place, settings in enumerate(conditions):
            path: Path = ("conditions", place)
            try:
                roles = assign_roles(system, dataset, agents[0], settings, self.design.roles)
            except CoreError as error:
                self.fault(path, "somebody in every role", Unquoted(str(error)))
                continue
            names = {row["endpoint"] for rows in list(roles.values())[1:] for row in rows
                     if "endpoint" in row}  # fmt: skip
            others = list(Endpoint.objects.filter(name__in=names))
            for agent in agents:
                asked = [*others, agent.endpoint] if agent.endpoint else others
                cap = self.design.cost_cap
                self.attempt(("cost_cap",), cap, partial(check_cap, cap, asked))
                self.attempt(("roles",), agent.name, partial(currency_of, asked))

    def attempt(self, path: Path, value: Any, act: Callable[[], Any]) -> None:
        """Call a function; its refusal becomes a fault, once for each field."""
        try:
            act()
        except SettingError as error:
            self.once(path, error.expected, value)
        except UnknownName as error:
            self.once(path, f"{error.kind} among {_listed(error.known, error.name)}", error.name)
        except CoreError as error:
            self.once(path, "something else", Unquoted(str(error)))

    def once(self, path: Path, expected: str, value: Any) -> None:
        where = place_of(path, self.lines)
        if not any((p.where, p.expected) == (where, expected) for p in self.problems.kept):
            self.fault(path, expected, value)


def _names(system: System) -> list[str]:
    return [setting.name for setting in system.settings]


def _read_setting(system: System, name: str, value: Any) -> None:
    read_settings(system.settings, {name: value})


def _listed(names: Iterable[str], near: str = "") -> str:
    """List names for a message, those spelt like ``near`` first."""
    rows = list(names)
    alike = get_close_matches(near, rows)
    rows = [*alike, *(name for name in rows if name not in alike)]
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return (", ".join(rows[:_NAMED]) or "none") + more
