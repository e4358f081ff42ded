"""Role assignments: who fills each role, in the form in which runs and trajectories store it.

A role has one assignment for each seat. A person's assignment may hold another one under
``suggests``: a script or model that suggests a reply to the person and decides nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

RoleAssignment = Mapping[str, Any]
Roles = Mapping[str, Sequence[RoleAssignment]]


def all_assignments(roles: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield every assignment: those that fill seats, and those that suggest to people."""
    for fillers in roles.values():
        for filler in fillers:
            yield filler
            if "suggests" in filler:
                yield filler["suggests"]


def with_replacements(roles: Roles, changes: Iterable[Roles]) -> dict[str, list[RoleAssignment]]:
    """Return the assignments from the first turn on, followed by those that took over later."""
    found = {role: list(fillers) for role, fillers in roles.items()}
    for role_changes in changes:
        for role, fillers in role_changes.items():
            known = found.setdefault(role, [])
            known += [filler for filler in fillers if filler not in known]
    return found


def suggesting_assignments(
    roles: Roles, role_changes: Roles
) -> dict[tuple[str, int], RoleAssignment]:
    """Return who suggests, by role and seat number, for the seats that a person fills now."""
    found = {}
    for role, fillers in roles.items():
        now = role_changes.get(role, fillers)
        for place, filler in enumerate(fillers):
            answers = now[place] if place < len(now) else filler
            if "suggests" in filler and answers["kind"] == "human":
                found[role, place] = filler["suggests"]
    return found
