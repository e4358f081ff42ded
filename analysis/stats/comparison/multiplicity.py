"""Several tests read together: p-values adjusted over a family that is stated."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.stats.columns import Floats

Method = Literal["holm", "hochberg", "bonferroni", "bh", "by"]

METHODS: Mapping[Method, str] = {
    "holm": "Holm (family-wise error)",
    "hochberg": "Hochberg (family-wise error)",
    "bonferroni": "Bonferroni (family-wise error)",
    "bh": "Benjamini–Hochberg (false discovery rate)",
    "by": "Benjamini–Yekutieli (false discovery rate)",
}
NOT_TESTED = "not tested: no p-value"


@dataclass(frozen=True)
class AdjustedTest:
    """One test of a family; ``adjusted`` and ``clear`` are None where it has no p-value.

    ``clear`` says whether the adjusted p-value is at most the family's alpha.
    """

    name: str
    p_value: float | None
    adjusted: float | None
    clear: bool | None
    undefined: str = ""


@dataclass(frozen=True)
class Family:
    """The tests that were corrected together.

    ``statement`` says in words which tests they are, ``size`` how many they were corrected for.
    """

    statement: str
    method: str
    alpha: float
    size: int
    tests: tuple[AdjustedTest, ...]
    excluded: Mapping[str, int]

    def __getitem__(self, name: str) -> AdjustedTest:
        """Return a test by its name; raise KeyError where there is none."""
        return {test.name: test for test in self.tests}[name]


def adjust_family(
    p_values: Mapping[str, float | None],
    *,
    statement: str,
    method: Method = "holm",
    alpha: float = 0.05,
    size: int | None = None,
) -> Family:
    """Adjust the p-values of one family of tests.

    Parameters
    ----------
    p_values
        By name of the test; None where it could not be made: such tests are counted and do not
        make the family larger.
    statement
        Which tests these are, in words: "all 45 pairs of ten models on accuracy". The family is
        chosen before looking.
    method
        ``"holm"`` for claims, ``"bh"`` for screening; also ``"hochberg"``, ``"bonferroni"``,
        ``"by"``.
    alpha
        Level of the family.
    size
        How many tests the family has, where it was fixed beforehand and not all of them are given;
        for ``"bonferroni"`` alone, whose adjusted p-values belong to simultaneous intervals.

    Raises
    ------
    ValueError
        If the statement is empty, the method unknown, a p-value outside 0 to 1, or the size less
        than the number of tests.

    Notes
    -----
    With p₍₁₎ ≤ … ≤ p₍m₎, cut off at 1:

    - Bonferroni m·p; Holm max_{j ≤ i} (m − j + 1)p₍j₎ (Holm 1979, Scand. J. Stat. 6:65): any
      dependence;
    - Hochberg min_{j ≥ i} (m − j + 1)p₍j₎ (1988, Biometrika 75:800): independent or positively
      dependent tests;
    - Benjamini–Hochberg min_{j ≥ i} m·p₍j₎/j (1995, J. R. Stat. Soc. B 57:289): independent or
      positively dependent; Benjamini–Yekutieli the same times Σ 1/j (2001, Ann. Stat. 29:1165):
      any dependence.

    Pairs of models share their data, so their tests depend on each other: Holm holds all the same.
    """
    if not statement.strip():
        raise ValueError("say which tests the family is made of")
    if method not in METHODS:
        raise ValueError(f"unknown correction {method!r}: {', '.join(METHODS)}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is a fraction between 0 and 1, not {alpha}")
    known = {name: float(p) for name, p in p_values.items() if p is not None}
    for name, p in known.items():
        if not 0 <= p <= 1:
            raise ValueError(f"{name}: {p} is no p-value")
    given = np.array(list(known.values()), dtype=np.float64)
    if size is None:
        found = _adjust(given, method)
    elif method != "bonferroni" or size < len(known):
        raise ValueError(f"a size of {size} does not go with {len(known)} tests by {method}")
    else:
        found = np.minimum(given * size, 1.0)
    adjusted = dict(zip(known, found, strict=True))
    tests = []
    for name in p_values:
        if name in known:
            value = float(adjusted[name])
            tests.append(AdjustedTest(name, known[name], value, value <= alpha))
        else:
            tests.append(AdjustedTest(name, None, None, None, NOT_TESTED))
    gone = len(p_values) - len(known)
    return Family(
        statement, METHODS[method], alpha, len(known) if size is None else size, tuple(tests),
        {NOT_TESTED: gone} if gone else {},
    )  # fmt: skip


def _adjust(p: Floats, method: Method) -> Floats:
    size = p.size
    if size == 0:
        return p
    order = np.argsort(p, kind="stable")
    rank: Floats = np.arange(1, size + 1, dtype=np.float64)
    ordered = p[order]
    steps: Floats
    if method == "bonferroni":
        steps = ordered * size
    elif method == "holm":
        steps = np.maximum.accumulate(ordered * (size - rank + 1))
    else:
        factor = size / rank * (float((1 / rank).sum()) if method == "by" else 1.0)
        if method == "hochberg":
            factor = size - rank + 1.0
        steps = np.minimum.accumulate((ordered * factor)[::-1])[::-1]
    adjusted = np.empty(size)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted
