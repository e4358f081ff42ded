"""Plans of deletions: what goes, how much of it, and what keeps it from going.

Apps above this one register what they keep: `holder` for what must stay as long as they need it,
`companion` for what goes with trajectories, `counted_with` for what else a deletion concerns.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db.models import Model, Q
from django.urls import reverse

from benchmarks.access import START
from benchmarks.models import (
    Branch,
    Dataset,
    Exchange,
    Experiment,
    Job,
    JudgeScore,
    RowDecision,
    Run,
    Task,
    Trajectory,
)

_S = Run.Status
# Nobody works on a run in one of these states, nor will.
ENDED = (_S.DONE, _S.CANCELLED, _S.ATTENTION)


@dataclass(frozen=True)
class DeletionRefusal:
    """A reason why something cannot be deleted, and the page on which that can be changed."""

    words: str
    url: str = ""


@dataclass(frozen=True)
class DeletionPlan:
    """A dry run: the rows that a deletion takes, with their numbers by kind, and what refuses it.

    ``companions`` are ids of rows of other apps that go first, such as the demo's studies.
    """

    title: str
    runs: Sequence[int] = ()
    datasets: Sequence[int] = ()
    companions: Sequence[int] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    refusals: Sequence[DeletionRefusal] = ()

    @property
    def label(self) -> str:
        """Return the title as the beginning of a sentence."""
        return f"{self.title[:1].upper()}{self.title[1:]}"


# From the ids of runs, those of datasets, and those of companions that go too, to what refuses.
Holder = Callable[[Collection[int], Collection[int], Collection[int]], Iterable[DeletionRefusal]]
_holders: list[Holder] = []
# From the same ids to numbers of rows by what they are.
CountRule = Callable[[Collection[int], Collection[int], Collection[int]], Mapping[str, int]]
_counts: list[CountRule] = []
_companions: dict[str, tuple[type[Model], str]] = {}


def holder(rule: Holder) -> Holder:
    """Register a rule that says what keeps runs and datasets from being deleted."""
    if rule not in _holders:
        _holders.append(rule)
    return rule


def held(
    runs: Collection[int], datasets: Collection[int], companions: Collection[int]
) -> list[DeletionRefusal]:
    """Return what other apps keep of these runs and datasets."""
    return [refusal for rule in _holders for refusal in rule(runs, datasets, companions)]


def companion(name: str, model: type[Model], run: str) -> None:
    """Have rows counted that go with trajectories; ``run`` is their path to the run."""
    _companions[name] = (model, run)


def counted_with(rule: CountRule) -> CountRule:
    """Register a rule that counts rows of another app that a deletion takes or concerns."""
    if rule not in _counts:
        _counts.append(rule)
    return rule


def plan_deletion(
    title: str,
    *,
    runs: Iterable[int] = (),
    datasets: Iterable[int] = (),
    companions: Iterable[int] = (),
) -> DeletionPlan:
    """Return what a deletion takes and what refuses it.

    Re-judgings go with the runs they judge, and branches with those whose log they share.
    """
    chosen: set[int] = set()
    more = set(runs)
    while more:
        chosen |= more
        follow = Q(makes_judging__run__in=more) | Q(trajectories__branch__parent__run__in=more)
        following = Run.objects.filter(follow).order_by().values_list("pk", flat=True)
        more = set(following) - chosen
    wanted, others = sorted(chosen), sorted(companions)
    sets = sorted(datasets)
    refusals = [*_of_runs(wanted), *_of_datasets(wanted, sets), *held(wanted, sets, others)]
    counts = {
        "Runs": len(wanted),
        "Trajectories": Trajectory.objects.filter(run__in=wanted).count(),
        "Of these, branches of others": Branch.objects.filter(trajectory__run__in=wanted).count(),
        "Calls and replies": Exchange.every.filter(trajectory__run__in=wanted).count(),
        "Judges' scores": JudgeScore.objects.filter(run__in=wanted).count(),
        "Decisions about training rows": RowDecision.objects.filter(
            trajectory__run__in=wanted
        ).count(),
        **{
            name: model._default_manager.filter(**{f"{run}__in": wanted}).count()
            for name, (model, run) in _companions.items()
        },
        **{name: count for rule in _counts for name, count in rule(wanted, sets, others).items()},
        "Datasets": len(sets),
        "Tasks": Task.objects.filter(dataset__in=sets).count(),
    }
    shown = {name: count for name, count in counts.items() if count}
    return DeletionPlan(title, wanted, sets, others, shown, refusals)


def _of_runs(runs: Sequence[int]) -> Iterable[DeletionRefusal]:
    rows = Run.objects.filter(pk__in=runs)
    for run in rows.exclude(status__in=ENDED).order_by("pk"):
        state = run.get_status_display().lower()
        yield DeletionRefusal(f"Run {run.pk} is {state}. Cancel it first.", _url("run", run))
    for run in rows.filter(removed_at__isnull=False).order_by("pk"):
        state = "in an archive; attach it first" if run.archive else "being deleted already"
        yield DeletionRefusal(f"Run {run.pk} is {state}.")
    counted = Run.objects.filter(primary_judging__made_by__in=runs).exclude(pk__in=runs)
    for run in counted.order_by("pk"):
        yield DeletionRefusal(
            f"The results of run {run.pk} use a judging that this deletes. Choose another one "
            "there first.",
            _url("run", run),
        )


def _of_datasets(runs: Sequence[int], datasets: Sequence[int]) -> Iterable[DeletionRefusal]:
    made = Dataset.objects.filter(made_by__in=runs).exclude(pk__in=datasets)
    for row in made.order_by("pk"):
        yield DeletionRefusal(
            f"The dataset {row} was constructed by run {row.made_by_id}. Delete the dataset first.",
            _url("dataset", row),
        )
    used = Run.objects.filter(dataset__in=datasets).exclude(pk__in=runs).order_by("pk")
    for run in used[:20]:
        yield DeletionRefusal(f"Run {run.pk} uses the dataset.", _url("run", run))
    if (more := used.count() - 20) > 0:
        yield DeletionRefusal(f"{more:,} more runs use it.")
    for row in Dataset.objects.filter(pk__in=datasets, removed_at__isnull=False):
        yield DeletionRefusal(f"The dataset {row} is being deleted already.")


def _url(page: str, row: Model) -> str:
    return reverse(f"benchmarks:{page}", args=[row.pk])


# --- What can be deleted, and by whom -------------------------------------------------------------


def plan_run(run: Run) -> DeletionPlan:
    """Plan the deletion of one run."""
    return plan_deletion(f"run {run.pk}", runs=[run.pk])


def plan_experiment(experiment: Experiment) -> DeletionPlan:
    """Plan the deletion of an experiment with all its runs."""
    runs = experiment.runs.order_by().values_list("pk", flat=True)
    return plan_deletion(f"experiment {experiment.pk}", runs=runs)


def plan_dataset(dataset: Dataset) -> DeletionPlan:
    """Plan the deletion of a dataset that no run uses."""
    return plan_deletion(f"dataset {dataset.pk}", datasets=[dataset.pk])


def plan_import(job: Job) -> DeletionPlan:
    """Plan the deletion of what an import stored: its runs, and its dataset where it made one."""
    result = job.payload.get("result") or {}
    runs = Run.objects.filter(pk__in=result.get("runs", ()), kind=Run.Kind.IMPORTED)
    made = [result["dataset"]] if result.get("created") and "dataset" in result else []
    datasets = Dataset.objects.filter(pk__in=made)
    return plan_deletion(
        f"import {job.pk}",
        runs=runs.values_list("pk", flat=True),
        datasets=datasets.values_list("pk", flat=True),
    )


def may_delete(user: User, row: Run | Experiment | Dataset | Job, plan: DeletionPlan) -> bool:
    """Return whether a person may delete this: administrators may, and whoever may start runs
    what they started or imported themselves.
    """
    if user.is_superuser:
        return True
    if not user.has_perm(START):
        return False
    if not isinstance(row, Dataset) and row.created_by_id != user.pk:
        return False
    foreign = Run.objects.filter(pk__in=plan.runs).filter(~Q(created_by=user) | Q(created_by=None))
    own = Job.objects.filter(
        created_by=user, payload__result__dataset__in=plan.datasets, payload__result__created=True
    )
    imported = set(own.values_list("payload__result__dataset", flat=True) if plan.datasets else ())
    return not foreign.exists() and imported >= set(plan.datasets)
