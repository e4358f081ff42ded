"""What tasks are like, as outcomes record it."""

from collections.abc import Mapping, Sequence

from analysis.filters.selection import ChosenRun
from benchmarks.core.ports.comparisons import Grouping
from benchmarks.models import Trajectory


def group_values(
    runs: Sequence[ChosenRun], grouping: str, known: Mapping[str, Grouping]
) -> dict[int, tuple[str, ...]]:
    """The value of a grouping by trajectory that ended; one that crosses two has a part for each.

    Trajectories without a value, such as questions that are not about a distance, are left out.
    """
    keys = [
        f"payload__{known[name].key}"
        if name in known and known[name].key
        else f"payload__groups__{name}"
        for name in grouping.split("+")
    ]
    rows = Trajectory.objects.filter(
        run__in=[run.pk for run in runs], status=Trajectory.Status.DONE
    ).order_by("pk")
    found = {}
    for pk, *values in rows.values_list("pk", *keys):
        if all(value is not None for value in values):
            found[pk] = tuple(map(str, values))
    return found
