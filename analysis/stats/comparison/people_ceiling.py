"""Somebody who takes people's place, held against how far people differ among themselves.

A user simulator need not be closer to people than one of them is to the others. Comparing users
that models play with people on several measures follows arXiv 2603.11245; the ceiling here is that
of a further person from the same population.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, as_column, check_length_of, check_level, encode
from analysis.stats.descriptive.means import mean_t, t_quantile
from analysis.stats.results import Estimate

# With fewer, neither a difference nor how far people differ is stated.
FEWEST_PEOPLE, FEWEST_TASKS = 2, 5
NO_VALUE = "no value of {who}"
FEW_PEOPLE = "{n} on the same tasks; at least 2 people are needed"
FEW_TASKS = "{n} in common; at least 5 tasks are needed"
ALL_ALIKE = "people do not differ here, so there is nothing to hold it against"


@dataclass(frozen=True, eq=False)
class PlayedColumns:
    """What happened when somebody took the user's part, a row for each trajectory.

    Attributes
    ----------
    who
        The person, or None for whoever is held against people.
    agents, tasks
        Values are compared between trajectories of one agent at one task alone.
    values
        By measure: a column of numbers; None and NaN are missing.
    """

    who: Sequence[Hashable | None]
    agents: Sequence[Hashable]
    tasks: Sequence[Hashable]
    values: Mapping[str, Any]


@dataclass(frozen=True)
class MeasureGap:
    """One measure of somebody, held against people.

    Attributes
    ----------
    difference
        Its mean minus the people's, on the same agents and tasks; t interval over tasks, ``n``
        counts tasks.
    own, people
        The two means behind it.
    limit
        How far a further person's mean would be from these people's at most, at the family's
        level; ``n`` counts people who share at least 5 tasks with others.
    spread
        Standard deviation of people's trajectories.
    outside
        Whether the difference is beyond the limit; None where there is no limit.
    """

    difference: Estimate
    own: float | None
    people: float | None
    limit: Estimate
    spread: float | None
    outside: bool | None


@dataclass(frozen=True)
class PeopleCeiling:
    """All measures of somebody, held against people.

    Attributes
    ----------
    measures
        By name.
    distance
        Root mean square of the differences in standard deviations of people's trajectories, over
        the measures that have a limit; ``n`` counts those.
    limit
        How large the distance of a further person would be at most.
    people
        The distance of each person from the others, smallest first.
    outside
        Whether the distance is beyond the limit; None where there is none.
    """

    measures: Mapping[str, MeasureGap]
    distance: Estimate
    limit: Estimate
    people: tuple[float, ...]
    outside: bool | None


class _Blocks:
    """The values of one measure by agent and task, where both sides have any.

    ``own`` has a value per block, ``people`` a row for each of ``names``, NaN where they did not
    play;
    ``task_means`` averages blocks by task. ``raw`` are the values of people's trajectories.
    """

    def __init__(self, played: PlayedColumns, values: Any) -> None:
        column = as_column(values)
        for name, labels in (("who", played.who), ("agents", played.agents),
                             ("tasks", played.tasks)):  # fmt: skip
            check_length_of(labels, column.size, name)
        there = ~np.isnan(column)
        self.has_own = any(
            who is None and kept for who, kept in zip(played.who, there, strict=True)
        )
        blocks, codes = encode(zip(played.agents, played.tasks, strict=True))
        names, rows = encode(played.who)
        cells = rows * len(blocks) + codes
        size = len(names) * len(blocks)
        counts = np.bincount(cells[there], minlength=size)
        sums = np.bincount(cells[there], weights=column[there], minlength=size)
        means = np.full(size, np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        table = means.reshape(len(names), len(blocks))
        is_own = np.array([name is None for name in names], dtype=bool)
        self.has_own = bool((is_own[rows] & there).any())
        own = table[is_own][0] if is_own.any() else np.full(len(blocks), np.nan)
        people = table[~is_own]
        # People elsewhere are not compared with anybody here: the same tasks count for all.
        shared = ~np.isnan(own) & ~np.isnan(people).all(axis=0)
        played_here = ~np.isnan(people[:, shared]).all(axis=1)
        self.own, self.people = own[shared], people[:, shared][played_here]
        persons = [name for name in names if name is not None]
        self.names = [n for n, kept in zip(persons, played_here, strict=True) if kept]
        self.raw = column[there & shared[codes] & ~is_own[rows]]
        _, self._tasks = encode(
            task for (_, task), kept in zip(blocks, shared, strict=True) if kept
        )

    def task_means(self, values: Floats) -> Floats:
        """Return the means by task of a value per block, or of rows of them; NaN is left out."""
        there = ~np.isnan(values)
        # A column per task that is 1 in its blocks.
        member = np.eye(int(self._tasks.max(initial=-1)) + 1)[self._tasks]
        by_task, counts = np.where(there, values, 0.0) @ member, there @ member
        means = np.full(by_task.shape, np.nan)
        np.divide(by_task, counts, out=means, where=counts > 0)
        return means[..., ~np.isnan(means).all(axis=tuple(range(means.ndim - 1)))]

    def gap(self, person: int | None) -> tuple[Floats, Floats]:
        """Return, by task, how far somebody is from the others, and the others' weights in it."""
        mine = self.own if person is None else self.people[person]
        others = ~np.isnan(self.people)
        if person is not None:
            others[person] = False
        counts = others.sum(axis=0)
        sums = np.where(others, self.people, 0.0).sum(axis=0)
        here = (counts > 0) & ~np.isnan(mine)
        safe = np.where(here, counts, 1)
        gaps = np.where(here, mine - sums / safe, np.nan)
        shares = np.where(here, others / safe, np.nan)
        by_task = self.task_means(gaps)
        if not by_task.size:
            return by_task, np.zeros(len(self.people))
        return by_task, self.task_means(shares).mean(axis=1)


