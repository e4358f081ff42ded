"""YAML by people as plain values, with the line on which each stands; nothing but data is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from benchmarks.core.problems import FileRefused, Problem

LONGEST = 200_000
_CORE = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null"))

# Names of fields and places in lists, from the outside in.
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Read:
    """What a text says, and on which line each part of it stands."""

    value: Any
    lines: Mapping[Path, int]


def read_yaml(text: str) -> Read:
    """Read one document; raises `FileRefused` for what is no YAML or more than plain data.

    A key that stands twice is refused, because the first would be lost; so are anchors and tags.
    """
    if len(text) > LONGEST:
        raise _refused("the file", f"at most {LONGEST:,} characters", f"{len(text):,}")
    lines: dict[Path, int] = {}
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        value = None if node is None else _value(node, (), lines, set())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}" if mark is not None else "the file"
        raise _refused(where, "YAML", error.problem or "something else") from None
    except yaml.YAMLError as error:
        raise _refused("the file", "YAML", str(error).splitlines()[0]) from None
    except RecursionError:
        raise _refused("the file", "a few levels of lists and fields", "hundreds") from None
    return Read(value, lines)


def _value(node: yaml.Node, path: Path, lines: dict[Path, int], known: set[int]) -> Any:
    line = node.start_mark.line + 1
    lines[path] = line
    if id(node) in known:
        raise _refused(f"line {line}", "a value of its own", "a reference to another one")
    known.add(id(node))
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for name, item in node.value:
            place = f"line {name.start_mark.line + 1}"
            if not isinstance(name, yaml.ScalarNode) or not name.value:
                raise _refused(place, "a name before the colon", "something else")
            if name.value in found:
                raise _refused(place, "each name once", f"{name.value!r} again")
            found[name.value] = _value(item, (*path, name.value), lines, known)
            lines[*path, name.value] = name.start_mark.line + 1
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, n), lines, known) for n, item in enumerate(node.value)]
    if node.tag not in _CORE:
        return node.value  # a date, say: as it was written
    try:
        return yaml.constructor.SafeConstructor().construct_object(node)
    except ValueError:
        return node.value


def _refused(where: str, expected: str, found: str) -> FileRefused:
    return FileRefused([Problem(where, expected, found)])
