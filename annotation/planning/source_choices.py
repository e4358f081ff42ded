"""The sources that a new study can use, and how they can be filtered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from django.db.models import Exists, OuterRef, QuerySet
from django.http import QueryDict

from annotation.models import Item, Study
from annotation.planning.sources import in_portions
from annotation.plans.study_plan import ItemSource
from annotation.questionnaires import load_questionnaire, newest_questionnaires
from annotation.studies.design import study_design
from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import EXTERNAL, SYSTEMS
from benchmarks.judging.forms import read_chosen
from benchmarks.models import COUNTED, Candidate, Dataset, Experiment, Run, Task, Trajectory
from benchmarks.visibility import Visibility

TASKS, SELECTED = "tasks", "selected"
# So many chosen runs or trajectories travel with the pages of a new study.
MOST_SELECTED = 20_000


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
        rows = seen.of(Run.objects.filter(COUNTED))
        if self.unit == "task":
            return rows.none()
        if self.source.trajectories:
            runs: set[int] = set()
            for part in in_portions(self.source.trajectories):
                trajectories = Trajectory.objects.filter(pk__in=part).order_by()
                runs.update(trajectories.values_list("run", flat=True).distinct())
            return rows.filter(pk__in=runs)
        if not self.source.runs:
            rows = rows.exclude(status=Run.Status.CANCELLED)
        if self.source.runs:
            rows = rows.filter(pk__in=self.source.runs)
        if self.source.experiment:
            rows = rows.filter(experiment=int(self.source.experiment))
        if self.source.dataset:
            rows = rows.filter(dataset=int(self.source.dataset))
        return rows.filter(level__in=self.source.levels) if self.source.levels else rows

    def agents(self, seen: Visibility) -> list[tuple[str, str]]:
        """Return its agents by name, with their titles."""
        rows = self.runs(seen).order_by("agent__title", "agent__name")
        return list(rows.values_list("agent__name", "agent__title").distinct())

    def endings(self, seen: Visibility) -> list[tuple[str, str]]:
        """Return how its trajectories ended, with words."""
        done = Trajectory.objects.filter(status=Trajectory.Status.DONE)
        names: set[str] = set()
        if self.source.trajectories:
            for part in in_portions(self.source.trajectories):
                ended = seen.of(done.filter(pk__in=part)).order_by()
                names.update(ended.values_list("termination", flat=True).distinct())
        else:
            ended = done.filter(run__in=self.runs(seen).order_by().values("pk")).order_by()
            names.update(ended.values_list("termination", flat=True).distinct())
        return [(name, plain(name)) for name in sorted(names) if name]


@dataclass(frozen=True)
class CarriedChoice:
    """Runs or trajectories (by id) that were chosen on another page, to make a study of them."""

    runs: tuple[int, ...] = ()
    trajectories: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.runs or self.trajectories)

    @property
    def too_many(self) -> bool:
        return max(len(self.runs), len(self.trajectories)) > MOST_SELECTED

    def choices(self, seen: Visibility) -> Iterator[SourceChoice]:
        """Yield it as sources, one for each system: a questionnaire is about one system."""
        runs = seen.of(Run.objects.filter(COUNTED))
        if self.trajectories:
            yield from self._of_trajectories(runs, seen)
            return
        systems: dict[str, list[int]] = {}
        agents: dict[str, set[int]] = {}
        titles: dict[int, str] = {}
        rows = runs.filter(pk__in=self.runs).order_by("pk")
        for pk, system, agent, title in rows.values_list(
            "pk", "dataset__system", "agent", "agent__title"
        ):
            systems.setdefault(system, []).append(pk)
            agents.setdefault(system, set()).add(agent)
            titles[pk] = title
        for system, ids in systems.items():
            alone = f"Run {ids[0]}: {titles[ids[0]]}"
            words = alone if len(ids) == 1 else f"The {len(ids)} chosen runs"
            yield self._choice(
                system, words, agents[system], ItemSource(runs=tuple(ids)), several=len(systems) > 1
            )

    def _of_trajectories(self, runs: QuerySet[Run], seen: Visibility) -> Iterator[SourceChoice]:
        systems: dict[str, list[int]] = {}
        agents: dict[str, set[int]] = {}
        # In the same order on every database: the drawing of items begins with it.
        for part in in_portions(sorted(self.trajectories)):
            rows = seen.of(Trajectory.objects.filter(pk__in=part, run__in=runs)).order_by("pk")
            for pk, system, agent in rows.values_list("pk", "run__dataset__system", "run__agent"):
                systems.setdefault(system, []).append(pk)
                agents.setdefault(system, set()).add(agent)
        for system, ids in systems.items():
            words = f"The {len(ids):,} chosen trajector{'y' if len(ids) == 1 else 'ies'}"
            source = ItemSource(trajectories=tuple(ids))
            yield self._choice(system, words, agents[system], source, several=len(systems) > 1)

    def _choice(
        self, system: str, words: str, agents: set[int], source: ItemSource, *, several: bool
    ) -> SourceChoice:
        origin = f" of {SYSTEMS[system][0]}" if system in SYSTEMS else ", imported"
        of = origin if several else ""
        title = f"{words}{of} ({_agents(agents)})"
        return SourceChoice(f"{SELECTED}:{system}", title, system, "trajectory", source)


def read_selection(params: QueryDict, seen: Visibility) -> CarriedChoice:
    """Return what an address selects by ``run``, ``id`` and ``list``, as those of re-judging do.

    ``list`` holds the query string of the list of trajectories, with its filters.
    """
    chosen = read_chosen(params, seen)
    if chosen.ids is None:
        return CarriedChoice(runs=chosen.runs)
    ids = (pk for rows in chosen.parts() for pk in rows.values_list("pk", flat=True))
    return CarriedChoice(trajectories=tuple(islice(ids, MOST_SELECTED + 1)))


def source_choices(
    seen: Visibility, selection: CarriedChoice | None = None
) -> Mapping[str, SourceChoice]:
    """Return everything that a study can be made of: the selection first, then what there is a
    questionnaire for.

    Within that the newest first, tasks last.
    """
    asked = {(q.system, q.source) for q in newest_questionnaires()}
    choices = [*_started_together(seen), *_imported(seen), *_tasks(seen)]
    choices.sort(key=lambda choice: (choice.system, choice.unit) not in asked)
    if selection is not None:
        choices = [*selection.choices(seen), *choices]
    return {choice.key: choice for choice in choices}


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
            title=f"{names[experiment]} ({_agents(agent_ids)}"
            + (f", level {level})" if level else ")"),
            system=system,
            unit="trajectory",
            source=ItemSource(experiment=str(experiment), levels=(level,) if level else ()),
        )
        for (experiment, level, system), agent_ids in agents.items()
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
            title=f"{name} ({_agents(agent_ids)}, imported)",
            system=EXTERNAL,
            unit="trajectory",
            source=ItemSource(dataset=str(dataset)),
        )
        for (dataset, name), agent_ids in agents.items()
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
    return SourceChoice("", study.name, about.system, about.source, source_of(study))


def agents_of(source: ItemSource, seen: Visibility) -> list[tuple[str, str]]:
    """Return the agents of a source's runs by name, with their titles; those that are not
    closed.
    """
    rows = seen.of(Run.objects.filter(pk__in=source.runs))
    rows = rows.order_by("agent__title", "agent__name")
    return list(rows.values_list("agent__name", "agent__title").distinct())
