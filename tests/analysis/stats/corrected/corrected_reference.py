"""Make the data of `test_corrected_means`, and what ppi-python and cje-eval say of them.

    python -m venv oracle && oracle/bin/pip install ppi-python==0.2.3 cje-eval==0.9.3
    oracle/bin/python tests/analysis/stats/corrected/corrected_reference.py

prints `REFERENCE`. Neither package is needed by the tests themselves. ppi-python takes rated and
other units as two samples; with λ here it is λ(1 − n/N) there. cje-eval calibrates the judges in
another way, so it is compared where all units are rated; it takes scores from 0 to 1.
"""

from typing import Any

import numpy as np

SEED, RATED, TIMES = 20261128, 60, 5
TOP = 6.0
WEIGHTS = (0.0, 0.4, 1.0)
# Printed by `main` with ppi-python 0.2.3 and cje-eval 0.9.3.
REFERENCE: dict[str, Any] = {
    "ppi 0.0": 3.171313399209192,
    "ppi 0.4": 3.206403790829357,
    "ppi 1.0": 3.2590393782596037,
    "ppi None": 3.2374283619290773,
    "ppi error 0.0": 0.09641631677765254,
    "ppi others 0.0": 0.0,
    "ppi error 0.4": 0.08142397708389837,
    "ppi others 0.4": 0.013675228565211348,
    "ppi error 1.0": 0.07833883825901437,
    "ppi others 1.0": 0.03418807141302836,
    "ppi weighted 0.0": 3.096762767843906,
    "ppi weighted 0.4": 3.1484184321574165,
    "ppi weighted 1.0": 3.2259019286276844,
    "cje rows": [0.528552233201532, 0.015052720397115825, 0.49843180925924824, 0.5586726571438158],
    "cje clusters": [
        0.528552233201532,
        0.014343209079114494,
        0.4985315515815377,
        0.5585729148215263,
    ],
}


def made_scores(*, alike: bool = False) -> tuple[Any, Any, Any]:
    """Return judges' scores, people's (NaN where not rated) and unequal probabilities.

    The rated units come first. Where both samples shall be ``alike`` the others repeat their
    judges' scores, so that both have the same mean: then the variance by ppi-python, which takes
    each sample around its own mean, is the linearised one.
    """
    rng = np.random.default_rng(SEED)
    quality = rng.normal(3.2, 0.6, RATED)
    judges = np.tile(quality + 0.4 + rng.normal(0, 0.3, RATED), TIMES)
    if not alike:
        judges[RATED:] += rng.normal(0.1, 0.3, RATED * (TIMES - 1))
    people = np.full(RATED * TIMES, np.nan)
    people[:RATED] = quality + rng.normal(0, 0.4, RATED)
    return judges, people, rng.uniform(0.1, 0.6, RATED * TIMES)


def main() -> None:
    """Print what both packages say."""
    import ppi_py
    from cje.array_api import calibrated_mean_ci

    judges, people, probability = made_scores()
    rated = ~np.isnan(people)
    y, f, others = people[rated], judges[rated], judges[~rated]
    shrink = 1 - rated.mean()
    found: dict[str, Any] = {}
    for weight in (*WEIGHTS, None):
        lam = None if weight is None else weight * shrink
        value = float(np.squeeze(ppi_py.ppi_mean_pointestimate(y, f, others, lam=lam)))
        found[f"ppi {weight}"] = value
    alike, its_people, _ = made_scores(alike=True)
    for weight in WEIGHTS:
        lam = weight * shrink
        # The half width is z times the error; both parts divide by n, ours by n − 1.
        low, high = ppi_py.ppi_mean_ci(
            its_people[rated], alike[rated], alike[~rated], alpha=0.05, lam=lam
        )
        found[f"ppi error {weight}"] = float(np.squeeze(high - low)) / 2 / 1.959963984540054
        found[f"ppi others {weight}"] = float((lam * alike[~rated]).std() / np.sqrt(others.size))
    for weight in WEIGHTS:
        weights = 1 / probability[rated]
        value = ppi_py.ppi_mean_pointestimate(y, f, judges, lam=weight, w=weights)
        found[f"ppi weighted {weight}"] = float(np.squeeze(value))
    for name, clusters in (("rows", None), ("clusters", np.arange(RATED) // 3)):
        one = calibrated_mean_ci(f / TOP, y / TOP, cluster_ids=clusters, inference="cluster_robust")
        found[f"cje {name}"] = [float(number) for number in (one.estimate, one.se, *one.ci)]
    for name, value in found.items():
        print(f"    {name!r}: {value!r},")


if __name__ == "__main__":
    main()
