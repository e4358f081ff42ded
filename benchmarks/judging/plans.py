"""The calls and cost of a re-judging, before anything is stored."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.core.answerers import most_cost
from benchmarks.core.errors import CoreError
from benchmarks.endpoints.services import answerer_at, currency_of, endpoints_in
from benchmarks.judging.selectors import JudgingScope, TrajectoryChoice, chosen_shares, judgeable
from benchmarks.judging.services import ChosenPanel, check_people, read_panel, system_of_runs
from benchmarks.mappers import core_task, stored_trajectory
from benchmarks.models import Exchange, Trajectory
from benchmarks.roles.services import assign_roles, build_answerer
from benchmarks.runs.estimates import LEAST

LATEST = 500


class JudgingPlan(NamedTuple):
    """The size of a re-judging. ``calls`` are the most by role, if all replies are readable.

    ``likely`` cost rests on the mean of at least ``n`` earlier calls of each judge in its role,
    ``most`` on the prices and the longest reply allowed, measured on one turn; both in ``currency``
    and None if unknown. Without a currency nothing is paid.
    """

    scope: JudgingScope
    turns: int
    calls: Mapping[str, int]
    likely: float | None
    n: int
    most: float | None
    currency: str

    @property
    def total_calls(self) -> int:
        return sum(self.calls.values())

    def as_json(self) -> dict[str, Any]:
        """Return the plan for the API and commands; null where nobody can tell."""
        return {
            "runs": len(self.scope.shares),
            "trajectories": self.scope.trajectories,
            "left_out": self.scope.left_out,
            "turns": self.turns,
            "calls": dict(self.calls),
            "likely_cost": self.likely,
            "most_cost": self.most,
            "currency": self.currency,
        }


def plan_judging(
    *,
    chosen: TrajectoryChoice,
    roles: Mapping[str, Sequence[str]],
    settings: Mapping[str, Any] | None = None,
    scope: JudgingScope | None = None,
) -> JudgingPlan:
    """Count what ``start_judging`` would make, and refuse what it would refuse.

    ``scope`` is that of the choice, if the caller has computed it already.
    """
    scope = scope or chosen_shares(chosen)
    panel = read_panel(system=system_of_runs(scope.runs), roles=roles, settings=settings or {})
    last = panel.settings["turns"] == "last"
    calls: Counter[str] = Counter()
    turns = 0
    for share in scope.shares:
        asked = share.begun if last else share.turns
        turns += asked
        for role, number in panel.rejudging.calls_per_turn(
            share.run.settings, panel.settings
        ).items():
            calls[role] += number * asked
    run = scope.shares[0].run
    assignments = assign_roles(panel.rejudging, run.dataset, run.agent, panel.settings, panel.roles)
    check_people(run.dataset.system, assignments, panel.settings)
    paid = endpoints_in(assignments)
    currency = currency_of(paid)
    likely, n, most = 0.0, 0, 0.0
    known = bounded = True
    if paid:
        sample = _sample(chosen)
        for role, number in calls.items():
            for assignment in assignments[role]:
                if "endpoint" not in assignment:
                    continue
                share_ = number / len(assignments[role])
                mean, count = _earlier(role, assignment["endpoint"])
                n = count if not n else min(n, count)
                known = known and mean is not None
                likely += (mean or 0.0) * share_
                bound = _bound(panel, sample, role, assignment)
                bounded = bounded and bound is not None
                most += (bound or 0.0) * share_
    return JudgingPlan(
        scope, turns, calls,
        likely if known else None, n, most if bounded else None, currency,
    )  # fmt: skip


def _earlier(role: str, endpoint: str) -> tuple[float | None, int]:
    """Return the mean cost of an endpoint's latest calls in a role and their number, or None."""
    rows = Exchange.objects.filter(
        answerer__kind="endpoint", answerer__name=endpoint, role=role, cost__isnull=False
    )
    costs = [
        cost
        for cost in rows.order_by("-pk").values_list("cost", flat=True)[:LATEST]
        if cost is not None
    ]
    return (sum(costs) / len(costs) if len(costs) >= LEAST else None), len(costs)


def _sample(chosen: TrajectoryChoice) -> Trajectory | None:
    for rows in chosen.parts():
        trajectory = (
            judgeable(rows)
            .filter(turn_count__gt=0)
            .select_related("run__dataset", "task__dataset", "profile")
            .first()
        )
        if trajectory is not None:
            return trajectory
    return None


def _bound(
    panel: ChosenPanel, sample: Trajectory | None, role: str, assignment: Mapping[str, Any]
) -> float | None:
    """Return the maximum cost of a judge's call, measured on the last turn of a trajectory."""
    if sample is None:
        return None
    task = core_task(sample.task, sample.profile)
    stored = stored_trajectory(sample)
    ask = panel.rejudging.one_ask(task, stored, stored.turns[-1].index, role, panel.settings)
    if ask is None:
        return None
    try:
        who = build_answerer(panel.rejudging, task, assignment, answerer_at(panel.rejudging.key))
        return most_cost(who, ask, 0)
    except CoreError:
        return None
