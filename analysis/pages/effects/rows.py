"""The data of the effects page: a measure under every value of a factor, and the differences."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.filters.page_filters import measures_here
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import unfinished, why_undefined
from analysis.frames.scores import measure_frame
from analysis.kit.links import Link
from analysis.pages.comparisons import scale_of
from analysis.reports import addresses, system_facts
from analysis.reports.content import how_interval
from analysis.reports.formatting import Unit
from analysis.stats.comparison.condition_effects import (
    ConditionChange,
    ConditionEffects,
    condition_effects,
)
from analysis.stats.comparison.logit_gee import OddsRatios, odds_ratios
from analysis.stats.results import Estimate
from benchmarks.core.ports.comparisons import Factor
from benchmarks.core.ports.labels import Measure
from benchmarks.core.ports.published import Published
from benchmarks.core.registry import SYSTEMS, find_system, get_system

if TYPE_CHECKING:
    from pandas import DataFrame

Scale = tuple[float | None, float | None]


# More would make the sentence too long to read.
MOVES_IN_WORDS = 2


@dataclass(frozen=True)
class EffectsData:
    """Runs that differ in one factor, and their values on a measure.

    ``runs`` are those of agents with two values or more, where there are any; ``alone`` are the
    other agents. ``everybody`` are the runs of both.
    """

    factor: Factor
    measure: Measure
    metric: str
    everybody: tuple[ChosenRun, ...]
    runs: tuple[ChosenRun, ...]
    alone: tuple[str, ...]
    frame: "DataFrame | None"
    words: Mapping[str, str]
    scale: Scale
    among: int
    only_scripts: bool
    published: Mapping[str, Mapping[Any, Published]]
    with_published: bool

    @property
    def titles(self) -> dict[Any, str]:
        """The values that runs have, in their order, with their titles."""
        return titles_of(self.factor, [run.value for run in self.everybody])


@dataclass(frozen=True)
class MeanChange:
    """The mean change from one value to another over all agents."""

    base: str
    condition: str
    estimate: Estimate

    @property
    def direction(self) -> int:
        value = self.estimate.value or 0.0
        return (value > 0) - (value < 0)

    @property
    def is_clear(self) -> bool:
        """Return whether the interval excludes 0."""
        interval = self.estimate.interval
        return interval is not None and not interval.low <= 0 <= interval.high


@dataclass(frozen=True)
class AgentEffect:
    """The change for one agent from one value of the factor to another."""

    effects: "EffectsResult"
    change: ConditionChange

    @property
    def difference(self) -> Estimate:
        return self.change.comparison.difference

    @property
    def tested(self) -> bool:
        return self.change.comparison.p_value is not None

    @property
    def link(self) -> Link:
        """The tasks behind the change."""
        return Link(url=self.flips())

    def flips(self, flip: str = "") -> str:
        """Return where the tasks behind the change are: all, or those of one outcome."""
        runs, change = self.effects.runs, self.change
        first = runs.get((change.model, change.condition))
        second = runs.get((change.model, change.base))
        if first is None or second is None:
            return ""
        more = {"flip": flip} if flip else {}
        return addresses.side_by_side(first, second, self.effects.data.metric, **more)


@dataclass(frozen=True)
class EffectsResult:
    """The effects of the factor.

    ``effects`` is None where no run has the factor at all. ``odds`` are given for measures that are
    0 or 1.
    """

    data: EffectsData
    effects: ConditionEffects | None
    odds: OddsRatios | None

    @property
    def factor(self) -> Factor:
        return self.data.factor

    @property
    def measure(self) -> Measure:
        return self.data.measure

    @property
    def is_rate(self) -> bool:
        return self.data.measure.in_percent

    @property
    def unit(self) -> Unit:
        if self.is_rate:
            return "share"
        return "percent" if self.measure.kind == "percent" else "number"

    @property
    def titles(self) -> Mapping[Any, str]:
        return self.data.titles

    @property
    def only_title(self) -> str:
        return next(iter(self.titles.values()))

    @property
    def runs(self) -> dict[tuple[str, str], ChosenRun]:
        """The runs by agent and title of the value."""
        titles = self.titles
        return {(run.label, titles[run.value]): run for run in self.data.everybody}

    @property
    def agents(self) -> tuple[str, ...]:
        return self.effects.models if self.effects is not None else ()

    @property
    def varied(self) -> bool:
        """Return whether there is anything to compare."""
        return len(self.titles) > 1

    @property
    def parameter_of_scripts(self) -> bool:
        """Return whether all agents are scripts, and the factor a parameter that scripts lack."""
        return self.factor.kind == "parameter" and self.data.only_scripts

    @property
    def changes(self) -> list[AgentEffect]:
        """The changes of all agents."""
        if self.effects is None or not self.varied:
            return []
        return [AgentEffect(self, change) for change in self.effects.changes]

    @property
    def tested(self) -> list[AgentEffect]:
        return [one for one in self.changes if one.tested]

    @property
    def clear(self) -> list[AgentEffect]:
        return [one for one in self.tested if one.change.clear]

    @property
    def largest(self) -> AgentEffect | None:
        """The largest of the clear changes, where several changes were tested."""
        if len(self.tested) < 2:
            return None
        return max(self.clear, key=lambda one: abs(one.difference.value or 0), default=None)

    @property
    def moves(self) -> list[MeanChange]:
        """The mean changes over all agents that are defined."""
        if self.effects is None:
            return []
        every = self.effects.overall.items()
        return [MeanChange(base, new, one) for (new, base), one in every if one.value is not None]

    @property
    def clear_moves(self) -> list[MeanChange]:
        """The mean changes whose interval excludes 0."""
        return [move for move in self.moves if move.is_clear]

    @property
    def moves_in_words(self) -> list[MeanChange]:
        """The mean changes that the sentence gives: those that the factor asks for by itself, then
        those that are clear, else all; at most two.
        """
        pairs = self.further_pairs
        asked = [m for m in self.moves if (m.condition.lower(), m.base.lower()) in pairs]
        others = self.clear_moves or ([] if asked else self.moves)
        return [*asked, *(move for move in others if move not in asked)][:MOVES_IN_WORDS]

    @property
    def more_moves(self) -> int:
        """The number of mean changes that the sentence leaves to the details."""
        return len(self.moves) - len(self.moves_in_words)

    @property
    def agents_each(self) -> int:
        """The number of agents that each mean change is over, if it is the same number; else 0."""
        counts = {move.estimate.n for move in self.moves}
        return counts.pop() if len(counts) == 1 else 0

    @property
    def family_size(self) -> int:
        return self.effects.family.size if self.effects is not None else 0

    @property
    def missing_runs(self) -> list[str]:
        """The agents that were not run under some value, with these values."""
        have = self.runs
        gone = (
            (agent, [t for t in self.titles.values() if (agent, t) not in have])
            for agent in self.agents
        )
        return [f"{agent} ({', '.join(titles)})" for agent, titles in gone if titles]

    @property
    def task_counts(self) -> tuple[int, int] | None:
        """The least and the largest number of tasks, where an agent's runs differ in it."""
        if self.effects is None or not self.varied:
            return None
        counts = [
            {cell.n for (one, _), cell in self.effects.cells.items() if one == agent and cell.n}
            for agent in self.agents
        ]
        if all(len(those) < 2 for those in counts):
            return None
        every = set().union(*counts)
        return min(every), max(every)

    @property
    def left_out(self) -> Mapping[str, int]:
        left: Counter[str] = Counter()
        if self.data.frame is None:
            return {}
        for run in self.data.runs:
            left.update(unfinished(run))
        for why, count in why_undefined(self.data.frame, self.data.metric).items():
            left[system_facts.in_words(why, self.data.words)] += count
        return dict(left)

    @property
    def intervals(self) -> str:
        """The methods of the intervals of values."""
        return how_interval(list(self.effects.cells.values())) if self.effects is not None else ""

    @property
    def change_intervals(self) -> str:
        return how_interval([one.difference for one in self.changes])

    @property
    def overall_intervals(self) -> str:
        return how_interval([move.estimate for move in self.moves])

    @property
    def odds_intervals(self) -> str:
        return how_interval(list(self.odds.ratios.values())) if self.odds is not None else ""

    @property
    def further_pairs(self) -> list[tuple[str, str]]:
        """The pairs of values that are compared beside the usual ones, new and old in words."""
        return [
            (title_of(self.factor, new).lower(), title_of(self.factor, old).lower())
            for old, new in self.factor.pairs
        ]


