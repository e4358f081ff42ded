"""The data and the result of the leaderboard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.filters.selection import ChosenRun
from analysis.pages.leaderboard.rows import (
    EXHAUSTED,
    VALID,
    AgentResult,
    is_recorded,
    over_pairs,
    second_value,
)
from analysis.reports import system_facts
from analysis.reports.content import exclusions
from analysis.reports.formatting import Unit, unit_of, unit_of_differences
from analysis.stats.comparison.extremes import Extreme
from analysis.stats.comparison.model_comparisons import PairwiseRank
from analysis.stats.results import Estimate
from benchmarks.core.conditions import STANDARD
from benchmarks.core.ports.labels import Measure
from benchmarks.core.ports.published import PaperStatements
from benchmarks.core.registry import find_system
from benchmarks.runs.selectors import STUCK
from benchmarks.validity.selectors import CertifiedValidity

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class LeaderboardData:
    """The outcomes of trajectories, and what is known of the runs."""

    runs: tuple[ChosenRun, ...]
    frame: "DataFrame"
    measures: Mapping[str, Measure]
    shown: tuple[str, ...]
    headline: tuple[str, ...]
    titles: Mapping[str, str]
    pools: Mapping[int, float]
    system: str
    among: int
    with_published: bool
    certificate: CertifiedValidity | None
    every_task: bool

    @property
    def main(self) -> Measure:
        """The measure that decides ranks."""
        return self.measures[self.headline[0]]

    @property
    def second(self) -> Measure | None:
        """The measure beside it."""
        return self.measures[self.headline[1]] if len(self.headline) > 1 else None


@dataclass(frozen=True)
class Correlation:
    """The correlation of the first measure with another across agents, here and in the paper."""

    title: str
    measure: Measure
    here: Estimate
    published: float
    reference: PaperStatements


@dataclass(frozen=True)
class LeaderboardResult:
    """The agents from best to worst, the rows beside them, and whether the first leads."""

    data: LeaderboardData
    rows: tuple[AgentResult, ...]
    blind: tuple[AgentResult, ...]
    published: tuple[AgentResult, ...]
    pairs: int
    extreme: Extreme
    ranks: Mapping[str, PairwiseRank]

    @property
    def every_row(self) -> list[AgentResult]:
        return [*self.rows, *self.blind, *self.published]

    @property
    def best_blind(self) -> AgentResult | None:
        """The blind policy with the highest value."""
        return next((row for row in self.blind if row.main.value is not None), None)

    @property
    def no_better_than_blind(self) -> list[AgentResult]:
        """The agents that score no more than the best blind policy."""
        best = self.best_blind
        if best is None or best.main.value is None:
            return []
        return [row for row in self.defined if (row.main.value or 0) <= best.main.value]

    @property
    def validated(self) -> bool | None:
        """Whether the dataset has a certificate of validity; None where it can have none."""
        if find_system(self.data.system).validity is None:
            return None
        return self.data.certificate is not None

    @property
    def standard(self) -> bool:
        """Whether the agents were played under the settings of the blind policies."""
        return all(row.run is None or row.run.condition == STANDARD for row in self.rows)

    @property
    def defined(self) -> list[AgentResult]:
        """The agents whose first measure is defined."""
        return [row for row in self.rows if row.main.value is not None]

    @property
    def placed(self) -> list[AgentResult]:
        """The agents that have a rank."""
        return [row for row in self.defined if row.rank is not None]

    @property
    def first(self) -> AgentResult | None:
        return next(iter(self.placed or self.defined), None)

    @property
    def lowest(self) -> AgentResult:
        return min(self.defined, key=lambda row: row.main.value or 0)

    @property
    def highest(self) -> AgentResult:
        return max(self.defined, key=lambda row: row.main.value or 0)

    @property
    def stuck(self) -> Mapping[str, int]:
        """The number of trajectories of each agent that were played and have no outcome."""
        counts = {row.label: row.run.counts for row in self.rows if row.run is not None}
        found = {label: sum(n.get(status, 0) for status in STUCK) for label, n in counts.items()}
        return {label: n for label, n in found.items() if n}

    @property
    def why_unranked(self) -> str:
        return (self.first.no_rank if self.first is not None else "") or self.rows[-1].no_rank

    @property
    def leaders(self) -> Sequence[str]:
        """The agents with the highest value; whether they lead, ``extreme`` says."""
        return self.extreme.names

    @property
    def leaders_differ_in_n(self) -> bool:
        return len({row.main.n for row in self.placed if row.rank == 1}) > 1

    @property
    def unit(self) -> Unit:
        return unit_of(self.data.main)

    @property
    def points(self) -> Unit:
        """The unit of differences of the first measure."""
        return unit_of_differences(self.data.main)

    @property
    def second_unit(self) -> Unit:
        return unit_of(self.data.second) if self.data.second is not None else "number"

    @property
    def sign(self) -> str:
        """The sign after a value of the first measure that is stored in percent."""
        return " %" if self.data.main.kind == "percent" else ""

    @property
    def by_task(self) -> bool:
        """Return whether intervals are by task, because tasks were tried several times."""
        return any(row.main.interval is not None and row.main.interval.unit for row in self.rows)

    @property
    def over_pairs(self) -> str:
        return over_pairs(self.pairs)

    @property
    def why_undefined(self) -> str:
        """The reason why the first measure is undefined for all rows."""
        reasons = exclusions([row.main for row in self.rows])
        return max(reasons, key=lambda reason: reasons[reason], default="nothing was scored")

    @property
    def by_dryness(self) -> list[tuple[int, AgentResult]]:
        """The share of trajectories of each agent whose pool ran dry, where all are recorded and
        any did.
        """
        dry = [(row.endings.get(EXHAUSTED, 0), row) for row in self.rows if is_recorded(row)]
        if len(dry) < len(self.rows) or not any(count for count, _ in dry):
            return []
        return sorted(dry, key=lambda pair: pair[0])

    @property
    def by_second(self) -> list[AgentResult]:
        """The agents whose second measure is defined, the lowest first."""
        known = [row for row in self.rows if row.second is not None]
        return sorted(
            (row for row in known if row.second and row.second.value is not None),
            key=second_value,
        )

    @property
    def recorded(self) -> list[AgentResult]:
        return [row for row in self.rows if is_recorded(row)]

    @property
    def pooled(self) -> bool:
        """Return whether a recorded agent draws from a pool of answers."""
        return any(row.pool is not None for row in self.recorded)

    @property
    def has_valid(self) -> bool:
        return VALID in self.data.headline

    @property
    def ran_dry(self) -> int:
        return sum(row.endings.get(EXHAUSTED, 0) for row in self.recorded)

    @property
    def made_otherwise(self) -> list[AgentResult]:
        """The agents without a rank because they were made or judged otherwise."""
        return [row for row in self.rows if row.no_rank.startswith("made or judged")]

    @property
    def made_otherwise_names(self) -> list[str]:
        return [row.label for row in self.made_otherwise]

    @property
    def judged(self) -> bool:
        """Return whether judges have a part in the system."""
        return bool(system_facts.judge_roles(self.data.system))

    @property
    def rates(self) -> list[str]:
        return [one.title for one in self._shown if one.kind == "rate"]

    @property
    def means(self) -> list[str]:
        return [one.title for one in self._shown if one.kind != "rate"]

    @property
    def headline_titles(self) -> list[str]:
        return [self.data.measures[name].title for name in self.data.headline]

    @property
    def left_out(self) -> Mapping[str, int]:
        return exclusions([row.main for row in self.rows])

    @property
    def _shown(self) -> list[Measure]:
        return [self.data.measures[name] for name in self.data.shown]
