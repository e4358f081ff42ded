"""Outcomes made with a fixed seed, and what statsmodels says of them.

    pip install statsmodels==0.15.0
    python -m tests.analysis.stats.comparison.logit_gee_reference

prints `REFERENCE`. statsmodels is not needed by the tests themselves.
"""

from typing import Any

import numpy as np

CONDITIONS = ("low", "mid", "high")
MODELS = ("ada", "ben")
TASKS = 24


def made_outcomes() -> tuple[list[int], list[str], list[str], list[int]]:
    """Return outcomes, conditions, models and tasks; some outcomes are absent."""
    rng = np.random.default_rng(20261122)
    rows = []
    for task in range(TASKS):
        ease = rng.normal(0.3, 1.0)
        for m, model in enumerate(MODELS):
            for c, condition in enumerate(CONDITIONS):
                logit = ease + 0.5 * m - 0.6 * c
                success = int(rng.random() < 1 / (1 + np.exp(-logit)))
                if rng.random() < 0.9:
                    rows.append((success, condition, model, task))
    outcomes, conditions, models, tasks = zip(*rows, strict=True)
    return list(outcomes), list(conditions), list(models), list(tasks)


def main() -> None:
    """Print what statsmodels says."""
    import statsmodels.api as sm

    outcomes, conditions, models, tasks = made_outcomes()
    columns = [np.ones(len(outcomes))]
    columns += [np.array([c == name for c in conditions], float) for name in CONDITIONS[1:]]
    columns += [np.array([m == name for m in models], float) for name in MODELS[1:]]
    x = np.column_stack(columns)
    for name, structure in (
        ("exchangeable", sm.cov_struct.Exchangeable()),
        ("independence", sm.cov_struct.Independence()),
    ):
        model = sm.GEE(outcomes, x, groups=tasks, family=sm.families.Binomial(),
                       cov_struct=structure)  # fmt: skip
        fit: Any = model.fit(maxiter=200, ctol=1e-12, cov_type="bias_reduced")
        found = {"beta": fit.params[1:3].tolist(), "se": fit.bse[1:3].tolist()}
        if name == "exchangeable":
            found["correlation"] = float(structure.dep_params)
        print(name, found)


if __name__ == "__main__":
    main()
