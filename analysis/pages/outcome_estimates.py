"""A measure of trajectories with the interval that suits it, also where tasks were tried again."""

from collections import Counter
from typing import TYPE_CHECKING

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import unfinished, why_undefined
from analysis.reports.system_facts import in_words
from analysis.stats.comparison.paired import PairedTasks, pair_by_task
from analysis.stats.descriptive.means import Scale
from analysis.stats.descriptive.trials import measure_mean
from analysis.stats.results import Estimate
from benchmarks.core.ports.labels import Measure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pandas import DataFrame

NOTHING_HERE = "no task of this kind"


def left_out(
    run: ChosenRun, mine: "DataFrame", metric: str, titles: "Mapping[str, str] | None" = None
) -> dict[str, int]:
    """Count the trajectories of a run without a metric by reason, the most common first.

    ``mine`` are its rows of an outcome frame; ``titles`` put dimensions in words.
    """
    left = Counter(unfinished(run))
    for why, count in why_undefined(mine, metric).items():
        left[why if titles is None else in_words(why, titles)] += count
    return dict(left.most_common())


def pair_rows(first: "DataFrame", second: "DataFrame", metric: str) -> PairedTasks:
    """Match the rows of two sides by task, on one metric."""
    return pair_by_task(
        first["task"].tolist(), first[metric].to_numpy(),
        second["task"].tolist(), second[metric].to_numpy(),
    )  # fmt: skip


def estimate_measure(
    mine: "DataFrame",
    metric: str,
    measure: Measure,
    excluded: "Mapping[str, int] | None" = None,
    scale: Scale | None = None,
) -> Estimate:
    """Estimate one measure from rows of an outcome frame.

    Rates get Wilson's interval and other means Student's; where a task was tried several times,
    tasks are taken as independent instead of trajectories. ``excluded`` counts by reason what is
    left out, where that is more than the rows say; ``scale`` is by default 0 to the measure's most.
    """
    left = why_undefined(mine, metric) if excluded is None else excluded
    counts = dict(Counter(left).most_common())
    known = mine[mine[metric].notna()]
    if not len(known):
        return Estimate.without_value(next(iter(counts), NOTHING_HERE), excluded=counts)
    values, tasks = known[metric].to_numpy(), known["task"].tolist()
    return measure_mean(
        values,
        tasks,
        rate=measure.kind == "rate",
        scale=(0, measure.most) if scale is None else scale,
        excluded=counts,
    )
