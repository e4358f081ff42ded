"""Find the trajectories or tasks of a source that a study can use."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from annotation.designs.pairs import pair_id, pair_options, split_pair
from annotation.designs.types import DesignOption, name_some
from annotation.models import Item
from annotation.plans.study_plan import ItemSource, PlanError, PlanProblem
from annotation.questionnaires import Questionnaire, questionnaires_for
from annotation.questionnaires.requirements import item_contents, task_content
from benchmarks.core.errors import UnknownName
from benchmarks.datasets.selectors import find_dataset
from benchmarks.models import COUNTED, Dataset, Experiment, Run, Task, Trajectory
from benchmarks.paging import as_id
from benchmarks.visibility import Visibility

# The number of ids in one query.
PORTION = 10_000


@dataclass(frozen=True)
class SourceItems:
    """The options of a source that a questionnaire can ask something about.

    ``asked``: option → keys of its questions. ``unusable`` have not ended with something to judge,
    ``unasked`` have nothing that is asked about, ``later_trials`` were left out as wished.
    """

    options: tuple[DesignOption, ...]
    asked: Mapping[int, tuple[str, ...]]
    runs: tuple[int, ...] = ()
    datasets: tuple[int, ...] = ()
    task_of: Mapping[int, int] = field(default_factory=dict)
    unusable: int = 0
    unasked: int = 0
    later_trials: int = 0


def find_items(source: ItemSource, questionnaire: Questionnaire, seen: Visibility) -> SourceItems:
    """Return everything in ``source`` that could be judged; PlanError where it names what is not
    there.
    """
    if questionnaire.unit == "task":
        return _find_tasks(source, questionnaire, seen)
    runs = _find_runs(source, seen)
    _check_system(questionnaire, {run.dataset.system for run in runs})
    return _find_trajectories(source, questionnaire, runs)


def _check_system(questionnaire: Questionnaire, systems: set[str]) -> None:
    unknown = sorted(systems - {questionnaire.system})
    if unknown:
        fitting = [q.id for name in unknown for q in questionnaires_for(name)]
        words = (
            f"{questionnaire.id} is for {questionnaire.system}, not for {', '.join(unknown)}; "
            f"for that there is {', '.join(fitting) or 'none yet: write one under Questionnaires'}"
        )
        raise PlanError([PlanProblem("questionnaire", words)])


# --- Runs -----------------------------------------------------------------------------------------


def _find_runs(source: ItemSource, seen: Visibility) -> list[Run]:
    """Return the runs that a source names, of those that the planner may see."""
    rows = seen.of(Run.objects.filter(COUNTED).select_related("dataset", "agent")).order_by("pk")
    if not (source.trajectories or source.runs or source.experiment or source.dataset):
        words = "say where the items come from: trajectories, runs, an experiment or a dataset"
        raise PlanError([PlanProblem("items", words)])
    if source.trajectories:
        rows = rows.filter(pk__in=_runs_of(source.trajectories, seen))
    if source.runs:
        rows = rows.filter(pk__in=source.runs)
        missing = sorted(set(source.runs) - set(rows.values_list("pk", flat=True)))
        if missing:
            raise PlanError([PlanProblem("items.runs", f"there is no run {name_some(missing)}")])
    else:
        rows = rows.exclude(status=Run.Status.CANCELLED)
    if source.experiment:
        rows = rows.filter(experiment=_experiment(source.experiment, seen))
    if source.dataset:
        rows = rows.filter(dataset=_dataset(source.dataset, seen))
    runs = list(rows)
    if not runs:
        raise PlanError([PlanProblem("items", "there are no runs here")])
    problems = [
        *_unknown("levels", source.levels, {run.level for run in runs}),
        *_unknown("agents", source.agents, {run.agent.name for run in runs}),
    ]
    if problems:
        raise PlanError(problems)
    chosen = [
        run
        for run in runs
        if (not source.levels or run.level in source.levels)
        and (not source.agents or run.agent.name in source.agents)
    ]
    if not chosen:
        raise PlanError([PlanProblem("items", "no run has both one of these levels and agents")])
    return chosen


def _runs_of(trajectories: Sequence[int], seen: Visibility) -> set[int]:
    """Return the runs of trajectories; PlanError where some are not there."""
    runs: dict[int, int] = {}
    for part in in_portions(trajectories):
        runs.update(seen.of(Trajectory.objects.filter(pk__in=part)).values_list("pk", "run"))
    missing = sorted(set(trajectories) - runs.keys())
    if missing:
        words = f"there is no trajectory {name_some(missing)}"
        raise PlanError([PlanProblem("items.trajectories", words)])
    return set(runs.values())


def in_portions(ids: Iterable[int]) -> Iterator[list[int]]:
    """Yield ids in portions that a query can take."""
    rows = sorted(set(ids))
    for start in range(0, len(rows), PORTION):
        yield rows[start : start + PORTION]


def _unknown(name: str, wanted: Sequence[str], known: set[str]) -> Iterator[PlanProblem]:
    unknown = sorted(set(wanted) - known)
    if unknown:
        there = name_some(sorted(known - {""})) or "none"
        yield PlanProblem(f"items.{name}", f"not found: {name_some(unknown)}; there are {there}")


def _experiment(name: str, seen: Visibility) -> Experiment:
    rows = seen.of(Experiment.objects.order_by("-pk"))
    experiment = rows.filter(pk=as_id(name) or 0).first()
    experiment = experiment or rows.filter(name=name).first()
    if experiment is None:
        raise PlanError([PlanProblem("items.experiment", f"there is no experiment {name!r}")])
    return experiment


def _dataset(name: str, seen: Visibility) -> Dataset:
    try:
        dataset = find_dataset(name)
        if not seen.of(Dataset.objects.filter(pk=dataset.pk)).exists():
            raise UnknownName("dataset", name, [])
    except UnknownName as error:
        raise PlanError([PlanProblem("items.dataset", str(error))]) from None
    return dataset


def unit_of(questionnaire: Questionnaire, pk: int) -> dict[str, Any]:
    """Return what an option's id stands for, as a new item names it."""
    if questionnaire.unit == "pair":
        return dict(zip(("trajectory", "other"), split_pair(pk), strict=True))
    return {questionnaire.unit: pk}


