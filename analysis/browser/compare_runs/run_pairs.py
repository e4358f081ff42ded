"""Two runs side by side: in what they were made differently, and which others could be chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Value, When

from benchmarks.core.conditions import condition_title
from benchmarks.core.registry import find_system, system_of
from benchmarks.mappers import run_condition
from benchmarks.models import COUNTED, Run
from benchmarks.roles.selectors import AssignmentView, run_roles
from benchmarks.visibility import Visibility

MOST_CHOICES = 300
ALIKE, SAME_DATASET = "Same dataset, level and condition", "Same dataset"


@dataclass(frozen=True)
class RunDifference:
    """A setting in which two runs differ. ``warns``: it may explain a difference in results."""

    what: str
    first: str
    second: str
    warns: bool = True


def differences(first: Run, second: Run) -> list[RunDifference]:
    """Return in what two runs were made or judged differently; agents aside, which they compare.

    Settings and roles of two systems have nothing in common, so they are not listed.
    """
    alike = first.dataset.system == second.dataset.system
    settings = [
        RunDifference("Dataset", str(first.dataset), str(second.dataset)),
        RunDifference("Level", first.level or "none", second.level or "none"),
        RunDifference("Condition", run_condition(first), run_condition(second)),
        *(_settings(first, second) if alike else []),
        *(_roles(first, second) if alike else []),
        RunDifference("Judging", _judging(first), _judging(second)),
        *(
            RunDifference(f"Version of {name}", str(a), str(b))
            for name, a, b in (_both(first.versions, second.versions) if alike else [])
        ),
        RunDifference("Seed", str(first.seed), str(second.seed), warns=False),
    ]
    return [setting for setting in settings if setting.first != setting.second]


def _both(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    names = [*first, *(name for name in second if name not in first)]
    return [(name, first.get(name, "none"), second.get(name, "none")) for name in names]


def _settings(first: Run, second: Run) -> list[RunDifference]:
    return [
        RunDifference(f"Setting {name}", str(a), str(b))
        for name, a, b in _both(first.settings, second.settings)
    ]


def _roles(first: Run, second: Run) -> list[RunDifference]:
    """Return the judges and all others who took part beside the agent."""
    a, b = (
        {
            role.title: ", ".join(_assignment_text(f) for f in role.assignments)
            for role in run_roles(run)
            if role.title != _agent_title(run)
        }
        for run in (first, second)
    )
    return [RunDifference(name, one or "nobody", two or "nobody") for name, one, two in _both(a, b)]


def _agent_title(run: Run) -> str:
    system = system_of(run.dataset.system)
    return next((r.title for r in system.roles if r.name == "agent"), "") if system else "Agent"


def _assignment_text(assignment: AssignmentView) -> str:
    seats = f" × {len(assignment.seats)}" if len(assignment.seats) > 1 else ""
    version = f" {assignment.version}" if assignment.version else ""
    return f"{assignment.title}{version} ({assignment.label}){seats}"


def _judging(run: Run) -> str:
    return run.primary_judging.name if run.primary_judging else "none"


def find_runs(pks: Sequence[int], seen: Visibility) -> dict[int, Run]:
    """Return these runs with all that a comparison says of them, as far as the reader may see
    them.
    """
    rows = seen.of(Run.objects.filter(pk__in=pks))
    return {run.pk: run for run in rows.select_related("dataset", "agent", "primary_judging")}


@dataclass(frozen=True)
class RunChoice:
    """A run as a form offers it."""

    pk: int
    label: str


@dataclass(frozen=True)
class RunGroup:
    """Runs that are alike in how they can be compared with the one that is chosen."""

    title: str
    runs: tuple[RunChoice, ...]


def run_groups(seen: Visibility, beside: Run | None) -> tuple[RunGroup, ...]:
    """Return the newest runs in groups: what is most comparable with ``beside`` first.

    Runs of other datasets come last, because tasks belong to a dataset; without a run to compare
    with, groups are datasets.
    """
    rows = seen.of(Run.objects.filter(COUNTED).exclude(status=Run.Status.CANCELLED)).order_by("-pk")
    groups: dict[str, list[RunChoice]] = {}
    if beside is not None:
        groups = {ALIKE: [], SAME_DATASET: []}
        elsewhere = Case(When(dataset=beside.dataset_id, then=Value(0)), default=Value(1))
        rows = rows.exclude(pk=beside.pk).order_by(elsewhere, "-pk")
    choices = rows.values_list(
        "pk", "agent__title", "level", "condition", "status", "dataset", "dataset__name",
        "dataset__version", "dataset__system",
    )  # fmt: skip
    for pk, title, level, condition, status, dataset, name, version, system in choices[
        :MOST_CHOICES
    ]:
        words = condition_title(find_system(system), condition)
        about = [word for word in (level and f"level {level}", words) if word]
        state = "" if status == Run.Status.DONE else f", {Run.Status(status).label.lower()}"
        choice = RunChoice(pk, f"{title} · {' · '.join(about)} · run {pk}{state}")
        if beside is None:
            group = f"{name} {version}".strip()
        elif dataset != beside.dataset_id:
            group = f"No task in common: {name} {version}".strip()
        elif (level, condition) == (beside.level, beside.condition):
            group = ALIKE
        else:
            group = SAME_DATASET
        groups.setdefault(group, []).append(choice)
    return tuple(RunGroup(title, tuple(runs)) for title, runs in groups.items() if runs)
