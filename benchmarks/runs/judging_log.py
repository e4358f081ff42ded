"""The log of a re-judging run: it writes scores of stored turns."""

from typing import Any

from benchmarks.models import Run, Trajectory, Turn
from benchmarks.runs.branch_log import BranchLog
from benchmarks.runs.log import DatabaseLog


class JudgingLog(DatabaseLog):
    """The log of a trajectory that is re-judged.

    It writes scores of the stored turns, in the judging of its run. Earlier scores and violations
    stay as they are.
    """

    _marks_last = False  # which stored turn is the last one is known from the start

    def __init__(
        self, trajectory: Trajectory, owner: str, answerer_rows: dict[str, int] | None = None
    ) -> None:
        super().__init__(trajectory, owner, answerer_rows)
        assert trajectory.judged is not None
        self.judged = trajectory.judged
        rows = Turn.objects.filter(trajectory=self.judged).values_list("pk", "index", "is_final")
        self._turns = {index: (pk, final) for pk, index, final in rows}

    @staticmethod
    def _judging(trajectory: Trajectory) -> int:
        assert trajectory.run.primary_judging_id is not None
        return trajectory.run.primary_judging_id

    def _scored_trajectory(self) -> Trajectory:
        return self.judged

    def _scored(self, row: Turn) -> dict[str, Any]:
        run = self.judged.run
        pk, final = self._turns[row.index]
        return {
            "turn_id": pk,
            "trajectory": self.judged,
            "run": run,
            "agent_id": run.agent_id,
            "level": run.level,
            "condition": run.condition,
            "turn_index": row.index,
            "is_final": final,
        }


def log_of(trajectory: Trajectory, owner: str, answerer_rows: dict[str, int]) -> DatabaseLog:
    """Return the log for carrying a trajectory."""
    if trajectory.run.kind == Run.Kind.BRANCH:
        return BranchLog(trajectory, owner, answerer_rows)
    kind = DatabaseLog if trajectory.judged_id is None else JudgingLog
    return kind(trajectory, owner, answerer_rows)
