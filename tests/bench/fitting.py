"""CPU of the mixed model over 10,000, 100,000 and 1,000,000 scores, beside lme4 in the same run.

    python -m tests.bench.fitting

Both fit random intercepts and slopes of trajectories of 1 to 10 turns by REML. Here the error from
the likelihood's curvature is included, which lme4 does not compute; lme4 is asked to leave out its
check of derivatives, and reading the file is not counted. Fails where lme4 is quicker, or slopes
differ by more than 1e-6.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from analysis.stats.trends.mixed_models import mixed_slope

SIZES = (10_000, 100_000, 1_000_000)
SCRIPT = r"""
suppressMessages(library(lme4))
d <- read.csv(commandArgs(TRUE)[1])
d$id <- factor(d$id)
control <- lmerControl(calc.derivs = FALSE, optCtrl = list(xtol_abs = 1e-9, ftol_abs = 1e-9))
quick <- lmerControl(calc.derivs = FALSE)
time <- system.time(lmer(score ~ turn + (1 + turn | id), d, control = quick))
fit <- lmer(score ~ turn + (1 + turn | id), d, control = control)
cat(sprintf('{"seconds": %.3f, "slope": %.10f}', time[1] + time[2], fixef(fit)[2]))
"""


def main() -> None:
    """Print CPU seconds of both."""
    from scipy.optimize import minimize  # its import is not the fit's

    minimize(lambda x: float(x[0] ** 2), [1.0])
    if shutil.which("Rscript") is None:
        print("Not measured: Rscript, which fits the same by lme4, is not installed.")
        return
    failed = False
    print("| scores | here | lme4 |\n|---:|---:|---:|")
    for size in SIZES:
        rng = np.random.default_rng(1)
        trajectories = round(size / 5.5)
        lengths = rng.integers(1, 11, trajectories)
        ids = np.repeat(np.arange(trajectories), lengths)
        turns = np.concatenate([np.arange(1, length + 1) for length in lengths])
        levels, slopes = rng.normal(3.2, 0.5, trajectories), rng.normal(-0.05, 0.1, trajectories)
        scores = np.round(levels[ids] + slopes[ids] * turns + rng.normal(0, 0.7, ids.size), 4)
        columns = ids.tolist(), turns.tolist(), scores.tolist()
        before = time.process_time()
        slope = mixed_slope(*columns).slope.value
        here = time.process_time() - before
        with tempfile.TemporaryDirectory() as folder:
            script, data = Path(folder) / "fit.R", Path(folder) / "scores.csv"
            script.write_text(SCRIPT, encoding="utf-8")
            table = np.column_stack(columns)
            np.savetxt(data, table, "%.10g", ",", header="id,turn,score", comments="")
            done = subprocess.run(
                ["Rscript", str(script), str(data)], check=True, text=True, capture_output=True
            )
        there = json.loads(done.stdout)
        print(f"| {ids.size:,} | {here:.2f} s | {there['seconds']:.2f} s |", flush=True)
        assert slope is not None
        failed |= here > there["seconds"] or abs(slope - there["slope"]) > 1e-6
        print(f"  slopes differ by {abs(slope - there['slope']):.1e}", file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
