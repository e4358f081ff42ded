"""The current failure labels, notes and comments on trajectories."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Max, Q, QuerySet

from annotation.models import (
    FailureLabel,
    FailureWording,
    LabelRemoval,
    Remark,
    RemarkText,
    TrajectoryLabel,
)
from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import EXTERNAL, SYSTEMS


class PutLabel(NamedTuple):
    """A label that is on a trajectory, or on one of its turns, and who put it there when."""

    pk: int
    trajectory: int
    turn: int | None
    key: str
    title: str
    definition: str
    label_set: str
    note: str
    retired: bool
    by: str
    by_id: int
    at: datetime


def standing_labels() -> QuerySet[TrajectoryLabel]:
    """Return the labels that are on now: put and not taken off."""
    return TrajectoryLabel.objects.filter(removal=None)


def labels_version() -> tuple[Any, ...]:
    """Return a value that changes whenever a label is put, taken off or reworded."""
    put = TrajectoryLabel.objects.aggregate(last=Max("pk"), at=Max("at"))
    off = LabelRemoval.objects.aggregate(last=Max("pk"), at=Max("at"))
    worded = FailureWording.objects.aggregate(last=Max("pk"))
    return *put.values(), *off.values(), *worded.values()


def labels_of(trajectory_ids: Iterable[int]) -> dict[int, list[PutLabel]]:
    """Return the labels on some trajectories, by trajectory, in the order of putting; one query.

    Trajectories without a label are no keys. Nothing is hidden here: the caller asks only for
    trajectories that the reader may see.
    """
    labels: dict[int, list[PutLabel]] = defaultdict(list)
    rows = standing_labels().filter(trajectory__in=trajectory_ids).order_by("pk")
    for row in rows.select_related("label__label_set", "by"):
        labels[row.trajectory_id].append(
            PutLabel(
                row.pk,
                row.trajectory_id,
                row.turn,
                row.label.key,
                row.label.title,
                row.label.definition,
                row.label.label_set.title if row.label.label_set else "",
                row.note,
                row.label.retired,
                row.by.get_username(),
                row.by_id,
                row.at,
            )  # fmt: skip
        )
    return dict(labels)


def failure_labels(*, retired: bool = False) -> QuerySet[FailureLabel]:
    """Return the labels that are offered, in their order; ``retired`` adds those that no longer
    are.
    """
    return FailureLabel.objects.all() if retired else FailureLabel.objects.filter(retired=False)


@dataclass(frozen=True)
class Note:
    """A note as it reads now. ``edited`` is when it was last changed, none where it never was.

    ``start`` and ``end`` are none where the whole turn or trajectory is meant, and where the words
    of ``quote`` stand in a message that is neither plan nor feedback.
    """

    pk: int
    turn: int | None
    where: str
    quote: str
    start: int | None
    end: int | None
    text: str
    by: str
    by_id: int
    at: datetime
    edited: datetime | None
    deleted: bool
    changed_by: str
    versions: int


def notes_of(trajectory: int) -> list[Note]:
    """Return the notes on a trajectory by turn, those on the whole first; deleted ones are
    tombstones.

    Two queries, whatever the number of notes.
    """
    texts: dict[int, list[RemarkText]] = defaultdict(list)
    stored = RemarkText.objects.filter(remark__trajectory=trajectory).order_by("pk")
    for row in stored.select_related("by"):
        texts[row.remark_id].append(row)
    rows = Remark.objects.filter(trajectory=trajectory).select_related("by").order_by("pk")
    notes = [_note(row, texts[row.pk]) for row in rows]
    return sorted(notes, key=lambda note: (note.turn or 0, note.start or 0, note.pk))


def _note(row: Remark, texts: Sequence[RemarkText]) -> Note:
    now = texts[-1]
    return Note(
        pk=row.pk, turn=row.turn, where=row.where, quote=row.quote, start=row.start, end=row.end,
        text=now.text, by=row.by.get_username(), by_id=row.by_id, at=row.at,
        edited=now.at if len(texts) > 1 else None, deleted=now.deleted,
        changed_by=now.by.get_username(), versions=len(texts),
    )  # fmt: skip


class LabelGroup(NamedTuple):
    """Labels of one source, for a menu."""

    title: str
    labels: Sequence[FailureLabel]


def labels_for(system: str) -> QuerySet[FailureLabel]:
    """Return the labels that trajectories of a system can have: its own and the general ones.

    Imported trajectories may come from any benchmark, so all labels are open to them.
    """
    labels = failure_labels()
    return labels if system == EXTERNAL else labels.filter(system__in=("", system))


def label_menu(system: str) -> list[LabelGroup]:
    """Return the labels that trajectories of a system can have, its own before general ones."""
    groups: dict[str, list[FailureLabel]] = defaultdict(list)
    sets: dict[str, list[FailureLabel]] = defaultdict(list)
    labels = list(labels_for(system).select_related("label_set", "parent"))
    heads = {label.parent_id for label in labels}
    for label in labels:
        if label.label_set is None:
            groups[label.system].append(label)
        elif label.pk not in heads:
            sets[set_title(label)].append(label)
    order = sorted(groups, key=lambda key: (key != system, key != "", key))
    own = [LabelGroup(system_title(key), groups[key]) for key in order]
    return own + [LabelGroup(title, rows) for title, rows in sets.items()]


def set_title(label: FailureLabel) -> str:
    """Return the set of a label with its heading there, or the benchmark that it comes from."""
    if label.label_set is None:
        return system_title(label.system)
    heading = f": {label.parent.title}" if label.parent else ""
    return f"{label.label_set.title}{heading}"


def system_title(key: str) -> str:
    """Return the name of a benchmark whose analysis a label comes from."""
    if not key:
        return "General"
    known = SYSTEMS.get(key)
    return known[0] if known else TITLES.get(key, plain(key))


# Benchmarks that a label may come from before the system is registered here.
TITLES = {"adapt": "ADAPT", "acpbench_hard": "ACPBench Hard", "sda_planner": "SDA-Planner"}


class LabelUse(NamedTuple):
    """A label with how often it is on: on how many trajectories, and put by how many people."""

    label: FailureLabel
    group: str
    puts: int
    trajectories: int


def label_uses(visible: Q | None = None, *, set_key: str = "") -> list[LabelUse]:
    """Return every label of a set, or of none, retired ones too, with its use on the trajectories
    that ``visible`` allows.
    """
    rows = standing_labels().filter(visible) if visible is not None else standing_labels()
    counts = {
        pk: (puts, trajectories)
        for pk, puts, trajectories in rows.order_by()
        .values("label")
        .annotate(puts=Count("pk"), rows=Count("trajectory", distinct=True))
        .values_list("label", "puts", "rows")
    }
    wanted = Q(label_set__key=set_key) if set_key else Q(label_set=None)
    labels = failure_labels(retired=True).filter(wanted).select_related("made_by")
    return [
        LabelUse(label, system_title(label.system), *counts.get(label.pk, (0, 0)))
        for label in labels
    ]


def wordings_of(label: FailureLabel) -> QuerySet[FailureWording]:
    """Return every wording that a label had, the newest first."""
    return label.wordings.select_related("by").order_by("-version")
