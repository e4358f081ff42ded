"""The data of the page that compares agents: pairs, ranks and shares on one measure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from analysis.filters.page_filters import known_dimensions, measures_here
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import unfinished, why_undefined
from analysis.frames.scores import measure_frame
from analysis.kit.links import Link
from analysis.pages.leaderboard.rows import signature
from analysis.reports import addresses, system_facts
from analysis.reports.content import exclusions, how_interval
from analysis.reports.formatting import Unit
from analysis.stats.comparison.model_comparisons import (
    ModelComparisons,
    ModelPair,
    PairwiseRank,
    compare_models,
    turned_estimate,
)
from analysis.stats.descriptive.means import OPEN_SCALE, Scale
from analysis.stats.descriptive.proportions import share
from analysis.stats.descriptive.trials import measure_mean
from analysis.stats.results import Estimate
from benchmarks.core.ports.labels import Measure
from benchmarks.core.registry import EXTERNAL, find_system

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20250101
SEVERAL_TRIES = "several attempts at a task: they are not independent"
# So many pairs are shown beside each other; of more, those of the agent with the highest value.
MOST_PAIRS = 15
Flip = Literal["won", "lost", "both_pass", "both_fail"]


@dataclass(frozen=True)
class AgentValue:
    """One agent on the measure; ``wald`` is undefined for means."""

    run: ChosenRun
    value: Estimate
    wald: Estimate

    @property
    def link(self) -> Link:
        return Link(runs=(self.run.pk,))


@dataclass(frozen=True)
class ComparisonData:
    """The values of every trajectory on a measure, and what is known of the measure."""

    runs: tuple[ChosenRun, ...]
    frame: "DataFrame"
    metric: str
    measure: Measure
    titles: Mapping[str, str]
    scale: Scale
    against: str
    among: int
    system: str
    with_published: bool

    @property
    def is_rate(self) -> bool:
        return self.measure.in_percent

    @property
    def is_headline(self) -> bool:
        """Return whether agents are ranked by the measure, so that more of it is better."""
        return self.metric in find_system(self.system).labels.headlines[:1]

    @property
    def more_is_better(self) -> bool:
        return self.is_rate or self.is_headline

    @property
    def dimension(self) -> str:
        """The measure, where it is a dimension of the rubric."""
        return self.metric if self.metric in known_dimensions(self.system) else ""

    @property
    def unit(self) -> Unit:
        if self.is_rate:
            return "share"
        return "percent" if self.measure.kind == "percent" else "number"


@dataclass(frozen=True)
class RunPair:
    """Two agents, compared, with their runs."""

    data: ComparisonData
    pair: ModelPair
    first: ChosenRun
    second: ChosenRun

    @property
    def name(self) -> str:
        return f"{self.pair.first} − {self.pair.second}"

    @property
    def tested(self) -> bool:
        return self.pair.comparison.p_value is not None

    @property
    def difference(self) -> Estimate:
        """The first minus the second."""
        return self.pair.comparison.difference

    @property
    def higher(self) -> str:
        return self.pair.first if (self.difference.value or 0) >= 0 else self.pair.second

    @property
    def lower(self) -> str:
        return self.pair.second if (self.difference.value or 0) >= 0 else self.pair.first

    @property
    def lead(self) -> Estimate:
        """The higher one minus the lower one."""
        value = self.difference.value or 0
        return self.difference if value >= 0 else turned_estimate(self.difference)

    @property
    def link(self) -> Link:
        return Link(url=self.flips())

    def flips(self, flip: Flip | None = None) -> str:
        """Return where the tasks behind the pair are: all, or those of one outcome."""
        query: dict[str, str] = {"flip": flip} if flip else {}
        if not self.data.is_rate:  # where they are furthest apart is what one wants to read
            query["sort"] = {"won": "difference", "lost": "-difference"}.get(flip or "", "size")
        return addresses.side_by_side(self.first, self.second, self.data.metric, **query)


@dataclass(frozen=True)
class ComparisonResult:
    """All pairs of agents, their ranks and values; agents from the highest to the lowest value."""

    data: ComparisonData
    agents: tuple[AgentValue, ...]
    comparisons: ModelComparisons

    @property
    def known(self) -> list[AgentValue]:
        """The agents whose value is defined."""
        return [one for one in self.agents if one.value.value is not None]

    @property
    def every_pair(self) -> list[RunPair]:
        return self._with_runs(self.comparisons.pairs)

    @property
    def pairs(self) -> list[RunPair]:
        """The pairs of the table: all, or every other agent minus the one that was asked for."""
        against = self.data.against
        return self._with_runs(
            self.comparisons.against(against) if against else self.comparisons.pairs
        )

    @property
    def drawn(self) -> list[RunPair]:
        """The pairs that figures have room for."""
        pairs = self.pairs
        if self.data.against or len(pairs) <= MOST_PAIRS:
            return pairs
        best = self.agents[0].run.label
        return [one for one in pairs if best in (one.pair.first, one.pair.second)]

    @property
    def of_the_best(self) -> bool:
        """Return whether figures show the pairs of the agent with the highest value alone."""
        return len(self.drawn) < len(self.pairs)

    @property
    def tested(self) -> list[RunPair]:
        return [one for one in self.pairs if one.tested]

    @property
    def clear(self) -> list[RunPair]:
        return [one for one in self.tested if one.pair.clear]

    @property
    def clearly_higher(self) -> int:
        """The number of agents that are clearly higher than the one that was asked for."""
        return sum((one.difference.value or 0) > 0 for one in self.clear)

    @property
    def clearly_lower(self) -> int:
        return len(self.clear) - self.clearly_higher

    @property
    def headline(self) -> RunPair:
        """The pair to name: the two best, or the one furthest from the agent asked for."""
        if self.data.against:
            return max(self.tested, key=lambda one: abs(one.difference.value or 0))
        best = {one.run.label for one in self.known[:2]}
        two = (one for one in self.tested if {one.pair.first, one.pair.second} == best)
        return next(two, self.tested[0])

    @property
    def to_read(self) -> RunPair | None:
        """The pair that the answer names, to read its tasks; None where none was tested."""
        return self.headline if self.tested else None

    @property
    def corrected(self) -> int:
        """The number of pairs over which intervals and p-values are corrected."""
        return self.comparisons.family.size

    @property
    def binary(self) -> bool:
        """Return whether any pair has a table of who succeeds where."""
        return any(pair.comparison.table is not None for pair in self.comparisons.pairs)

    @property
    def ranks(self) -> list[tuple[AgentValue, PairwiseRank | None]]:
        found = {rank.model: rank for rank in self.comparisons.ranks}
        return [(one, found.get(one.run.label)) for one in self.agents]

    @property
    def some_recorded(self) -> bool:
        return any(one.run.agent_kind == "recorded" for one in self.agents)

    @property
    def made_otherwise(self) -> list[str]:
        """The agents that were made or judged otherwise than most."""
        kinds: dict[tuple[str, ...], list[str]] = {}
        for run in self.data.runs:
            kinds.setdefault(signature(run), []).append(run.label)
        usual = max(kinds.values(), key=len)
        return [label for labels in kinds.values() if labels is not usual for label in labels]

    @property
    def intervals_of_values(self) -> str:
        return how_interval([one.value for one in self.agents])

    @property
    def intervals_of_differences(self) -> str:
        return how_interval([one.difference for one in self.pairs])

    @property
    def left_out(self) -> Mapping[str, int]:
        return exclusions([one.value for one in self.agents])

    def _with_runs(self, pairs: Sequence[ModelPair]) -> list[RunPair]:
        runs = {run.label: run for run in self.data.runs}
        return [RunPair(self.data, pair, runs[pair.first], runs[pair.second]) for pair in pairs]


def read_values(selection: Selection) -> ComparisonData:
    """Read the values of the runs of a selection on its measure."""
    metric, system = selection.filters.measure, selection.system
    labels = {run.agent: run.label for run in selection.runs}
    return ComparisonData(
        selection.runs,
        measure_frame(selection.runs, metric, system),
        metric,
        measures_here(system)[metric],
        system_facts.titles_of(system),
        scale_of(system, metric),
        labels.get(selection.filters.against, ""),
        selection.agents_here,
        system,
        selection.filters.published != "hide",
    )


def compare(data: ComparisonData) -> ComparisonResult:
    """Estimate every agent's value, and compare all pairs on the tasks that both have."""
    frame, metric = data.frame, data.metric
    agents = sorted(
        (_value(run, data) for run in data.runs),
        key=lambda one: (one.value.value is None, -(one.value.value or 0), one.run.label),
    )
    places = {one.run.label: place for place, one in enumerate(agents)}
    frame = frame.assign(place=frame["label"].map(places)).sort_values("place", kind="stable")
    low, high = data.scale
    return ComparisonResult(
        data,
        tuple(agents),
        compare_models(
            frame["label"].tolist(),
            frame["task"].tolist(),
            frame[metric].to_numpy(),
            measure=data.measure.title,
            among=data.among,
            most=None if high is None or low is None else high - low,
        ),
    )


