"""The votes in duels with the agents that they are about, for analyses, exports and the API."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef

from annotation.models import DuelVote, Participant
from benchmarks.models import Trajectory


@dataclass(frozen=True)
class CastVote:
    """A vote with what it is about. ``turn`` is 0 at the end.

    ``counts``: it says something about these two agents. That is not so where another agent took
    over, nor at the end of a duel of which a side broke off: an endpoint that is gone says nothing
    of how good an agent is.
    """

    duel: int
    study: int
    task: str
    turn: int
    choice: str
    by: int
    simulated: bool
    at: datetime
    left_run: int
    right_run: int
    left_trajectory: int
    right_trajectory: int
    left_agent: str
    right_agent: str
    counts: bool


def votes_of(study: int) -> list[CastVote]:
    """Return the votes in the duels of a study, by people who have not left it."""
    gone = Participant.objects.filter(study=study, user=OuterRef("by"), state__in=Participant.GONE)
    rows = DuelVote.objects.filter(duel__left__study=study).exclude(Exists(gone)).order_by("pk")
    sides = ("duel__left__trajectory", "duel__right__trajectory")
    columns = ("run", "pk", "run__agent__name", "status", "role_changes")
    fields = [f"{side}__{column}" for column in columns for side in sides]
    votes = []
    for duel, task, turn, choice, by, simulated, at, *values in rows.values_list(
        "duel", "duel__left__trajectory__task__external_id", "turn", "choice", "by",
        "by__annotator__is_simulated", "at", *fields,
    ):  # fmt: skip
        *about, left, right, left_changes, right_changes = values
        same = not any("agent" in changes for changes in (left_changes, right_changes))
        whole = turn > 0 or left == right == Trajectory.Status.DONE
        cast = (duel, study, task, turn, choice, by, bool(simulated), at, *about, same and whole)
        votes.append(CastVote(*cast))
    return votes
