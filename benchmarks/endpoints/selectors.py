"""Read endpoints for pages: whether they can be asked, their use and cost, and trials of them.

Amounts are sums over stored calls. Unknown values are left out and counted, never taken as 0.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.db.models import (
    Count,
    F,
    IntegerField,
    QuerySet,
    Window,
)
from django.db.models.functions import Cast, RowNumber, TruncDate

from benchmarks.calls.use import FIGURES, CallUse, use_of_calls, use_of_row
from benchmarks.core.errors import CoreError
from benchmarks.endpoints.rules import EndpointRules
from benchmarks.llm.config import EndpointConfig
from benchmarks.llm.security import KEY_PREFIX, EndpointRefused, check_key_variable
from benchmarks.mappers import endpoint_config
from benchmarks.models import (
    AnswererVersion,
    Endpoint,
    EndpointTrial,
    Exchange,
    Job,
    JudgeTrial,
    Run,
    Suggestion,
)
from benchmarks.visibility import EVERYTHING, Visibility

S = Exchange.State
RUNS, DAYS, TRIALS = 20, 31, 12
MEDIAN, P95 = 50, 95
_SIMULATED = " (simulated)"


def _calls(*names: str, seen: Visibility) -> QuerySet[Exchange]:
    rows = seen.of(Exchange.every.filter(answerer__kind="endpoint")).order_by()
    return rows.filter(answerer__name__in=names) if names else rows


def endpoint_use(*names: str, seen: Visibility = EVERYTHING) -> dict[str, CallUse]:
    """Return the use by endpoint name, of all endpoints by default, in three queries."""
    use_rows = {
        row["answerer__name"]: row
        for row in _calls(*names, seen=seen).values("answerer__name").annotate(**FIGURES)
    }
    if not use_rows:
        return {}
    median, p95 = (_latencies(_calls(*names, seen=seen), share) for share in (MEDIAN, P95))
    currencies = dict(Endpoint.objects.values_list("name", "currency"))
    return {
        name: use_of_row(row, currencies.get(name, ""), median=median.get(name), p95=p95.get(name))
        for name, row in use_rows.items()
    }


def _latencies(calls: QuerySet[Exchange], percent: int) -> dict[str, float]:
    """Return a percentile of the latency by endpoint, by the nearest-rank method."""
    name = F("answerer__name")
    answered = calls.filter(state__in=[S.ANSWERED, S.UNREADABLE], latency__isnull=False)
    total = Window(Count("pk"), partition_by=name)
    ranked = answered.annotate(
        rank=Window(RowNumber(), partition_by=name, order_by=F("latency").asc()),
        # integers throughout, so that the rank is rounded up
        wanted=Cast((total * percent + 99) / 100, IntegerField()),
    )
    rows = ranked.filter(rank=F("wanted")).values_list("answerer__name", "latency")
    return {name: latency for name, latency in rows if latency is not None}


# --- One endpoint ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunUse:
    """The use of an endpoint by one run."""

    run: Run
    use: CallUse


@dataclass(frozen=True)
class DayUse:
    """The use of an endpoint on one day (UTC)."""

    day: date
    use: CallUse


def use_by_run(endpoint: Endpoint, seen: Visibility = EVERYTHING) -> list[RunUse]:
    """Return the use of the newest runs that asked an endpoint."""
    rows = (
        _calls(endpoint.name, seen=seen)
        .values("trajectory__run")
        .annotate(**FIGURES)
        .order_by("-trajectory__run")[:RUNS]
    )
    row_by_run = {row["trajectory__run"]: row for row in rows}
    runs = Run.objects.select_related("agent", "dataset").in_bulk(row_by_run)
    return [RunUse(runs[pk], use_of_row(row, runs[pk].currency)) for pk, row in row_by_run.items()]


def use_by_day(endpoint: Endpoint, seen: Visibility = EVERYTHING) -> list[DayUse]:
    """Return the use on the last days with calls, the newest first."""
    rows = (
        _calls(endpoint.name, seen=seen)
        .annotate(day=TruncDate("sent_at"))
        .values("day")
        .annotate(**FIGURES)
        .order_by("-day")[:DAYS]
    )
    return [DayUse(row["day"], use_of_row(row, endpoint.currency)) for row in rows]


def run_use(run: Run) -> CallUse | None:
    """Return the use of all endpoints by a run; None if it asked none."""
    calls = Exchange.every.filter(trajectory__run=run, answerer__kind="endpoint")
    use = use_of_calls(calls, run.currency)
    return use if use.calls else None


# --- Whether it can be asked ----------------------------------------------------------------------


@dataclass(frozen=True)
class EndpointRow:
    """An endpoint in a list. ``obstacles`` say why it cannot be asked, without secrets and
    addresses; ``details`` has those for administrators."""

    endpoint: Endpoint
    use: CallUse
    host: str
    local: bool
    obstacles: tuple[str, ...]
    details: tuple[str, ...]


def endpoint_rows(
    endpoints: Sequence[Endpoint], seen: Visibility = EVERYTHING
) -> list[EndpointRow]:
    """Return list rows of endpoints with their use, in six queries."""
    use, rules = endpoint_use(seen=seen), EndpointRules.load()
    return [
        endpoint_row(e, use.get(e.name, CallUse(currency=e.currency)), rules=rules)
        for e in endpoints
    ]


def endpoint_row(
    endpoint: Endpoint,
    use: CallUse | None = None,
    seen: Visibility = EVERYTHING,
    rules: EndpointRules | None = None,
) -> EndpointRow:
    """Return one row with what hinders the endpoint, by ``rules`` or those of now."""
    if use is None:
        use_by_name = endpoint_use(endpoint.name, seen=seen)
        use = use_by_name.get(endpoint.name, CallUse(currency=endpoint.currency))
    try:
        config: EndpointConfig | None = endpoint_config(endpoint)
    except CoreError as error:
        problems = ("its configuration is not valid any more",)
        return EndpointRow(endpoint, use, "", False, problems, (str(error),))
    assert config is not None
    obstacles, details = [], []
    rules = rules or EndpointRules.load()
    try:
        rules.check_address(config.address, delegated=endpoint.delegated)
    except EndpointRefused as error:
        obstacles.append("its host is not allowed")
        details.append(str(error))
    try:
        rules.check_key(
            endpoint.key_variable, config.address, endpoint.delegated, endpoint.created_by_id
        )
    except EndpointRefused as error:
        obstacles.append("it may not use its key")
        details.append(str(error))
    if endpoint.key_variable and not key_is_set(endpoint.key_variable):
        obstacles.append("its key is not set")
        details.append(f"{endpoint.key_variable} is not set on the web server's machine")
    return EndpointRow(
        endpoint,
        use,
        config.address.netloc,
        config.address.loopback,
        tuple(obstacles),
        tuple(details),
    )


def key_is_set(variable: str) -> bool:
    """Return whether a key's variable is set here; other variables are never read."""
    if not variable.startswith(KEY_PREFIX):
        return False
    check_key_variable(variable)
    return bool(os.environ.get(variable, "").strip())


