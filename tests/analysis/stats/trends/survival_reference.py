"""Make the data of `test_survival`, and R's values for them: survival 3.5.3, coin 1.4.2, R 4.2.2.

    python -m tests.analysis.stats.trends.survival_reference

writes the data, runs the script below with Rscript, and prints what it says.
"""

import csv
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SEED = 20261128
SCRIPT = r"""
suppressMessages({library(survival); library(coin)})
d <- read.csv(commandArgs(TRUE)[1])
d$id <- seq_len(nrow(d))
k <- survfit(Surv(time, end == 1) ~ 1, d, cluster = task, robust = TRUE)
cat(sprintf("%d, %d, %d, %.9f, %.9f\n", k$time, as.integer(k$n.risk), as.integer(k$n.event),
    k$surv, k$std.err), sep = "")
m <- survfit(Surv(time, factor(end, 0:2)) ~ 1, d, id = id, influence = TRUE)
error <- sqrt(colSums(rowsum(m$influence.pstate[, -1, 2], d$task)^2))
cat(sprintf("%.9f, %.9f\n", m$pstate[, 2], error), sep = "")
d$agent <- factor(d$agent); d$task <- factor(d$task)
t <- logrank_test(Surv(time, end == 1) ~ agent | task, d)
cat(sprintf("%.9f, %.9f\n", statistic(t), pvalue(t)))
"""
Columns = tuple[list[int], list[int], list[int], list[int]]


def disclosed() -> Columns:
    """Return agent, task, time and end (0 censored, 1 broken, 2 another end) of 300 rows."""
    rng = np.random.default_rng(SEED)
    rows: list[tuple[int, int, int, int]] = []
    for row in range(300):
        task, agent = row % 40, int(rng.integers(0, 3))
        hazard = 0.1 + 0.1 * (task % 4 == 0) + 0.05 * agent
        longest = int(rng.integers(1, 9))
        time, end = longest, 0
        for step in range(1, longest + 1):
            drawn = rng.random()
            if drawn < hazard + 0.05:
                time, end = step, 1 if drawn < hazard else 2
                break
        rows.append((agent, task, time, end))
    agents, tasks, times, ends = (list(column) for column in zip(*rows, strict=True))
    return agents, tasks, times, ends


def main() -> None:
    """Run R on the data."""
    with tempfile.TemporaryDirectory() as folder:
        script, data = Path(folder) / "survival.R", Path(folder) / "rows.csv"
        script.write_text(SCRIPT, encoding="utf-8")
        with data.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("agent", "task", "time", "end"))
            writer.writerows(zip(*disclosed(), strict=True))
        print(subprocess.run(["Rscript", str(script), str(data)], check=True, text=True,
                             capture_output=True).stdout)  # fmt: skip


if __name__ == "__main__":
    main()
