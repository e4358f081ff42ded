"""Make the data of `test_pooled`, and R's values for them (lme4 1.1-31, lmerTest 3.1-3, R 4.2.2).

    python -m tests.analysis.stats.trends.pooled_reference

writes both data sets, runs the script below with Rscript, and prints what it says.
"""

import csv
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

SEED = 20261124
SCRIPT = r"""
suppressMessages(library(lmerTest))
tight <- lmerControl(optimizer = "bobyqa", calc.derivs = FALSE, check.conv.singular = "ignore",
                     optCtrl = list(rhoend = 1e-10, maxfun = 1e6))
for (file in commandArgs(TRUE)) {
  d <- read.csv(file)
  for (name in c("agent", "task", "trajectory")) d[[name]] <- factor(d[[name]], unique(d[[name]]))
  centre <- mean(d$turn); unit <- sqrt(mean((d$turn - centre)^2))
  d$t <- (d$turn - centre) / unit
  own <- score ~ t + (1 + t | trajectory)
  crossed <- update(own, . ~ . + (1 | task) + (0 + t | task) + (1 | agent) + (0 + t | agent))
  contrasts(d$agent) <- contr.sum(nlevels(d$agent))
  fixed <- update(own, . ~ . + agent * t + (1 | task) + (0 + t | task))
  model <- if (nlevels(d$agent) > 2) crossed else fixed
  fit <- lmer(model, d, control = tight)
  s <- summary(fit, ddf = "Satterthwaite")$coefficients["t", ]
  cat(basename(file), sprintf("slope=%.9f error=%.9f df=%.5f deviance=%.7f\n",
      s["Estimate"] / unit, s["Std. Error"] / unit, s["df"], REMLcrit(fit)))
  v <- as.data.frame(VarCorr(fit)); v <- v[v$var1 == "t" & is.na(v$var2), ]
  cat(paste(v$grp, sprintf("%.8f", v$sdcor / unit)), sep = "\n")
  if (nlevels(d$agent) > 2)
    cat("agents", sprintf("%.8f", (fixef(fit)["t"] + ranef(fit)$agent[, "t"]) / unit), "\n")
}
"""
Columns = tuple[list[str], list[int], list[str], list[int], list[float]]


def crossed_turns(slopes: Sequence[float], tasks: int, seed: int = SEED) -> Columns:
    """Return agents, tasks, trajectories, turns and scores; an agent has each of these slopes.

    Every agent plays every task once. Levels of tasks have an SD of 0.4, slopes 0.03; levels of
    trajectories 0.3, slopes 0.05; noise 0.5. A trajectory lasts 2 to 8 turns.
    """
    rng = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    levels, changes = rng.normal(3.5, 0.4, tasks), rng.normal(0, 0.03, tasks)
    for number, slope in enumerate(slopes):
        for task in range(tasks):
            level = levels[task] + 0.2 * number + rng.normal(0, 0.3)
            change = slope + changes[task] + rng.normal(0, 0.05)
            for turn in range(1, int(rng.integers(2, 9)) + 1):
                score = round(level + change * turn + rng.normal(0, 0.5), 6)
                rows.append((f"agent {number}", task, f"{number}-{task}", turn, score))
    agents, places, trajectories, turns, scores = zip(*rows, strict=True)
    return list(agents), list(places), list(trajectories), list(turns), list(scores)


DATA = {
    "five": crossed_turns((-0.15, -0.05, 0.02, -0.1, 0.05), 24),
    "two": crossed_turns((-0.15, 0.02), 24),
}


def main() -> None:
    """Run R on the data."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "pooled.R"
        script.write_text(SCRIPT, encoding="utf-8")
        files = []
        for name, columns in DATA.items():
            path = Path(folder) / f"{name}.csv"
            files.append(str(path))
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(("agent", "task", "trajectory", "turn", "score"))
                writer.writerows(zip(*columns, strict=True))
        print(subprocess.run(["Rscript", str(script), *files], check=True, text=True,
                             capture_output=True).stdout)  # fmt: skip


if __name__ == "__main__":
    main()
