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
    for assignments in roles.values():
        for assignment in assignments:
            yield assignment
            if "suggests" in assignment:
                yield assignment["suggests"]


def with_replacements(roles: Roles, changes: Iterable[Roles]) -> dict[str, list[RoleAssignment]]:
    """Return the assignments from the first turn on, followed by those that took over later."""
    replaced = {role: list(assignments) for role, assignments in roles.items()}
    for role_changes in changes:
        for role, assignments in role_changes.items():
            known = replaced.setdefault(role, [])
            known += [assignment for assignment in assignments if assignment not in known]
    return replaced


def suggesting_assignments(
    roles: Roles, role_changes: Roles
) -> dict[tuple[str, int], RoleAssignment]:
    """Return who suggests, by role and seat number, for the seats that a person fills now."""
    suggesting = {}
    for role, assignments in roles.items():
        now = role_changes.get(role, assignments)
        for place, assignment in enumerate(assignments):
            answers = now[place] if place < len(now) else assignment
            if "suggests" in assignment and answers["kind"] == "human":
                suggesting[role, place] = assignment["suggests"]
    return suggesting
