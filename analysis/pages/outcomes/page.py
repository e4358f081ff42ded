"""The outcomes page shows rewards, trials, endings and cost of trajectories made elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.layout.theme import Figure
from analysis.figures.outcomes import RewardRow, pass_lines, reward_dots, reward_spread
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import message_counts, outcome_frame
from analysis.pages.declaration import DeclaredPage, FigureOf, NothingToShow, TableOf, UrlOf
from analysis.pages.outcomes.rows import (
    METRICS,
    MOST_TRIALS,
    REWARD,
    STATED,
    AgentRewards,
    RewardScale,
    rows_of,
    scale_of,
)
from analysis.pages.outcomes.tables import (
    deepest_of,
    ending_columns,
    link_of,
    outcome_columns,
    pass_columns,
    reward_columns,
)
from analysis.reports import chosen_runs, figure_specs
from analysis.reports.content import exclusions, how_interval
from analysis.reports.formatting import Unit
from analysis.stats.comparison.extremes import Extreme, find_extreme, paired_groups, pairs_of
from analysis.stats.descriptive.spread import Histogram, spread
from analysis.stats.results import Estimate
from benchmarks.access import START
from benchmarks.core.registry import EXTERNAL, find_system

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class OutcomeData:
    """The outcomes that files state of every trajectory, and how many agents the data compare."""

    runs: tuple[ChosenRun, ...]
    frame: "DataFrame"
    among: int


@dataclass(frozen=True)
class OutcomeResult:
    """Every agent's rewards, reliability, endings, length and cost, the highest reward first.

    ``extreme`` says whether the first agent leads, by differences on common tasks.
    """

    rows: tuple[AgentRewards, ...]
    scale: RewardScale
    spreads: Histogram
    extreme: Extreme

    @property
    def unit(self) -> Unit:
        return "share" if self.scale.binary else "points"

    @property
    def known(self) -> list[AgentRewards]:
        """The agents that have a mean reward."""
        return [row for row in self.rows if row.reward.value is not None]

    @property
    def first(self) -> AgentRewards | None:
        return next(iter(self.known), None)

    @property
    def leaders(self) -> Sequence[str]:
        """The agents with the highest mean reward; whether they lead, ``extreme`` says."""
        return self.extreme.names

    @property
    def reliability(self) -> Estimate | None:
        """pass^k of the first agent at the largest k, where tasks were tried several times."""
        passes = self.first.passes if self.first is not None else ()
        return passes[-1] if len(passes) > 1 and passes[-1].value is not None else None

    @property
    def why_undefined(self) -> str:
        """The reason why no mean reward is defined."""
        reasons = exclusions([row.reward for row in self.rows])
        return max(reasons, key=lambda reason: reasons[reason], default="nothing has ended")

    @property
    def unstated(self) -> list[str]:
        """The agents with trajectories that have no reward, with their number."""
        return [
            f"{row.label} ({sum(row.reward.excluded.values()):,})"
            for row in self.rows
            if row.reward.excluded
        ]

    @property
    def uneven(self) -> list[str]:
        """The agents whose tasks were not tried equally often."""
        return [row.label for row in self.rows if row.tried[0] != row.tried[1]]

    @property
    def different_tasks(self) -> bool:
        return len({row.tasks for row in self.rows}) > 1

    @property
    def reward_intervals(self) -> str:
        return how_interval([row.reward for row in self.rows])

    @property
    def has_passes(self) -> bool:
        return any(row.passes for row in self.rows)

    @property
    def pass_intervals(self) -> str:
        return how_interval([estimate for row in self.rows for estimate in row.passes])

    @property
    def stated_intervals(self) -> str:
        return how_interval([row.stated[name] for row in self.rows for name in STATED])

    @property
    def left_out(self) -> Mapping[str, int]:
        return exclusions([row.reward for row in self.rows])

    @property
    def errors(self) -> int:
        """The number of trajectories that ended with an error of their infrastructure."""
        return sum(row.endings.get("error", 0) for row in self.rows)

    @property
    def most_trials(self) -> int:
        return MOST_TRIALS


def load(selection: Selection) -> OutcomeData | NothingToShow:
    """Load what files state of trajectories made elsewhere."""
    if not selection.runs or REWARD not in find_system(selection.system).labels.measures:
        return _why_nothing(selection)
    frame = outcome_frame(selection.runs, METRICS)
    frame["messages"] = frame["trajectory"].map(message_counts(selection.runs))
    return OutcomeData(selection.runs, frame, selection.agents_here)


def _why_nothing(selection: Selection) -> NothingToShow:
    if selection.dataset is None:
        return NothingToShow("nothing imported", {"needs": START})
    if selection.system == EXTERNAL:
        return NothingToShow("no rewards" if selection.runs else "none fits")
    facts = {
        "dataset": selection.filters.dataset,
        "dataset_name": chosen_runs.dataset_name(selection),
    }
    return NothingToShow("made here", facts)


def compute(data: OutcomeData) -> OutcomeResult:
    """Estimate every agent's reward and reliability, and the lead of the first."""
    scale = scale_of(data.frame)
    rows = rows_of(data.runs, data.frame, scale)
    spreads = spread(data.frame["label"].tolist(), data.frame[REWARD].to_numpy())
    ordered = {row.label: spreads.counts[row.label] for row in rows if row.label in spreads.counts}
    difference = paired_groups(
        data.frame["label"].tolist(),
        data.frame["task"].tolist(),
        data.frame[REWARD].to_numpy(),
        comparisons=pairs_of(data.among),
        most=1.0 if scale.bounded else None,
    )
    extreme = find_extreme({row.label: row.reward.value for row in rows}, difference)
    histogram = Histogram(spreads.cells, ordered, spreads.missing)
    return OutcomeResult(tuple(rows), scale, histogram, extreme)


