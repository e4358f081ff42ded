"""The data of the tools page: the tool use of agents, one row per run."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import unfinished, why_undefined
from analysis.frames.tool_calls import KEPT, RUNNING
from analysis.kit.links import Link
from analysis.pages.leaderboard.rows import ACCURATE
from analysis.reports import addresses
from analysis.reports.content import exclusions, how_interval
from analysis.stats.descriptive.rates import ratio_of_totals
from analysis.stats.descriptive.trials import measure_mean, success_rate
from analysis.stats.results import Estimate
from analysis.stats.trends.decline import Curve, TurnPoint, score_by_turn
from benchmarks.core.ports.comparisons import ToolUse
from benchmarks.core.ports.labels import Measure

if TYPE_CHECKING:
    from pandas import DataFrame

RIGHT, UNCLASSIFIED = "right", "untold"


@dataclass(frozen=True)
class ToolsData:
    """The outcomes of trajectories, how they failed, and and the recall at every step."""

    runs: tuple[ChosenRun, ...]
    frame: "DataFrame"
    categories: Mapping[int, str]
    progress: "DataFrame"
    use: ToolUse
    measures: Mapping[str, Measure]


@dataclass(frozen=True)
class ToolRow:
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
    def link(self) -> Link:
        return Link(runs=(self.run.pk,))

    @property
    def scored(self) -> int:
        return sum(self.ends.values())

    @property
    def failed(self) -> int:
        return self.scored - self.ends.get(RIGHT, 0)

    def end_url(self, kind: str) -> str:
        """Return the address of its trajectories that ended so; empty where there are none."""
        if not self.ends.get(kind):
            return ""
        if kind == RIGHT:
            return addresses.trajectories_of(self.run, accurate="yes")
        if kind == UNCLASSIFIED:
            return addresses.trajectories_of(self.run, accurate="no")
        return addresses.trajectories_of(self.run, failure=kind)


@dataclass(frozen=True)
class ToolsResult:
    """The agents, and the mean recall of each by step."""

    data: ToolsData
    rows: tuple[ToolRow, ...]
    curves: tuple[Curve, ...]

    @property
    def titles(self) -> dict[str, str]:
        """The titles of endings, in the order of the figure; unclassified failures where there
        are.
        """
        categories = self.data.use.categories
        titles = {RIGHT: "Right", **{key: words[0] for key, words in categories.items()}}
        if any(row.ends.get(UNCLASSIFIED) for row in self.rows):
            titles[UNCLASSIFIED] = "Failed, not told how"
        return titles

    @property
    def mishaps(self) -> dict[str, str]:
        """The mishaps of a call, by the name of the measure that counts them."""
        return {name: self.data.measures[name].title for name in self.data.use.mishaps}

    @property
    def failed(self) -> int:
        return sum(row.failed for row in self.rows)

    @property
    def scored(self) -> int:
        return sum(row.scored for row in self.rows)

    @property
    def not_scored(self) -> Mapping[str, int]:
        """Trajectories that were not scored, by reason, over all agents."""
        reasons = Counter[str]()
        for row in self.rows:
            reasons.update(row.left_out)
        return reasons

    @property
    def failures(self) -> Mapping[str, int]:
        """The number of trajectories that failed in each way, over all agents."""
        ends = Counter[str]()
        for row in self.rows:
            ends.update({kind: n for kind, n in row.ends.items() if kind != RIGHT})
        return ends

    @property
    def most_failures(self) -> int:
        return max(self.failures.values(), default=0)

    @property
    def most_frequent(self) -> list[str]:
        """The most frequent ways to fail."""
        failures, most = self.failures, self.most_failures
        return [title.lower() for kind, title in self.titles.items() if failures.get(kind) == most]

    @property
    def searches_least(self) -> ToolRow | None:
        """The agent with the fewest searches per call, where agents differ."""
        known = [row for row in self.rows if row.balance.value is not None]
        low = min(known, key=lambda row: row.balance.value or 0, default=None)
        most = self.searches_most
        differ = low and most and (low.balance.value or 0) < (most.balance.value or 0)
        return low if differ else None

    @property
    def searches_most(self) -> ToolRow | None:
        known = [row for row in self.rows if row.balance.value is not None]
        return max(known, key=lambda row: row.balance.value or 0, default=None)

    @property
    def survivors(self) -> list[str]:
        """The agents whose late steps rest on few trajectories, with how many."""
        return [
            f"{curve.agent} ({curve.points[-1].running} of {curve.started})"
            for curve in self.curves
            if curve.dimension == RUNNING and curve.warnings
        ]

    @property
    def steps(self) -> range:
        """The steps from the first to the last of the longest trajectory."""
        return range(1, max((len(curve.points) for curve in self.curves), default=0) + 1)

    def point(self, row: ToolRow, series: str, step: int) -> TurnPoint | None:
        """Return the mean recall of an agent at a step; None where nothing ran so long."""
        for curve in self.curves:
            if (curve.agent, curve.dimension) == (row.label, series):
                return next((one for one in curve.points if one.position == step), None)
        return None

    @property
    def with_steps(self) -> list[ToolRow]:
        """The agents with steps."""
        agents = {curve.agent for curve in self.curves}
        return [row for row in self.rows if row.label in agents]

    @property
    def left_out(self) -> Mapping[str, int]:
        return exclusions([row.balance for row in self.rows])

    @property
    def intervals_of_shares(self) -> str:
        return how_interval([share for row in self.rows for share in row.shares.values()])

    @property
    def intervals_of_balance(self) -> str:
        return how_interval([row.balance for row in self.rows])


def compute(data: ToolsData) -> ToolsResult:
    """Count how each agent's trajectories ended, and estimate how it searches and calls."""
    rows = [_row(run, data.frame[data.frame["run"] == run.pk], data) for run in data.runs]
    return ToolsResult(data, tuple(rows), tuple(_curves(data.progress)))


def _row(run: ChosenRun, mine: "DataFrame", data: ToolsData) -> ToolRow:
    use = data.use
    scored = mine[mine[ACCURATE].notna()]
    tasks = scored["task"].tolist()
    left = Counter(unfinished(run))
    left.update(why_undefined(mine, ACCURATE))
    ends = [
        RIGHT if right else data.categories.get(pk) or UNCLASSIFIED
        for pk, right in zip(scored["trajectory"], scored[ACCURATE], strict=True)
    ]
    kinds = (RIGHT, *use.categories, UNCLASSIFIED)
    calls = scored[use.calls].to_numpy()
    excluded = dict(left.most_common())
    return ToolRow(
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
    return measure_mean(
        rows[name].to_numpy(), rows["task"].tolist(), rate=False, scale=(0, None), excluded=excluded
    )


def _curves(frame: "DataFrame") -> list[Curve]:
    """Return the mean recall by step: one series for trajectories under way, one for all."""
    found: list[Curve] = []
    for series in (RUNNING, KEPT):
        steps = frame[frame["series"] == series]
        found += score_by_turn(
            steps["label"].tolist(),
            steps["series"].tolist(),
            steps["trajectory"].tolist(),
            steps["step"].to_numpy(),
            steps["value"].to_numpy(),
            scale=(0, 1),
        )
    return found
