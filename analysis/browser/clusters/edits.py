"""People's edits of a model's clusters: edits are only added, and the model's clusters stay.

The clusters that pages show are computed from the model's and all edits in their order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.core.errors import CoreError

LONGEST_NAME = 80
RENAME, MOVE, MERGE, SPLIT, UNDO = "rename", "move", "merge", "split", "undo"


class EditRefused(CoreError):
    """Raised for an edit that does not fit the clusters as they are; the text says why."""


@dataclass(frozen=True)
class Cluster:
    """A cluster: ``named`` is the model's name, empty if a person made it; ``edited`` by people."""

    key: str
    name: str
    description: str
    members: tuple[int, ...]
    named: str = ""
    edited: bool = False


@dataclass(frozen=True)
class Edit:
    """One stored edit: its id, its kind, and what it changes."""

    pk: int
    kind: str
    detail: Mapping[str, Any]


def model_clusters(result: Mapping[str, Any]) -> tuple[Cluster, ...]:
    """Return the clusters as the model named them."""
    return tuple(
        Cluster(f"m{n}", row["name"], row["description"], tuple(row["members"]), row["name"])
        for n, row in enumerate(result["clusters"], 1)
    )


def current_clusters(
    result: Mapping[str, Any], known: Sequence[int], edits: Iterable[Edit]
) -> tuple[Cluster, ...]:
    """Return the clusters after all edits; those without members are left out."""
    rows = list(edits)
    undone = {edit.detail["edit"] for edit in rows if edit.kind == UNDO}
    clusters = model_clusters(result)
    for edit in rows:
        if edit.kind != UNDO and edit.pk not in undone:
            clusters = apply(clusters, known, edit)
    return tuple(cluster for cluster in clusters if cluster.members)


def last_edit(edits: Iterable[Edit]) -> Edit | None:
    """Return the newest edit that holds; it is the one that can be undone."""
    rows = list(edits)
    undone = {edit.detail["edit"] for edit in rows if edit.kind == UNDO}
    kept = [edit for edit in rows if edit.kind != UNDO and edit.pk not in undone]
    return kept[-1] if kept else None


def apply(clusters: tuple[Cluster, ...], known: Sequence[int], edit: Edit) -> tuple[Cluster, ...]:
    """Return the clusters after one edit, or refuse it."""
    detail = edit.detail
    if edit.kind == RENAME:
        name = _name(detail.get("name"), clusters, but=detail["cluster"])
        _find(clusters, detail["cluster"])
        return tuple(
            replace(c, name=name, edited=True) if c.key == detail["cluster"] else c
            for c in clusters
        )
    if edit.kind == MERGE:
        gone, into = _find(clusters, detail["cluster"]), _find(clusters, detail["into"])
        if gone.key == into.key:
            raise EditRefused("choose another cluster to merge into")
        return tuple(
            replace(c, members=c.members + gone.members, edited=True)
            if c.key == into.key
            else replace(c, members=())
            if c.key == gone.key
            else c
            for c in clusters
        )
    moved = tuple(dict.fromkeys(detail.get("trajectories") or ()))
    if not moved:
        raise EditRefused("mark the trajectories first")
    unknown = [pk for pk in moved if pk not in known]
    if unknown:
        raise EditRefused(f"trajectory {unknown[0]} is not among these failures")
    if edit.kind == SPLIT:
        new = Cluster(f"e{edit.pk}", _name(detail.get("name"), clusters), "", moved, "", True)
        return (*_without(clusters, moved), new)
    if edit.kind == MOVE:
        to = detail.get("to", "")
        rest = _without(clusters, moved)
        if not to:
            return rest
        _find(clusters, to)
        return tuple(
            replace(c, members=(*c.members, *moved), edited=True) if c.key == to else c
            for c in rest
        )
    raise EditRefused("there is no such edit")


def _without(clusters: tuple[Cluster, ...], moved: Sequence[int]) -> tuple[Cluster, ...]:
    return tuple(
        replace(c, members=tuple(pk for pk in c.members if pk not in moved), edited=True)
        if set(c.members) & set(moved)
        else c
        for c in clusters
    )


def _find(clusters: Iterable[Cluster], key: str) -> Cluster:
    cluster = next((c for c in clusters if c.key == key and c.members), None)
    if cluster is None:
        raise EditRefused("there is no such cluster any more; reload the page")
    return cluster


def _name(given: Any, clusters: Iterable[Cluster], but: str = "") -> str:
    name = " ".join(str(given or "").split())
    if not name or len(name) > LONGEST_NAME:
        raise EditRefused(f"give a name of at most {LONGEST_NAME} characters")
    if any(c.name.lower() == name.lower() and c.key != but and c.members for c in clusters):
        raise EditRefused(f"another cluster is called “{name}”")
    return name
