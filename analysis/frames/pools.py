"""How many recorded answers an agent could draw from."""

from collections.abc import Sequence

from analysis.filters.selection import ChosenRun
from benchmarks.mappers import core_task
from benchmarks.models import Task, Trajectory
from benchmarks.systems.adaplanbench.macgyver.pools import pool_size


def pool_sizes(runs: Sequence[ChosenRun]) -> dict[int, float]:
    """Answers per task, on average, by run; runs whose agent has no pool are absent."""
    policies = {run.pk: policy_of(run) for run in runs if run.agent_kind == "recorded"}
    if not policies:
        return {}
    tasks = {
        task.pk: core_task(task, None)
        for task in Task.objects.filter(trajectories__run__in=list(policies)).distinct()
    }
    played: dict[int, list[int]] = {pk: [] for pk in policies}
    rows = Trajectory.objects.filter(run__in=list(policies))
    for run, task in rows.values_list("run", "task").distinct():
        played[run].append(task)
    found = {}
    for run, policy in policies.items():
        sizes = [pool_size(tasks[task], policy) for task in played[run]]
        known = [size for size in sizes if size is not None]
        if known:
            found[run] = sum(known) / len(known)
    return found


def policy_of(run: ChosenRun) -> str:
    """The name of the script or pool that plays the agent."""
    fillers = run.roles.get("agent", ())
    return str(fillers[0].get("policy", "")) if fillers else ""
