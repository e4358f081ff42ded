"""Make the data of `test_components`, and what lme4 says of them.

    python -m tests.analysis.stats.uncertainty.components_reference /tmp/scores
    Rscript tests/analysis/stats/uncertainty/components_reference.R /tmp/scores

prints `REFERENCE` (R 4.2.2, lme4 1.1-31). The tests themselves need no R.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

SEED = 20261128
NAMES = ("task", "attempt", "judge", "judge by task", "judge by attempt", "setting", "rest")
# Printed by the R script, in the order of `NAMES`; None: the model has no such part.
REFERENCE: dict[str, tuple[float | None, ...]] = {
    "balanced": (
        0.279041982,
        0.095570220,
        0.187906351,
        0.087837427,
        0.051676108,
        0.000000000,
        0.166749941,
    ),
    "unbalanced": (
        0.278608908,
        0.110337773,
        0.163859561,
        0.076372190,
        0.041794843,
        0.000000000,
        0.165065550,
    ),
    "one judging": (0.289673583, 0.106313797, 0.207189667, 0.057060624, None, None, 0.224237547),
    "no judges": (
        0.270563234,
        0.073112409,
        0.000655625,
        0.001723263,
        0.000000000,
        0.000000000,
        0.159949596,
    ),
}


def made_scores(name: str) -> tuple[Any, dict[str, list[int]]]:
    """Return scores and labels of 40 tasks with 2 attempts, 3 judges and 2 judgings.

    ``unbalanced`` lacks a fifth of the cells, ``one judging`` has no judging again, ``no judges``
    differ in the last.
    """
    rng = np.random.default_rng(SEED)
    shape = (40, 2, 3, 1 if name == "one judging" else 2)
    grid = np.meshgrid(*map(np.arange, shape), indexing="ij")
    t, a, j, s = (codes.ravel() for codes in grid)
    by_judge = 0.0 if name == "no judges" else 0.25
    y = (
        3
        + rng.normal(0, 0.5, 40)[t]
        + rng.normal(0, 0.3, (40, 2))[t, a]
        + rng.normal(0, 0.3, 3)[j] * (by_judge > 0)
        + rng.normal(0, 1, (40, 3))[t, j] * by_judge
        + rng.normal(0, 1, (40, 2, 3))[t, a, j] * by_judge
        + rng.normal(0, 0.2, shape[3])[s]
        + rng.normal(0, 0.4, t.size)
    )
    kept = rng.random(t.size) >= (0.2 if name == "unbalanced" else 0.0)
    labels = {"tasks": t, "attempts": a, "judges": j, "settings": s}
    return y[kept], {key: codes[kept].tolist() for key, codes in labels.items()}


SETS = ("balanced", "unbalanced", "one judging", "no judges")


def main(folder: str) -> None:
    """Write a file of each set of scores."""
    for name in SETS:
        scores, labels = made_scores(name)
        rows = zip(scores.tolist(), *labels.values(), strict=True)
        text = "\n".join(["y,t,a,j,s", *(",".join(map(repr, row)) for row in rows)])
        (Path(folder) / f"{name}.csv").write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
