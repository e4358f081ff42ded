"""Failure labels, notes and comments on trajectories, as they stand now."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, QuerySet

from annotation.models import FailureLabel, LabelRemoval, RemarkText, TrajectoryLabel


@dataclass(frozen=True)
class PutLabel:
    """A label that is on a trajectory, or on one of its turns, and who put it there when."""

    pk: int
    trajectory: int
    turn: int | None
    key: str
    title: str
    definition: str
    retired: bool
    by: str
    by_id: int
    at: datetime


def standing_labels() -> QuerySet[TrajectoryLabel]:
    """The labels that are on now: put and not taken off."""
    return TrajectoryLabel.objects.filter(removal=None)


def labels_of(trajectory_ids: Iterable[int]) -> dict[int, list[PutLabel]]:
    """The labels on some trajectories, by trajectory, in the order of putting; one query.

    Trajectories without a label are no keys. Nothing is hidden here: the caller asks only for
    trajectories that the reader may see.
    """
    found: dict[int, list[PutLabel]] = defaultdict(list)
    rows = standing_labels().filter(trajectory__in=trajectory_ids).order_by("pk")
    for row in rows.select_related("label", "by"):
        found[row.trajectory_id].append(
            PutLabel(
                row.pk,
                row.trajectory_id,
                row.turn,
                row.label.key,
                row.label.title,
                row.label.definition,
                row.label.retired,
                row.by.get_username(),
                row.by_id,
                row.at,
            )  # fmt: skip
        )
    return dict(found)


def remarks_version(runs: Iterable[int]) -> Mapping[int, str]:
    """A word for each run that changes when a label or a note on one of its trajectories does.

    For what is kept beside a run to tell whether it is stale; three queries over indexes.
    """
    runs = list(runs)
    latest: dict[int, list[int]] = {run: [0, 0, 0] for run in runs}
    for place, (rows, run) in enumerate(
        (
            (TrajectoryLabel.objects.all(), "trajectory__run"),
            (LabelRemoval.objects.all(), "put__trajectory__run"),
            (RemarkText.objects.all(), "remark__trajectory__run"),
        )
    ):
        newest = rows.filter(**{f"{run}__in": runs}).order_by().values(run).annotate(last=Max("pk"))
        for pk, last in newest.values_list(run, "last"):
            latest[pk][place] = last
    return {run: "-".join(map(str, places)) for run, places in latest.items()}


def failure_labels(*, retired: bool = False) -> QuerySet[FailureLabel]:
    """The labels that are offered, in their order; ``retired`` adds those that no longer are."""
    return FailureLabel.objects.all() if retired else FailureLabel.objects.filter(retired=False)
