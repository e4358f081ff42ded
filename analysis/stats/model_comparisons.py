"""All models against each other (or against one), paired by task, corrected over their family."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, as_column, check_length_of, encode
from analysis.stats.multiplicity import Family, Method, adjust_family
from analysis.stats.paired import (
    RESAMPLES,
    PairComparison,
    compare_pair,
    pair_by_task,
)
from analysis.stats.paired_tests import PERMUTATIONS


@dataclass(frozen=True)
class ModelPair:
    """Two models; ``p_adjusted`` and ``clear`` are of the family, None where not tested."""

    first: str
    second: str
    comparison: PairComparison
    p_adjusted: float | None
    clear: bool | None

    @property
    def name(self) -> str:
        """As in the family's tests."""
        return pair_name(self.first, self.second)


@dataclass(frozen=True)
class ModelComparisons:
    """Every pair that was compared, and the family that its p-value was corrected over."""

    measure: str
    models: tuple[str, ...]
    pairs: tuple[ModelPair, ...]
    family: Family


def pair_name(first: str, second: str) -> str:
    """Name the test of two models."""
    return f"{first} against {second}"


def compare_models(
    models: Sequence[str],
    tasks: Sequence[Hashable],
    values: Any,
    *,
    measure: str,
    against: str | None = None,
    correction: Method = "holm",
    alpha: float = 0.05,
    seed: int,
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
    level: float = 0.95,
) -> ModelComparisons:
    """Compare models on the tasks that they share, two by two.

    Parameters
    ----------
    models, tasks, values
        A row per attempt: its model, its task, and its outcome (0 or 1) or score; None and NaN are
        excluded and counted.
    measure
        What the values are ("accuracy"), for the statement of the family.
    against
        Compare every other model with this one only: a smaller family, chosen before looking.
    correction, alpha
        As in `multiplicity.adjust_family`.
    seed, resamples, permutations, level
        As in `paired.compare_pair`; every pair is drawn from the same seed.

    Raises
    ------
    ValueError
        If lengths differ, or there is no model ``against``.

    Notes
    -----
    Each pair is compared on its own common tasks, so n may differ from pair to pair. Intervals are
    not corrected for the number of pairs; p-values are. Formulas in `paired.compare_pair`.
    """
    names, by_model = _split(models, tasks, values)
    if against is None:
        pairs = list(combinations(names, 2))
        what = f"all {len(pairs)} pairs of {len(names)} models on {measure}"
    else:
        if against not in names:
            raise ValueError(f"there is no model {against!r}")
        pairs = [(name, against) for name in names if name != against]
        what = f"{len(pairs)} models against {against} on {measure}"
    found = {
        pair: compare_pair(
            pair_by_task(*by_model[pair[0]], *by_model[pair[1]]),
            seed=seed,
            resamples=resamples,
            permutations=permutations,
            level=level,
        )
        for pair in pairs
    }
    family = adjust_family(
        {pair_name(*pair): comparison.p_value for pair, comparison in found.items()},
        statement=what,
        method=correction,
        alpha=alpha,
    )
    return ModelComparisons(
        measure,
        names,
        tuple(
            ModelPair(*pair, comparison, test.adjusted, test.clear)
            for (pair, comparison), test in zip(found.items(), family.tests, strict=True)
        ),
        family,
    )


def _split(
    models: Sequence[str], tasks: Sequence[Hashable], values: Any
) -> tuple[tuple[str, ...], dict[str, tuple[list[Hashable], Floats]]]:
    """Tasks and values of each model, in the order in which models first appear."""
    column = as_column(values)
    check_length_of(models, column.size, "models")
    check_length_of(tasks, column.size, "tasks")
    names, codes = encode(models)
    rows = [np.flatnonzero(codes == code).tolist() for code in range(len(names))]
    return names, {
        name: ([tasks[i] for i in mine], column[mine])
        for name, mine in zip(names, rows, strict=True)
    }
