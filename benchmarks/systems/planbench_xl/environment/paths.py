"""All ways in which tools lead from what is given to a target, found by search."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any


def paths_to(
    target: str, given: Sequence[str], tools: Sequence[Mapping[str, Any]], longest: int
) -> list[list[str]]:
    """Return every minimal set of tools that leads to the target, shortest first, in order of
    data flow.

    No set holds two tools for one data type, nor one that the target does not need.
    """
    makers: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for tool in tools:
        makers[tool["output_datatype"]].append(tool)
    known = {t["name"]: (t["input_datatypes"], t["output_datatype"]) for t in tools}

    def ways(datatype: str, above: frozenset[str], left: int) -> Iterator[frozenset[str]]:
        """Yield sets of tools that derive a data type without those that are being derived above
        it.
        """
        if datatype in given:
            yield frozenset()
            return
        if left <= 0 or datatype in above:
            return
        for tool in makers[datatype]:
            parts = [
                list(ways(one, above | {datatype}, left - 1)) for one in tool["input_datatypes"]
            ]
            for chosen in product(*parts):
                union = frozenset({tool["name"]}).union(*chosen)
                outputs = {known[name][1] for name in union}
                if len(union) <= longest and len(outputs) == len(union):
                    yield union

    found = [way for way in set(ways(target, frozenset(), longest)) if way]
    minimal = [way for way in found if not any(other < way for other in found)]
    ordered = [in_order(way, given, known) for way in minimal]
    return sorted((way for way in ordered if way), key=lambda way: (len(way), way))


def in_order(
    names: Iterable[str], given: Sequence[str], known: Mapping[str, tuple[Sequence[str], str]]
) -> list[str]:
    """Return tools in an order in which each has its inputs; [] where there is none.

    ``known`` gives the inputs and the output of each.
    """
    held, left, order = set(given), set(names), []
    while left:
        ready = sorted(name for name in left if held.issuperset(known[name][0]))
        if not ready:
            return []
        order.append(ready[0])
        left.discard(ready[0])
        held.add(known[ready[0]][1])
    return order
