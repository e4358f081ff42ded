"""Reading datasets: lists, sizes of their levels, tasks and how their constraints grow."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, IntegerField, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from benchmarks.blinding import EVERYTHING, Visibility
from benchmarks.core.errors import UnknownName
from benchmarks.core.words import plain
from benchmarks.models import Constraint, Dataset, Profile, Run, Task, Trajectory


def counted(rows: QuerySet[Model], key: str) -> Coalesce:
    """The number of ``rows`` whose ``key`` is the outer row, as a subquery (joins multiply)."""
    grouped = rows.filter(**{key: OuterRef("pk")}).order_by().values(key)
    found = grouped.annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(found, output_field=IntegerField()), 0)


def datasets(seen: Visibility = EVERYTHING) -> QuerySet[Dataset]:
    """All datasets with the numbers of their tasks, profiles and runs."""
    return seen.of(Dataset.objects.all()).annotate(
        task_count=counted(Task.objects.all(), "dataset"),
        profile_count=counted(Profile.objects.all(), "task__dataset"),
        run_count=counted(seen.of(Run.objects.all()), "dataset"),
    )


def find_dataset(name: str) -> Dataset:
    """A dataset by id, by name (newest version), or by name@version."""
    title, _, version = name.partition("@")
    rows = Dataset.objects.filter(pk=int(name)) if name.isdigit() else Dataset.objects.none()
    rows = rows or Dataset.objects.filter(name__iexact=title)
    if version:
        rows = rows.filter(version=version)
    found = rows.order_by("-pk").first()
    if found is None:
        known = [f"{d.name}@{d.version}" for d in Dataset.objects.all()]
        raise UnknownName("dataset", name, known)
    return found


@dataclass(frozen=True)
class LevelSize:
    """A level of a dataset: its profiles, and the mean number of constraints of each kind."""

    level: str
    profiles: int
    means: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.means)


@dataclass(frozen=True)
class LevelSizes:
    """The levels from easy to hard, with the kinds of constraint that their means stand for."""

    kinds: tuple[str, ...]
    rows: tuple[LevelSize, ...]


def level_sizes(dataset: Dataset) -> LevelSizes:
    """Mean constraints per profile by level and kind, as Table 2 of AdaPlanBench gives them."""
    profiles = (
        Profile.objects.filter(task__dataset=dataset)
        .values_list("level")
        .annotate(n=Count("pk"))
        .order_by("rank")
        .values_list("level", "n")
    )
    sizes: dict[str, int] = defaultdict(int)
    for level, n in profiles:
        sizes[level] += n
    counts = {
        (level, kind): n
        for level, kind, n in Constraint.objects.filter(profile__task__dataset=dataset)
        .order_by()
        .values_list("profile__level", "kind")
        .annotate(n=Count("pk"))
    }
    kinds = sorted({kind for _, kind in counts}, key=kind_order)
    return LevelSizes(
        tuple(plain(kind) for kind in kinds),
        tuple(
            LevelSize(level, n, tuple(counts.get((level, kind), 0) / n for kind in kinds))
            for level, n in sizes.items()
        ),
    )


def kind_order(kind: str) -> tuple[bool, str]:
    """World first, as the protocols take them; other kinds by name."""
    return kind != "world", kind


def dataset_levels(dataset: Dataset) -> list[str]:
    """The levels of a dataset from easy to hard; empty where tasks have no profiles."""
    rows = Profile.objects.filter(task__dataset=dataset).order_by("rank")
    return list(dict.fromkeys(rows.values_list("level", flat=True).distinct()))


def dataset_tasks(
    dataset: Dataset, words: str = "", category: str = "", seen: Visibility = EVERYTHING
) -> QuerySet[Task]:
    """Tasks whose id or query holds ``words``, without their payloads."""
    rows = seen.of(dataset.tasks.defer("payload")).annotate(
        levels=counted(Profile.objects.all(), "task"),
        plays=counted(seen.of(Trajectory.objects.all()), "task"),
    )
    if words:
        rows = rows.filter(Q(external_id__icontains=words) | Q(prompt__icontains=words))
    return rows.filter(category=category) if category else rows


def dataset_categories(dataset: Dataset) -> list[str]:
    """The categories of a dataset's tasks, where they have any."""
    rows = dataset.tasks.exclude(category="").order_by("category")
    return list(rows.values_list("category", flat=True).distinct())


@dataclass(frozen=True)
class Grown:
    """A constraint at a level: ``added`` where the level before did not have it."""

    text: str
    about: str
    added: bool


@dataclass(frozen=True)
class TaskLevel:
    """One level of a task with its constraints by kind."""

    level: str
    kinds: tuple[tuple[str, tuple[Grown, ...]], ...]

    @property
    def size(self) -> int:
        return sum(len(constraints) for _, constraints in self.kinds)

    @property
    def added(self) -> int:
        return sum(c.added for _, constraints in self.kinds for c in constraints)


def task_levels(task: Task) -> list[TaskLevel]:
    """The levels of a task, each naming what it adds to the one before."""
    levels: list[TaskLevel] = []
    before: set[str] = set()
    for profile in task.profiles.order_by("rank").prefetch_related("constraints"):
        rows: Sequence[Constraint] = list(profile.constraints.all())
        kinds = sorted({row.kind for row in rows}, key=kind_order)
        levels.append(
            TaskLevel(
                profile.level,
                tuple(
                    (
                        plain(kind),
                        tuple(
                            Grown(row.text, row.about.partition(":")[2], row.key not in before)
                            for row in rows
                            if row.kind == kind
                        ),
                    )
                    for kind in kinds
                ),
            )
        )
        before = {row.key for row in rows}
    return levels