def option_ids(items: QuerySet[Item], questionnaire: Questionnaire) -> set[int]:
    """Return the ids of the options that items are; a pair has one for either order."""
    if questionnaire.unit == "task":
        return set(items.filter(task__isnull=False).values_list("task", flat=True))
    rows = items.filter(trajectory__isnull=False).values_list("trajectory", "other")
    if questionnaire.unit != "pair":
        return {trajectory for trajectory, _ in rows}
    return {
        pair_id(*sides) for one, other in rows if other for sides in ((one, other), (other, one))
    }


# --- Trajectories ---------------------------------------------------------------------------------


def usable_trajectories(runs: Sequence[int]) -> QuerySet[Trajectory]:
    """Return the trajectories of some runs that have ended with something to judge."""
    return Trajectory.objects.filter(
        run__in=runs, status=Trajectory.Status.DONE, turns__is_final=True
    )


def _find_trajectories(
    source: ItemSource, questionnaire: Questionnaire, runs: Sequence[Run]
) -> SourceItems:
    by_id = {run.pk: run for run in runs}
    rows = usable_trajectories(list(by_id))
    everything = Trajectory.objects.filter(run__in=by_id)
    if source.tasks:
        known = set(everything.order_by().values_list("task__external_id", flat=True).distinct())
        if problems := list(_unknown("tasks", source.tasks, known)):
            raise PlanError(problems)
        rows, everything = (
            q.filter(task__external_id__in=source.tasks) for q in (rows, everything)
        )
    several = len({run.dataset_id for run in runs}) > 1
    named = set(source.trajectories)
    options: list[DesignOption] = []
    task_of: dict[int, int] = {}
    begun: set[tuple[int, int]] = set()
    usable = later = 0
    endings: set[str] = set()
    for pk, task, run_id, termination, name, category in rows.order_by(
        "task", "attempt", "pk"
    ).values_list("pk", "task", "run", "termination", "task__external_id", "task__category"):
        if named and pk not in named:
            continue
        run = by_id[run_id]
        usable += 1
        endings.add(termination)
        if source.endings and termination not in source.endings:
            continue
        if source.trials == "first" and (task, run_id) in begun:
            later += 1
            continue
        begun.add((task, run_id))
        task_of[pk] = task
        strata = {
            "dataset": str(run.dataset),
            "level": run.level,
            "category": category,
            "ending": termination,
        }
        label = f"{run.dataset}/{name}" if several else name
        options.append(DesignOption(pk, label, run.agent.name, strata))
    if problems := list(_unknown("endings", source.endings, endings)):
        raise PlanError(problems)
    if questionnaire.unit == "pair":
        options = list(pair_options(options))
        task_of |= {option.id: task_of[split_pair(option.id)[0]] for option in options}
        if not options:
            words = "no task has trajectories of two agents at the same level to compare"
            raise PlanError([PlanProblem("items", words)])
    has, _ = item_contents(questionnaire, [option.id for option in options])
    there = (
        sum(everything.filter(pk__in=part).count() for part in in_portions(named))
        if named
        else everything.count()
    )
    unusable = there - usable
    return _asked(
        questionnaire, options, has,
        runs=tuple(by_id), datasets=tuple({run.dataset_id for run in runs}), task_of=task_of,
        unusable=unusable, later_trials=later,
    )  # fmt: skip