def factor_of(selection: Selection) -> Factor | None:
    """Return the factor that the selection was made for."""
    known = find_system(selection.system).comparisons.factors if selection.system else ()
    return next((one for one in known if one.name == selection.filters.factor), None)


def load_effects(selection: Selection, factor: Factor) -> EffectsData:
    """Load the values of the runs of the selection on its measure."""
    metric = selection.filters.measure
    everybody = [run for run in selection.runs if run.value is not None]
    runs, alone = _compared(everybody)
    return EffectsData(
        factor,
        measures_here(selection.system)[metric],
        metric,
        tuple(everybody),
        tuple(runs),
        alone,
        measure_frame(runs, metric, selection.system) if runs else None,
        system_facts.titles_of(selection.system),
        scale_of(selection.system, metric),
        selection.compared,
        {run.agent_kind for run in selection.runs} == {"scripted"},
        published_of(selection, factor, metric),
        selection.filters.published != "hide",
    )


def compute_effects(data: EffectsData) -> EffectsResult:
    """Compare the values of the factor, agent by agent, on the same tasks."""
    frame, titles = data.frame, data.titles
    effects = compare_values(data, data.runs)
    if frame is None or effects is None:
        return EffectsResult(data, None, None)
    odds = None
    known = frame[data.metric].dropna()
    if data.measure.kind == "rate" and len(titles) > 1 and known.isin((0, 1)).all():
        by_run = {run.pk: titles[run.value] for run in data.runs}
        odds = odds_ratios(
            frame[data.metric].to_numpy(dtype=float),
            [by_run[pk] for pk in frame["run"]],
            frame["label"].tolist(),
            frame["task"].tolist(),
            order=list(titles.values()),
        )
    return EffectsResult(data, effects, odds)


