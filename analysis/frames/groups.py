"""What tasks are like, as outcomes record it."""

from collections.abc import Sequence

from analysis.filters.selection import ChosenRun
from benchmarks.models import Trajectory


def group_values(runs: Sequence[ChosenRun], grouping: str) -> dict[int, tuple[str, ...]]:
    """The value of a grouping by trajectory that ended; one that crosses two has a part for each.

    Trajectories without a value, such as questions that are not about a distance, are left out.
    """
    names = grouping.split("+")
    rows = Trajectory.objects.filter(
        run__in=[run.pk for run in runs], status=Trajectory.Status.DONE
    ).order_by("pk")
    found = {}
    for pk, groups in rows.values_list("pk", "payload__groups"):
        values = [(groups or {}).get(name) for name in names]
        if all(value is not None for value in values):
            found[pk] = tuple(map(str, values))
    return found
