"""Make the outcomes of `test_logit_slope`, and geepack's and statsmodels' values for them.

    pip install statsmodels==0.15.0
    python -m tests.analysis.stats.trends.logit_reference

runs geepack 1.3.9 with Rscript, then statsmodels; neither is needed by the tests. Both have the
same coefficients but for how they divide in the working correlation; Mancl & DeRouen's errors are
of statsmodels.
"""

import csv
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SCRIPT = r"""
suppressMessages(library(geepack))
d <- read.csv(commandArgs(TRUE)[1])
d$agent <- factor(d$agent)
d <- d[order(d$task), ]
for (structure in c("exchangeable", "independence")) {
  fit <- geeglm(outcome ~ turn + agent, id = task, data = d, family = binomial, corstr = structure,
                control = geese.control(epsilon = 1e-12, maxit = 200))
  cat(structure, sprintf("beta=%.7f\n", coef(fit)["turn"]))
}
"""


def made_outcomes() -> tuple[list[str], list[int], list[str], list[int], list[int]]:
    """Return agents, tasks, trajectories, turns and outcomes; odds fall by a factor of 0.74."""
    rng = np.random.default_rng(20261124)
    rows: list[tuple[Any, ...]] = []
    for task in range(30):
        ease = rng.normal(0.8, 0.8)
        for number, agent in enumerate(("ada", "ben")):
            for turn in range(1, int(rng.integers(2, 8))):
                logit = ease + 0.5 * number - 0.3 * turn
                success = int(rng.random() < 1 / (1 + np.exp(-logit)))
                rows.append((agent, task, f"{agent}-{task}", turn, success))
    agents, tasks, trajectories, turns, outcomes = zip(*rows, strict=True)
    return list(agents), list(tasks), list(trajectories), list(turns), list(outcomes)


def main() -> None:
    """Print what geepack and statsmodels say."""
    columns = made_outcomes()
    with tempfile.TemporaryDirectory() as folder:
        script, data = Path(folder) / "logit.R", Path(folder) / "outcomes.csv"
        script.write_text(SCRIPT, encoding="utf-8")
        with data.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("agent", "task", "trajectory", "turn", "outcome"))
            writer.writerows(zip(*columns, strict=True))
        command = ["Rscript", str(script), str(data)]
        print(subprocess.run(command, check=True, text=True, capture_output=True).stdout)
    import statsmodels.api as sm

    agents, tasks, _, turns, outcomes = columns
    x = np.column_stack(
        [np.ones(len(turns)), np.array(turns, float), np.array([a == "ben" for a in agents], float)]
    )
    for structure in (sm.cov_struct.Exchangeable(), sm.cov_struct.Independence()):
        model = sm.GEE(outcomes, x, groups=tasks, family=sm.families.Binomial(),
                       cov_struct=structure)  # fmt: skip
        fit: Any = model.fit(maxiter=200, ctol=1e-12, cov_type="bias_reduced")
        print(type(structure).__name__, fit.params[1], fit.bse[1])


if __name__ == "__main__":
    main()
