"""JSON files of any size, one item at a time: memory is bounded by the largest item allowed.

A hostile file must not get through by being one endless text, by nesting without end, or by one
item with a billion parts; each of these has a limit, and exceeding it is a fault of the file.
"""

import hashlib
import math
import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

import ijson

from benchmarks.core.problems import FileRefused, Problem, Said, describe

CHUNK = 1 << 15
LONGEST_TEXT = 4 << 20
DEEPEST = 40
MOST_PARTS = 200_000

Event = tuple[str, Any]
_QUOTE = re.compile(rb'(?<!\\)"')
# Python turns no more than 4300 digits into a number, and ijson's C parser breaks on that error.
# Two pieces of a number that lies across the border of two chunks stay below it.
ENDLESS_NUMBER = re.compile(rb"[0-9]{2000}")


class _Guarded:
    """A file that is hashed while it is read and refuses texts and numbers without end."""

    def __init__(self, file: BinaryIO, name: str, lines: int = 0, bytes: int = 0) -> None:
        self.file, self.name = file, name
        self.sha = hashlib.sha256()
        self.chunk = self.unquoted = 0
        self.bytes, self.lines, self.before = bytes, lines, lines

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.sha.update(data)
        self.before = self.lines
        self.chunk = len(data)
        self.bytes += self.chunk
        self.lines += data.count(b"\n")
        quotes = list(_QUOTE.finditer(data))
        self.unquoted = len(data) - quotes[-1].end() if quotes else self.unquoted + len(data)
        if self.unquoted > LONGEST_TEXT:
            self.refuse(f"texts of at most {LONGEST_TEXT >> 20} MB", Said("an endless one"))
        if ENDLESS_NUMBER.search(data):
            self.refuse("numbers of less than 2000 digits", Said("a longer one"))
        return data

    def refuse(self, expected: str, found: Any) -> None:
        first = max(0, self.bytes - self.chunk)
        place = f"line {self.before + 1}"
        if self.lines > self.before:
            place = f"lines {self.before + 1} to {self.lines + 1}"
        if self.bytes > CHUNK:
            place += f" (bytes {first} to {self.bytes})"
        raise FileRefused([Problem(f"{self.name}, {place}", expected, describe(found))])


