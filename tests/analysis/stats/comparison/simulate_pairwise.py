"""Coverage of the intervals of strengths.

`python -m tests.analysis.stats.comparison.simulate_pairwise` prints it. Each task moves each
agent's strength there (standard deviation 0.7), so the answers of several people about a task
depend on each other. True strengths are those that infinitely many tasks would give.
"""

import numpy as np

from analysis.stats.comparison.pairwise import bradley_terry

AGENTS, PEOPLE, SPREAD = 4, 3, 0.7
SEED, ROUNDS = 20261128, 500
STRENGTHS = np.array([0.6, 0.2, -0.2, -0.6])


def draw(rng: np.random.Generator, tasks: int, nu: float, strengths: np.ndarray) -> list[list[int]]:
    """Return first, second, outcome and task of each comparison."""
    shifts = strengths + rng.normal(0, SPREAD, (tasks, AGENTS))
    task, one, two = (
        index.ravel() for index in np.meshgrid(range(tasks), range(AGENTS), range(AGENTS))
    )
    keep = one < two
    task, one, two = (np.repeat(index[keep], PEOPLE) for index in (task, one, two))
    a, b = shifts[task, one], shifts[task, two]
    weights = np.exp(np.stack([a, np.log(nu) + (a + b) / 2, b]) if nu else np.stack([a, b]))
    ends = np.cumsum(weights / weights.sum(axis=0), axis=0)
    outcome = (rng.random(len(a)) > ends).sum(axis=0)
    return [list(one), list(two), list(outcome if nu else outcome * 2), list(task)]


def coverage(tasks: int, nu: float) -> tuple[float, float, float]:
    """Return the coverage of a difference, the share of wrong tests of equal agents, the width."""
    rng = np.random.default_rng([SEED, tasks, int(nu * 10)])
    truth = bradley_terry(*draw(rng, 8_000, nu, STRENGTHS)).differences[0, 3].estimate.value
    assert truth is not None
    held = wrong = counted = 0
    widths = []
    for _ in range(ROUNDS):
        row = bradley_terry(*draw(rng, tasks, nu, STRENGTHS))
        null = bradley_terry(*draw(rng, tasks, nu, np.zeros(AGENTS)))
        if row.undefined or null.undefined:
            continue
        counted += 1
        interval = row.differences[0, 3].estimate.interval
        p_value = null.differences[0, 3].p_value
        assert interval is not None and p_value is not None
        held += interval.holds(truth)
        wrong += p_value <= 0.05
        widths.append(interval.high - interval.low)
    return held / counted, wrong / counted, float(np.mean(widths))


if __name__ == "__main__":
    print("| tasks | ν | coverage | size of the test | width |\n|---|---|---|---|---|")
    for tasks in (8, 15, 40):
        for nu in (0.0, 0.6):
            held, wrong, width = coverage(tasks, nu)
            print(f"| {tasks} | {nu} | {held:.3f} | {wrong:.3f} | {width:.2f} |", flush=True)
