"""The people who played in trajectories, as the log has it."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db.models import QuerySet

from benchmarks.models import Exchange, Trajectory

PREFIX = "person-"


def player_name(user: User) -> str:
    """Return the name under which a person's replies are logged."""
    return f"{PREFIX}{user.pk}"


def trajectories_played_by(user: User) -> QuerySet[Trajectory]:
    """Return the trajectories in which this person filled a role, as a query."""
    played = Exchange.every.filter(answerer__kind="human", answerer__name=player_name(user))
    return Trajectory.objects.filter(pk__in=played.order_by().values("trajectory"))


def players(users: Iterable[User]) -> dict[int, set[int]]:
    """Return the trajectories in which each person played, by the person's id, in one query."""
    names = {player_name(user): user.pk for user in users}
    trajectories_by_user: dict[int, set[int]] = {pk: set() for pk in names.values()}
    rows = Exchange.every.filter(answerer__kind="human", answerer__name__in=list(names))
    for name, trajectory in rows.order_by().values_list("answerer__name", "trajectory").distinct():
        trajectories_by_user[names[name]].add(trajectory)
    return trajectories_by_user