def draw_rewards(result: OutcomeResult, url: UrlOf) -> Figure | None:
    """Draw the mean reward of every agent."""
    if not result.known:
        return None
    marks = [RewardRow(row.label, row.reward, url(link_of(row))) for row in result.rows]
    looks = figure_specs.styles([row.label for row in result.rows])
    return reward_dots(marks, unit="share" if result.scale.binary else "points", styles=looks)


def draw_passes(result: OutcomeResult, url: UrlOf) -> Figure | None:
    """Draw pass^k over k."""
    curves = {row.label: row.passes for row in result.rows if row.passes}
    if not curves:
        return None
    looks = figure_specs.styles([row.label for row in result.rows])
    urls = {row.label: url(link_of(row)) for row in result.rows}
    return pass_lines(curves, looks, urls)


def draw_spread(result: OutcomeResult, url: UrlOf) -> Figure | None:
    """Draw how rewards are spread, where they are not 0 or 1."""
    if result.scale.binary or not result.spreads.cells:
        return None
    urls = {row.label: url(link_of(row)) for row in result.rows}
    return reward_spread(result.spreads, urls)


def rows_with_rewards(result: OutcomeResult) -> Sequence[AgentRewards]:
    """Return the agents of which a reward is stated."""
    if not result.spreads.cells:
        return []
    return [row for row in result.rows if row.label in result.spreads.counts]


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf(
        "reward",
        lambda result: (
            "Share of trajectories with a reward of 1, by agent"
            if result.scale.binary
            else "Mean reward, by agent"
        ),
        draw_rewards,
        table="outcomes",
    ),
    table=TableOf(
        "outcomes",
        "Outcomes by agent",
        rows=lambda result: result.rows,
        columns=lambda result: outcome_columns(result.rows, result.unit),
        link=link_of,
    ),
    folded=(
        FigureOf(
            "pass", "How likely it is that k trials of a task all succeed (pass^k)", draw_passes
        ),
        FigureOf(
            "spread",
            "How rewards are spread, by agent",
            draw_spread,
            least_width=560,
            table="rewards",
        ),
        TableOf(
            "pass",
            "Reliability over several trials (pass^k)",
            rows=lambda result: result.rows if deepest_of(result.rows) else (),
            columns=lambda result: pass_columns(result.rows),
            link=link_of,
        ),
        TableOf(
            "endings",
            "How they ended",
            rows=lambda result: result.rows,
            columns=lambda result: ending_columns(result.rows),
            link=link_of,
        ),
        TableOf(
            "rewards",
            "Rewards",
            rows=rows_with_rewards,
            columns=lambda result: reward_columns(result.spreads),
            link=link_of,
            folded=True,
        ),
    ),
)
