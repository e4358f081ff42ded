"""How many constraints the profiles of a dataset hold, by level and kind."""

from django.db.models import Count, Min

from benchmarks.models import Constraint, Dataset, Profile

Sizes = dict[tuple[str, str], list[int]]


def profile_sizes(dataset: Dataset, closed_tasks: frozenset[int]) -> tuple[list[str], Sizes]:
    """The levels in their order, and by (level, kind) the number of constraints of each profile.

    A profile without a constraint of a kind that others have counts as 0; profiles of tasks whose
    constraints the reader must not see do not count.
    """
    profiles = Profile.objects.filter(task__dataset=dataset).exclude(task__in=closed_tasks)
    places = profiles.values_list("level").annotate(place=Min("rank")).order_by("place", "level")
    levels = [level for level, _ in places]
    totals = dict(profiles.order_by().values_list("level").annotate(n=Count("pk")))
    rows = (
        Constraint.objects.filter(profile__task__dataset=dataset)
        .exclude(profile__task__in=closed_tasks)
        .order_by()
        .values_list("profile__level", "kind", "profile")
        .annotate(n=Count("pk"))
    )
    found: Sizes = {}
    for level, kind, _, count in rows:
        found.setdefault((level, kind), []).append(count)
    for (level, _), sizes in found.items():
        sizes += [0] * (totals[level] - len(sizes))
    return levels, found
