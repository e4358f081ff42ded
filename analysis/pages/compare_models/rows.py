"""What the page that compares agents knows: pairs, ranks and shares on one measure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from analysis.browser.comparison.run_measures import known_dimensions
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.measures import measure_frame, measures_here
from analysis.frames.outcomes import unfinished, why_undefined
from analysis.reports import common
from analysis.reports.formatting import Unit, ends, level, number, plural
from analysis.stats.comparison.model_comparisons import ModelComparisons, ModelPair, compare_models
from analysis.stats.descriptive.means import OPEN_SCALE, Scale, mean_by_cluster, mean_t
from analysis.stats.descriptive.proportions import share
from analysis.stats.descriptive.trials import success_rate
from analysis.stats.results import Estimate
from benchmarks.core.labels import Measure
from benchmarks.core.registry import EXTERNAL

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20250101
SEVERAL_TRIES = "several attempts at a task: they are not independent"
Flip = Literal["won", "lost", "both_pass", "both_fail"]


@dataclass(frozen=True)
class Standing:
    """One agent on the measure; ``wald`` is undefined for means."""

    run: ChosenRun
    value: Estimate
    wald: Estimate


@dataclass(frozen=True)
class Compared:
    """Everything that the page shows; agents from the highest value to the lowest."""

    measure: Measure
    metric: str
    against: str
    runs: Mapping[str, ChosenRun]
    standings: tuple[Standing, ...]
    comparisons: ModelComparisons

    @property
    def pairs(self) -> Sequence[ModelPair]:
        """The pairs that are shown: all, or every other agent minus the one that was asked for."""
        return self.comparisons.against(self.against) if self.against else self.comparisons.pairs

    @property
    def is_rate(self) -> bool:
        return self.measure.kind == "rate"

    @property
    def unit(self) -> Unit:
        return "share" if self.is_rate else "number"

    @property
    def binary(self) -> bool:
        """Whether any pair has a table of who succeeds where."""
        return any(pair.comparison.table is not None for pair in self.comparisons.pairs)

    @property
    def family(self) -> str:
        """The correction and its family in a few words."""
        size = self.comparisons.family.size
        return f"Bonferroni over {size:,} pairs" if size > 1 else "one pair"

    def flips(self, pair: ModelPair, flip: Flip | None = None) -> str:
        """Where the tasks behind a pair are."""
        query: dict[str, str] = {"flip": flip} if flip else {}
        if not self.is_rate:  # where they are furthest apart is what one wants to read
            query["sort"] = {"won": "difference", "lost": "-difference"}.get(flip or "", "size")
        return common.side_by_side(
            self.runs[pair.first], self.runs[pair.second], self.metric, **query
        )


def compared(selection: Selection) -> Compared:
    """The agents of the selection on its measure."""
    metric = selection.filters.measure
    measure = measures_here(selection.system)[metric]
    frame = measure_frame(selection.runs, metric, selection.system)
    titles = common.titles_of(selection.system)
    found = [
        _standing(run, frame, metric, measure, titles, scale_of(selection.system, metric))
        for run in selection.runs
    ]
    standings = sorted(
        found, key=lambda one: (one.value.value is None, -(one.value.value or 0), one.run.label)
    )
    places = {one.run.label: place for place, one in enumerate(standings)}
    frame = frame.assign(place=frame["label"].map(places)).sort_values("place", kind="stable")
    columns = (frame["label"].tolist(), frame["task"].tolist(), frame[metric].to_numpy())
    labels = {run.agent: run.label for run in selection.runs}
    low, high = scale_of(selection.system, metric)
    against = labels.get(selection.filters.against, "")
    return Compared(
        measure,
        metric,
        against,
        {run.label: run for run in selection.runs},
        tuple(standings),
        compare_models(
            *columns,
            measure=measure.title,
            among=selection.agents_here,
            most=None if high is None or low is None else high - low,
        ),
    )


def scale_of(system: str, metric: str) -> Scale:
    """The least and the largest value of a measure: those of the rubric, or from 0 on."""
    if metric in known_dimensions(system):
        return common.RUBRIC_SCALE
    # Rewards of trajectories made elsewhere may be below 0.
    return OPEN_SCALE if system == EXTERNAL else (0, None)


def _standing(
    run: ChosenRun,
    frame: "DataFrame",
    metric: str,
    measure: Measure,
    titles: Mapping[str, str],
    scale: Scale,
) -> Standing:
    mine = frame[frame["run"] == run.pk]
    left = Counter(unfinished(run))
    for why, count in why_undefined(mine, metric).items():
        left[common.in_words(why, titles)] += count
    excluded = dict(left.most_common())
    known = mine[mine[metric].notna()]
    values, tasks = known[metric].to_numpy(), known["task"].tolist()
    once = len(set(tasks)) == len(tasks)
    if not tasks:
        nothing = Estimate.without_value(next(iter(excluded), "no values"), excluded=excluded)
        return Standing(run, nothing, nothing)
    if measure.kind == "rate":
        value = success_rate(values, tasks, excluded=excluded)
        wald = (
            share(int(values.sum()), len(values), method="wald")
            if once
            else Estimate.without_value(SEVERAL_TRIES)
        )
        return Standing(run, value, wald)
    value = (
        mean_t(values, excluded=excluded, scale=scale)
        if once
        else mean_by_cluster(values, tasks, excluded=excluded, scale=scale)
    )
    return Standing(run, value, Estimate.without_value("a mean, no share"))


def difference_words(estimate: Estimate, is_rate: bool) -> str:
    """A difference as "8.1 points (95 % interval 3.2 to 12.9, n = 240 tasks"; left open."""
    value = estimate.value or 0.0
    if is_rate:
        text = f"{number(100 * abs(value), 'number').removesuffix('.00')} points"
    else:
        text = number(abs(value), "number")
    inside = f"n = {plural(estimate.n, 'task')}"
    if estimate.interval is not None:
        sides = ends(estimate.interval, "share" if is_rate else "number").removesuffix(" %")
        inside = f"{level(estimate.interval)} interval {sides}, {inside}"
    return f"{text} ({inside}"


def p_text(p: float | None) -> str:
    """A p-value as it is printed: three decimals, or that it is smaller."""
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_words(p: float) -> str:
    """A p-value in a sentence: p = 0.012, p < 0.001."""
    return f"p {'' if p < 0.001 else '= '}{p_text(p)}"


def shown_pairs(found: Compared, most: int) -> tuple[Sequence[ModelPair], str]:
    """The pairs that figures have room for, and what they are: all, or those of one agent."""
    pairs = found.pairs
    if found.against:
        return pairs, f"Every other agent minus {found.against}"
    if len(pairs) <= most:
        return pairs, "Every pair"
    first = found.standings[0].run.label
    mine = [pair for pair in pairs if first in (pair.first, pair.second)]
    return mine, f"{first}, which has the highest value, minus each of the others"
