"""The labels of a set that people put on trajectories, by person: one row each."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import by_id, counted
from annotation.remarks.label_sets import NONE_KEY
from annotation.remarks.selectors import standing_labels


class LabelledTrajectory(NamedTuple):
    """What one person put on a trajectory, on the whole or on turns: keys of labels.

    ``labels`` is empty where the person said that none of the set is there.
    """

    run: int
    trajectory: int
    task: int
    person: int
    labels: frozenset[str]


def labelled_trajectories(runs: Sequence[ChosenRun], set_key: str) -> list[LabelledTrajectory]:
    """Return a row for each person and trajectory of the runs with a label of the set."""
    rows = standing_labels().filter(
        counted(by_id(runs), "trajectory__run", "trajectory__task"),
        label__label_set__key=set_key,
        label__retired=False,
    )
    fields = ("trajectory__run", "trajectory", "trajectory__task", "by", "label__key")
    labels: dict[tuple[int, int, int, int], set[str]] = {}
    for *of, key in rows.order_by("trajectory", "by", "pk").values_list(*fields):
        run, trajectory, task, person = of
        labels.setdefault((run, trajectory, task, person), set()).add(key)
    none = f"{set_key}_{NONE_KEY}"
    return [LabelledTrajectory(*of, frozenset(keys - {none})) for of, keys in labels.items()]
