"""The tree of a trajectory and its branches, as the page of each of them shows it."""

from collections import defaultdict
from dataclasses import dataclass, field

from django.urls import reverse

from benchmarks.calls.whole_log import branch_of
from benchmarks.core.ports.results import TrajectoryResult
from benchmarks.models import Branch, Run, Trajectory
from benchmarks.trajectories import selectors as trajectories
from benchmarks.visibility import Visibility

# So many trajectories are drawn; results pages list all replays.
MOST = 400


@dataclass
class BranchNode:
    """A trajectory of the tree, or several replays that leave at the same place.

    ``result`` is of a single one; ``right`` counts replays that end right, of the ``judged`` ones:
    those that have ended with a verdict.
    """

    words: str
    url: str
    current: bool
    size: int = 1
    ended: int = 0
    judged: int = 0
    right: int = 0
    result: TrajectoryResult | None = None
    below: "list[BranchNode]" = field(default_factory=list)

    @property
    def counts(self) -> str:
        """Return how many replays there are of each kind, in words."""
        counts = [f"{self.right} of {self.judged} right"] if self.judged else []
        if self.judged < self.ended:
            counts.append(f"{self.ended - self.judged} without verdict")
        if self.ended < self.size:
            counts.append(f"{self.size} started")
        return ", ".join(counts)


def branch_tree(trajectory: Trajectory, seen: Visibility) -> BranchNode | None:
    """Return the tree that a trajectory belongs to; None where nobody has branched."""
    top = trajectory
    while top.run.kind == Run.Kind.BRANCH:
        top = branch_of(top).parent
    root = top.pk
    below: dict[int, list[Branch]] = defaultdict(list)
    more = [root]
    count = 0
    while more and count < MOST:
        branches = list(Branch.objects.filter(parent__in=more).order_by("trajectory")[:MOST])
        for branch in branches:
            below[branch.parent_id].append(branch)
        more = [branch.trajectory_id for branch in branches]
        count += len(branches)
    if not below:
        return None
    ids = {root, *(branch.trajectory_id for rows in below.values() for branch in rows)}
    readable = seen.of(trajectories.with_page_relations().filter(pk__in=ids))
    rows = {row.pk: row for row in readable}
    known = trajectories.counted_metrics(list(rows.values()))
    results = {pk: trajectories.trajectory_result(row, known[pk]) for pk, row in rows.items()}

    def node(members: list[int], words: str, url: str) -> BranchNode:
        mine = [pk for pk in members if pk in rows]
        made = BranchNode(words, url, trajectory.pk in mine, len(mine))
        tones = [results[pk].tone for pk in mine if rows[pk].status == Trajectory.Status.DONE]
        made.ended, made.right = len(tones), tones.count("ok")
        made.judged = sum(tone in ("ok", "warn", "bad") for tone in tones)
        if len(mine) == 1:
            made.result = results[mine[0]]
        groups: dict[tuple[int, int, str], list[int]] = defaultdict(list)
        for pk in mine:
            for branch in below.get(pk, ()):
                if branch.trajectory_id in rows:
                    run = rows[branch.trajectory_id].run_id
                    groups[run, branch.turn, branch.arm].append(branch.trajectory_id)
        for (run, turn, arm), those in groups.items():
            label = f"Turn {turn}: {Branch.Arm(arm).label.lower()}"
            at = (
                reverse("analysis:trajectory", args=[those[0]])
                if len(those) == 1
                else reverse("analysis:branches", args=[run])
            )
            made.below.append(node(those, label, at))
        return made

    return node([root], "Original", reverse("analysis:trajectory", args=[root]))


def may_branch(run: Run) -> bool:
    """Return whether trajectories of a run of this kind can be branched at all."""
    return run.kind in (Run.Kind.MADE, Run.Kind.BRANCH)
