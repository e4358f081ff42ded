"""The capacity of endpoints: how many trajectories all workers together carry on them at once.

A trajectory on an endpoint mostly waits for it. So as many are carried at once as the endpoint
takes calls (``concurrency``), whatever the number of a worker's threads. Trajectories under way are
counted by their live leases, which all workers see. Each process may send a share of the calls that
is as large as its share of the trajectories.
"""

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils import timezone

from benchmarks.jobs.leases import contact
from benchmarks.llm.config import connection_digest
from benchmarks.llm.connections import allowed_part, share_limits
from benchmarks.models import Endpoint, Trajectory
from benchmarks.models.role_assignments import Roles, all_assignments

# With a limit of calls per minute more trajectories would only queue: each makes several per turn.
CALLS_A_MINUTE = 4


@dataclass(frozen=True)
class EndpointLimits:
    """The limits that endpoints with one ``EndpointConfig.connection_digest`` share."""

    digest: str
    most: int


@dataclass(frozen=True)
class Live:
    """The number of trajectories of a run that are carried now."""

    run: int
    experiment: int | None
    carried: int


@dataclass(frozen=True)
class EndpointCapacity:
    """The limits of endpoints by name, what is carried on each now, and the runs it belongs to."""

    endpoints: dict[str, EndpointLimits]
    carried: Counter[EndpointLimits]
    live: tuple[Live, ...]

    def left(self, roles: Roles) -> int:
        """Return how many more trajectories with these roles may be carried.

        If several endpoints are asked, the one with the most capacity left decides, so that each
        endpoint is kept busy.
        """
        endpoints = endpoints_of(roles, self.endpoints)
        if not endpoints:  # the endpoint is no longer valid; carrying the trajectory reports that
            return 1
        return max(_limit_now(endpoint) - self.carried[endpoint] for endpoint in endpoints)


def asks_endpoints(roles: Roles) -> bool:
    """Return whether any of these roles is assigned to an endpoint."""
    return any("endpoint" in assignment for assignment in all_assignments(roles))


def measure_capacity(held: Collection[int]) -> EndpointCapacity:
    """Count what is carried, and set this process's part of the calls by what it holds of that.

    Asked at every claim, so two plain queries do: the endpoints, and the live leases by run.
    """
    endpoints = _endpoints()
    rows = Trajectory.objects.filter(
        status=Trajectory.Status.RUNNING, lease_until__gte=contact.lapsed_by(timezone.now())
    ).order_by()
    counted = rows.values_list("run", "run__experiment", "run__roles").annotate(
        every=Count("pk"), mine=Count("pk", filter=Q(pk__in=list(held)))
    )
    live, carried, ours = [], Counter[EndpointLimits](), Counter[EndpointLimits]()
    for run, experiment, roles, every, mine in counted:
        live.append(Live(run, experiment, every))
        for endpoint in endpoints_of(roles, endpoints):
            carried[endpoint] += every
            ours[endpoint] += mine
    for endpoint, every in carried.items():
        if ours[endpoint]:
            share_limits(endpoint.digest, ours[endpoint] / every)
    return EndpointCapacity(endpoints, carried, tuple(live))


def _endpoints() -> dict[str, EndpointLimits]:
    limits = {}
    for name, *shared, most, rate in Endpoint.objects.order_by().values_list(
        "name", "base_url", "model", "key_variable", "concurrency", "requests_per_minute"
    ):
        digest = connection_digest(*shared, most, rate)
        if rate is not None:
            most = max(1, min(most, rate // CALLS_A_MINUTE))
        limits[name] = EndpointLimits(digest, most)
    return limits


def endpoints_of(roles: Roles, endpoints: dict[str, EndpointLimits]) -> set[EndpointLimits]:
    """Return the queues of the endpoints that these roles are assigned to."""
    names = {
        assignment["endpoint"] for assignment in all_assignments(roles) if "endpoint" in assignment
    }
    return {endpoints[name] for name in names if name in endpoints}


def _limit_now(endpoint: EndpointLimits) -> int:
    """Return the limit after the reductions for refusals and timeouts."""
    return max(1, math.floor(endpoint.most * allowed_part(endpoint.digest) + 1e-9))
