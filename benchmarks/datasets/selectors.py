"""Reading datasets: lists, sizes of their levels, tasks and how their constraints grow."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, IntegerField, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from benchmarks.core.errors import UnknownName
from benchmarks.core.ports.labels import plain
from benchmarks.core.ports.published import Published
from benchmarks.core.registry import SYSTEMS, find_system, get_system
from benchmarks.models import Constraint, Dataset, Profile, Run, Task, Trajectory
from benchmarks.paging import as_id
from benchmarks.visibility import EVERYTHING, Visibility


def counted(rows: QuerySet[Model], key: str) -> Coalesce:
    """Return the number of ``rows`` whose ``key`` is the outer row, as a subquery (joins
    multiply).
    """
    grouped = rows.filter(**{key: OuterRef("pk")}).order_by().values(key)
    numbers = grouped.annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(numbers, output_field=IntegerField()), 0)


def datasets(seen: Visibility = EVERYTHING) -> QuerySet[Dataset]:
    """Return all datasets with the numbers of their tasks, profiles and runs."""
    return seen.of(Dataset.objects.all()).annotate(
        task_count=counted(Task.objects.all(), "dataset"),
        profile_count=counted(Profile.objects.all(), "task__dataset"),
        run_count=counted(seen.of(Run.objects.exclude(kind=Run.Kind.JUDGING)), "dataset"),
    )


def usual_dataset(offered: Sequence[Dataset], person: User | None = None) -> Dataset | None:
    """Return the dataset that somebody most likely means, of those offered.

    It is the dataset of their newest run, else the newest that somebody added, else the demo's
    first.
    """
    if not offered:
        return None
    by_id = {dataset.pk: dataset for dataset in offered}
    if person is not None:
        own = Run.objects.filter(created_by=person, dataset__in=by_id).order_by("-pk")
        if newest := own.values_list("dataset", flat=True).first():
            return by_id[newest]
    added = [pk for pk, dataset in by_id.items() if not dataset.is_demo]
    return by_id[max(added) if added else min(by_id)]


def find_dataset(name: str) -> Dataset:
    """Return a dataset by id, by name (newest version), or by name@version."""
    title, _, version = name.partition("@")
    every = EVERYTHING.of(Dataset.objects.all())
    rows = every.filter(pk=as_id(name) or 0)
    rows = rows or every.filter(name__iexact=title)
    if version:
        rows = rows.filter(version=version)
    dataset = rows.order_by("-pk").first()
    if dataset is None:
        known = [f"{d.name}@{d.version}" for d in every]
        raise UnknownName("dataset", name, known)
    return dataset


class KindSize(NamedTuple):
    """The number of constraints of a kind in the profiles of a level.

    ``sd`` is their sample standard deviation, undefined for a single profile; ``published`` is the
    mean of the paper's dataset, where there is one.
    """

    mean: float
    sd: float | None
    published: float | None


class LevelSize(NamedTuple):
    """A level of a dataset: its profiles, and the sizes of each kind of constraint in them."""

    level: str
    profiles: int
    sizes: tuple[KindSize, ...]

    @property
    def means(self) -> tuple[float, ...]:
        return tuple(size.mean for size in self.sizes)

    @property
    def total(self) -> float:
        return sum(self.means)


class LevelSizes(NamedTuple):
    """The levels from easy to hard, with the kinds of constraint that their sizes stand for.

    ``published`` says where published sizes stand; empty where there are none for these levels.
    """

    kinds: tuple[str, ...]
    rows: tuple[LevelSize, ...]
    published: str


def level_sizes(dataset: Dataset) -> LevelSizes:
    """Return constraints per profile by level and kind, as Table 2 of AdaPlanBench gives their
    means.
    """
    profiles = Profile.objects.filter(task__dataset=dataset).order_by("rank", "level")
    levels = Counter(profiles.values_list("level", flat=True))
    counts: dict[tuple[str, str], list[int]] = defaultdict(list)
    rows = Constraint.objects.filter(profile__task__dataset=dataset).order_by()
    for level, _, kind, n in rows.values_list("profile__level", "profile", "kind").annotate(
        n=Count("pk")
    ):
        counts[level, kind].append(n)
    kinds = sorted({kind for _, kind in counts}, key=kind_order)
    known = published_sizes(dataset.system)
    sizes = tuple(
        LevelSize(
            level,
            n,
            tuple(
                _kind_size(counts[level, kind], n, known.get(f"{kind}_{level}")) for kind in kinds
            ),
        )
        for level, n in levels.items()
    )
    stated = {known[name].source for name in known if name.partition("_")[2] in levels}
    return LevelSizes(tuple(plain(kind) for kind in kinds), sizes, ", ".join(sorted(stated)))


def _kind_size(counts: Sequence[int], profiles: int, published: Published | None) -> KindSize:
    """Return the size of a kind; ``counts`` leaves out the profiles without any constraint of
    it.
    """
    mean = sum(counts) / profiles
    squares = sum((n - mean) ** 2 for n in counts) + (profiles - len(counts)) * mean**2
    sd = math.sqrt(squares / (profiles - 1)) if profiles > 1 else None
    return KindSize(mean, sd, published.value if published else None)


def published_sizes(system: str) -> Mapping[str, Published]:
    """Return published mean sizes of profiles of a system, by kind and level: ``world_low``."""
    return {
        row.metric: row
        for key in SYSTEMS
        if (making := find_system(key).making) is not None and making.system == system
        for row in get_system(key).published
    }


def kind_order(kind: str) -> tuple[bool, str]:
    """Return kinds with world first, as the protocols take them; others by name."""
    return kind != "world", kind


def dataset_levels(dataset: Dataset) -> list[str]:
    """Return the levels of a dataset from easy to hard; empty where tasks have no profiles."""
    rows = Profile.objects.filter(task__dataset=dataset).order_by("rank", "level")
    return list(dict.fromkeys(rows.values_list("level", flat=True).distinct()))


def dataset_tasks(
    dataset: Dataset, words: str = "", category: str = "", seen: Visibility = EVERYTHING
) -> QuerySet[Task]:
    """Return tasks whose id or query holds ``words``, without their payloads."""
    rows = seen.of(dataset.tasks.defer("payload")).annotate(
        levels=counted(Profile.objects.all(), "task"),
        plays=counted(seen.of(Trajectory.objects.filter(judged=None)), "task"),
    )
    if words:
        rows = rows.filter(Q(external_id__icontains=words) | Q(prompt__icontains=words))
    return rows.filter(category=category) if category else rows


def closed_in_part(dataset: Dataset, seen: Visibility) -> bool:
    """Return whether somebody must not see the constraints of some of its tasks."""
    if not (seen.closed or seen.tasks):
        return False
    return dataset.tasks.exclude(pk__in=seen.of(dataset.tasks.order_by()).values("pk")).exists()


def dataset_categories(dataset: Dataset) -> list[str]:
    """Return the categories of a dataset's tasks, where they have any."""
    rows = dataset.tasks.exclude(category="").order_by("category")
    return list(rows.values_list("category", flat=True).distinct())


