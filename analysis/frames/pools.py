"""Pools of recorded answers: how many answers an agent could draw from."""

from collections.abc import Sequence

from analysis.filters.selection import ChosenRun
from benchmarks.core.registry import find_system
from benchmarks.mappers import core_task
from benchmarks.models import Task, Trajectory


def pool_sizes(runs: Sequence[ChosenRun]) -> dict[int, float]:
    """Answers per task, on average, by run; runs whose agent has no pool are absent."""
    policies = {run.pk: policy_of(run) for run in runs if run.agent_kind == "recorded"}
    if not policies:
        return {}
    rows = Task.objects.filter(trajectories__run__in=list(policies)).distinct()
    tasks = {task.pk: task for task in rows.select_related("dataset")}
    played: dict[int, list[int]] = {pk: [] for pk in policies}
    trajectories = Trajectory.objects.filter(run__in=list(policies))
    for run, task in trajectories.values_list("run", "task").distinct():
        played[run].append(task)
    found = {}
    for run, policy in policies.items():
        sizes = [_pool_size(tasks[task], policy) for task in played[run]]
        known = [size for size in sizes if size is not None]
        if known:
            found[run] = sum(known) / len(known)
    return found


def policy_of(run: ChosenRun) -> str:
    """The name of the script or pool that plays the agent."""
    fillers = run.roles.get("agent", ())
    return str(fillers[0].get("policy", "")) if fillers else ""


def _pool_size(task: Task, name: str) -> int | None:
    policy = find_system(task.dataset.system).scripted.get(name)
    if policy is None or policy.pool_size is None:
        return None
    return policy.pool_size(core_task(task, None))
