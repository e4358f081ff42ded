"""What somebody must not see for now: runs that are closed to them, and all that would tell of one.

Studies hide from their annotators who made what. This app knows nothing of studies: apps above it
say by a rule which runs to close to whom, and for how long in words. What a closed run closes
besides itself is said here, once, for pages, API and exports alike.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from django.contrib.auth.models import User
from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from benchmarks.models import (
    Agent,
    Dataset,
    Endpoint,
    Exchange,
    Experiment,
    Job,
    JudgeScore,
    OpenAsk,
    Run,
    Task,
    Trajectory,
)
from benchmarks.roles.assignments import all_fillers

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Duty:
    """What somebody has to finish before closed runs open: ``words`` (2 items) of ``title``."""

    title: str
    words: str
    url: str


class Closed(NamedTuple):
    """What is closed to somebody by itself, by id.

    ``runs``: who made what must stay hidden. ``tasks``: those whose candidates somebody decides
    about, without knowing what a checker decided; what was kept are the constraints, so all that
    shows these is closed too.
    """

    runs: Iterable[int] = ()
    tasks: Iterable[int] = ()


Rule = Callable[[User], Closed]
Duties = Callable[[User], Iterable[Duty]]
_rules: list[Rule] = []
_duties: list[Duties] = []


def blinding_rule(rule: Rule) -> Rule:
    """Register a rule: from a person to what is closed to them.

    It is asked at every request, so it is to take one query where nothing is closed.
    """
    if rule not in _rules:
        _rules.append(rule)
    return rule


def blinding_duties(duties: Duties) -> Duties:
    """Register what says for how long: from a person to what they have to finish."""
    if duties not in _duties:
        _duties.append(duties)
    return duties


def closed_to(user: User) -> Closed:
    """What is closed to this person at this moment."""
    found = [rule(user) for rule in _rules]
    return _with_constructions(
        frozenset(pk for closed in found for pk in closed.runs),
        frozenset(pk for closed in found for pk in closed.tasks),
    )


def _with_constructions(runs: frozenset[int], tasks: frozenset[int]) -> Closed:
    """What is closed, with the constructions that say what was decided about candidates of it.

    The same tasks in other versions made of the same construction say it, too.
    """
    rows = Task.objects.filter(pk__in=tasks, dataset__made_by__isnull=False).order_by()
    made_by = frozenset(rows.values_list("dataset__made_by", flat=True)) if tasks else frozenset()
    if not made_by:
        return Closed(runs, tasks)
    here = rows.filter(
        external_id=OuterRef("external_id"), dataset__made_by=OuterRef("dataset__made_by")
    )
    again = Task.objects.filter(Exists(here), dataset__made_by__in=made_by).order_by()
    return Closed(runs | made_by, tasks | frozenset(again.values_list("pk", flat=True)))


def closed_runs(user: User) -> frozenset[int]:
    """The runs that are closed to this person at this moment."""
    return frozenset(closed_to(user).runs)


class Visibility:
    """What one person may see at this moment: all but ``closed`` runs and what tells of them.

    ``tasks`` are closed by themselves, with what shows their constraints.

    Asked for once a request (``benchmarks.access.visibility``); a page never asks a second time,
    so that it cannot show half of what it closes.
    """

    def __init__(
        self, user: User | None = None, closed: Iterable[int] = (), tasks: Iterable[int] = ()
    ) -> None:
        self.user = user
        self.closed = frozenset(closed)
        self.tasks = frozenset(tasks)

    @classmethod
    def to(cls, user: User) -> "Visibility":
        """What this person may see now, in one query for each rule."""
        return cls(user, *closed_to(user))

    def of(self, rows: QuerySet[M]) -> QuerySet[M]:
        """These rows without the closed ones. A model that nothing is known of is an error."""
        closes = _CLOSED[rows.model]
        if self.closed:
            rows = rows.exclude(closes(self))
        task = _TASK_OF.get(rows.model)
        return rows.exclude(**{f"{task}__in": self.tasks}) if self.tasks and task else rows

    def counted(self, key: str) -> Q:
        """The condition under which a sum counts the runs that rows name by ``key``."""
        return ~Q(**{f"{key}__in": self.closed}) if self.closed else Q()

    @cached_property
    def duties(self) -> list[Duty]:
        """What has to be finished before all is open again."""
        if self.user is None or not (self.closed or self.tasks):
            return []
        return [duty for duties in _duties for duty in duties(self.user)]

    @cached_property
    def endpoints(self) -> frozenset[str]:
        """Endpoints that answer in closed runs and in no other, by name."""
        runs = Run.objects.filter(pk__in=self.closed)
        closed = _endpoints_in(runs.order_by().values_list("roles", flat=True))
        closed |= _endpoints_in(recasts_in(self.closed))
        if not closed:
            return frozenset()
        # only runs that ask an endpoint have a currency
        others = Run.objects.exclude(pk__in=self.closed).exclude(currency="")
        return closed - _endpoints_in(others.order_by().values_list("roles", flat=True))

    @cached_property
    def imports(self) -> list[int]:
        """Imports in the background that closed runs came from."""
        jobs = Job.objects.filter(created_by=self.user).exclude(payload={})
        return [
            pk
            for pk, payload in jobs.order_by().values_list("pk", "payload")
            if self.closed.intersection((payload.get("result") or {}).get("runs", ()))
        ]


EVERYTHING = Visibility()


def recasts_in(runs: Iterable[int]) -> QuerySet[Trajectory, Any]:
    """Who took over roles in trajectories of these runs, as trajectories store it."""
    rows = Trajectory.objects.filter(reserved=True, run__in=runs).exclude(recast={})
    return rows.order_by().values_list("recast", flat=True)


def _endpoints_in(roles: QuerySet[Any, Any]) -> frozenset[str]:
    """The endpoints that fill a role or suggest in one, by name."""
    return frozenset(
        row["endpoint"]
        for fillers in roles.iterator()
        for row in all_fillers(fillers)
        if "endpoint" in row
    )


def _only_in_closed(seen: Visibility, key: str) -> Q:
    """Rows that runs name by ``key``, all of them closed. What an open run names is no secret."""
    runs = Run.objects.filter(**{key: OuterRef("pk")}).order_by()
    inside = Exists(runs.filter(pk__in=seen.closed))
    return Q(inside) & ~Q(Exists(runs.exclude(pk__in=seen.closed)))


def _agents(seen: Visibility) -> Q:
    return _only_in_closed(seen, "agent") | Q(endpoint__name__in=seen.endpoints)


def _endpoints(seen: Visibility) -> Q:
    return Q(name__in=seen.endpoints) | _only_in_closed(seen, "agent__endpoint")


def _imported_into(seen: Visibility) -> QuerySet[Run, Any]:
    """Datasets that closed runs were imported into: their names and notes come from the file."""
    runs = Run.objects.filter(pk__in=seen.closed, kind=Run.Kind.IMPORTED)
    return runs.order_by().values("dataset")


def _tasks(seen: Visibility) -> Q:
    """Their pages show the answers that recorded agents draw from, with authors and verdicts."""
    played = Trajectory.objects.filter(task=OuterRef("pk"), run__in=seen.closed)
    return Q(dataset__in=_imported_into(seen)) | Q(Exists(played))


# What shows the constraints of a task, and how it names the task.
_TASK_OF: Mapping[type[Model], str] = {
    Task: "pk",
    Trajectory: "task",
    Exchange: "trajectory__task",
    OpenAsk: "trajectory__task",
}

# From what is seen to the rows that are not.
_CLOSED: Mapping[type[Model], Callable[[Visibility], Q]] = {
    Run: lambda seen: Q(pk__in=seen.closed),
    Trajectory: lambda seen: Q(run__in=seen.closed),
    JudgeScore: lambda seen: Q(run__in=seen.closed),
    Exchange: lambda seen: Q(trajectory__run__in=seen.closed),
    OpenAsk: lambda seen: Q(trajectory__run__in=seen.closed),
    Experiment: lambda seen: _only_in_closed(seen, "experiment"),
    Agent: _agents,
    Endpoint: _endpoints,
    Dataset: lambda seen: Q(pk__in=_imported_into(seen)),
    Task: _tasks,
    # Titles are names of files, and these name models; who sent a file knows its name.
    Job: lambda seen: ~Q(created_by=seen.user) | Q(pk__in=seen.imports),
}
