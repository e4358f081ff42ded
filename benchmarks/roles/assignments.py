"""Who fills roles, in the form in which runs and trajectories store it.

A role is filled by one filler for each seat. A person's may hold another one under ``suggests``:
who would have answered in their place, and is asked beside them without deciding anything.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Filler = Mapping[str, Any]
Roles = Mapping[str, Sequence[Filler]]


def all_fillers(roles: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Everybody who may be asked: who fills the seats, and who suggests there."""
    for fillers in roles.values():
        for filler in fillers:
            yield filler
            if "suggests" in filler:
                yield filler["suggests"]


def with_recast(roles: Roles, recasts: Iterable[Roles]) -> dict[str, list[Filler]]:
    """All who fill roles, those from the first turn on and those who took over, in this order."""
    found = {role: list(fillers) for role, fillers in roles.items()}
    for recast in recasts:
        for role, fillers in recast.items():
            known = found.setdefault(role, [])
            known += [filler for filler in fillers if filler not in known]
    return found


def suggesting_fillers(roles: Roles, recast: Roles) -> dict[tuple[str, int], Filler]:
    """Who suggests in a trajectory, by role and place of the seat: where a person answers now."""
    found = {}
    for role, fillers in roles.items():
        now = recast.get(role, fillers)
        for place, filler in enumerate(fillers):
            answers = now[place] if place < len(now) else filler
            if "suggests" in filler and answers["kind"] == "human":
                found[role, place] = filler["suggests"]
    return found
