"""The data of the effects page: a measure under every value of a factor, and the differences."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.filters.page_filters import measures_here
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.scores import measure_frame
from analysis.pages.comparisons import scale_of
from analysis.reports.formatting import Unit, unit_of_differences
from analysis.stats.comparison.condition_effects import ConditionEffects, condition_effects
from analysis.stats.comparison.logit_gee import OddsRatios, odds_ratios
from analysis.stats.descriptive.means import Scale
from analysis.stats.results import Estimate
from benchmarks.core.ports.comparisons import Factor
from benchmarks.core.ports.labels import Measure

if TYPE_CHECKING:
    from pandas import DataFrame


class Varied(NamedTuple):
    """Runs that differ in one factor, and their values on a measure.

    ``runs`` are those of agents with two values or more, where there are any; ``alone`` are the
    other agents. ``everybody`` has the runs of both by agent and title of the value, and ``titles``
    the values that they have, in their order.
    """

    factor: Factor
    metric: str
    measure: Measure
    unit: Unit
    scale: Scale
    titles: dict[Any, str]
    everybody: dict[tuple[str, str], ChosenRun]
    runs: list[ChosenRun]
    alone: list[str]
    frame: "DataFrame"
    among: int

    def runs_of(self, agent: str) -> list[ChosenRun]:
        """Return the runs of an agent, one for each value that it has."""
        return [run for (label, _), run in self.everybody.items() if label == agent]

    def further_pairs(self) -> list[tuple[str, str]]:
        """Return the pairs of values that are compared beside the usual ones: new, old."""
        return [
            (title_of(self.factor, new).lower(), title_of(self.factor, old).lower())
            for old, new in self.factor.pairs
        ]


class MeanChange(NamedTuple):
    """What the factor changes from one value to another, over all agents."""

    base: str
    condition: str
    estimate: Estimate


def read_values(selection: Selection, factor: Factor) -> Varied:
    """Read the values of the runs of the selection on its measure."""
    metric = selection.filters.measure
    measure = measures_here(selection.system)[metric]
    everybody = [run for run in selection.runs if run.value is not None]
    values: dict[str, set[Any]] = {}
    for run in everybody:
        values.setdefault(run.label, set()).add(run.value)
    alone = [label for label, own in values.items() if len(own) < 2]
    if len(alone) == len(values):  # nobody can be compared: show all
        alone = []
    runs = [run for run in everybody if run.label not in alone]
    titles = _titles_of(factor, [run.value for run in everybody])
    return Varied(
        factor,
        metric,
        measure,
        unit_of_differences(measure),
        scale_of(selection.system, metric),
        titles,
        {(run.label, titles[run.value]): run for run in everybody},
        runs,
        alone,
        measure_frame(runs, metric, selection.system),
        max(selection.compared, len({run.label for run in runs})),
    )


def compare_values(data: Varied, runs: Sequence[ChosenRun]) -> ConditionEffects | None:
    """Compare the values of the factor over some of the runs; None where nothing is known."""
    if not runs:
        return None
    factor, titles = data.factor, data.titles
    by_run = {run.pk: titles[run.value] for run in runs}
    frame = data.frame[data.frame["run"].isin(list(by_run))]
    return condition_effects(
        frame["label"].tolist(),
        [by_run[pk] for pk in frame["run"]],
        frame["task"].tolist(),
        frame[data.metric].to_numpy(),
        measure=data.measure.title,
        order=list(titles.values()),
        contrast="previous" if factor.steps else "baseline",
        among=data.among,
        scale=data.scale,
        pairs=[
            (titles[old], titles[new])
            for old, new in factor.pairs
            if old in titles and new in titles and old != next(iter(titles))
        ],
    )


def odds_of_success(data: Varied) -> OddsRatios | None:
    """Compare the odds over all agents; None where the measure is not 0 or 1."""
    frame, titles = data.frame, data.titles
    if data.measure.kind != "rate" or len(titles) < 2:
        return None
    if not frame[data.metric].dropna().isin((0, 1)).all():
        return None
    by_run = {run.pk: titles[run.value] for run in data.runs}
    return odds_ratios(
        frame[data.metric].to_numpy(dtype=float),
        [by_run[pk] for pk in frame["run"]],
        frame["label"].tolist(),
        frame["task"].tolist(),
        order=list(titles.values()),
    )


def mean_changes(effects: ConditionEffects | None) -> list[MeanChange]:
    """Return the mean changes over all agents that could be compared."""
    every = effects.overall.items() if effects is not None else ()
    return [MeanChange(base, condition, estimate) for (condition, base), estimate in every]


def title_of(factor: Factor, value: Any) -> str:
    """Return a value in words."""
    if value in factor.values:
        return factor.values[value].title
    return f"{value:g}" if isinstance(value, float) else str(value)


def _titles_of(factor: Factor, values: Iterable[Any]) -> dict[Any, str]:
    """Return the titles of values that occur, in the factor's order, others after them."""

    def place(value: Any) -> tuple[bool, float, str]:
        is_number = isinstance(value, int | float)
        return not is_number, float(value) if is_number else 0.0, str(value)

    there = set(values)
    known = [value for value in factor.values if value in there]
    others = sorted(there.difference(factor.values), key=place)
    return {value: title_of(factor, value) for value in [*known, *others]}
