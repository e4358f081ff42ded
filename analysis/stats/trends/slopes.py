"""Decline by turn in four ways side by side, from the one that survivors mislead to those fitted.

AdaPlanBench reports means by turn alone (section 4, Figure 3).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.stats.columns import check_length_of, check_level
from analysis.stats.comparison.multiplicity import Family, adjust_family
from analysis.stats.results import Estimate
from analysis.stats.trends.decline import survivor_warning, within_slope
from analysis.stats.trends.gee import GeeSlope, gee_slope
from analysis.stats.trends.mixed_models import MixedSlope, mixed_slope
from analysis.stats.trends.turn_series import read_turns

SHARED = (
    "several trajectories share a task: the mixed model takes them as independent, the other fits "
    "cluster by task"
)


@dataclass(frozen=True)
class SlopeModels:
    """Change per turn of one agent on one dimension, in points of the scale.

    Attributes
    ----------
    within
        Each trajectory against itself (`decline.within_slope`).
    gee
        Population average, exchangeable working correlation (`gee.gee_slope`).
    mixed
        Random slopes, or intercepts with a note (`mixed_models.mixed_slope`).
    pooled
        One line through all scores, whoever they are of. Not to be read as decline where the
        number running falls: it is here to show what survivors make of it.
    running
        Trajectories that have at least 1, 2, … turns.
    warnings
        The survivors, and tasks that trajectories share, in plain words.
    """

    agent: str
    dimension: str
    within: Estimate
    gee: GeeSlope
    mixed: MixedSlope
    pooled: GeeSlope
    running: tuple[int, ...]
    warnings: tuple[str, ...]


def slope_models(
    agents: Sequence[str],
    dimensions: Sequence[str],
    trajectories: Sequence[Hashable],
    turns: Any,
    scores: Any,
    *,
    tasks: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> tuple[SlopeModels, ...]:
    """Fit the change per turn of every agent and dimension in four ways.

    Takes the columns of `decline.score_by_turn`; ``tasks`` as in `decline.within_slope`. For a
    background job: no randomness, arrays in and frozen results out.

    Notes
    -----
    Trajectories that end early leave. The pooled line compares those that end with those that stay;
    GEE takes endings as completely at random, the mixed model as depending on scores seen; neither
    cures endings that depend on scores unseen. Where the four differ, survivors are the likely
    reason. The intervals are of one fit each and not corrected for their number.
    """
    check_level(level)
    rows = read_turns(agents, dimensions, trajectories, turns, scores)
    if tasks is not None:
        check_length_of(tasks, rows.score.size, "tasks")
    fitted = within_slope(agents, dimensions, trajectories, turns, scores, tasks=tasks, level=level)
    models = []
    for slope in fitted:
        a, d = rows.agents.index(slope.agent), rows.dimensions.index(slope.dimension)
        places = rows.rows_of(a, d)
        columns = (rows.trajectory[places].tolist(), rows.turn[places], rows.score[places])
        groups = None if tasks is None else [tasks[i] for i in places.tolist()]
        running = rows.running(a)
        models.append(
            SlopeModels(
                agent=slope.agent,
                dimension=slope.dimension,
                within=slope.slope,
                gee=gee_slope(*columns, tasks=groups, level=level),
                mixed=mixed_slope(*columns, level=level),
                pooled=gee_slope(*columns, structure="independence", tasks=groups, level=level),
                running=tuple(running),
                warnings=(*survivor_warning(running), *_shared(columns[0], groups)),
            )
        )
    return tuple(models)


def slope_tests(models: Sequence[SlopeModels], *, alpha: float = 0.05) -> Family:
    """Test that slopes of the mixed models are 0, as one family by Holm.

    Names of the tests are as `curve_name` makes them.

    Notes
    -----
    Two-sided p of t = b/SE with the error and the degrees of freedom of
    `mixed_models.mixed_slope`, so that alone it agrees with that interval. A curve without an error
    is not tested, counted, and does not make the family larger. Holm holds although curves of one
    agent depend on each other.
    """
    p_values = {curve_name(one.agent, one.dimension): _p_value(one.mixed) for one in models}
    statement = f"the slopes of the mixed models of all {len(models)} curves"
    return adjust_family(p_values, statement=statement, alpha=alpha)


def curve_name(agent: str, dimension: str) -> str:
    """Name the curve of an agent on a dimension."""
    return f"{agent} on {dimension}"


def _p_value(mixed: MixedSlope) -> float | None:
    if mixed.slope.value is None or not mixed.error or mixed.df is None:
        return None
    from scipy.special import stdtr  # slow to import, and not every page needs it

    return float(2 * stdtr(mixed.df, -abs(mixed.slope.value) / mixed.error))


def _shared(trajectories: Sequence[int], tasks: Sequence[Hashable] | None) -> tuple[str, ...]:
    if tasks is None or len(set(trajectories)) == len(set(tasks)):
        return ()
    return (SHARED,)
