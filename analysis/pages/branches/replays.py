"""Read the replays of a branch run with what came of each."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import Avg

from benchmarks.core.registry import find_system
from benchmarks.mappers import core_outcome
from benchmarks.models import Branch, JudgeScore, Run, Trajectory, Turn

Arm = Branch.Arm
SCORE = "mean score of the last turn"


@dataclass(frozen=True)
class Replay:
    """A replay: ``title`` is its result and ``detail`` how it ended; ``right`` is 1 or 0, None
    without a verdict; ``scores`` are means of the last turn by dimension. ``said`` is everything
    that its turns hold, to tell copies by.
    """

    branch: Branch
    trajectory: Trajectory
    title: str
    detail: str = ""
    right: float | None = None
    measures: dict[str, float | None] = field(default_factory=dict)
    scores: dict[str, float | None] = field(default_factory=dict)
    said: tuple[str, ...] = ()

    @property
    def ended(self) -> bool:
        return self.trajectory.status == Trajectory.Status.DONE


class ReplayGroup(NamedTuple):
    """The replays that leave at the same place with the same answer."""

    turn: int
    arm: str
    replays: list[Replay]

    @property
    def copies(self) -> bool:
        """Return whether several replays have ended and are word for word the same."""
        said = [replay.said for replay in self.replays if replay.ended]
        return len(said) > 1 and len(set(said)) == 1


def read_replays(run: Run) -> list[Replay]:
    """Return all replays of a branch run, in the order in which they were started."""
    branches = Branch.objects.filter(trajectory__run=run).select_related("trajectory")
    labels = find_system(run.dataset.system).labels
    said: dict[int, list[str]] = defaultdict(list)
    turns = Turn.objects.filter(trajectory__run=run).order_by("trajectory", "index")
    for pk, text, feedback in turns.values_list("trajectory", "text", "feedback"):
        said[pk] += [text, feedback]
    scores: dict[int, dict[str, float | None]] = defaultdict(dict)
    given = JudgeScore.objects.filter(run=run, is_final=True, judging=run.primary_judging_id)
    means = given.order_by().values("trajectory", "dimension").annotate(mean=Avg("value"))
    for pk, dimension, mean in means.values_list("trajectory", "dimension", "mean"):
        scores[pk][dimension] = mean
    replays = []
    for branch in branches.order_by("trajectory"):
        row = branch.trajectory
        if row.status != Trajectory.Status.DONE:
            replays.append(Replay(branch, row, row.get_status_display()))
            continue
        outcome = core_outcome(row)
        result = labels.result_of(outcome)
        right = {"ok": 1.0, "bad": 0.0, "warn": 0.0}.get(result.tone)
        measures = {name: outcome.metrics.get(name) for name in labels.headlines}
        replays.append(
            Replay(
                branch, row, result.title, result.detail, right, measures, scores[row.pk],
                tuple(said[row.pk]),
            )
        )  # fmt: skip
    return replays


def group_replays(replays: list[Replay]) -> list[ReplayGroup]:
    """Return the replays by where they leave and with which answer, in order."""
    groups: dict[tuple[int, str], list[Replay]] = defaultdict(list)
    for replay in replays:
        groups[replay.branch.turn, replay.branch.arm].append(replay)
    return [ReplayGroup(turn, arm, rows) for (turn, arm), rows in groups.items()]