class JsonFile:
    """One pass over a JSON file. ``checksum`` is complete when the pass is.

    ``lines`` and ``bytes`` of it may have been read already by somebody else.
    """

    def __init__(self, path: Path | str, file: BinaryIO, *, lines: int = 0, bytes: int = 0) -> None:
        self.name = path if isinstance(path, str) else path.name
        self._guard = _Guarded(file, self.name, lines, bytes)

    @property
    def checksum(self) -> str:
        return self._guard.sha.hexdigest()

    def items_of(self, key: str) -> Iterator[tuple[int, Any]]:
        """(index, value) for each member of the list under ``key`` of the object in the file."""
        found = False
        for name, events in self._members():
            if name != key:
                continue
            if found:
                self._guard.refuse(f"one list under {key!r}", Said("a second one"))
            found = True
            event, value = next(events)
            if event != "start_array":
                self._guard.refuse(f"a list under {key!r}", _kind(event, value))
            for index, (event, value) in enumerate(events):
                if event == "end_array":
                    break
                yield index, self._build(event, value, events)
        if not found:
            self._guard.refuse(f"an object with the field {key!r}", Said("none"))

    def members(self) -> Iterator[tuple[str, Any]]:
        """(key, value) for each field of the object in the file."""
        for name, events in self._members():
            event, value = next(events)
            yield name, self._build(event, value, events)

    def entries(
        self, skip: Collection[str] = (), without: Collection[str] = ()
    ) -> Iterator[tuple[str, int | None, Any]]:
        """(field, place, value): the members of lists one by one, everything else whole.

        A list at the top has the empty field. ``skip`` names fields that nobody wants,
        ``without`` such fields of the members of lists.
        """
        events = self._events()
        event, value = next(events, ("", None))
        if event == "start_array":
            yield from self._list("", events, without)
            for _ in events:
                pass
        elif event == "start_map":
            for event, name in events:
                if event == "end_map":
                    break
                field = _Field(events)
                if name not in skip:
                    event, value = next(field)
                    if event == "start_array":
                        yield from self._list(name, field, without)
                    else:
                        yield name, None, self._build(event, value, field)
                field.skip()
            for _ in events:
                pass
        else:
            self._guard.refuse("a list or an object", _kind(event, value))

    def _list(
        self, name: str, events: Iterator[Event], without: Collection[str]
    ) -> Iterator[tuple[str, int | None, Any]]:
        for index, (event, value) in enumerate(events):
            if event == "end_array":
                return
            yield name, index, self._build(event, value, events, without)

    def _members(self) -> Iterator[tuple[str, Iterator[Event]]]:
        """Each field with the events from its value on; what a caller leaves unread is skipped."""
        events = self._events()
        event, value = next(events)
        if event != "start_map":
            self._guard.refuse("an object", _kind(event, value))
        for event, name in events:
            if event == "end_map":
                break
            yield name, (field := _Field(events))
            field.skip()
        for _ in events:
            pass  # to the end of the file, so that what follows the object is found out

    def _events(self) -> Iterator[Event]:
        depth = 0
        try:
            # basic_parse, because the paths that parse() builds grow with the square of the depth
            for event, value in ijson.basic_parse(self._guard, buf_size=CHUNK):
                if event in ("start_map", "start_array"):
                    depth += 1
                    if depth > DEEPEST:
                        self._guard.refuse(f"at most {DEEPEST} levels", Said("more"))
                elif event in ("end_map", "end_array"):
                    depth -= 1
                elif isinstance(value, Decimal):
                    value = float(value)
                    if not math.isfinite(value):
                        self._guard.refuse("numbers that fit", Said("one out of range"))
                yield event, value
        except (ijson.JSONError, ValueError, ArithmeticError) as error:
            self._guard.refuse("JSON", Said(_first_line(error)))

    def _build(
        self,
        event: str,
        value: Any,
        events: Iterator[Event],
        without: Collection[str] = (),
    ) -> Any:
        """The value that starts with ``event``; fields named in ``without`` are read past."""
        if event not in ("start_map", "start_array"):
            return value
        root: Any = {} if event == "start_map" else []
        stack, keys = [root], [""]
        parts = size = 0
        while stack:
            event, value = next(events)
            parts += 1
            size += len(value) if isinstance(value, str) else 0
            if parts > MOST_PARTS or size > 4 * LONGEST_TEXT:
                self._guard.refuse(f"items of at most {MOST_PARTS} parts", Said("a larger one"))
            if event == "map_key":
                keys[-1] = value
                if len(stack) == 1 and value in without:
                    _Field(events).skip()
            elif event in ("end_map", "end_array"):
                stack.pop()
                keys.pop()
            else:
                opens = event in ("start_map", "start_array")
                child: Any = ({} if event == "start_map" else []) if opens else value
                if isinstance(stack[-1], dict):
                    stack[-1][keys[-1]] = child
                else:
                    stack[-1].append(child)
                if opens:
                    stack.append(child)
                    keys.append("")
        return root


class _Field:
    """The events of one value; knows when the value is over, and skips what was not read."""

    def __init__(self, events: Iterator[Event]) -> None:
        self.events, self.depth, self.over = events, 0, False

    def __iter__(self) -> "_Field":
        return self

    def __next__(self) -> Event:
        if self.over:
            raise StopIteration
        event, value = next(self.events)
        if event in ("start_map", "start_array"):
            self.depth += 1
        elif event in ("end_map", "end_array"):
            self.depth -= 1
        self.over = self.depth == 0
        return event, value

    def skip(self) -> None:
        for _ in self:
            pass


def _kind(event: str, value: Any) -> Any:
    kinds = {"start_map": "an object", "start_array": "a list"}
    return Said(kinds[event]) if event in kinds else value


def _first_line(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if isinstance(error, ArithmeticError) or not lines:
        return "a number out of range"
    return lines[0][:120]