def compare_values(data: EffectsData, runs: Sequence[ChosenRun]) -> ConditionEffects | None:
    """Compare the values of the factor over some of the runs; None where nothing is known."""
    by_run = {run.pk: data.titles[run.value] for run in runs}
    if data.frame is None or not runs:
        return None
    factor, titles = data.factor, data.titles
    frame = data.frame[data.frame["run"].isin(list(by_run))]
    return condition_effects(
        frame["label"].tolist(),
        [by_run[pk] for pk in frame["run"]],
        frame["task"].tolist(),
        frame[data.metric].to_numpy(),
        measure=data.measure.title,
        order=list(titles.values()),
        contrast="previous" if factor.steps else "baseline",
        among=max(data.among, len({run.label for run in data.runs})),
        scale=data.scale,
        pairs=[
            (titles[old], titles[new])
            for old, new in factor.pairs
            if old in titles and new in titles and old != next(iter(titles))
        ],
    )


def _compared(runs: Sequence[ChosenRun]) -> tuple[Sequence[ChosenRun], tuple[str, ...]]:
    """Return the runs of agents that can be compared with themselves, if any can; who cannot."""
    values: dict[str, set[Any]] = {}
    for run in runs:
        values.setdefault(run.label, set()).add(run.value)
    alone = tuple(label for label, those in values.items() if len(those) < 2)
    if len(alone) == len(values):
        return runs, ()
    return [run for run in runs if run.label not in alone], alone


def titles_of(factor: Factor, values: list[Any]) -> dict[Any, str]:
    """Return the values that occur, in the factor's order, others after them; each with its
    title.
    """
    there = list(dict.fromkeys(values))
    known = [value for value in factor.values if value in there]
    others = sorted((value for value in there if value not in factor.values), key=_place)
    return {value: title_of(factor, value) for value in [*known, *others]}


def _place(value: Any) -> tuple[bool, float, str]:
    is_number = isinstance(value, int | float)
    return not is_number, float(value) if is_number else 0.0, str(value)


def title_of(factor: Factor, value: Any) -> str:
    """Return a value in words."""
    if value in factor.values:
        return factor.values[value].title
    return f"{value:g}" if isinstance(value, float) else str(value)


def published_of(
    selection: Selection, factor: Factor, metric: str
) -> dict[str, dict[Any, Published]]:
    """Return the published figures on this factor and measure, by model and value."""
    if selection.filters.published == "hide" or selection.system not in SYSTEMS:
        return {}
    wanted = {name: value for (measure, value), name in factor.published.items()
              if measure == metric}  # fmt: skip
    found: dict[str, dict[Any, Published]] = {}
    for entry in get_system(selection.system).published:
        if entry.metric in wanted:
            found.setdefault(entry.model, {})[wanted[entry.metric]] = entry
    return found
