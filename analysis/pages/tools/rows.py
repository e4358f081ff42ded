"""What agents did with their tools, one row per run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import unfinished, why_undefined
from analysis.pages.leaderboard.rows import ACCURATE
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.descriptive.rates import ratio_of_totals
from analysis.stats.descriptive.trials import success_rate
from analysis.stats.results import Estimate
from benchmarks.core.comparisons import ToolUse

if TYPE_CHECKING:
    from pandas import DataFrame

RIGHT, UNTOLD = "right", "untold"


@dataclass(frozen=True)
class Row:
    """One agent. ``ends`` counts scored trajectories by failure category, `RIGHT` among them;
    ``shares`` are the same as shares. ``mishaps`` are per call.
    """

    run: ChosenRun
    searches: Estimate
    calls: Estimate
    balance: Estimate
    mishaps: Mapping[str, Estimate]
    ends: Mapping[str, int]
    shares: Mapping[str, Estimate]
    left_out: Mapping[str, int]

    @property
    def label(self) -> str:
        return self.run.label

    @property
    def scored(self) -> int:
        return sum(self.ends.values())

    @property
    def failed(self) -> int:
        return self.scored - self.ends.get(RIGHT, 0)


def rows_of(
    runs: Sequence[ChosenRun], frame: "DataFrame", categories: Mapping[int, str], use: ToolUse
) -> list[Row]:
    """A row for each run, in the order of the runs; ``categories`` by trajectory."""
    return [_row(run, frame[frame["run"] == run.pk], categories, use) for run in runs]


def _row(run: ChosenRun, mine: "DataFrame", categories: Mapping[int, str], use: ToolUse) -> Row:
    scored = mine[mine[ACCURATE].notna()]
    tasks = scored["task"].tolist()
    left = Counter(unfinished(run))
    left.update(why_undefined(mine, ACCURATE))
    ends = [
        RIGHT if right else categories.get(pk) or UNTOLD
        for pk, right in zip(scored["trajectory"], scored[ACCURATE], strict=True)
    ]
    kinds = (RIGHT, *use.categories, UNTOLD)
    calls = scored[use.calls].to_numpy()
    excluded = dict(left.most_common())
    return Row(
        run=run,
        searches=_mean(scored, use.searches, excluded),
        calls=_mean(scored, use.calls, excluded),
        balance=ratio_of_totals(scored[use.searches].to_numpy(), calls, tasks, excluded=excluded),
        mishaps={
            name: ratio_of_totals(scored[name].to_numpy(), calls, tasks, excluded=excluded)
            for name in use.mishaps
        },
        ends=dict(Counter(ends)),
        shares={kind: success_rate([float(end == kind) for end in ends], tasks) for kind in kinds},
        left_out=excluded,
    )


def _mean(rows: "DataFrame", name: str, excluded: Mapping[str, int]) -> Estimate:
    if rows.empty and excluded:
        return Estimate.without_value(next(iter(excluded)), excluded=excluded)
    return mean_by_cluster(
        rows[name].to_numpy(), rows["task"].tolist(), excluded=excluded, scale=(0, None)
    )
