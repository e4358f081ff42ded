"""Names of judges, as every page, figure and export shows them."""

from collections.abc import Iterable

from benchmarks.core.registry import EXTERNAL, SYSTEMS, find_system

Judge = tuple[str, str, str]


def judge_names(judges: Iterable[Judge]) -> dict[Judge, str]:
    """Return the label of each judge (name, version, seat): its title, with version or seat where
    names repeat.
    """
    judges = set(judges)
    versions: dict[str, set[str]] = {}
    seats: dict[tuple[str, str], set[str]] = {}
    for name, version, seat in judges:
        versions.setdefault(name, set()).add(version)
        seats.setdefault((name, version), set()).add(seat)
    titles = {name: _judge_title(name) for name in versions}
    labels = {}
    for name, version, seat in judges:
        # Of two judges with one title the names tell which is which.
        label = titles[name] if list(titles.values()).count(titles[name]) == 1 else name
        if len(versions[name]) > 1:
            label += f" {version}"
        if len(seats[name, version]) > 1:
            label += f", seat {seat}"
        labels[name, version, seat] = label
    return labels


def _judge_title(name: str) -> str:
    """Return the title of a scripted judge; an endpoint has no other name."""
    for key in (*SYSTEMS, EXTERNAL):
        policy = find_system(key).scripted.get(name)
        if policy is not None and policy.role != "agent":
            return policy.title
    return name
