"""The data of the page on thresholds: accuracy and order of the agents at every threshold."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import unfinished
from analysis.frames.scores import LastPlans, last_plans
from analysis.reports import system_facts
from analysis.reports.content import how_interval
from analysis.reports.published import published_estimate
from analysis.stats.comparison.ranks import reversed_pairs
from analysis.stats.comparison.thresholds import (
    REFERENCE,
    THRESHOLDS,
    RankOrder,
    Reversal,
    StabilityPoint,
    ThresholdCurve,
    ThresholdPoint,
    ThresholdStability,
    ThresholdSweep,
    clear_reversals,
    sweep_of_estimates,
    threshold_stability,
    threshold_sweep,
)
from analysis.stats.results import Estimate
from benchmarks.core.registry import SYSTEMS, get_system

SEED = 20250101
NEARLY = 1e-9


@dataclass(frozen=True)
class SweepsData:
    """The last plans of the runs, and which dimensions may count and do."""

    runs: tuple[ChosenRun, ...]
    plans: LastPlans
    sets: Mapping[str, Sequence[str]]
    chosen: str
    asked_for: bool
    reference: float
    system: str
    with_published: bool
    agents: int


@dataclass(frozen=True)
class SweepsResult:
    """The sweep with each set of dimensions, and the published one."""

    data: SweepsData
    by_set: Mapping[str, ThresholdSweep]
    published: ThresholdSweep | None

    @property
    def here(self) -> ThresholdSweep:
        """The sweep that is shown."""
        return self.by_set[self.data.chosen]

    @property
    def runs(self) -> Mapping[str, ChosenRun]:
        return {run.label: run for run in self.data.runs}

    @property
    def first_threshold(self) -> float:
        return self.here.thresholds[0]

    @property
    def last_threshold(self) -> float:
        return self.here.thresholds[-1]

    @property
    def known(self) -> list[ThresholdCurve]:
        """The agents whose accuracy is defined."""
        return [one for one in self.here.curves if one.points[0].accuracy.value is not None]

    @property
    def why_undefined(self) -> list[str]:
        return sorted({why for one in self.here.curves for why in one.points[0].accuracy.excluded})

    @property
    def first_accuracy(self) -> Estimate:
        """The first agent's accuracy at the lowest threshold."""
        return self.known[0].points[0].accuracy

    @property
    def last_accuracy(self) -> Estimate:
        return self.known[0].points[-1].accuracy

    @property
    def _others(self) -> list[RankOrder]:
        """The orders at other thresholds than the reference."""
        return [order for order in self.here.orders if order.threshold != self.here.reference]

    @property
    def ordered(self) -> list[RankOrder]:
        """The other thresholds at which any two agents differ."""
        return [order for order in self._others if order.kendall is not None]

    @property
    def others(self) -> int:
        """The number of thresholds besides the reference."""
        return len(self._others)

    @property
    def without_order(self) -> int:
        """The number of thresholds at which no two agents differ."""
        return len(self._others) - len(self.ordered)

    @property
    def swapped(self) -> list[RankOrder]:
        """The thresholds at which any pair of agents is ordered oppositely to the reference."""
        return [order for order in self.ordered if order.reversed_pairs]

    @property
    def only_ties(self) -> bool:
        """Return whether agents are tied at one threshold and not at another."""
        return any((order.kendall or 0) < 1 - NEARLY for order in self.ordered)

    @cached_property
    def reversals(self) -> tuple[Reversal, ...]:
        """The pairs of agents that clearly swap order compared with the reference."""
        data = self.data
        counted = data.plans.counted(data.sets[data.chosen])
        return clear_reversals(
            data.plans.labels,
            data.plans.tasks,
            data.plans.valid,
            counted,
            self.here,
            among=data.agents,
        )

    @property
    def counted_otherwise(self) -> list[str]:
        """The agents whose runs counted other dimensions, where nobody asked for these."""
        return [
            run.label
            for run in self.data.runs
            if not self.data.asked_for and run.settings.get("dimensions", "all") != self.data.chosen
        ]

    @property
    def one_judge_enough(self) -> list[str]:
        """The agents in whose runs one judge was enough for a score."""
        return [run.label for run in self.data.runs if run.settings.get("quorum") == "any"]

    @property
    def left_out(self) -> Mapping[str, int]:
        left: Counter[str] = Counter()
        for curve in self.here.curves:
            left.update(curve.points[0].accuracy.excluded)
        for run in self.data.runs:
            left.update(unfinished(run))
        return left

    @property
    def intervals(self) -> str:
        return how_interval([curve.points[0].accuracy for curve in self.here.curves])

    @property
    def both_sets(self) -> list["AgentInSets"]:
        """Each agent at the reference by all dimensions and by the main ones, if there are any."""
        if len(self.by_set) < 2:
            return []
        sweeps = [self.by_set[name] for name in ("all", "main")]
        at = sweeps[0].thresholds.index(sweeps[0].reference)
        points = [{one.model: one.points[at] for one in sweep.curves} for sweep in sweeps]
        return [
            AgentInSets(self.runs[name], points[0][name], points[1][name]) for name in points[0]
        ]

    @property
    def turned_by_set(self) -> tuple[int, int]:
        """The number of pairs of agents that stand the other way round by main dimensions, of
        how many.
        """
        rows = self.both_sets
        return reversed_pairs(
            [row.all.accuracy.value for row in rows], [row.main.accuracy.value for row in rows]
        )


