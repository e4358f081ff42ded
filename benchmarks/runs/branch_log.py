"""The log of a branch: it begins with exchanges of the trajectories that it branches from."""

from collections.abc import Iterable

from benchmarks.calls.whole_log import whole_log
from benchmarks.models import CallColumns
from benchmarks.runs.log import DatabaseLog


class BranchLog(DatabaseLog):
    """The log of a branch: it reads what it shares, and writes its own exchanges only."""

    def _stored_calls(self) -> Iterable[CallColumns]:
        return whole_log(self.trajectory, every=True).only(*self._columns)