def _asked(
    questionnaire: Questionnaire,
    options: Sequence[DesignOption],
    has: Mapping[int, frozenset[str]],
    **more: object,
) -> SourceItems:
    """Leave out what can be asked nothing."""
    asked = {option.id: tuple(questionnaire.asked(has[option.id])) for option in options}
    usable = tuple(option for option in options if asked[option.id])
    return SourceItems(usable, asked, unasked=len(options) - len(usable), **more)  # type: ignore[arg-type]


# --- Tasks ----------------------------------------------------------------------------------------


def _find_tasks(source: ItemSource, questionnaire: Questionnaire, seen: Visibility) -> SourceItems:
    unknown = [
        name for name in ("trajectories", "levels", "agents", "endings") if getattr(source, name)
    ]
    if unknown:
        words = f"{questionnaire.id} is about tasks, which have none"
        raise PlanError(PlanProblem(f"items.{name}", words) for name in unknown)
    if source.runs or source.experiment:
        datasets = {run.dataset_id: run.dataset for run in _find_runs(source, seen)}
    elif source.dataset:
        chosen = _dataset(source.dataset, seen)
        datasets = {chosen.pk: chosen}
    else:
        words = "say which dataset the tasks come from"
        raise PlanError([PlanProblem("items.dataset", words)])
    _check_system(questionnaire, {dataset.system for dataset in datasets.values()})
    rows = seen.of(Task.objects.filter(dataset__in=datasets)).order_by("pk")
    if source.tasks:
        known = set(rows.values_list("external_id", flat=True))
        if problems := list(_unknown("tasks", source.tasks, known)):
            raise PlanError(problems)
        rows = rows.filter(external_id__in=source.tasks)
    options = [
        DesignOption(
            pk,
            f"{datasets[dataset]}/{name}" if len(datasets) > 1 else name,
            strata={"dataset": str(datasets[dataset]), "category": category},
        )
        for pk, dataset, name, category in rows.values_list(
            "pk", "dataset", "external_id", "category"
        )
    ]
    has = task_content([option.id for option in options])
    return _asked(
        questionnaire, options, has,
        datasets=tuple(datasets), task_of={option.id: option.id for option in options},
    )  # fmt: skip
