"""The shape of a file, read from its first megabyte: its format is recognised by it."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

import ijson

from benchmarks.core.json_files import ENDLESS_NUMBER, NESTED
from benchmarks.formats.source import FileSource

HEAD = 1 << 20
# The first lines of a file that are looked at, and how many names and values of each kind.
FIRST_LINES = 100
MOST_NAMES = 2000
# Fields whose values tell formats apart, wherever they stand.
TELLING = frozenset(("type", "key", "kind", "class_", "role", "from", "trajectory_format"))


@dataclass(frozen=True)
class Shape:
    """The kind of a file and the names of its first fields.

    ``keys`` are the fields of the object at the top; ``first`` those of a list's first member,
    or of the first line's object. Of a bundle, ``keys`` are the names of its files and folders, and
    ``first`` the fields of its first JSON file. ``rows`` are the objects in its first lines;
    ``names`` are all fields at any depth, and ``values`` what stands in those of ``TELLING``.
    ``file`` is the file's name."""

    kind: Literal["list", "object", "lines", "parquet", "bundle", "other"]
    keys: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    rows: tuple[Mapping[str, Any], ...] = ()
    names: frozenset[str] = frozenset()
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    file: str = ""

    def tells(self, name: str, *values: str) -> bool:
        """Return whether one of these values stands somewhere in a field of this name."""
        return not self.values.get(name, frozenset[str]()).isdisjoint(values)

    @property
    def top(self) -> frozenset[str]:
        """Return the fields of the object, or of the first object in a list or in lines."""
        return self.keys if self.kind == "object" else self.first

    def has(self, *names: str) -> bool:
        return self.keys.issuperset(names)

    def first_has(self, *names: str) -> bool:
        return self.first.issuperset(names)


def shape_of(source: FileSource) -> Shape:
    """Return the shape of a file, from its first megabyte."""
    return replace(_bundle(source) if source.members else _file(source), file=source.name)


def _file(source: FileSource) -> Shape:
    with source.open() as raw:
        head = raw.read(HEAD)
    if head.startswith(b"PAR1"):
        return Shape("parquet")
    line, _, rest = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
    by_lines = source.name.endswith((".jsonl", ".jsonl.gz", ".ndjson"))
    if (rest and not rest.isspace()) or by_lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            pass
        else:
            if isinstance(value, list | dict):
                return _lines(value, line, rest if len(head) == HEAD else rest + b"\n")
    shape = _document(head)
    if by_lines and not rest and shape.kind == "object":  # a first line without end
        return replace(shape, kind="lines", keys=frozenset(), first=shape.keys)
    return shape


def _lines(first: Any, line: bytes, rest: bytes) -> Shape:
    rows = []
    for text in [line, *islice(io.BytesIO(rest), FIRST_LINES)]:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            rows.append(value)
    names, values = _names_and_values(_scalars(rows or first))
    return Shape("lines", first=_fields(first), rows=tuple(rows), names=names, values=values)


def _scalars(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (field, value) of all objects inside a value."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield from node.items()
            waiting += [inner for inner in node.values() if isinstance(inner, NESTED)]
        elif isinstance(node, list):
            waiting += [inner for inner in node if isinstance(inner, NESTED)]


def _names_and_values(
    pairs: Iterable[tuple[str, Any]],
) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    names: set[str] = set()
    values: dict[str, set[str]] = {name: set() for name in TELLING}
    for name, value in pairs:
        if len(names) < MOST_NAMES:
            names.add(name)
        if name in TELLING and isinstance(value, str) and len(values[name]) < MOST_NAMES:
            values[name].add(value[:200])
    return frozenset(names), {name: frozenset(kept) for name, kept in values.items()}


def _bundle(source: FileSource) -> Shape:
    parts = [name.split("/") for name in source.members]
    keys = {part[0] for part in parts} | {part[1] for part in parts if len(part) == 2}
    names = sorted(name for name in source.members if name.endswith(".json"))
    first = shape_of(source.members[names[0]]).keys if names else frozenset[str]()
    return Shape("bundle", frozenset(keys), first)


def _fields(value: Any) -> frozenset[str]:
    if isinstance(value, list):
        value = value[0] if value else None
    return frozenset(value) if isinstance(value, dict) else frozenset()


def _document(head: bytes) -> Shape:
    """Return the shape of a JSON document of which only the beginning is known."""
    keys, first = set(), set()
    pairs: list[tuple[str, Any]] = []
    name = ""
    kind: Literal["list", "object", "other"] = "other"
    depth = place = 0
    for event, value in _events(head):
        if event in ("start_map", "start_array"):
            if depth == 0:
                kind = "object" if event == "start_map" else "list"
            elif depth == 1:
                place += 1
            depth += 1
        elif event in ("end_map", "end_array"):
            depth -= 1
        elif event == "map_key":
            name = value
            pairs.append((name, None))
            if depth == 1:
                keys.add(value)
            elif depth == 2 and place == 1:
                first.add(value)
        elif event == "string" and name in TELLING:
            pairs.append((name, value))
    names, values = _names_and_values(pairs)
    return Shape(kind, frozenset(keys), frozenset(first), names=names, values=values)


def _events(head: bytes) -> Iterable[tuple[str, Any]]:
    endless = ENDLESS_NUMBER.search(head)  # which ijson's C parser does not survive
    try:
        yield from ijson.basic_parse(io.BytesIO(head[: endless.start()] if endless else head))
    except (ijson.JSONError, ValueError, ArithmeticError):
        return
