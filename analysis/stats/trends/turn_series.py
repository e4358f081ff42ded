"""Scores over the turns of trajectories as arrays: what every statistic by turn reads first."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from analysis.stats.columns import MISSING, Codes, Floats, as_column, check_length_of, encode

NO_SLOPE = "no trajectory has two scored turns"


@dataclass(frozen=True)
class TurnRows:
    """Columns of equal length as codes, one row per trajectory, dimension and turn.

    ``agent``, ``dimension`` and ``trajectory`` index ``agents``, ``dimensions`` and the
    trajectories; ``owner`` and ``last`` have the agent and the last turn of each trajectory.
    ``score`` is NaN where there is none.
    """

    agents: tuple[str, ...]
    dimensions: tuple[str, ...]
    agent: Codes
    dimension: Codes
    trajectory: Codes
    turn: Codes
    score: Floats
    owner: Codes
    last: Codes

    def lengths(self, agent: int) -> Codes:
        """Return the last turn of each of one agent's trajectories."""
        lengths: Codes = self.last[self.owner == agent]
        return lengths

    def running(self, agent: int) -> list[int]:
        """Return how many of one agent's trajectories have at least 1, 2, … turns."""
        lengths = self.lengths(agent)
        return [int((lengths >= t).sum()) for t in range(1, int(lengths.max(initial=0)) + 1)]

    def rows_of(self, agent: int, dimension: int) -> Codes:
        """Give the places of the rows of one agent on one dimension."""
        places: Codes = np.flatnonzero((self.agent == agent) & (self.dimension == dimension))
        return places

    def series(self, places: Codes) -> "TurnSeries":
        """Give the scored ones of these rows."""
        kept = ~np.isnan(self.score[places])
        scored = places[kept]
        names, code = np.unique(self.trajectory[scored], return_inverse=True)
        repeated = int((np.bincount(code, minlength=names.size) > 1).sum())
        turn = self.turn[scored].astype(np.float64)
        gone = int(places.size - scored.size)
        return TurnSeries(code, turn, self.score[scored], names.size, repeated, gone, kept)


@dataclass(frozen=True)
class TurnSeries:
    """Scored rows of one agent on one dimension; ``code`` numbers their trajectories from 0.

    ``groups`` is the number of trajectories with a score, ``repeated`` of those with two or more,
    ``missing`` of rows that had no score. ``kept`` says which of the rows given are in it.
    """

    code: Codes
    turn: Floats
    score: Floats
    groups: int
    repeated: int
    missing: int
    kept: Any

    @classmethod
    def of(cls, trajectories: Any, turns: Any, scores: Any) -> "TurnSeries":
        """Read three columns of equal length; rows without a score (None, NaN) are left out."""
        score, turn = as_column(scores), as_column(turns)
        check_length_of(turn, score.size, "turns")
        check_length_of(trajectories, score.size, "trajectories")
        if np.isnan(turn).any():
            raise ValueError("every row needs its turn")
        kept = ~np.isnan(score)
        names, code = encode(trajectories if kept.all() else compress(trajectories, kept))
        turn = turn[kept]
        order = np.lexsort((turn, code))
        if ((np.diff(code[order]) == 0) & (np.diff(turn[order]) == 0)).any():
            raise ValueError("one row per trajectory and turn: average the judges first")
        repeated = int((np.bincount(code, minlength=len(names)) > 1).sum())
        gone = int((~kept).sum())
        return cls(code, turn, score[kept], len(names), repeated, gone, kept)

    def clusters(self, tasks: Sequence[Hashable] | None) -> Codes:
        """Give the cluster of each trajectory: itself, or its task (one entry per row given)."""
        if tasks is None:
            return np.arange(self.groups)
        check_length_of(tasks, self.kept.size, "tasks")
        owner: dict[int, Hashable] = {}
        kept = [task for task, keep in zip(tasks, self.kept, strict=True) if keep]
        for code, task in zip(self.code.tolist(), kept, strict=True):
            if owner.setdefault(code, task) != task:
                raise ValueError("a trajectory belongs to one task")
        return encode(owner[code] for code in range(self.groups))[1]

    @property
    def excluded(self) -> dict[str, int]:
        """Rows left out, by reason."""
        return {f"turn: {MISSING}": self.missing} if self.missing else {}


def read_turns(
    agents: Sequence[str],
    dimensions: Sequence[str],
    trajectories: Sequence[Hashable],
    turns: Any,
    scores: Any,
) -> TurnRows:
    """Read the five columns that `decline.score_by_turn` describes.

    The same identifier under two agents means two trajectories.

    Raises
    ------
    ValueError
        If columns differ in length, a turn is no whole number from 1, or a trajectory has two rows
        for one turn and dimension.
    """
    score = as_column(scores)
    turn = as_column(turns)
    for name, column in (("turns", turn), ("trajectories", trajectories)):
        check_length_of(column, score.size, name)
    for name, labels in (("agents", agents), ("dimensions", dimensions)):
        check_length_of(labels, score.size, name)
    if score.size and (np.isnan(turn).any() or (turn < 1).any() or (turn != np.floor(turn)).any()):
        raise ValueError("turns are whole numbers from 1")
    agent_names, agent = encode(agents)
    dimension_names, dimension = encode(dimensions)
    units, trajectory = encode(zip(agents, trajectories, strict=True))
    number = turn.astype(np.int64)
    last = np.zeros(len(units), dtype=np.int64)
    np.maximum.at(last, trajectory, number)
    owner = np.zeros(len(units), dtype=np.int64)
    owner[trajectory] = agent
    longest = int(last.max(initial=0)) + 1
    keys = (trajectory * max(1, len(dimension_names)) + dimension) * longest + number
    if np.unique(keys).size < keys.size:
        raise ValueError("one row per trajectory, dimension and turn: average the judges first")
    return TurnRows(
        agent_names, dimension_names, agent, dimension, trajectory, number, score, owner, last
    )
