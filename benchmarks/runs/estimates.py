"""Estimate the cost and calls of runs from earlier trajectories."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from benchmarks.models import Dataset, Endpoint, Exchange, Run, Trajectory

# No estimate rests on fewer trajectories than these.
LEAST = 5
# More than these would not make an estimate better.
LATEST = 500


@dataclass(frozen=True)
class EstimatedAmount:
    """An amount, and the smallest number of earlier trajectories that any part of it rests on.

    ``runs`` has the amount of each run in it.
    """

    amount: float
    currency: str
    n: int
    runs: tuple[float, ...] = ()


# An endpoint in a role, as often as it has seats there.
Part = tuple[str, str]


def cost_estimate(
    dataset: Dataset,
    endpoints: Sequence[Endpoint],
    parts: Mapping[str, Sequence[Sequence[Part]]],
    sizes: Mapping[str, int],
) -> EstimatedAmount | None:
    """Estimate the cost of runs; None if any part of it is unknown.

    ``parts`` has for each level the (role, endpoint) pairs of every run at that level, ``sizes``
    how many trajectories a run there has. An endpoint in a role costs per trajectory and seat what
    it has cost on average on this dataset at this level. That average needs trajectories that
    ended, and the cost of each of their calls.
    """
    currencies = {endpoint.currency for endpoint in endpoints}
    if len(currencies) != 1 or not any(any(runs) for runs in parts.values()):
        return None
    known = known_costs(dataset, [endpoint.name for endpoint in endpoints])
    amounts, least = [], None
    for level, runs in parts.items():
        for run in runs:
            amount = 0.0
            for role, name in run:
                if (level, role, name) not in known:
                    return None
                mean, n = known[level, role, name]
                amount += mean * sizes[level]
                least = n if least is None else min(least, n)
            amounts.append(amount)
    return EstimatedAmount(sum(amounts), currencies.pop(), least or 0, tuple(amounts))


def known_costs(
    dataset: Dataset, names: Sequence[str]
) -> dict[tuple[str, str, str], tuple[float, int]]:
    """Return (mean cost per trajectory and seat, count) by level, role and endpoint."""
    rows = (
        Exchange.objects.filter(
            answerer__kind="endpoint",
            answerer__name__in=names,
            trajectory__run__dataset=dataset,
            trajectory__status=Trajectory.Status.DONE,
        )
        .order_by()
        .values("trajectory__run__level", "role", "answerer__name", "seat")
        .annotate(
            total=Sum("cost"),
            n=Count("trajectory", distinct=True),
            unknown=Count("pk", filter=Q(cost=None) & ~Q(state=Exchange.State.FAILED)),
        )
    )
    costs: dict[tuple[str, str, str], list[tuple[float | None, int, int]]] = defaultdict(list)
    for row in rows:
        key = (row["trajectory__run__level"], row["role"], row["answerer__name"])
        costs[key].append((row["total"], row["n"], row["unknown"]))
    means = {}
    for key, seats in costs.items():
        n = sum(count for _, count, _ in seats)
        if n >= LEAST and all(total is not None and not unknown for total, _, unknown in seats):
            means[key] = (sum(total or 0.0 for total, _, _ in seats) / n, n)
    return means


def calls_estimate(dataset: Dataset, level: str) -> tuple[float, int] | None:
    """Return (mean calls per trajectory, number it rests on); None if too few have ended.

    The newest that ended on this dataset at this level count, whoever played them.
    """
    ended = Trajectory.objects.filter(
        run__kind=Run.Kind.MADE,
        run__dataset=dataset,
        run__level=level,
        status=Trajectory.Status.DONE,
    )
    newest = list(ended.order_by("-pk").values_list("pk", flat=True)[:LATEST])
    if len(newest) < LEAST:
        return None
    return Exchange.objects.filter(trajectory__in=newest).count() / len(newest), len(newest)
