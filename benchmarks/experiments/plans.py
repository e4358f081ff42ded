"""The plan of a design: its runs with their size and likely cost, and which of them exist already.

Planning creates nothing, and counts nothing trajectory by trajectory.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from django.db.models import Count, Q

from benchmarks.core.digests import digest
from benchmarks.experiments.checks import CheckedDesign
from benchmarks.experiments.variants import (
    changes_of,
    find_variant,
    own_temperature,
)
from benchmarks.models import Agent, Endpoint, Run, Trajectory
from benchmarks.models.role_assignments import Roles
from benchmarks.roles.services import assign_agent, assign_roles
from benchmarks.runs.estimates import EstimatedAmount, Part, calls_estimate, cost_estimate
from benchmarks.runs.estimates import known_costs as costs_known
from benchmarks.runs.services import condition_name
from benchmarks.runs.versions import current_pins
from benchmarks.visibility import EVERYTHING, Visibility

# The identity of a run within its experiment: agent, level, settings, seed.
Key = tuple[int | None, str, str, int]


@dataclass(frozen=True)
class ExperimentCell:
    """One run of the matrix. ``agent`` is the design's, ``player`` the agent that runs: a variant
    with ``changes`` to the parameters if a ``temperature`` or others are asked for, None while that
    variant does not exist.
    """

    agent: Agent
    temperature: float | None
    changes: Mapping[str, float]
    player: Agent | None
    level: str
    settings: Mapping[str, Any]
    condition: str
    seed: int
    size: int
    parts: tuple[Part, ...]

    @property
    def key(self) -> Key | None:
        """Return the run's key; None while its player does not exist."""
        if self.player is None:
            return None
        return run_key(self.player.pk, self.level, self.settings, self.seed)


def run_key(agent: int, level: str, settings: Mapping[str, Any], seed: int) -> Key:
    """Return the identity of a run within its experiment."""
    return agent, level, digest(dict(settings)), seed


@dataclass(frozen=True)
class ExperimentPlan:
    """The runs of a design, each once; ``there`` has those that exist, by the cell's index.

    ``duplicates`` counts the cells of the matrix that equal another one.
    """

    checked: CheckedDesign
    cells: tuple[ExperimentCell, ...]
    duplicates: int
    there: Mapping[int, int]

    @property
    def missing(self) -> list[ExperimentCell]:
        return [cell for place, cell in enumerate(self.cells) if place not in self.there]

    @property
    def trajectories(self) -> int:
        return sum(cell.size for cell in self.cells)

    @property
    def new_trajectories(self) -> int:
        return sum(cell.size for cell in self.missing)

    @property
    def paid(self) -> bool:
        return any(cell.parts for cell in self.cells)

    def calls(self, cells: Sequence[ExperimentCell]) -> int | None:
        """Estimate the calls of these cells; None if too few trajectories of a level have ended."""
        total = 0.0
        for level in dict.fromkeys(cell.level for cell in cells):
            if (known := self._calls.get(level)) is None:
                return None
            total += known[0] * sum(cell.size for cell in cells if cell.level == level)
        return round(total)

    @cached_property
    def _calls(self) -> dict[str, tuple[float, int] | None]:
        return {level: calls_estimate(self.checked.dataset, level) for level in self.checked.levels}

    def cost(self, cells: Sequence[ExperimentCell]) -> EstimatedAmount | None:
        """Estimate the cost of these cells; a variant is assumed to cost as much as its agent."""
        parts: dict[str, list[Sequence[Part]]] = {level: [] for level in self.checked.levels}
        for cell in cells:
            parts[cell.level].append(cell.parts)
        names = {name for cell in cells for _, name in cell.parts}
        asked = list(Endpoint.objects.filter(name__in=names))
        return cost_estimate(self.checked.dataset, asked, parts, self.checked.sizes)


def plan_design(checked: CheckedDesign, seen: Visibility = EVERYTHING) -> ExperimentPlan:
    """Expand the matrix, drop duplicates, and look for runs that exist already."""
    others = [_other_roles(checked, settings) for settings in checked.conditions]
    cells = list(_cells(checked, others))
    once = {_identity(cell): cell for cell in reversed(cells)}
    kept = tuple(reversed(once.values()))
    design = checked.design
    asked = len(design.agents) * max(1, len(design.levels)) * len(design.conditions)
    asked *= len(design.temperatures) * len(design.seeds)
    return ExperimentPlan(checked, kept, asked - len(kept), _runs_there(checked, kept, seen))


def _identity(cell: ExperimentCell) -> tuple[Any, ...]:
    who = cell.player.name if cell.player is not None else (cell.agent.name, cell.temperature)
    return who, cell.level, digest(dict(cell.settings)), cell.seed