@dataclass(frozen=True, eq=False)
class _Reference:
    """How far people are from each other on one measure.

    ``gaps`` has each person's distance from the others by name, ``variance`` that of one person's
    effect, ``freedom`` its degrees of freedom, ``new`` the factor for a further person.
    """

    gaps: Mapping[Hashable, float]
    variance: float
    freedom: float
    new: float


def hold_against_people(
    played: PlayedColumns, *, comparisons: int = 1, level: float = 0.95
) -> PeopleCeiling:
    """Compare somebody in people's place with people, and with how far people differ themselves.

    Parameters
    ----------
    played
        The trajectories of the one who is compared (``who`` None) and of all people.
    comparisons
        How many are compared in this way: limits of distances are corrected for it, those of
        measures for it times the number of measures (Bonferroni).
    level
        Confidence level as a fraction; of limits that of the family.

    Raises
    ------
    ValueError
        If lengths differ, or there are no measures.

    Notes
    -----
    Several trajectories of one person with an agent at a task are averaged first. The difference D
    is the mean over tasks of (own − mean of the people there). For each person p, D_p is the same
    against the other people on these tasks (leave one person out).

    Model: D_p = u_p − Σ_q w_pq u_q with effects u of people, their chance included, that are
    independent with variance σ². With M = I − W it is σ̂² = Σ D_p²/tr(M′M), with
    tr(M′M)²/tr((M′M)²) degrees of freedom (Satterthwaite 1946, Biometrics 2:110): P − 1 where all P
    play everything. A further person, and so an exact copy of people, stays within
    ±t(df)·σ̂·√(1 + Σw²), w being the people's weights in D: the prediction interval of one more
    observation. A person who shares fewer than 5 tasks with others counts for no limit.

    Distance: d = √(mean of (D_k/s_k)²) over measures k, s_k the standard deviation of people's
    trajectories. Its limit is √(F(ν, ν·df)·mean(V_k)), V_k the predicted variance of D_k/s_k, df
    the smallest of the measures and ν = tr(S)²/tr(S²) for the people's matrix S of products of
    D_pk/s_k: ν is 1 where measures go together, and then it is the t limit.

    Undefined below 2 people or 5 tasks. No limit where people do not differ at all.
    """
    check_level(level)
    if not played.values:
        raise ValueError("name at least one measure")
    alpha = 1 - level
    inner = 1 - alpha / (max(1, comparisons) * len(played.values))
    gaps: dict[str, MeasureGap] = {}
    standard: dict[str, tuple[float, _Reference, float]] = {}
    for name, values in played.values.items():
        gap, reference = _measure_gap(_Blocks(played, values), inner, level)
        gaps[name] = gap
        if reference is not None and gap.spread and gap.difference.value is not None:
            standard[name] = gap.difference.value / gap.spread, reference, gap.spread
    return _overall(gaps, standard, 1 - alpha / max(1, comparisons))


