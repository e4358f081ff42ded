"""The rows that a person may see: blinded annotators see no runs, nor anything that reveals them,
and nobody sees what is being deleted.

This app knows nothing of studies. Apps above it register rules that name the runs hidden from a
person, and the work the person has to finish first. What else a hidden run hides (its agent,
endpoints, imports) is decided here, once, for pages, API and exports.
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
    Suggestion,
    Task,
    Trajectory,
)
from benchmarks.models.role_assignments import all_assignments

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class OpenDuty:
    """Work that a person must finish before hidden runs open: ``words`` (2 items) of ``title``."""

    title: str
    words: str
    url: str


class ClosedRows(NamedTuple):
    """The ids of the rows that a rule hides from a person.

    ``runs``: runs whose agent must stay hidden. ``tasks``: tasks whose candidates the person
    decides about without knowing the checker's decision. The kept candidates are the constraints,
    so everything that shows the constraints is hidden, too.
    """

    runs: Iterable[int] = ()
    tasks: Iterable[int] = ()


Rule = Callable[[User], ClosedRows]
Duties = Callable[[User], Iterable[OpenDuty]]
_rules: list[Rule] = []
_duties: list[Duties] = []


def blinding_rule(rule: Rule) -> Rule:
    """Register a rule: a function from a person to the rows hidden from them.

    It is called at every request, so it should take one query if nothing is hidden.
    """
    if rule not in _rules:
        _rules.append(rule)
    return rule


def blinding_duties(duties: Duties) -> Duties:
    """Register a function from a person to the work they have to finish first."""
    if duties not in _duties:
        _duties.append(duties)
    return duties


def closed_to(user: User) -> ClosedRows:
    """Return the rows that all rules together hide from a person now."""
    closed_rows = [rule(user) for rule in _rules]
    return _with_constructions(
        _with_branches(frozenset(pk for closed in closed_rows for pk in closed.runs)),
        frozenset(pk for closed in closed_rows for pk in closed.tasks),
    )


def _with_branches(runs: frozenset[int]) -> frozenset[int]:
    """Add the runs whose trajectories share the log of hidden ones, however indirectly."""
    more = runs
    while more:
        following = Run.objects.filter(trajectories__branch__parent__run__in=more).order_by()
        more = frozenset(following.values_list("pk", flat=True)) - runs
        runs |= more
    return runs


def _with_constructions(runs: frozenset[int], tasks: frozenset[int]) -> ClosedRows:
    """Add the constructions that reveal decisions about hidden candidates.

    The same tasks in other datasets of the same construction reveal them, too.
    """
    rows = Task.objects.filter(pk__in=tasks, dataset__made_by__isnull=False).order_by()
    made_by = frozenset(rows.values_list("dataset__made_by", flat=True)) if tasks else frozenset()
    if not made_by:
        return ClosedRows(runs, tasks)
    here = rows.filter(
        external_id=OuterRef("external_id"), dataset__made_by=OuterRef("dataset__made_by")
    )
    again = Task.objects.filter(Exists(here), dataset__made_by__in=made_by).order_by()
    return ClosedRows(runs | made_by, tasks | frozenset(again.values_list("pk", flat=True)))


class Visibility:
    """The rows that one person may see now: everything except ``closed`` runs and what reveals
    them, and what is being deleted.

    Closed are the runs whose agents must stay hidden from this person. ``tasks`` are hidden by a
    rule of their own, with everything that shows their constraints.

    It is computed once per request (``benchmarks.access.visibility``), so that one page cannot
    apply two different answers.
    """

    def __init__(
        self,
        user: User | None = None,
        closed: Iterable[int] = (),
        tasks: Iterable[int] = (),
    ) -> None:
        self.user = user
        self.closed = frozenset(closed)
        self.tasks = frozenset(tasks)

    @classmethod
    def to(cls, user: User) -> "Visibility":
        """Return what a person may see now, in one query for each rule."""
        return cls(user, *closed_to(user))

    def of(self, rows: QuerySet[M]) -> QuerySet[M]:
        """Return these rows without the hidden ones; a model without a rule is an error."""
        closes = _CLOSED[rows.model]
        if rows.model in _KEPT:
            rows = rows.filter(_KEPT[rows.model])
        if self.closed:
            rows = rows.exclude(closes(self))
        task = _TASK_OF.get(rows.model)
        return rows.exclude(**{f"{task}__in": self.tasks}) if self.tasks and task else rows

    def counted(self, key: str) -> Q:
        """Return the condition under which a sum counts the runs that rows name by ``key``."""
        kept = Q(**{f"{key}__removed_at": None})
        return kept & ~Q(**{f"{key}__in": self.closed}) if self.closed else kept

    @cached_property
    def duties(self) -> list[OpenDuty]:
        """Return the work to finish before everything opens again."""
        if self.user is None or not (self.closed or self.tasks):
            return []
        return [duty for duties in _duties for duty in duties(self.user)]

    @cached_property
    def endpoints(self) -> frozenset[str]:
        """Return the names of endpoints that answer only in hidden runs."""
        runs = Run.objects.filter(pk__in=self.closed)
        closed = _endpoints_in(runs.order_by().values_list("roles", flat=True))
        closed |= _endpoints_in(role_changes_in(self.closed))
        if not closed:
            return frozenset()
        # only runs that ask an endpoint have a currency
        others = Run.objects.exclude(pk__in=self.closed).exclude(currency="")
        return closed - _endpoints_in(others.order_by().values_list("roles", flat=True))

    @cached_property
    def imports(self) -> list[int]:
        """Return the import jobs that hidden runs came from."""
        jobs = Job.objects.filter(created_by=self.user).exclude(payload={})
        return [
            pk
            for pk, payload in jobs.order_by().values_list("pk", "payload")
            if self.closed.intersection((payload.get("result") or {}).get("runs", ()))
        ]


EVERYTHING = Visibility()


def detached_runs(seen: Visibility) -> QuerySet[Run]:
    """Return the runs in files that a person may know of, the newest first."""
    rows = Run.objects.filter(removed_at__isnull=False, archive__isnull=False)
    return rows.exclude(pk__in=seen.closed).select_related("agent", "dataset").order_by("-pk")


def role_changes_in(runs: Iterable[int]) -> QuerySet[Trajectory, Any]:
    """Yield the stored role changes in trajectories of these runs."""
    rows = Trajectory.objects.filter(reserved=True, run__in=runs).exclude(role_changes={})
    return rows.order_by().values_list("role_changes", flat=True)


def _endpoints_in(roles: QuerySet[Any, Any]) -> frozenset[str]:
    """Return the names of endpoints that fill a role or suggest in one."""
    return frozenset(
        row["endpoint"]
        for assignments in roles.iterator()
        for row in all_assignments(assignments)
        if "endpoint" in row
    )


def _only_in_blinded(seen: Visibility, key: str) -> Q:
    """Match rows that only hidden runs name by ``key``; what an open run names is no secret."""
    runs = Run.objects.filter(**{key: OuterRef("pk")}).order_by()
    inside = Exists(runs.filter(pk__in=seen.closed))
    return Q(inside) & ~Q(Exists(runs.exclude(pk__in=seen.closed)))


def _agents(seen: Visibility) -> Q:
    return _only_in_blinded(seen, "agent") | Q(endpoint__name__in=seen.endpoints)


def _endpoints(seen: Visibility) -> Q:
    return Q(name__in=seen.endpoints) | _only_in_blinded(seen, "agent__endpoint")


def _imported_into(seen: Visibility) -> QuerySet[Run, Any]:
    """Match datasets that hidden runs were imported into; their names come from the file."""
    runs = Run.objects.filter(pk__in=seen.closed, kind=Run.Kind.IMPORTED)
    return runs.order_by().values("dataset")


def _tasks(seen: Visibility) -> Q:
    """Match tasks whose pages show recorded answers with their authors and verdicts."""
    played = Trajectory.objects.filter(task=OuterRef("pk"), run__in=seen.closed)
    return Q(dataset__in=_imported_into(seen)) | Q(Exists(played))


# What shows the constraints of a task, and how it names the task.
_TASK_OF: Mapping[type[Model], str] = {
    Task: "pk",
    Trajectory: "task",
    Exchange: "trajectory__task",
    Suggestion: "trajectory__task",
    OpenAsk: "trajectory__task",
}

# For models that pages list, the condition that leaves out what is being deleted. Runs of this kind
# are hardly ever there, and have an index of their own, so trajectories need no join. Sums over
# scores and calls count them until they are gone: such a condition would cost every sum its index.
_KEPT: Mapping[type[Model], Q] = {
    Run: Q(removed_at=None),
    Trajectory: ~Q(run__in=Run.objects.filter(removed_at__isnull=False).order_by()),
    OpenAsk: Q(trajectory__run__removed_at=None),
    Dataset: Q(removed_at=None),
    Task: Q(dataset__removed_at=None),
}

# For each model, the condition that matches hidden rows.
_CLOSED: Mapping[type[Model], Callable[[Visibility], Q]] = {
    Run: lambda seen: Q(pk__in=seen.closed),
    Trajectory: lambda seen: Q(run__in=seen.closed),
    JudgeScore: lambda seen: Q(run__in=seen.closed),
    Exchange: lambda seen: Q(trajectory__run__in=seen.closed),
    Suggestion: lambda seen: Q(trajectory__run__in=seen.closed),
    OpenAsk: lambda seen: Q(trajectory__run__in=seen.closed),
    Experiment: lambda seen: _only_in_blinded(seen, "experiment"),
    Agent: _agents,
    Endpoint: _endpoints,
    Dataset: lambda seen: Q(pk__in=_imported_into(seen)),
    Task: _tasks,
    # Titles are file names, which often name a model; the person who sent the file knows it.
    Job: lambda seen: ~Q(created_by=seen.user) | Q(pk__in=seen.imports),
}
