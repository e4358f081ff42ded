"""The sources that a new study can use, and how they can be filtered."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Item, Study
from annotation.planning.plans import ItemSource
from annotation.questionnaires import load_questionnaire, newest_questionnaires
from annotation.studies.design import study_design
from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import EXTERNAL
from benchmarks.models import COUNTED, Candidate, Dataset, Experiment, Run, Task, Trajectory
from benchmarks.visibility import Visibility

TASKS = "tasks"


@dataclass(frozen=True)
class SourceChoice:
    """A set of trajectories or tasks that belong together; ``key`` names it in a form."""

    key: str
    title: str
    system: str
    unit: str
    source: ItemSource

    def runs(self, seen: Visibility) -> QuerySet[Run]:
        """Return its runs; none where it is about tasks."""
        rows = seen.of(Run.objects.filter(COUNTED).exclude(status=Run.Status.CANCELLED))
        if self.unit == "task":
            return rows.none()
        if self.source.runs:
            rows = rows.filter(pk__in=self.source.runs)
        if self.source.experiment:
            rows = rows.filter(experiment=int(self.source.experiment))
        if self.source.dataset:
            rows = rows.filter(dataset=int(self.source.dataset))
        return rows.filter(level__in=self.source.levels) if self.source.levels else rows

    def agents(self, seen: Visibility) -> list[tuple[str, str]]:
        """Return its agents by name, with their titles."""
        rows = self.runs(seen).order_by("agent__title").values_list("agent__name", "agent__title")
        return list(rows.distinct())

    def endings(self, seen: Visibility) -> list[tuple[str, str]]:
        """Return how its trajectories ended, with words."""
        rows = Trajectory.objects.filter(
            run__in=self.runs(seen).order_by().values("pk"), status=Trajectory.Status.DONE
        )
        names = rows.order_by("termination").values_list("termination", flat=True).distinct()
        return [(name, plain(name)) for name in names if name]


def source_choices(seen: Visibility) -> Mapping[str, SourceChoice]:
    """Return everything that a study can be made of: what there is a questionnaire for comes first.

    Within that the newest first, tasks last.
    """
    asked = {(q.system, q.unit) for q in newest_questionnaires()}
    found = [*_started_together(seen), *_imported(seen), *_tasks(seen)]
    found.sort(key=lambda choice: (choice.system, choice.unit) not in asked)
    return {choice.key: choice for choice in found}


def _started_together(seen: Visibility) -> list[SourceChoice]:
    rows = (
        seen.of(Run.objects.filter(COUNTED).exclude(status=Run.Status.CANCELLED))
        .filter(experiment__isnull=False)
        .order_by("-experiment", "pk")
        .values_list("experiment", "level", "dataset__system", "agent")
    )
    names = dict(Experiment.objects.values_list("pk", "name"))
    agents: dict[tuple[int, str, str], set[int]] = {}
    for experiment, level, system, agent in rows:
        assert experiment is not None  # filtered above
        agents.setdefault((experiment, level, system), set()).add(agent)
    return [
        SourceChoice(
            key=f"{experiment}:{level}",
            title=f"{names[experiment]} ({_agents(found)}{', level ' + level if level else ''})",
            system=system,
            unit="trajectory",
            source=ItemSource(experiment=str(experiment), levels=(level,) if level else ()),
        )
        for (experiment, level, system), found in agents.items()
    ]


def _imported(seen: Visibility) -> list[SourceChoice]:
    """Return the runs made elsewhere, by the dataset that they were imported into."""
    rows = seen.of(Run.objects.filter(kind=Run.Kind.IMPORTED)).order_by("-dataset", "pk")
    agents: dict[tuple[int, str], set[int]] = {}
    for dataset, name, agent in rows.values_list("dataset", "dataset__name", "agent"):
        agents.setdefault((dataset, name), set()).add(agent)
    return [
        SourceChoice(
            key=f"dataset:{dataset}",
            title=f"{name} ({_agents(found)}, imported)",
            system=EXTERNAL,
            unit="trajectory",
            source=ItemSource(dataset=str(dataset)),
        )
        for (dataset, name), found in agents.items()
    ]


def _tasks(seen: Visibility) -> list[SourceChoice]:
    """Return the datasets whose tasks have candidate constraints."""
    candidates = Candidate.objects.filter(task__dataset=OuterRef("pk"))
    rows = seen.of(Dataset.objects.filter(Exists(candidates))).order_by("-pk")
    open_tasks = seen.of(Task.objects.filter(dataset=OuterRef("pk"))).order_by()
    return [
        SourceChoice(
            key=f"{TASKS}:{dataset.pk}",
            title=f"{dataset} (tasks with candidate constraints)",
            system=dataset.system,
            unit="task",
            source=ItemSource(dataset=str(dataset.pk)),
        )
        for dataset in rows.filter(Exists(open_tasks))
    ]


def _agents(agents: set[int]) -> str:
    return f"{len(agents)} agent{'s' * (len(agents) > 1)}"


def source_of(study: Study) -> ItemSource:
    """Return the runs or the dataset of the items that a study has; an empty source where it has
    none.
    """
    items = Item.objects.filter(study=study).order_by()
    if load_questionnaire(study.questionnaire).unit == "task":
        datasets = items.filter(task__isnull=False).values_list("task__dataset", flat=True)
        first = datasets.order_by("rank").first()
        return ItemSource(dataset=str(first)) if first is not None else ItemSource()
    runs = items.filter(trajectory__isnull=False).values_list("trajectory__run", flat=True)
    plan = study_design(study).plan
    return ItemSource(
        runs=tuple(sorted(runs.distinct())), trials=plan.items.trials if plan else "all"
    )


def choice_of(study: Study) -> SourceChoice:
    """Return the same as a choice on a page."""
    about = load_questionnaire(study.questionnaire)
    return SourceChoice("", study.name, about.system, about.unit, source_of(study))


def agents_of(source: ItemSource, seen: Visibility) -> list[tuple[str, str]]:
    """Return the agents of a source's runs by name, with their titles;
    those that are not closed.
    """
    rows = seen.of(Run.objects.filter(pk__in=source.runs)).order_by("agent__title")
    return list(rows.values_list("agent__name", "agent__title").distinct())
