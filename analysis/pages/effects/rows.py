"""A measure under every value of what is varied, and what the change from one to the next is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.measures import measure_frame, measures_here
from analysis.frames.outcomes import unfinished, why_undefined
from analysis.pages.compare_models.rows import SEED, Flip, scale_of
from analysis.reports import common
from analysis.reports.formatting import Unit
from analysis.stats.comparison.condition_effects import (
    ConditionChange,
    ConditionEffects,
    condition_effects,
)
from analysis.stats.comparison.logit_gee import OddsRatios, odds_ratios
from benchmarks.core.comparisons import Factor
from benchmarks.core.labels import Measure
from benchmarks.core.published import Published
from benchmarks.core.registry import SYSTEMS, find_system, get_system


@dataclass(frozen=True)
class Effects:
    """What the page shows. ``titles`` names the values that runs have, in their order.

    ``effects`` is None where no run has the factor at all. It is about agents with two values or
    more, where there are any; ``alone`` are the others. ``odds`` are given for measures that are 0
    or 1.
    """

    factor: Factor
    measure: Measure
    metric: str
    titles: Mapping[Any, str]
    runs: Mapping[tuple[str, str], ChosenRun]
    effects: ConditionEffects | None
    left_out: Mapping[str, int]
    published: Mapping[str, Mapping[Any, Published]]
    alone: tuple[str, ...] = ()
    odds: OddsRatios | None = None

    @property
    def is_rate(self) -> bool:
        return self.measure.kind == "rate"

    @property
    def unit(self) -> Unit:
        return "share" if self.is_rate else "number"

    @property
    def agents(self) -> tuple[str, ...]:
        return self.effects.models if self.effects is not None else ()

    @property
    def varied(self) -> bool:
        """Whether there is anything to compare."""
        return len(self.titles) > 1

    @property
    def family(self) -> str:
        assert self.effects is not None
        size = self.effects.family.size
        return f"Bonferroni over {size:,} changes" if size > 1 else "one change"

    def flips(self, change: ConditionChange, flip: Flip | None = None) -> str:
        """Where the tasks behind a change are."""
        first = self.runs.get((change.model, change.condition))
        second = self.runs.get((change.model, change.base))
        if first is None or second is None:
            return ""
        return common.side_by_side(first, second, self.metric, **({"flip": flip} if flip else {}))


def factor_of(selection: Selection) -> Factor | None:
    """The factor that the selection was made for."""
    known = find_system(selection.system).comparisons.factors if selection.system else ()
    return next((one for one in known if one.name == selection.filters.factor), None)


def effects_of(selection: Selection, factor: Factor) -> Effects:
    """The runs of the selection by what is varied."""
    metric = selection.filters.measure
    measure = measures_here(selection.system)[metric]
    runs = [run for run in selection.runs if run.value is not None]
    titles = titles_of(factor, [run.value for run in runs])
    effects, odds, left = None, None, dict[str, int]()
    everybody, (runs, alone) = runs, _compared(runs)
    if runs:
        frame = measure_frame(runs, metric, selection.system)
        by_run = {run.pk: titles[run.value] for run in runs}
        words = common.titles_of(selection.system)
        for run in runs:
            for why, count in unfinished(run).items():
                left[why] = left.get(why, 0) + count
        for why, count in why_undefined(frame, metric).items():
            reason = common.in_words(why, words)
            left[reason] = left.get(reason, 0) + count
        effects = condition_effects(
            frame["label"].tolist(),
            [by_run[pk] for pk in frame["run"]],
            frame["task"].tolist(),
            frame[metric].to_numpy(),
            measure=measure.title,
            order=list(titles.values()),
            contrast="previous" if factor.steps else "baseline",
            among=max(selection.compared, len({run.label for run in runs})),
            scale=scale_of(selection.system, metric),
            pairs=[
                (titles[old], titles[new])
                for old, new in factor.pairs
                if old in titles and new in titles and old != next(iter(titles))
            ],
            seed=SEED,
        )
        known = frame[metric].dropna()
        if measure.kind == "rate" and len(titles) > 1 and known.isin((0, 1)).all():
            odds = odds_ratios(
                frame[metric].to_numpy(dtype=float),
                [by_run[pk] for pk in frame["run"]],
                frame["label"].tolist(),
                frame["task"].tolist(),
                order=list(titles.values()),
            )
    return Effects(
        factor,
        measure,
        metric,
        titles,
        {(run.label, titles[run.value]): run for run in everybody},
        effects,
        left,
        published_of(selection, factor, metric),
        alone,
        odds,
    )


def _compared(runs: list[ChosenRun]) -> tuple[list[ChosenRun], tuple[str, ...]]:
    """The runs of agents that can be compared with themselves, if any can; who cannot."""
    values: dict[str, set[Any]] = {}
    for run in runs:
        values.setdefault(run.label, set()).add(run.value)
    alone = tuple(label for label, those in values.items() if len(those) < 2)
    if len(alone) == len(values):
        return runs, ()
    return [run for run in runs if run.label not in alone], alone


def titles_of(factor: Factor, values: list[Any]) -> dict[Any, str]:
    """The values that occur, in the factor's order, others after them; each with its title."""
    there = list(dict.fromkeys(values))
    known = [value for value in factor.values if value in there]
    others = sorted((value for value in there if value not in factor.values), key=_place)
    return {value: title_of(factor, value) for value in [*known, *others]}


def _place(value: Any) -> tuple[bool, float, str]:
    is_number = isinstance(value, int | float)
    return not is_number, float(value) if is_number else 0.0, str(value)


def title_of(factor: Factor, value: Any) -> str:
    """A value in words."""
    if value in factor.values:
        return factor.values[value].title
    return f"{value:g}" if isinstance(value, float) else str(value)


def published_of(
    selection: Selection, factor: Factor, metric: str
) -> dict[str, dict[Any, Published]]:
    """The published figures on this factor and measure, by model and value."""
    if selection.filters.published == "hide" or selection.system not in SYSTEMS:
        return {}
    wanted = {name: value for (measure, value), name in factor.published.items()
              if measure == metric}  # fmt: skip
    found: dict[str, dict[Any, Published]] = {}
    for entry in get_system(selection.system).published:
        if entry.metric in wanted:
            found.setdefault(entry.model, {})[wanted[entry.metric]] = entry
    return found
