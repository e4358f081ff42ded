"""The choice of judges: every panel that some judges can form, compared with people."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress
from typing import Any

import numpy as np

from analysis.stats.columns import Codes, Floats, as_column, as_floats, check_length_of, encode
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.descriptive.rates import ratio_of_totals
from analysis.stats.results import Estimate

MOST_JUDGES = 8
FEWEST_TASKS = 10
SHRUNK = "a judge's score is missing"
NO_PERSON = "no person scored it"
CHOSEN_ON = "on the tasks that panels were chosen by"
NOTHING = "no item has a readable score of every judge"
TOO_FEW = (
    "only {tasks} with a score of every judge and of people; choosing on one half and "
    "measuring on the other needs {least}"
)


@dataclass(frozen=True)
class CandidatePanel:
    """One panel: the mean of some judges.

    Attributes
    ----------
    chosen
        Mean of |panel − people| on the tasks to choose by; None where nobody can choose.
    error, bias
        The same, and the mean of panel − people, on the other tasks, in points.
    change
        error minus that of all judges together on the same items, paired: below 0 is nearer.
    distance
        Mean of |panel − mean of all judges| over all items: what is lost if all judges are right.
    cost
        Of its judges for one trajectory; None where that of one is not known.
    """

    judges: tuple[str, ...]
    chosen: float | None
    error: Estimate
    bias: Estimate
    change: Estimate
    distance: Estimate
    cost: float | None


@dataclass(frozen=True)
class PanelChoice:
    """All panels of some judges, the largest first.

    Attributes
    ----------
    best
        The panel with the smallest error on the tasks to choose by, the smaller of equal ones.
    items, complete, scored
        All items, those with a score of every judge, and of these those that people scored too.
    choosing, held_out
        Tasks to choose by, and tasks to measure on.
    """

    judges: tuple[str, ...]
    panels: tuple[CandidatePanel, ...]
    best: CandidatePanel | None
    items: int
    complete: int
    scored: int
    choosing: int
    held_out: int
    seed: int

    @property
    def full(self) -> CandidatePanel:
        """The panel of all judges together."""
        return self.panels[0]


def panel_choice(
    names: Sequence[str],
    scores: Any,
    people: Any,
    *,
    tasks: Sequence[Hashable],
    costs: Mapping[str, float] | None = None,
    seed: int,
    resamples: int = 1000,
    level: float = 0.95,
) -> PanelChoice:
    """Measure every panel of up to eight judges on tasks that it was not chosen by.

    Parameters
    ----------
    names
        The judges.
    scores
        n rows of one score per judge, an item (a turn on one dimension) each; None or NaN where
        there is none.
    people
        People's score of each item, or their mean; None or NaN where nobody gave one.
    tasks
        Task of each item.
    costs
        What each judge costs for one trajectory, where known.
    seed, resamples, level
        Of the division of tasks, and of the bootstrap.

    Raises
    ------
    ValueError
        If there is no judge or more than eight, a name occurs twice, or columns differ in length.

    Notes
    -----
    Over the items with a score of every judge, so that all panels are measured on the same. Tasks
    are divided in halves at random: on one the panel is chosen whose mean lies nearest to people,
    on the other all are measured, with intervals by task. The error on the half that one
    chose by is too small for the best of many, the more panels the more (Cawley & Talbot 2010, J.
    Mach. Learn. Res. 11:2079); that on the other half is not, for the panel chosen. Reading the
    smallest error off the other half would be choosing on it. Under 10 tasks with people's scores
    nobody can choose, and what depends on people is undefined; the distance from all judges is not.
    """
    table, people_scores = as_floats(scores), as_column(people)
    if not 0 < len(names) <= MOST_JUDGES:
        raise ValueError(f"panels are made of 1 to {MOST_JUDGES} judges, not of {len(names)}")
    if len(set(names)) < len(names):
        raise ValueError("a judge is named twice")
    if table.shape != (people_scores.size, len(names)):
        raise ValueError(
            f"{people_scores.size} items by {len(names)} judges expected, not {table.shape}"
        )
    check_length_of(tasks, people_scores.size, "tasks")
    complete: Any = ~np.isnan(table).any(axis=1)
    gone = int((~complete).sum())
    measure = _Measure(
        table[complete],
        people_scores[complete],
        tuple(compress(tasks, complete.tolist())),
        {SHRUNK: gone} if gone else {},
        seed,
        resamples,
        level,
    )
    wholes = range(len(names))
    subsets = [s for k in range(len(names), 0, -1) for s in combinations(wholes, k)]
    panels = tuple(
        replace(measure.panel(subset), judges=tuple(names[j] for j in subset),
                cost=_cost([names[j] for j in subset], costs or {}))
        for subset in subsets
    )  # fmt: skip
    known = [panel for panel in panels if panel.chosen is not None]
    best = min(known, key=lambda p: (round(p.chosen or 0.0, 9), len(p.judges)), default=None)
    return PanelChoice(
        judges=tuple(names), panels=panels, best=best, items=len(table),
        complete=int(complete.sum()), scored=int((~np.isnan(measure.people)).sum()),
        choosing=measure.count(measure.choosing), held_out=measure.count(measure.held),
        seed=seed,
    )  # fmt: skip


class _Measure:
    """The complete items, divided by task into those to choose by and those to measure on."""

    def __init__(
        self,
        table: Floats,
        people: Floats,
        tasks: Sequence[Hashable],
        excluded: Mapping[str, int],
        seed: int,
        resamples: int,
        level: float,
    ) -> None:
        self.table, self.people, self.tasks = table, people, list(tasks)
        self.excluded = dict(excluded)
        self.drawing: dict[str, Any] = {"seed": seed, "resamples": resamples, "level": level}
        self.full = table.mean(axis=1)
        scored = ~np.isnan(people)
        names, codes = encode(compress(tasks, scored.tolist()))
        halves = np.random.default_rng(seed).permutation(len(names)) % 2 == 0
        self.choosing, self.held = np.zeros_like(scored), np.zeros_like(scored)
        self.choosing[scored] = halves[codes]
        self.held[scored] = ~halves[codes]
        self.why = ""
        if len(names) < FEWEST_TASKS:
            tasks_in_words = f"{len(names)} task{'' if len(names) == 1 else 's'}"
            self.why = TOO_FEW.format(tasks=tasks_in_words, least=FEWEST_TASKS)
            self.choosing[:] = self.held[:] = False
        everyone, codes = encode(tasks)
        self.codes: Codes = codes
        self.sizes = np.bincount(codes, minlength=len(everyone))

    def count(self, kept: Any) -> int:
        """Return how many tasks the kept items belong to."""
        return len(set(compress(self.tasks, kept.tolist())))

    def panel(self, subset: Sequence[int]) -> CandidatePanel:
        """Return everything about one panel but its name and cost."""
        mean = self.table[:, list(subset)].mean(axis=1)
        gap = mean - self.people
        distance = self._by_task(np.abs(mean - self.full), np.ones(len(mean), dtype=bool))
        if self.why:
            nothing = Estimate.without_value(self.why, excluded=self.excluded)
            return CandidatePanel((), None, nothing, nothing, nothing, distance, None)
        chosen = float(np.abs(gap[self.choosing]).mean())
        change = np.abs(gap) - np.abs(self.full - self.people)
        return CandidatePanel(
            judges=(),
            chosen=chosen,
            error=self._by_task(np.abs(gap), self.held),
            bias=self._signed(gap),
            change=self._signed(change),
            distance=distance,
            cost=None,
        )

    def _signed(self, values: Floats) -> Estimate:
        clusters = list(compress(self.tasks, self.held.tolist()))
        return mean_by_cluster(
            values[self.held],
            clusters,
            excluded=self._left(self.held),
            level=self.drawing["level"],
        )

    def _by_task(self, values: Floats, kept: Any) -> Estimate:
        """Average values of 0 or more, summed by task first, because panels are many."""
        if not len(values):
            return Estimate.without_value(NOTHING, excluded=self.excluded)
        above = np.bincount(self.codes[kept], weights=values[kept], minlength=self.sizes.size)
        below = np.bincount(self.codes[kept], minlength=self.sizes.size)
        there = below > 0
        ratio = ratio_of_totals(
            above[there], below[there], np.flatnonzero(there).tolist(), level=self.drawing["level"]
        )
        return replace(ratio, n=int(below.sum()), excluded=self._left(kept))

    def _left(self, kept: Any) -> dict[str, int]:
        """Count what is left out of a measure on the kept items, by reason."""
        if kept.all():
            return self.excluded
        unrated = int(np.isnan(self.people).sum())
        rest = int((~kept).sum()) - unrated
        reasons = {**self.excluded, NO_PERSON: unrated, CHOSEN_ON: rest}
        return {reason: count for reason, count in reasons.items() if count}


def _cost(judges: Sequence[str], costs: Mapping[str, float]) -> float | None:
    if any(judge not in costs for judge in judges):
        return None
    return sum(costs[judge] for judge in judges)
