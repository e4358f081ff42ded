"""Facts about a benchmark system for reports: its dimensions, their scale, and its judges."""

from collections.abc import Mapping

from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.core.system import Dimension

# Two ways to say one thing: without a single turn there is no record of what had run out.
SAME_REASONS = {
    "ended as pool_exhausted": ("the pool of recorded answers ran out before the trajectory ended"),
}
# Of rubric scores, and of people's ratings.
RUBRIC_SCALE: tuple[float, float] = (1, 5)


def dimensions_of(system: str) -> tuple[Dimension, ...]:
    return get_system(system).dimensions if system in SYSTEMS else ()


def titles_of(system: str) -> dict[str, str]:
    return {dimension.key: dimension.title for dimension in dimensions_of(system)}


def dimension_sets(system: str) -> dict[str, tuple[str, ...]]:
    """Return the dimensions that may count: all of them, or the main ones, if there are any."""
    known = dimensions_of(system)
    main = tuple(dimension.key for dimension in known if dimension.main)
    return {"all": tuple(dimension.key for dimension in known), **({"main": main} if main else {})}


def in_words(reason: str, titles: Mapping[str, str]) -> str:
    """Return a reason with dimensions by title instead of key, and codes without underscores."""
    reason = SAME_REASONS.get(reason, reason)
    for key, title in titles.items():
        reason = reason.replace(key, title.lower())
    return reason.replace("judge scored: ", "judge scored ").replace("_", " ")


def judge_roles(system: str) -> list[str]:
    """Return the judging roles of a system; those of systems that are not known are not."""
    known = get_system(system).roles if system in SYSTEMS else ()
    return [role.name for role in known if role.judges]
