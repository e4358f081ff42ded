"""Construct datasets: start construction runs, and turn their results into tasks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks.construction.candidates import save_candidates
from benchmarks.construction.selectors import (
    ConstructionCounts,
    count_constructed,
    made_trajectories,
    proposed_replies,
)
from benchmarks.core.candidates import LONGEST_NAME, CandidateRow
from benchmarks.core.digests import digest
from benchmarks.core.errors import CoreError, UnknownName
from benchmarks.core.ports.making import ConstructedTask, Making
from benchmarks.core.registry import find_system, get_system
from benchmarks.core.system import System
from benchmarks.datasets.files import import_dataset
from benchmarks.datasets.services import SavedDataset, save_dataset
from benchmarks.datasets.uploads import PROBLEM_SYSTEM
from benchmarks.mappers import core_outcome, core_task
from benchmarks.models import Agent, Dataset, Run
from benchmarks.roles.selectors import describe_role
from benchmarks.roles.services import AT, HUMAN, PERSON, ensure_scripted_agents
from benchmarks.runs.services import start_runs


class ConstructionError(CoreError):
    """Raised if a construction cannot be started, or has no results yet."""


def import_problems(
    *, path: Path, results: Path | None = None, name: str, licence: str = ""
) -> SavedDataset:
    """Store problems to construct from; the same content a second time adds nothing."""
    paths = [path] if results is None else [path, results]
    return import_dataset(system=PROBLEM_SYSTEM, paths=paths, name=name, licence=licence).saved


def start_construction(
    *,
    dataset: Dataset,
    planners: Sequence[str] = (),
    roles: Mapping[str, Sequence[str]] | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    tasks: Sequence[str] = (),
    name: str = "",
    cost_cap: float | None = None,
    created_by: User | None = None,
    wake: bool = True,
) -> Run:
    """Create a run that constructs profiles for the problems of a dataset.

    ``planners`` are names as ``assign_by_name`` takes them: the first is the run's agent and the
    others stand beside it; with fewer than are asked for they take turns. If empty, the system's
    own planners are used.
    """
    making = find_system(dataset.system).making
    if making is None:
        raise ConstructionError(f"{dataset} holds no problems that profiles are constructed from")
    ensure_scripted_agents()
    system = get_system(dataset.system)
    first, *beside = cast_planners(system, making, planners)
    (run,) = start_runs(
        dataset=dataset,
        agents=[planning_agent(first)],
        settings=settings,
        roles={**(roles or {}), making.proposing[1]: beside},
        seed=seed,
        tasks=tasks,
        name=name or f"Construction from {dataset}",
        cost_cap=cost_cap,
        created_by=created_by,
        wake=wake,
    )
    return run


def cast_planners(system: System, making: Making, names: Sequence[str]) -> list[str]:
    """Return who plans, one name for each planner, as each one's role calls them.

    All are on an equal footing, but the first has a role of its own: a script that stands in for a
    planner has a twin of the same title there.
    """
    usual = [role for role in system.roles if role.name in making.proposing]
    wanted = list(names) or [name for role in usual for name in role.default]
    first, others = making.proposing
    most = sum(role.seats for role in usual)
    seats = [first, *[others] * (most - 1)]
    return [_same_script(system, role, wanted[n % len(wanted)]) for n, role in enumerate(seats)]


def _same_script(system: System, role: str, name: str) -> str:
    """Return the script of a role that does what the named one does in another role."""
    policy = system.scripted.get(name)
    if policy is None or policy.role == role:
        return name
    scripts = [
        p.name for p in system.scripted.values() if (p.role, p.title) == (role, policy.title)
    ]
    return scripts[0] if scripts else name


def planning_agent(name: str) -> Agent:
    """Return the agent that a name stands for (see ``assign_by_name``)."""
    if name.startswith(AT):
        agent = Agent.objects.filter(endpoint__name=name.removeprefix(AT)).order_by("pk").first()
    else:
        agent = Agent.objects.filter(name=PERSON if name == HUMAN else name).first()
    if agent is None:
        raise UnknownName("planner", name, sorted(Agent.objects.values_list("name", flat=True)))
    return agent


class MadeDataset(NamedTuple):
    """The dataset that a construction came to, and what became of its problems."""

    saved: SavedDataset
    counts: ConstructionCounts


def make_dataset(*, run: Run, name: str, version: str = "", licence: str = "") -> MadeDataset:
    """Return the tasks that a construction has come to so far, as a dataset of their own.

    The same results a second time add nothing; other results under the same name are another
    version. All of it is stored or nothing.
    """
    making = find_system(run.dataset.system).making
    if making is None:
        raise ConstructionError(f"{run} constructs nothing, so no dataset can be made of it")
    counts = count_constructed(run, making)
    made = constructed_tasks(run, making)
    if not made:
        raise ConstructionError(
            f"{run} has constructed no task yet: of {counts.problems} problems the filter left out "
            f"{counts.left_out}, and {counts.missing} are not finished or failed"
        )
    with transaction.atomic():
        saved = save_dataset(
            system=making.system,
            name=name,
            version=version,
            source=f"Constructed in run {run.pk} from {run.dataset}"[:400],
            licence=licence or run.dataset.licence,
            checksum=digest([each.content for each in made]),
            tasks=((each.task, each.profiles) for each in made),
            roles=making.fitting_roles(made),
            is_demo=run.is_demo,
            notes=_notes(run, counts) + lacking_candidates(made, making.system),
        )
        if saved.created:
            saved.dataset.made_by = run
            saved.dataset.save(update_fields=["made_by"])
        rows = (CandidateRow(each.task.id, c) for each in made for c in each.candidates)
        save_candidates(dataset=saved.dataset, rows=rows)
    return MadeDataset(saved, counts)


def constructed_tasks(run: Run, making: Making) -> list[ConstructedTask]:
    """Return what the construction made of each problem that it has finished."""
    rows = list(made_trajectories(run, making).select_related("task__dataset"))
    replies = proposed_replies(rows, making.proposing)
    checker = describe_role(run, making.checker)[:LONGEST_NAME]
    return [
        making.made_task(core_task(row.task, None), core_outcome(row), replies[row.pk], checker)
        for row in rows
    ]


def _notes(run: Run, counts: ConstructionCounts) -> str:
    left = [f"{counts.left_out} left out by the filter"] * bool(counts.left_out)
    left += [f"{counts.missing} not constructed when it was made"] * bool(counts.missing)
    more = f"; {', '.join(left)}" if left else ""
    return f"{counts.made} of {counts.problems} problems{more}. Seed {run.seed}."


def lacking_candidates(made: Sequence[ConstructedTask], system: str) -> str:
    """Return a sentence on how many candidates a task lacks to the profiles of the paper, where
    levels differ by less than half of what they do there; else nothing.
    """
    published = find_system(system).paper.profile_sizes
    sizes: dict[tuple[str, str], list[int]] = {key: [] for key in published}
    for each in made:
        for profile in each.profiles:
            for (level, kind), known in sizes.items():
                if level == profile.level:
                    known.append(len(profile.of_kind(kind)))
    means = {key: fmean(known) for key, known in sizes.items() if known}
    levels = list(dict.fromkeys(level for level, _ in means))
    kinds = list(dict.fromkeys(kind for _, kind in means))

    def growth(of: Mapping[tuple[str, str], float], kind: str) -> float:
        return of[levels[-1], kind] - of[levels[0], kind]

    if not levels or all(growth(means, k) >= growth(published, k) / 2 for k in kinds):
        return ""
    lacks = ", ".join(
        f"{level} "
        + " and ".join(f"{max(0.0, published[level, k] - means[level, k]):.1f} {k}" for k in kinds)
        for level in levels
    )
    return (
        f" Levels {levels[0]} to {levels[-1]} differ by less than half of what they do in the "
        f"paper: the problems and their answers lacked candidates, on average per task {lacks}."
    )
