"""The shape of a file, read from its first megabyte: its format is recognised by it."""

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import ijson

from benchmarks.core.json_files import ENDLESS_NUMBER
from benchmarks.formats.source import FileSource

HEAD = 1 << 20


@dataclass(frozen=True)
class Shape:
    """The kind of a file and the names of its first fields.

    ``keys`` are the fields of the object at the top; ``first`` those of a list's first member,
    or of the first line's object. Of a bundle, ``keys`` are the names of its files and folders, and
    ``first`` the fields of its first JSON file."""

    kind: Literal["list", "object", "lines", "parquet", "bundle", "other"]
    keys: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()

    def has(self, *names: str) -> bool:
        return self.keys.issuperset(names)

    def first_has(self, *names: str) -> bool:
        return self.first.issuperset(names)


def shape_of(source: FileSource) -> Shape:
    """Return the shape of a file, from its first megabyte."""
    if source.members:
        return _bundle(source)
    with source.open() as raw:
        head = raw.read(HEAD)
    if head.startswith(b"PAR1"):
        return Shape("parquet")
    line, _, rest = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
    if rest.strip() or source.name.endswith((".jsonl", ".jsonl.gz", ".ndjson")):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            pass
        else:
            if isinstance(value, list | dict):
                return Shape("lines", first=_fields(value))
    return _document(head)


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
        elif event == "map_key" and depth == 1:
            keys.add(value)
        elif event == "map_key" and depth == 2 and place == 1:
            first.add(value)
    return Shape(kind, frozenset(keys), frozenset(first))


def _events(head: bytes) -> Iterable[tuple[str, Any]]:
    endless = ENDLESS_NUMBER.search(head)  # which ijson's C parser does not survive
    try:
        yield from ijson.basic_parse(io.BytesIO(head[: endless.start()] if endless else head))
    except (ijson.JSONError, ValueError, ArithmeticError):
        return