def _measure_gap(
    blocks: _Blocks, inner: float, level: float
) -> tuple[MeasureGap, _Reference | None]:
    """Return one measure, and how far people are from each other where that is known."""
    by_task, weights = blocks.gap(None)
    why = ""
    if not blocks.has_own:
        why = NO_VALUE.format(who="the other side")
    elif not by_task.size:
        why = NO_VALUE.format(who="people on the same tasks")
    elif by_task.size < FEWEST_TASKS:
        why = FEW_TASKS.format(n=_counted(by_task.size, "task", "tasks"))
    if why:
        none = Estimate.without_value(why, n=by_task.size)
        return MeasureGap(none, None, None, none, None, None), None
    difference = mean_t(by_task, level=level)
    own = float(blocks.task_means(blocks.own).mean())
    people = float(blocks.task_means(_mean_of_rows(blocks.people)).mean())
    spread = float(np.std(blocks.raw, ddof=1)) if blocks.raw.size > 1 else 0.0
    reference, why = _reference(blocks, weights)
    if reference is None:
        limit = Estimate.without_value(why, n=len(blocks.people))
        return MeasureGap(difference, own, people, limit, spread, None), None
    half = t_quantile(reference.freedom, inner) * sqrt(reference.variance * reference.new)
    assert difference.value is not None
    return (
        MeasureGap(
            difference, own, people, Estimate(half, len(reference.gaps)), spread,
            abs(difference.value) > half,
        ),
        reference,
    )  # fmt: skip


def _mean_of_rows(table: Floats) -> Floats:
    """Return the mean of each column over the rows that have it; each has one."""
    there = ~np.isnan(table)
    means: Floats = np.where(there, table, 0.0).sum(axis=0) / there.sum(axis=0)
    return means


def _reference(blocks: _Blocks, weights: Floats) -> tuple[_Reference | None, str]:
    gaps: dict[Hashable, float] = {}
    rows = []
    for person in range(len(blocks.people)):
        by_task, others = blocks.gap(person)
        if by_task.size >= FEWEST_TASKS:
            gaps[blocks.names[person]] = float(by_task.mean())
            rows.append(np.eye(len(blocks.people))[person] - others)
    if len(gaps) < FEWEST_PEOPLE:
        return None, FEW_PEOPLE.format(n=_counted(len(gaps), "person", "people"))
    products = np.array(rows) @ np.array(rows).T
    total = float(np.trace(products))
    squares = float(sum(gap * gap for gap in gaps.values()))
    if squares <= 1e-18:
        return None, ALL_ALIKE
    freedom = total**2 / float((products**2).sum())
    return _Reference(gaps, squares / total, freedom, 1 + float(weights @ weights)), ""


def _overall(
    gaps: Mapping[str, MeasureGap],
    standard: Mapping[str, tuple[float, _Reference, float]],
    level: float,
) -> PeopleCeiling:
    from scipy.special import fdtri  # slow to import, and not every page needs it

    if not standard:
        reasons = [gap.limit.undefined for gap in gaps.values() if gap.limit.undefined]
        none = Estimate.without_value(max(reasons, key=reasons.count))
        return PeopleCeiling(gaps, none, none, (), None)
    size = len(standard)
    distance = sqrt(sum(z * z for z, _, _ in standard.values()) / size)
    common = set.intersection(*(set(reference.gaps) for _, reference, _ in standard.values()))
    matrix = np.array(
        [[reference.gaps[who] / spread for _, reference, spread in standard.values()]
         for who in sorted(common, key=str)]
    ).reshape(len(common), size)  # fmt: skip
    products = matrix @ matrix.T
    squares = float((products**2).sum())
    together = float(np.trace(products)) ** 2 / squares if squares > 0 else 1.0
    freedom = min(reference.freedom for _, reference, _ in standard.values())
    predicted = [r.variance * r.new / s**2 for _, r, s in standard.values()]
    most = sqrt(float(fdtri(together, together * freedom, level)) * float(np.mean(predicted)))
    people = tuple(sorted(np.sqrt((matrix**2).mean(axis=1)).tolist())) if len(common) else ()
    limit = Estimate(most, len(common))
    return PeopleCeiling(gaps, Estimate(distance, size), limit, people, distance > most)


def _counted(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"
