"""What a token's user may see, on top of the permissions that pages ask for."""

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from benchmarks.access import START, VIEW, allow
from benchmarks.api.errors import ApiError
from benchmarks.blinding import closed_runs
from benchmarks.models import Agent, Dataset, Job, Run, Task, Trajectory
from benchmarks.selectors.jobs import import_jobs

CLOSED = (
    "This belongs to a blinded study in which you still have open items. "
    "It opens when you have done them."
)


def user_of(request: HttpRequest) -> User:
    """The user that the token acts for."""
    assert isinstance(request.user, User)
    return request.user


def closed(request: HttpRequest) -> frozenset[int]:
    """The runs that this user must not see now; asked for once a request."""
    found: frozenset[int] | None = getattr(request, "closed_runs", None)
    if found is None:
        found = closed_runs(user_of(request))
        request.closed_runs = found  # type: ignore[attr-defined]
    return found


def refuse_closed(request: HttpRequest, run_id: int) -> None:
    """Refuse a run, or what belongs to it, while it is closed to this user."""
    if run_id in closed(request):
        raise ApiError(403, CLOSED, code="blinded")


def open_runs(request: HttpRequest, rows: QuerySet[Run]) -> QuerySet[Run]:
    """Runs without those that are closed."""
    allow(request, VIEW)
    hidden = closed(request)
    return rows.exclude(pk__in=hidden) if hidden else rows


def open_trajectories(request: HttpRequest, rows: QuerySet[Trajectory]) -> QuerySet[Trajectory]:
    """Trajectories without those of closed runs."""
    allow(request, VIEW)
    hidden = closed(request)
    return rows.exclude(run__in=hidden) if hidden else rows


def open_agents(request: HttpRequest, rows: QuerySet[Agent]) -> QuerySet[Agent]:
    """Agents without those that made a closed run: their names would tell who took part."""
    allow(request, VIEW)
    hidden = closed(request)
    return rows.exclude(runs__in=hidden) if hidden else rows


def open_datasets(request: HttpRequest, rows: QuerySet[Dataset]) -> QuerySet[Dataset]:
    """Datasets without those that closed runs were imported into: their files name models."""
    allow(request, VIEW)
    hidden = closed(request)
    return rows.exclude(pk__in=_imported_into(hidden)) if hidden else rows


def open_tasks(request: HttpRequest, rows: QuerySet[Task]) -> QuerySet[Task]:
    """Tasks without those of such datasets."""
    allow(request, VIEW)
    hidden = closed(request)
    return rows.exclude(dataset__in=_imported_into(hidden)) if hidden else rows


def open_imports(request: HttpRequest) -> QuerySet[Job]:
    """Imports in the background; only their own for those who annotate blind.

    The names of files name models, and who sent a file knows its name.
    """
    allow(request, START)
    rows = import_jobs()
    return rows.filter(created_by=user_of(request)) if closed(request) else rows


def _imported_into(hidden: frozenset[int]) -> QuerySet[Run, int]:
    runs = Run.objects.filter(pk__in=hidden, kind=Run.Kind.IMPORTED)
    return runs.order_by().values_list("dataset", flat=True)
