"""Evidence of clusters names turns, so that these are not renumbered under it."""

from collections.abc import Iterable

from django.urls import reverse

from analysis.models import FailureClustering
from benchmarks.imports.turns import TurnUse, names_turns
from benchmarks.models import Trajectory


@names_turns
def clusters_of_run(run: int) -> Iterable[TurnUse]:
    """Name the clusters whose model read trajectories of a run."""
    ids = set(Trajectory.objects.filter(run=run).values_list("pk", flat=True))
    rows = FailureClustering.objects.order_by("pk").values_list("pk", "trajectories")
    for pk, trajectories in rows.iterator():
        if ids.intersection(trajectories):
            yield TurnUse(
                f"Clusters {pk} quote its turns.", reverse("analysis:clusters", args=[pk])
            )