def scale_of(system: str, metric: str) -> Scale:
    """Return the least and the largest value of a measure; None for an end that it lacks."""
    if metric in known_dimensions(system):
        return system_facts.RUBRIC_SCALE
    # Rewards of trajectories made elsewhere may be below 0.
    return OPEN_SCALE if system == EXTERNAL else (0, measures_here(system)[metric].most)


def _value(run: ChosenRun, data: ComparisonData) -> AgentValue:
    mine = data.frame[data.frame["run"] == run.pk]
    left = Counter(unfinished(run))
    for why, count in why_undefined(mine, data.metric).items():
        left[system_facts.in_words(why, data.titles)] += count
    excluded = dict(left.most_common())
    known = mine[mine[data.metric].notna()]
    values, tasks = known[data.metric].to_numpy(), known["task"].tolist()
    once = len(set(tasks)) == len(tasks)
    if not tasks:
        nothing = Estimate.without_value(next(iter(excluded), "no values"), excluded=excluded)
        return AgentValue(run, nothing, nothing)
    rate = data.measure.kind == "rate"
    value = measure_mean(values, tasks, rate=rate, scale=data.scale, excluded=excluded)
    if not rate:
        return AgentValue(run, value, Estimate.without_value("a mean, no share"))
    wald = (
        share(int(values.sum()), len(values), method="wald")
        if once
        else Estimate.without_value(SEVERAL_TRIES)
    )
    return AgentValue(run, value, wald)
