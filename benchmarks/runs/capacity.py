"""How many trajectories are carried at once on endpoints, over all workers together.

A trajectory on an endpoint mostly waits for it. So as many are carried at once as the endpoint
takes calls (``concurrency``), whatever the number of a worker's threads. What is carried is counted
by the live leases, which all workers see. Of the calls, each process takes a part: as large as its
part of the trajectories.
"""

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils import timezone

from benchmarks.llm.config import line_digest
from benchmarks.llm.line import borne_part, share_line
from benchmarks.models import Endpoint, Trajectory
from benchmarks.roles.assignments import Roles, all_fillers

# Where calls a minute are limited, more trajectories would only queue: each makes several a turn.
CALLS_A_MINUTE = 4


@dataclass(frozen=True)
class Line:
    """An endpoint's line (``EndpointConfig.line_digest``), and how many trajectories it bears."""

    digest: str
    most: int


@dataclass(frozen=True)
class Live:
    """How many trajectories of a run are carried now."""

    run: int
    experiment: int | None
    carried: int


@dataclass(frozen=True)
class Rooms:
    """The lines of endpoints by name, what is carried on each now, and the runs it belongs to."""

    lines: dict[str, Line]
    carried: Counter[Line]
    live: tuple[Live, ...]

    def left(self, roles: Roles) -> int:
        """How many more trajectories with these roles may be carried.

        Where several endpoints are asked, the one with the most room counts: each is kept busy.
        """
        lines = lines_in(roles, self.lines)
        if not lines:  # not valid any more: carrying it says so
            return 1
        return max(_bearable(line) - self.carried[line] for line in lines)


def asks_endpoints(roles: Roles) -> bool:
    """Whether anybody who fills these roles is an endpoint."""
    return any("endpoint" in filler for filler in all_fillers(roles))


def look_for_room(held: Collection[int]) -> Rooms:
    """Count what is carried, and set this process's part of the calls by what it holds of that.

    Asked at every claim, so two plain queries do: the endpoints, and the live leases by run.
    """
    lines = _lines()
    rows = Trajectory.objects.filter(
        status=Trajectory.Status.RUNNING, lease_until__gte=timezone.now()
    ).order_by()
    counted = rows.values_list("run", "run__experiment", "run__roles").annotate(
        every=Count("pk"), mine=Count("pk", filter=Q(pk__in=list(held)))
    )
    live, carried, ours = [], Counter[Line](), Counter[Line]()
    for run, experiment, roles, every, mine in counted:
        live.append(Live(run, experiment, every))
        for line in lines_in(roles, lines):
            carried[line] += every
            ours[line] += mine
    for line, every in carried.items():
        if ours[line]:
            share_line(line.digest, ours[line] / every)
    return Rooms(lines, carried, tuple(live))


def _lines() -> dict[str, Line]:
    found = {}
    for name, *shared, most, rate in Endpoint.objects.order_by().values_list(
        "name", "base_url", "model", "key_variable", "concurrency", "requests_per_minute"
    ):
        digest = line_digest(*shared, most, rate)
        if rate is not None:
            most = max(1, min(most, rate // CALLS_A_MINUTE))
        found[name] = Line(digest, most)
    return found


def lines_in(roles: Roles, lines: dict[str, Line]) -> set[Line]:
    """The lines on which those who fill these roles are asked."""
    names = {filler["endpoint"] for filler in all_fillers(roles) if "endpoint" in filler}
    return {lines[name] for name in names if name in lines}


def _bearable(line: Line) -> int:
    """The limit, less what refusals and time-outs have taken from it."""
    return max(1, math.floor(line.most * borne_part(line.digest) + 1e-9))
