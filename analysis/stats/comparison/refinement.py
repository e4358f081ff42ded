"""The effect of extra turns with feedback on the rubric, turn by turn.

AdaPlanBench, section 4 and Figure 5: accuracy and valid plan rate after 1 to 6 extra turns.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from analysis.stats.columns import check_length_of, encode
from analysis.stats.comparison.paired import pair_by_task, paired_difference
from analysis.stats.descriptive.trials import success_rate
from analysis.stats.results import Estimate

# A plan: whether it violates nothing, and whether it passes the rubric (None: a judge is missing).
State = tuple[bool, bool | None]
Among = Literal["all", "refined"]

NO_PASS = "a rubric score is missing"
NO_TRAJECTORY = "no trajectory to count"
THE_START = "the others are held against it"
BY_CONSTRUCTION = (
    "trajectories are refined because their plan is valid and fails the rubric: without extra "
    "turns accuracy is 0 and all plans are valid by construction"
)


@dataclass(frozen=True)
class RefinementPoint:
    """The shares after k extra turns, and their change from k = 0 on the same tasks.

    ``refining`` counts the trajectories that used a k-th extra turn. Changes are as in
    `paired.paired_difference`; ``recovered`` and ``lost`` count trajectories that are accurate now
    and were not, and that were valid at k = 0 and are not now.
    """

    extra_turns: int
    refining: int
    accuracy: Estimate
    valid: Estimate
    accuracy_change: Estimate
    valid_change: Estimate
    recovered: int
    lost: int


@dataclass(frozen=True)
class RefinementCurve:
    """One model; ``counted`` trajectories, of which ``refined`` used an extra turn at all."""

    model: str
    among: Among
    counted: int
    refined: int
    points: tuple[RefinementPoint, ...]
    warnings: tuple[str, ...]


def refinement_curves(
    models: Sequence[str],
    tasks: Sequence[Hashable],
    chains: Sequence[Sequence[State]],
    *,
    most: int = 6,
    among: Among = "all",
    level: float = 0.95,
    comparisons: int = 1,
) -> tuple[RefinementCurve, ...]:
    """Compute accuracy and valid plan rate after 0, 1, … extra turns, for every model.

    Parameters
    ----------
    models, tasks
        Of each trajectory.
    chains
        Of each trajectory the states of its plans from the last one before refinement on: the first
        valid plan that failed the rubric and one more for every extra turn used, or the last plan
        alone where there was no refinement.
    most
        Largest number of extra turns, k.
    among
        ``"all"``: every trajectory; those without refinement keep their state. ``"refined"``: only
        those that used an extra turn.
    level, comparisons
        Of the intervals; those of changes are of so many that hold together (Bonferroni).

    Raises
    ------
    ValueError
        If lengths differ, a chain is empty, or has more than ``most`` extra turns.

    Notes
    -----
    The state at k is the one after min(k, used) extra turns: a trajectory that needed no more keeps
    its last. So all figures come from one run with the largest k, and every k is about the same
    trajectories. Accurate: valid and passed; undefined where a judge's score is missing (counted).
    Shares as in `trials.success_rate`, changes as in `paired.paired_difference`. The paper's figure
    does not say which trajectories it is about; among the refined alone the curve starts at
    accuracy 0 and valid plan rate 100 % by construction.
    """
    check_length_of(models, len(chains), "models")
    check_length_of(tasks, len(chains), "tasks")
    if among not in ("all", "refined"):
        raise ValueError(f"among all or refined, not {among!r}")
    for chain in chains:
        if not 1 <= len(chain) <= most + 1:
            raise ValueError(f"{len(chain)} states: 1 to {most + 1} are expected")
    names, codes = encode(models)
    curves = []
    for code, name in enumerate(names):
        mine = np.flatnonzero(codes == code).tolist()
        refined = [i for i in mine if len(chains[i]) > 1]
        used = mine if among == "all" else refined
        rows = [chains[i] for i in used]
        places = [tasks[i] for i in used]
        points = tuple(_point(k, rows, places, level, comparisons) for k in range(most + 1))
        warnings = (BY_CONSTRUCTION,) if among == "refined" and refined else ()
        curves.append(RefinementCurve(name, among, len(used), len(refined), points, warnings))
    return tuple(curves)


def _point(
    k: int,
    chains: Sequence[Sequence[State]],
    tasks: Sequence[Hashable],
    level: float,
    comparisons: int,
) -> RefinementPoint:
    then = [_outcome(chain[0]) for chain in chains]
    now = [_outcome(chain[min(k, len(chain) - 1)]) for chain in chains]
    changes, shares = [], []
    for what in (0, 1):
        before, after = [state[what] for state in then], [state[what] for state in now]
        gone = sum(value is None for value in after)
        known = [(v, t) for v, t in zip(after, tasks, strict=True) if v is not None]
        excluded = {NO_PASS: gone} if gone else {}
        if known:
            values, places = zip(*known, strict=True)
            shares.append(success_rate(values, places, level=level, excluded=excluded))
        else:
            shares.append(
                Estimate.without_value(NO_PASS if gone else NO_TRAJECTORY, excluded=excluded)
            )
        change = paired_difference(
            pair_by_task(tasks, after, tasks, before), level=level, comparisons=comparisons
        )
        if k == 0 and change.value is not None:
            change = replace(change, interval=None, no_interval=THE_START, warnings=())
        changes.append(change)
    pairs = list(zip(then, now, strict=True))
    return RefinementPoint(
        extra_turns=k,
        refining=sum(len(chain) > k for chain in chains) if k else 0,
        accuracy=shares[0],
        valid=shares[1],
        accuracy_change=changes[0],
        valid_change=changes[1],
        recovered=sum(after[0] == 1 and before[0] == 0 for before, after in pairs),
        lost=sum(before[1] == 1 and after[1] == 0 for before, after in pairs),
    )


def _outcome(state: State) -> tuple[float | None, float]:
    """Return accurate (None where unknown) and valid, as numbers."""
    valid, passed = state
    return (None if passed is None else float(valid and passed)), float(valid)
