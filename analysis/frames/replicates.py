"""What trajectories of runs that are replicates of each other came to, in columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analysis.frames.outcomes import MIXED, NOT_RECORDED, UNFINISHED
from benchmarks.models import Trajectory

DONE = Trajectory.Status.DONE


@dataclass
class Played:
    """Runs, tasks and metrics of trajectories that ended, and what was left out, by reason.

    ``values`` has a column for each metric, None where it is undefined; ``why`` counts the reasons.
    """

    runs: list[int] = field(default_factory=list)
    tasks: list[int] = field(default_factory=list)
    values: dict[str, list[float | None]] = field(default_factory=dict)
    why: dict[str, dict[str, int]] = field(default_factory=dict)
    open: dict[str, int] = field(default_factory=dict)


def played(groups: Mapping[int, int], metrics: Sequence[str], number: int) -> list[Played]:
    """The trajectories of runs by group; ``groups`` names for each run which of ``number``."""
    found = [
        Played(values={name: [] for name in metrics}, why={name: {} for name in metrics})
        for _ in range(number)
    ]
    rows = Trajectory.objects.filter(run__in=list(groups)).order_by("pk")
    for run, task, status, values, undefined, recast in rows.values_list(
        "run", "task", "status", "metrics", "undefined", "recast"
    ).iterator(chunk_size=2000):
        one = found[groups[run]]
        if status != DONE:
            reason = UNFINISHED[status]
            one.open[reason] = one.open.get(reason, 0) + 1
            continue
        one.runs.append(run)
        one.tasks.append(task)
        for name in metrics:
            value = None if recast else values.get(name)
            one.values[name].append(value)
            if value is None:
                why = MIXED if recast else undefined.get(name, NOT_RECORDED)
                one.why[name][why] = one.why[name].get(why, 0) + 1
    return found