def task_neighbours(task: Task, seen: Visibility = EVERYTHING) -> dict[str, int | None]:
    """Return the ids of the tasks before and after a task in its dataset."""
    rows = seen.of(task.dataset.tasks.order_by()).values_list("pk", flat=True)
    return {
        "previous": rows.filter(pk__lt=task.pk).order_by("-pk").first(),
        "next": rows.filter(pk__gt=task.pk).order_by("pk").first(),
    }


class LevelConstraint(NamedTuple):
    """A constraint at a level: ``added`` where the level before did not have it."""

    text: str
    about: str
    added: bool


class TaskLevel(NamedTuple):
    """One level of a task with its constraints by kind."""

    level: str
    kinds: tuple[tuple[str, tuple[LevelConstraint, ...]], ...]

    @property
    def size(self) -> int:
        return sum(len(constraints) for _, constraints in self.kinds)

    @property
    def added(self) -> int:
        return sum(c.added for _, constraints in self.kinds for c in constraints)


def task_levels(task: Task) -> list[TaskLevel]:
    """Return the levels of a task, each naming what it adds to the one before."""
    levels: list[TaskLevel] = []
    before: set[str] = set()
    for profile in task.profiles.order_by("rank", "pk").prefetch_related("constraints"):
        rows: Sequence[Constraint] = list(profile.constraints.all())
        kinds = sorted({row.kind for row in rows}, key=kind_order)
        levels.append(
            TaskLevel(
                profile.level,
                tuple(
                    (
                        plain(kind),
                        tuple(
                            LevelConstraint(
                                row.text, row.about.partition(":")[2], row.key not in before
                            )
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
