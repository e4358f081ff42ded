"""Two raters of the same items: everything that compares two columns of scores, together."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.columns import as_column, check_length_of
from analysis.stats.rater_agreement.bland_altman import LimitsOfAgreement, bland_altman
from analysis.stats.rater_agreement.correlation import kendall, pearson, spearman
from analysis.stats.rater_agreement.differences import Agreement, agreement
from analysis.stats.rater_agreement.kappas import Weights, cohen_kappa
from analysis.stats.resampling import RESAMPLES, repeated
from analysis.stats.results import Estimate

KAPPA_WEIGHTS: tuple[Weights, ...] = ("none", "linear", "quadratic")


@dataclass(frozen=True)
class Correlations:
    """Pearson, Spearman and Kendall of two columns."""

    pearson: Estimate
    spearman: Estimate
    kendall: Estimate


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two raters.

    Attributes
    ----------
    first, second
        Their names.
    shares
        Equal and within one point, bias (second − first), mean absolute difference, distribution.
    kappas
        Cohen's kappa by weights.
    correlations
        They do not see a constant bias.
    limits
        Bland and Altman's, of second − first.
    """

    first: str
    second: str
    shares: Agreement
    kappas: Mapping[Weights, Estimate]
    correlations: Correlations
    limits: LimitsOfAgreement


def pair_agreement(
    first: Any,
    second: Any,
    *,
    names: tuple[str, str] = ("first", "second"),
    scale: tuple[int, int] = (1, 5),
    clusters: Sequence[Hashable] | None = None,
    unit: str = "task",
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> PairAgreement:
    """Compare two columns of whole scores.

    Parameters
    ----------
    first, second
        One row per item; None or NaN for no score. Only items that both scored count.
    names
        Of the two.
    clusters, unit, seed, resamples, level
        What each item belongs to. Where one occurs twice all intervals draw clusters.

    Raises
    ------
    ValueError
        If a score is not on the scale, or columns differ in length.

    Notes
    -----
    Each number is that of its own function: `agreement.agreement` with ``first`` for the person and
    ``second`` for the one judge, `kappas.cohen_kappa`, `correlation.pearson`, `spearman` and
    `kendall`, `bland_altman.bland_altman`.
    """
    a, b = as_column(first), as_column(second)
    check_length_of(b, a.size, "second")
    there = ~(np.isnan(a) | np.isnan(b))
    groups = None
    if clusters is not None:
        check_length_of(clusters, a.size, "clusters")
        groups = repeated([c for c, keep in zip(clusters, there, strict=True) if keep])
    a, b = a[there], b[there]
    drawing: dict[str, Any] = {
        "clusters": groups, "unit": unit, "seed": seed, "resamples": resamples, "level": level,
    }  # fmt: skip
    return PairAgreement(
        *names,
        agreement(
            a, b[:, None], dimension=f"{names[0]} and {names[1]}", scale=scale, tasks=groups,
            unit=unit, level=level,
        ),
        {w: cohen_kappa(a, b, scale=scale, weights=w, **drawing) for w in KAPPA_WEIGHTS},
        correlations(a, b, clusters=groups, unit=unit, seed=seed, resamples=resamples, level=level),
        bland_altman(b, a, **drawing),
    )  # fmt: skip


def correlations(
    x: Any,
    y: Any,
    *,
    clusters: Sequence[Hashable] | None = None,
    unit: str = "task",
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Correlations:
    """Compute all three correlations of two columns of items (`correlation` has the formulas)."""
    options: dict[str, Any] = {
        "clusters": clusters, "cluster_unit": unit, "seed": seed, "resamples": resamples,
        "level": level, "unit": "item",
    }  # fmt: skip
    return Correlations(
        pearson(x, y, **options), spearman(x, y, **options), kendall(x, y, **options)
    )
