"""How agents search, call tools and end: one row per run, and mean recall by step."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import ACCURATE
from analysis.frames.tool_calls import KEPT, RUNNING
from analysis.kit.links import Link
from analysis.pages.outcome_estimates import left_out
from analysis.reports import addresses
from analysis.stats.descriptive.rates import ratio_of_totals
from analysis.stats.descriptive.trials import measure_mean, success_rate
from analysis.stats.results import Estimate
from analysis.stats.trends.decline import Curve, score_by_turn
from benchmarks.core.ports.comparisons import ToolUse

if TYPE_CHECKING:
    from pandas import DataFrame

RIGHT, UNCLASSIFIED = "right", "untold"


class ToolRow(NamedTuple):
    """One agent. ``ends`` counts scored trajectories by failure category, `RIGHT` among them;
    ``shares`` are the same as shares. ``mishaps`` are per call.
    """

    run: ChosenRun
    searches: Estimate
    calls: Estimate
    balance: Estimate
    mishaps: Mapping[str, Estimate]
    ends: Mapping[str, int]
    shares: Mapping[str, Estimate]
    left_out: Mapping[str, int]


def link_of(row: ToolRow) -> Link:
    """Return what the numbers of an agent count: the trajectories of its run."""
    return Link(runs=(row.run.pk,))


def end_url(row: ToolRow, kind: str) -> str:
    """Return the address of its trajectories that ended so; empty where there are none."""
    if not row.ends.get(kind):
        return ""
    if kind == RIGHT:
        return addresses.trajectories_of(row.run, accurate="yes")
    if kind == UNCLASSIFIED:
        return addresses.trajectories_of(row.run, accurate="no")
    return addresses.trajectories_of(row.run, failure=kind)


def tool_row(
    run: ChosenRun, frame: "DataFrame", categories: Mapping[int, str], use: ToolUse
) -> ToolRow:
    """Count how an agent's trajectories ended, and estimate how it searches and calls."""
    mine = frame[frame["run"] == run.pk]
    scored = mine[mine[ACCURATE].notna()]
    tasks = scored["task"].tolist()
    ends = [
        RIGHT if right else categories.get(pk) or UNCLASSIFIED
        for pk, right in zip(scored["trajectory"], scored[ACCURATE], strict=True)
    ]
    kinds = (RIGHT, *use.categories, UNCLASSIFIED)
    calls = scored[use.calls].to_numpy()
    excluded = left_out(run, mine, ACCURATE)
    return ToolRow(
        run=run,
        searches=_mean(scored, use.searches, excluded),
        calls=_mean(scored, use.calls, excluded),
        balance=ratio_of_totals(scored[use.searches].to_numpy(), calls, tasks, excluded=excluded),
        mishaps={
            name: ratio_of_totals(scored[name].to_numpy(), calls, tasks, excluded=excluded)
            for name in use.mishaps
        },
        ends=dict(Counter(ends)),
        shares={kind: success_rate([float(end == kind) for end in ends], tasks) for kind in kinds},
        left_out=excluded,
    )


def _mean(rows: "DataFrame", name: str, excluded: Mapping[str, int]) -> Estimate:
    if rows.empty and excluded:
        return Estimate.without_value(next(iter(excluded)), excluded=excluded)
    return measure_mean(
        rows[name].to_numpy(), rows["task"].tolist(), rate=False, scale=(0, None), excluded=excluded
    )


def curves_of(frame: "DataFrame") -> list[Curve]:
    """Return the mean recall by step: one series for trajectories under way, one for all."""
    curves: list[Curve] = []
    for series in (RUNNING, KEPT):
        steps = frame[frame["series"] == series]
        curves += score_by_turn(
            steps["label"].tolist(),
            steps["series"].tolist(),
            steps["trajectory"].tolist(),
            steps["step"].to_numpy(),
            steps["value"].to_numpy(),
            scale=(0, 1),
        )
    return curves