def agent_title(endpoint: Endpoint) -> str:
    """Return the title of an endpoint's agent, as lists, figures and exports show it."""
    room = 120 - len(_SIMULATED)
    return f"{endpoint.title[:room]}{_SIMULATED}" if endpoint.simulated else endpoint.title


def endpoint_used(endpoint: Endpoint) -> bool:
    """Return whether an endpoint has been asked, or a run uses it."""
    if AnswererVersion.objects.filter(kind="endpoint", name=endpoint.name).exists():
        return True
    if endpoint.agents.filter(runs__isnull=False).exists():
        return True
    # for example as a judge in a run that has not started
    roles = Run.objects.exclude(currency="").order_by().values_list("roles", flat=True)
    return any(
        row.get("endpoint") == endpoint.name
        for assignments in roles.iterator()
        for rows in assignments.values()
        for row in rows
    )


# --- Trials ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EndpointTrialView:
    """A trial with its state: waiting, ok, failed, or given up by its worker."""

    row: EndpointTrial
    state: str

    @property
    def tone(self) -> str:
        return {"waiting": "info", "ok": "ok", "failed": "bad", "given up": "idle"}[self.state]


def trials_of(endpoint: Endpoint) -> list[EndpointTrialView]:
    """Return the last trials, the newest first."""
    rows = endpoint.trials.select_related("job", "asked_by")[:TRIALS]
    return [EndpointTrialView(row, _state(row)) for row in rows]


def _state(row: EndpointTrial) -> str:
    if row.state != S.SENT:
        return "ok" if row.state == S.ANSWERED else "failed"
    under_way = row.job and row.job.status in (Job.Status.QUEUED, Job.Status.RUNNING)
    return "waiting" if under_way else "given up"


def use_beside_runs(endpoint: Endpoint, seen: Visibility = EVERYTHING) -> list[tuple[str, CallUse]]:
    """Return the use by calls that are no part of a trajectory, by purpose, where there is any."""
    suggested = seen.of(Suggestion.objects.filter(answerer__kind="endpoint"))
    rows = {
        "Questions to try it": endpoint.trials.all(),
        "Trials as a judge": JudgeTrial.objects.filter(endpoint=endpoint),
        "Suggestions to people": suggested.filter(answerer__name=endpoint.name),
    }
    uses = [(title, use_of_calls(calls, endpoint.currency)) for title, calls in rows.items()]
    return [(title, use) for title, use in uses if use.calls]
