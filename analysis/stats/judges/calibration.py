"""Calibration of a judge: a map from its scores to people's, tested on held-out items."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal

import numpy as np

from analysis.stats.columns import Codes, Floats, as_column, check_length_of, encode
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.results import FEW_CLUSTERS, Estimate

Form = Literal["linear", "monotone"]
FORMS: Mapping[Form, str] = {
    "linear": "a straight line by least squares",
    "monotone": "the closest map that never falls (isotonic regression)",
}
FOLDS = 5
FEWEST_ITEMS, FEWEST_TASKS = 30, 10
NO_JUDGE = "the judge gave no score"
NO_PERSON = "no person scored it"
TOO_FEW = (
    "only {items} of {tasks} scored by the judge and by people; a map needs {least} items of "
    "{fewest} tasks"
)
FEW_FOLDED = "only {tasks} tasks: the map moves much from part to part"


@dataclass(frozen=True)
class Calibration:
    """A map from a judge's scores to people's, and how far it brings them together elsewhere.

    Attributes
    ----------
    curve
        The map fitted on all items, as pairs of score and value; empty where there is none.
    bias, bias_after
        Mean of judge − people, as scored and as mapped, in points.
    error, error_after
        Mean of |judge − people|, as scored and as mapped.
    gain
        error_after − error, paired by item: below 0 the map brings them nearer.
    constant
        Mean of |c − people| where c ignores the judge: people's mean on the items fitted.
    worth
        error_after − constant, paired by item: below 0 the judge tells more than nothing.
    n, tasks, folds, seed
        Items and tasks compared, into how many parts tasks were divided, and by which seed.
    """

    form: Form
    curve: tuple[tuple[float, float], ...]
    bias: Estimate
    bias_after: Estimate
    error: Estimate
    error_after: Estimate
    gain: Estimate
    constant: Estimate
    worth: Estimate
    n: int
    tasks: int
    folds: int
    seed: int
    warnings: tuple[str, ...]


def calibrate(
    judge: Any,
    people: Any,
    *,
    tasks: Sequence[Hashable],
    form: Form = "linear",
    scale: tuple[int, int] = (1, 5),
    folds: int = FOLDS,
    seed: int,
    level: float = 0.95,
) -> Calibration:
    """Fit a map from a judge's scores to people's, and measure it on items it was not fitted on.

    Parameters
    ----------
    judge, people
        Two columns of numbers, one row per item (means are welcome); None and NaN are missing.
    tasks
        Task of each item. Tasks are divided, so no task is on both sides.
    form
        ``linear`` or ``monotone``.
    scale
        Lowest and highest score: mapped values are cut there, and the curve is given at each.
    folds, seed
        Into how many parts tasks are divided, at random.

    Raises
    ------
    ValueError
        If the form is unknown, there are fewer than two folds, or columns differ in length.

    Notes
    -----
    Tasks are divided into parts at random; the items of each part are mapped by what was fitted on
    the others, so every item is held out once (Stone 1974, J. R. Stat. Soc. B 36:111). Linear:
    least squares, the mean where the judge's scores are all equal. Monotone: pool adjacent
    violators (`monotone_fit`), linear between scores that occurred, constant beyond. Intervals are
    by task and take the maps as they are; that of `gain` is paired. A map can always come near
    people by ignoring the judge, where people score nearly alike: `constant` and `worth` say how
    near that is. The measures as scored are given from one item on; all others need 30 items of 10
    tasks.
    """
    if form not in FORMS:
        raise ValueError(f"unknown form {form!r}: {', '.join(FORMS)}")
    if folds < 2:
        raise ValueError("tasks are divided into two parts or more")
    x, y = as_column(judge), as_column(people)
    check_length_of(y, x.size, "people")
    check_length_of(tasks, x.size, "tasks")
    both = ~(np.isnan(x) | np.isnan(y))
    gone = {NO_PERSON: int(np.isnan(y).sum()), NO_JUDGE: int((np.isnan(x) & ~np.isnan(y)).sum())}
    excluded = {reason: count for reason, count in gone.items() if count}
    x, y = x[both], y[both]
    clusters = list(compress(tasks, both.tolist()))
    names, codes = encode(clusters)

    def mean(values: Floats) -> Estimate:
        return mean_by_cluster(values, clusters, level=level, excluded=excluded)

    as_scored: dict[str, Any] = {"bias": mean(x - y), "error": mean(np.abs(x - y))}
    shape: dict[str, Any] = {"n": int(x.size), "tasks": len(names), "seed": seed, "form": form}
    if x.size < FEWEST_ITEMS or len(names) < FEWEST_TASKS:
        why = TOO_FEW.format(
            items=f"{x.size} item{'' if x.size == 1 else 's'}",
            tasks=f"{len(names)} task{'' if len(names) == 1 else 's'}",
            least=FEWEST_ITEMS, fewest=FEWEST_TASKS,
        )  # fmt: skip
        nothing = Estimate.without_value(why, n=int(x.size), excluded=excluded)
        return Calibration(
            **shape, **as_scored, curve=(), bias_after=nothing, error_after=nothing, gain=nothing,
            constant=nothing, worth=nothing, folds=0, warnings=(),
        )  # fmt: skip
    parts = _parts(len(names), min(folds, len(names)), seed)[codes]
    mapped, plain = np.empty_like(y), np.empty_like(y)
    for part in range(parts.max() + 1):
        held = parts == part
        fitted = _fit(x[~held], y[~held], form)
        mapped[held] = np.clip(fitted(x[held]), *scale)
        plain[held] = y[~held].mean()
    whole = _fit(x, y, form)
    points = np.arange(scale[0], scale[1] + 1, dtype=np.float64)
    after, ignoring = np.abs(mapped - y), np.abs(plain - y)
    few = len(names) < FEW_CLUSTERS
    return Calibration(
        **shape,
        **as_scored,
        curve=tuple(zip(points.tolist(), np.clip(whole(points), *scale).tolist(), strict=True)),
        bias_after=mean(mapped - y),
        error_after=mean(after),
        gain=mean(after - np.abs(x - y)),
        constant=mean(ignoring),
        worth=mean(after - ignoring),
        folds=int(parts.max()) + 1,
        warnings=(FEW_FOLDED.format(tasks=len(names)),) if few else (),
    )


def monotone_fit(x: Any, y: Any) -> tuple[Floats, Floats]:
    """Fit the closest map that never falls; returns the distinct x in order and its values there.

    Notes
    -----
    Pool adjacent violators over the means of y at each x, weighted by their number (Ayer et al.
    1955, Ann. Math. Stat. 26:641): the least-squares map among all that never fall.
    """
    column, values = as_column(x), as_column(y)
    check_length_of(values, column.size, "y")
    places, codes, often = np.unique(column, return_inverse=True, return_counts=True)
    sums = np.bincount(codes, weights=values, minlength=places.size)
    blocks: list[tuple[float, int, int]] = []  # sum, number of values, number of places
    for total, count in zip(sums.tolist(), often.tolist(), strict=True):
        block = total, count, 1
        while blocks and blocks[-1][0] * block[1] >= block[0] * blocks[-1][1]:
            before = blocks.pop()
            block = before[0] + block[0], before[1] + block[1], before[2] + block[2]
        blocks.append(block)
    fitted = np.repeat([t / n for t, n, _ in blocks], [width for _, _, width in blocks])
    return places, fitted.astype(np.float64)


def _fit(x: Floats, y: Floats, form: Form) -> Any:
    if form == "monotone":
        places, fitted = monotone_fit(x, y)
        return lambda at: np.interp(at, places, fitted)
    centred = x - x.mean()
    spread = float(centred @ centred)
    slope = float(centred @ y) / spread if spread > 1e-12 else 0.0
    return lambda at: y.mean() + slope * (at - x.mean())


def _parts(tasks: int, folds: int, seed: int) -> Codes:
    """Divide tasks at random into parts whose sizes differ by one at most."""
    parts = np.arange(tasks, dtype=np.int64) % folds
    return np.random.default_rng(seed).permutation(parts)
