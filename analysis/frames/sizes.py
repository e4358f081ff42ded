"""Sizes: recorded answers in pools, constraints in profiles, words of plans."""

from collections.abc import Iterable, Sequence

from django.db.models import Count, Min

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import by_id, counted
from benchmarks.core.registry import find_system
from benchmarks.mappers import core_task
from benchmarks.models import Constraint, Dataset, Profile, Task, Trajectory, Turn

Sizes = dict[tuple[str, str], list[int]]


def pool_sizes(runs: Sequence[ChosenRun]) -> dict[int, float]:
    """Return the mean number of answers per task by run; runs without a pool are absent."""
    policies = {run.pk: policy_of(run) for run in runs if run.agent_kind == "recorded"}
    if not policies:
        return {}
    rows = Trajectory.objects.filter(counted(by_id(run for run in runs if run.pk in policies)))
    played: dict[int, list[int]] = {pk: [] for pk in policies}
    for run, task in rows.order_by().values_list("run", "task").distinct():
        played[run].append(task)
    wanted = Task.objects.filter(pk__in=set().union(*played.values()))
    tasks = {task.pk: task for task in wanted.select_related("dataset")}
    means = {}
    for run, policy in policies.items():
        sizes = [_pool_size(tasks[task], policy) for task in played[run]]
        known = [size for size in sizes if size is not None]
        if known:
            means[run] = sum(known) / len(known)
    return means


def policy_of(run: ChosenRun) -> str:
    """Return the name of the script or pool that plays the agent."""
    assignments = run.roles.get("agent", ())
    return str(assignments[0].get("policy", "")) if assignments else ""


def _pool_size(task: Task, name: str) -> int | None:
    policy = find_system(task.dataset.system).scripted.get(name)
    if policy is None or policy.pool_size is None:
        return None
    return policy.pool_size(core_task(task, None))


def profile_sizes(dataset: Dataset, closed_tasks: frozenset[int]) -> tuple[list[str], Sizes]:
    """Return the levels in their order, and the sizes of profiles by (level, kind).

    A profile without a constraint of a kind that others have counts as 0; profiles of tasks whose
    constraints the reader must not see do not count.
    """
    profiles = Profile.objects.filter(task__dataset=dataset).exclude(task__in=closed_tasks)
    places = profiles.values_list("level").annotate(place=Min("rank")).order_by("place", "level")
    levels = [level for level, _ in places]
    totals = dict(profiles.order_by().values_list("level").annotate(n=Count("pk")))
    rows = (
        Constraint.objects.filter(profile__task__dataset=dataset)
        .exclude(profile__task__in=closed_tasks)
        .order_by()
        .values_list("profile__level", "kind", "profile")
        .annotate(n=Count("pk"))
    )
    by_level_and_kind: Sizes = {}
    for level, kind, _, count in rows:
        by_level_and_kind.setdefault((level, kind), []).append(count)
    for (level, _), sizes in by_level_and_kind.items():
        sizes += [0] * (totals[level] - len(sizes))
    return levels, by_level_and_kind


def plan_words(trajectories: Iterable[int]) -> dict[int, int]:
    """Return the number of words of the last plan of each trajectory."""
    rows = Turn.objects.filter(trajectory__in=list(trajectories), is_final=True).order_by()
    return {pk: len(text.split()) for pk, text in rows.values_list("trajectory", "text")}
