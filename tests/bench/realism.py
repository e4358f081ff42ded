"""How often a simulated user lies within what people differ by among themselves.

``python -m tests.bench.realism``: people's effects and chance are drawn from a seed for four
measures, one of them a rate. An exact copy is one more person; planted simulators are one more
person moved by so many standard deviations of people's trajectories, on one measure (too
cooperative a user, who tells everything at once) or on all of them. Printed are shares of
repetitions outside the limit, for the overall distance and for any measure of the family, each
with the Monte Carlo standard error of a share of 5 %; it fails where an exact copy is outside in
more than 5 % by three such errors.
"""

import os
from collections.abc import Sequence

import numpy as np

from analysis.stats.comparison.people_ceiling import PlayedColumns, hold_against_people
from tests.bench.storing import tell

SEED, REPEATS = 2603, int(os.environ.get("REPEATS", "500"))
TASKS, PEOPLE = (10, 20, 40, 80), (2, 3, 4, 6, 8)
MEASURES = 4
# Standard deviations between people, between tasks, and of chance: together about 1.
BETWEEN, TASK, CHANCE = 0.3, 0.5, 0.8
PLANTED = ((0.0, 0), (0.5, 1), (1.0, 1), (2.0, 1), (0.5, MEASURES), (1.0, MEASURES))


def outside(
    rng: np.random.Generator, tasks: int, people: int, size: float, moved: int
) -> Sequence[bool]:
    """Return whether one drawn simulator is outside by its distance, and by any measure."""
    shift = np.where(np.arange(MEASURES) < moved, size, 0.0)
    effects = rng.normal(0, BETWEEN, (people + 1, 1, MEASURES))
    effects[people] += shift
    values = (
        effects
        + rng.normal(0, TASK, (1, tasks, MEASURES))
        + rng.normal(0, CHANCE, (people + 1, tasks, MEASURES))
    )
    # The last measure is a rate, such as plans accepted that are invalid.
    values[..., -1] = values[..., -1] > 0.5
    who = [None if row == people else row for row in range(people + 1) for _ in range(tasks)]
    columns = {str(k): values[..., k].reshape(-1) for k in range(MEASURES)}
    rows = (people + 1) * tasks
    played = PlayedColumns(who, ["agent"] * rows, list(range(tasks)) * (people + 1), columns)
    held = hold_against_people(played)
    return bool(held.outside), any(gap.outside for gap in held.measures.values())


def main() -> None:
    over = []
    heads = ["copy", *(f"{size:g} SD, {moved} of {MEASURES}" for size, moved in PLANTED[1:])]
    print("| tasks | people |", " | ".join(heads), "|")
    print("|" + "---|" * (2 + len(heads)))
    error = 3 * (0.05 * 0.95 / REPEATS) ** 0.5
    for tasks in TASKS:
        for people in PEOPLE:
            cells = []
            for size, moved in PLANTED:
                rng = np.random.default_rng([SEED, tasks, people, int(10 * size), moved])
                drawn = [outside(rng, tasks, people, size, moved) for _ in range(REPEATS)]
                shares = np.mean(drawn, axis=0)
                cells.append(" / ".join(f"{share:.2f}" for share in shares))
                if not moved and shares.max() > 0.05 + error:
                    over.append(f"{tasks} tasks, {people} people: {shares.max():.3f}")
            print(f"| {tasks} | {people} |", " | ".join(cells), "|", flush=True)
    tell(over)


if __name__ == "__main__":
    main()
