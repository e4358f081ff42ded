"""Groups of similar trajectories, kept for lists to be narrowed to one of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.core.cache import caches

_VALUE = re.compile(r"([0-9a-f]{16})\.(\d{1,4})")


@dataclass(frozen=True)
class SimilarGroup:
    """One group: its number, the words that set it apart (if any), the ids of its trajectories,
    and what happened in them.
    """

    number: int
    words: tuple[str, ...]
    ids: tuple[int, ...]
    fault: str = ""

    @property
    def title(self) -> str:
        """The name where it stands alone."""
        words = f" ({', '.join(self.words[:3])})" if self.words else ""
        return f"Failures: {self.fault}{words}"


def group_value(key: str, number: int) -> str:
    """Return how an address names a group of the report with this key."""
    return f"{key[:16]}.{number}"


def keep_groups(key: str, groups: Sequence[SimilarGroup], seconds: float) -> None:
    """Keep the groups of the report with this key for so many seconds."""
    by_number: Mapping[int, SimilarGroup] = {group.number: group for group in groups}
    caches["kept"].set(f"similar-groups:{key[:16]}", by_number, seconds)


def kept_group(value: str) -> SimilarGroup | None:
    """Return the group that an address names; None if it is not kept, or no more."""
    named = _VALUE.fullmatch(value)
    if named is None:
        return None
    by_number: Mapping[int, SimilarGroup] = caches["kept"].get(f"similar-groups:{named[1]}") or {}
    return by_number.get(int(named[2]))