@dataclass(frozen=True)
class AgentInSets:
    """An agent at the reference threshold, by all dimensions and by the main ones alone."""

    run: ChosenRun
    all: ThresholdPoint
    main: ThresholdPoint


def read_plans(selection: Selection) -> SweepsData:
    """Read the last plans of a selection's runs with their scores."""
    sets = dimension_sets(selection.system)
    usual = Counter(str(run.settings.get("dimensions", "all")) for run in selection.runs)
    name = selection.filters.counted
    if name not in sets:
        name = usual.most_common(1)[0][0]
    return SweepsData(
        selection.runs,
        last_plans(selection.runs, sets["all"]),
        sets,
        name if name in sets else "all",
        selection.filters.counted != "",
        _reference(selection.runs),
        selection.system,
        selection.filters.published != "hide",
        selection.agents_here,
    )


def dimension_sets(system: str) -> dict[str, tuple[str, ...]]:
    """Return the dimensions that may count: all of them, or the main ones."""
    known = system_facts.dimensions_of(system)
    main = tuple(d.key for d in known if d.main)
    return {"all": tuple(d.key for d in known), **({"main": main} if main else {})}


def _reference(runs: Sequence[ChosenRun]) -> float:
    """Return the threshold of most runs, where it is one of those varied."""
    usual = Counter(run.settings.get("tau", REFERENCE) for run in runs).most_common(1)[0][0]
    return float(usual) if usual in THRESHOLDS else REFERENCE


def compute(data: SweepsData) -> SweepsResult:
    """Vary the threshold, with each set of dimensions that may count."""
    plans = data.plans
    by_set = {
        name: threshold_sweep(
            plans.labels, plans.valid, plans.counted(keys), reference=data.reference
        )
        for name, keys in data.sets.items()
    }
    published = published_sweep(data.system) if data.with_published else None
    return SweepsResult(data, by_set, published)


def published_sweep(system: str) -> ThresholdSweep | None:
    """Return the published accuracies by threshold, with the Wilson intervals of their n."""
    entries = get_system(system).published if system in SYSTEMS else ()
    found: dict[str, dict[float, Estimate]] = {}
    for entry in entries:
        if entry.metric.startswith("accurate@tau=") and entry.n:
            tau = float(entry.metric.removeprefix("accurate@tau="))
            found.setdefault(entry.model, {})[tau] = published_estimate(entry, is_rate=True)
    whole = {model: by for model, by in found.items() if set(by) == set(THRESHOLDS)}
    if not whole:
        return None
    return sweep_of_estimates(
        {model: [by[tau] for tau in THRESHOLDS] for model, by in whole.items()}
    )


@dataclass(frozen=True)
class StabilityResult:
    """The stability of the order at each threshold, when tasks are drawn anew."""

    data: SweepsData
    found: ThresholdStability

    @property
    def models(self) -> list[str]:
        points = self.found.points
        return [rank.model for rank in points[0].ranks] if points else []

    @property
    def others(self) -> list[StabilityPoint]:
        """The thresholds whose order could be compared with that at the reference."""
        return [
            point
            for point in self.found.points
            if point.kendall.value is not None and point.threshold != self.found.reference
        ]

    @property
    def unsure(self) -> int:
        """At how many of them the interval of tau-b does not exclude 0: the order may be luck."""
        return sum(not point.kendall.is_clear for point in self.others)

    @property
    def intervals(self) -> str:
        return how_interval([point.kendall for point in self.found.points])


def compute_stability(selection: Selection) -> StabilityResult:
    """Rank the agents at every threshold, and draw tasks anew to compare the orders."""
    data = read_plans(selection)
    plans = data.plans
    found = threshold_stability(
        plans.labels,
        plans.tasks,
        plans.valid,
        plans.counted(data.sets[data.chosen]),
        reference=data.reference,
        among=selection.agents_here,
        seed=SEED,
    )
    return StabilityResult(data, found)
