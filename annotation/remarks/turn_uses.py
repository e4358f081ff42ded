"""What people said of turns, so that turns are not renumbered under it."""

from collections.abc import Iterable

from django.urls import reverse

from annotation.models import Item, Remark, Study, TrajectoryLabel
from benchmarks.imports.turns import TurnUse, names_turns


@names_turns
def people_on_turns(run: int) -> Iterable[TurnUse]:
    """Name the studies with items of a run, and count labels and notes on its turns."""
    items = Item.objects.filter(trajectory__run=run)
    for study in Study.objects.filter(pk__in=items.values("study")).order_by("pk"):
        yield TurnUse(
            f"The study “{study.name}” asks about its trajectories.",
            reverse("annotation:study", args=[study.pk]),
        )
    for model, words in ((TrajectoryLabel, "labels"), (Remark, "notes")):
        rows = model._default_manager.filter(trajectory__run=run, turn__isnull=False)
        if count := rows.count():
            yield TurnUse(
                f"{words.capitalize()} on its turns: {count:,}, removed ones included.",
                f"{reverse('analysis:trajectory_list')}?run={run}",
            )