def _other_roles(checked: CheckedDesign, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the assignments of the other roles, which are the same for all agents."""
    return assign_roles(
        checked.system, checked.dataset, checked.agents[0], settings, checked.design.roles
    )


def _cells(checked: CheckedDesign, others: Sequence[Roles]) -> Iterator[ExperimentCell]:
    """Yield all cells by condition, level and agent, with their seeds in sequence."""
    changes = {
        (agent.pk, temperature): changes_of(
            checked.system,
            agent,
            temperature,
            cast("Mapping[str, float]", checked.design.endpoint_parameters),
        )
        for agent in checked.agents
        for temperature in checked.design.temperatures
    }
    players = {
        (agent.pk, temperature): find_variant(agent, change) if change else agent
        for agent in checked.agents
        for temperature in checked.design.temperatures
        for change in (changes[agent.pk, temperature],)
    }
    for settings, roles in zip(checked.conditions, others, strict=True):
        condition = condition_name(checked.system, settings, roles)
        beside = [
            (role, assignment["endpoint"])
            for role, assignments in roles.items()
            for assignment in assignments
            if role != "agent" and "endpoint" in assignment
        ]
        for level in checked.levels:
            for agent in checked.agents:
                own = [("agent", agent.endpoint.name)] if agent.endpoint else []
                for temperature in checked.design.temperatures:
                    for seed in checked.design.seeds:
                        yield ExperimentCell(
                            agent,
                            _differing(checked, agent, temperature),
                            changes[agent.pk, temperature],
                            players[agent.pk, temperature],
                            level,
                            settings,
                            condition,
                            seed,
                            checked.sizes[level],
                            (*own, *beside),
                        )


def _differing(checked: CheckedDesign, agent: Agent, temperature: float | None) -> float | None:
    """Return the temperature, or None if the agent has it already."""
    return None if temperature == own_temperature(checked.system, agent) else temperature


def cost_weights(plan: ExperimentPlan, cells: Sequence[ExperimentCell]) -> list[float]:
    """Return the weights for dividing a cap: the likely cost of each run if all are known, else its
    trajectories times the seats of endpoints; 0 for free runs.
    """
    names = sorted({name for cell in cells for _, name in cell.parts})
    known = costs_known(plan.checked.dataset, names) if names else {}
    complete = all((cell.level, *part) in known for cell in cells for part in cell.parts)
    if not complete:
        return [float(cell.size * len(cell.parts)) for cell in cells]
    return [cell.size * sum(known[cell.level, *part][0] for part in cell.parts) for cell in cells]


# --- Existing runs --------------------------------------------------------------------------------


def _runs_there(
    checked: CheckedDesign, cells: Sequence[ExperimentCell], seen: Visibility
) -> dict[int, int]:
    """Return, by cell index, the newest run that equals the cell in everything that matters."""
    players = {cell.player.pk: cell.player for cell in cells if cell.player is not None}
    rows = seen.of(
        Run.objects.filter(
            kind=Run.Kind.MADE,
            dataset=checked.dataset,
            agent__in=players,
            level__in=checked.levels,
            seed__in=set(checked.design.seeds),
        )
    ).exclude(status=Run.Status.CANCELLED)
    pins = current_pins(checked.system)
    fillings: dict[Key, list[tuple[int, str]]] = {}
    for pk, agent, level, settings, seed, roles, pinned in (
        rows.order_by("-pk")
        .values_list("pk", "agent", "level", "settings", "seed", "roles", "pins")
        .iterator()
    ):
        if pinned == pins:
            key = run_key(agent, level, settings, seed)
            fillings.setdefault(key, []).append((pk, _who(roles)))
    wanted = {digest(dict(s)): _other_roles(checked, s) for s in checked.conditions}
    candidates: dict[int, list[int]] = {}
    for place, cell in enumerate(cells):
        if cell.player is None or cell.key not in fillings:
            continue
        roles = {**wanted[digest(dict(cell.settings))]}
        roles["agent"] = [assign_agent(checked.system, cell.player)]
        who = _who(roles)
        candidates[place] = [pk for pk, filled in fillings[cell.key] if filled == who]
    whole = _complete(checked, [pk for pks in candidates.values() for pk in pks])
    chosen = {
        place: next((pk for pk in pks if whole.get(pk) == cells[place].size), None)
        for place, pks in candidates.items()
    }
    return {place: pk for place, pk in chosen.items() if pk is not None}


def _who(roles: Roles) -> str:
    """Return the assignments without titles and labels, which may change."""
    names = ("kind", "policy", "version", "endpoint", "parameters", "suggests")
    return digest(
        {role: [[row.get(name) for name in names] for row in rows] for role, rows in roles.items()}
    )


def _complete(checked: CheckedDesign, runs: Sequence[int]) -> dict[int, int]:
    """Count the tasks of each run, for runs that have no other tasks."""
    inside = Q(task__external_id__in=checked.tasks) if checked.tasks else Q()
    rows = (
        Trajectory.objects.filter(run__in=runs, attempt=1)
        .order_by()
        .values_list("run")
        .annotate(all=Count("pk"), wanted=Count("pk", filter=inside) if inside else Count("pk"))
    )
    return {run: wanted for run, every, wanted in rows if every == wanted}
