"""Documents of plain values in which one place holds another value."""

import copy
from typing import Any


def places(data: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return every place in a document, as the keys that lead to it; the first is the whole."""
    members: Any = ()
    if isinstance(data, dict):
        members = data.items()
    elif isinstance(data, list):
        members = enumerate(data)
    return [at, *(place for key, value in members for place in places(value, (*at, key)))]


def changed(data: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return the document with another value in one place."""
    if not place:
        return value
    data = copy.deepcopy(data)
    node = data
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    return data
