"""Tests of two on the same tasks: McNemar's for successes, sign flips for anything else."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, as_column

NO_DISCORDANT = "the two never differ: McNemar's statistic is 0/0"
EXACT_UP_TO = 12
DRAWS_AT_ONCE = 2_000_000
# From so many differences of each size on, they are drawn together.
FEW_OF_A_SIZE = 40
PERMUTATIONS = 10_000


@dataclass(frozen=True)
class McNemar:
    """Outcomes of two on the same tasks, and three readings of the same test.

    ``p_exact`` is the one to read; χ² with and without continuity correction stands beside it.
    Both are None, with the reason in ``undefined``, where the two never differ.
    """

    both: int
    first_only: int
    second_only: int
    neither: int
    p_exact: float
    chi2: float | None
    p_chi2: float | None
    chi2_corrected: float | None
    p_corrected: float | None
    undefined: str = ""


def mcnemar(both: int, first_only: int, second_only: int, neither: int) -> McNemar:
    """Test whether two succeed equally often on the same tasks.

    Parameters
    ----------
    both, first_only, second_only, neither
        Tasks on which both succeed, one of them, or none (n11, n10, n01, n00).

    Notes
    -----
    Only the d = n10 + n01 tasks on which they differ say anything. Exact: n10 is binomial(d, ½) if
    they are equal, p = min(1, 2·P(X ≤ min(n10, n01))), and 1 at d = 0. χ² = (n10 − n01)²/d, with
    continuity correction (|n10 − n01| − 1)²/d, not under 0, one degree of freedom; undefined at
    d = 0, and rough below d = 25. McNemar 1947, Psychometrika 12:153; Edwards 1948, Psychometrika
    13:185. It takes tasks as independent, with one attempt each.
    """
    if min(both, first_only, second_only, neither) < 0:
        raise ValueError("counts are 0 or more")
    from scipy.special import bdtr, chdtrc  # slow to import, and not every page needs it

    differing = first_only + second_only
    cells = (both, first_only, second_only, neither)
    if differing == 0:
        return McNemar(*cells, 1.0, None, None, None, None, NO_DISCORDANT)
    gap = abs(first_only - second_only)
    exact = min(1.0, 2 * float(bdtr(min(first_only, second_only), differing, 0.5)))
    plain, corrected = gap**2 / differing, max(0, gap - 1) ** 2 / differing
    return McNemar(
        *cells, exact, plain, float(chdtrc(1, plain)), corrected, float(chdtrc(1, corrected))
    )


@dataclass(frozen=True)
class SignFlipTest:
    """A two-sided permutation test of a mean difference of 0; ``exact`` if all flips were made."""

    p_value: float
    n: int
    exact: bool
    seed: int
    permutations: int


def sign_flip_test(
    differences: Any, *, seed: int, permutations: int = PERMUTATIONS
) -> SignFlipTest:
    """Test whether paired differences are as likely up as down.

    Parameters
    ----------
    differences
        One per task, first minus second; at least one, none missing.
    seed, permutations
        Of the flips, where there are too many to make them all.

    Notes
    -----
    If the two are interchangeable on every task, each difference is as likely with the other sign.
    Up to 12 differences other than 0, all 2^m flips are made: p is the share with |sum| at least
    as large as seen. Beyond, signs are drawn: p = (1 + #{|sum*| ≥ |sum|})/(1 + B), never 0 (Phipson
    & Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39). p = 1 where all differences are 0. Fisher
    1935, The Design of Experiments, §21. For outcomes of 0 and 1 it is McNemar's exact test.
    """
    values = as_column(differences)
    if values.size == 0 or np.isnan(values).any():
        raise ValueError("a permutation test needs differences, and none of them missing")
    if permutations < 100:
        raise ValueError("a permutation test needs at least 100 permutations")
    nonzero = values[np.abs(values) > 1e-12]
    m, n = int(nonzero.size), int(values.size)
    # Sums of the same numbers in another order differ by rounding errors.
    seen = abs(float(nonzero.sum())) - 1e-9
    if m <= EXACT_UP_TO:
        bits = np.arange(2**m)[:, None] >> np.arange(m) & 1
        sums = np.abs((2 * bits - 1) @ nonzero) if m else np.zeros(1)
        return SignFlipTest(float((sums >= seen).mean()), n, True, seed, 2**m)
    drawn = _drawn_sums(nonzero, permutations, np.random.default_rng(seed))
    as_far = int((np.abs(drawn) >= seen).sum())
    return SignFlipTest((1 + as_far) / (1 + permutations), n, False, seed, permutations)


def _drawn_sums(values: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Draw signs anew, and sum the values with them.

    Of values of one size it only matters how many are positive, which is binomial: outcomes of 0
    and 1 need one number a draw.
    """
    sizes, often = np.unique(np.abs(values), return_counts=True)
    found: Floats
    if FEW_OF_A_SIZE * sizes.size <= values.size:
        found = (2.0 * rng.binomial(often, 0.5, size=(draws, sizes.size)) - often) @ sizes
        return found
    found = np.empty(draws)
    step = max(1, DRAWS_AT_ONCE // values.size)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        bits = np.frombuffer(rng.bytes(-(-rows * values.size // 8)), dtype=np.uint8)
        signs = np.unpackbits(bits, count=rows * values.size).reshape(rows, -1)
        found[start : start + rows] = 2.0 * (signs.astype(np.float64) @ values) - values.sum()
    return found
