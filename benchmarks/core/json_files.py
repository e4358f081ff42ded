"""Reading JSON files of any size, one item at a time, within limits of size and depth.

A hostile file must not get through by being one endless text, by nesting without end, or by one
item with a billion parts; each of these has a limit, and exceeding it is a fault of the file.
Memory is bounded by the largest item allowed. There are two readers of the same files:

``JsonFile``  careful: takes ijson's events one by one, and finds words for every fault.
``ItemFile``  quick: finds and builds items in one step by Python's own scanner, in a window of text
              that is widened where an item does not fit. Whatever is unusual (a fault, an item too
              large, a text too long) is left to ``JsonFile``, which goes on where it stopped.

Imports of 5,000 turns a second rest on the quick one: 31 MB of dialogues take it 0.35 s of CPU,
and the careful one 2.3 s. (ijson's events are quick, building from them in Python is not, and
what ijson builds by itself has no limits.)

``load`` reads one text, such as a line of JSONL, whose size its caller has bounded.
"""

import codecs
import hashlib
import json
import math
import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, cast

import ijson
import msgspec

from benchmarks.core.digests import storable
from benchmarks.core.problems import FileRefused, Problem, Unquoted, describe

CHUNK = 1 << 15
LONGEST_TEXT = 4 << 20
DEEPEST = 40
MOST_PARTS = 200_000
NESTED = (dict, list)

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
            self.refuse(f"texts of at most {LONGEST_TEXT >> 20} MB", Unquoted("an endless one"))
        if ENDLESS_NUMBER.search(data):
            self.refuse("numbers of less than 2000 digits", Unquoted("a longer one"))
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
        """Yield (index, value) for each member of the list under ``key`` of the object in the
        file.
        """
        present = False
        for name, events in self._members():
            if name != key:
                continue
            if present:
                self._guard.refuse(f"one list under {key!r}", Unquoted("a second one"))
            present = True
            event, value = next(events)
            if event != "start_array":
                self._guard.refuse(f"a list under {key!r}", _kind(event, value))
            for index, (event, value) in enumerate(events):
                if event == "end_array":
                    break
                yield index, self._build(event, value, events)
        if not present:
            self._guard.refuse(f"an object with the field {key!r}", Unquoted("none"))

    def members(self) -> Iterator[tuple[str, Any]]:
        """Yield (key, value) for each field of the object in the file."""
        for name, events in self._members():
            event, value = next(events)
            yield name, self._build(event, value, events)

    def entries(
        self, skip: Collection[str] = (), without: Collection[str] = ()
    ) -> Iterator[tuple[str, int | None, Any]]:
        """Yield (field, place, value): the members of lists one by one, everything else whole.

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
        """Yield each field with the events from its value on; what a caller leaves unread is
        skipped.
        """
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
                        self._guard.refuse(f"at most {DEEPEST} levels", Unquoted("more"))
                elif event in ("end_map", "end_array"):
                    depth -= 1
                elif isinstance(value, Decimal):
                    value = float(value)
                    if not math.isfinite(value):
                        self._guard.refuse("numbers that fit", Unquoted("one out of range"))
                yield event, value
        except (ijson.JSONError, ValueError, ArithmeticError) as error:
            self._guard.refuse("JSON", Unquoted(_first_line(error)))

    def _build(
        self,
        event: str,
        value: Any,
        events: Iterator[Event],
        without: Collection[str] = (),
    ) -> Any:
        """Return the value that starts with ``event``; fields named in ``without`` are read
        past.
        """
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
                self._guard.refuse(f"items of at most {MOST_PARTS} parts", Unquoted("a larger one"))
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
    return Unquoted(kinds[event]) if event in kinds else value


def _first_line(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if isinstance(error, ArithmeticError) or not lines:
        return "a number out of range"
    return lines[0][:120]


Entry = tuple[str, int | None, Any]
WINDOW = 1 << 18
_AFTER = frozenset(" \t\n\r,]}")
_SPACE = re.compile(r"[ \t\n\r]*")
# Escapes of characters that no store can hold, and of emoji, which are told apart by ``storable``.
ODD_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class Unusual(Exception):
    """An input that only the careful reader handles."""


def refuse_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which are no JSON, though Python writes them."""
    raise ValueError(f"{name}, which is no JSON")


def finite(text: str) -> float:
    """Return a number that does not become infinite."""
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number out of range")
    return value


_DECODER = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite)
_FAST_DECODER = msgspec.json.Decoder()


def load(text: str) -> Any:
    """Return the storable value of a JSON text; ``ValueError`` or ``RecursionError`` where it is
    none.
    """
    try:
        value = _FAST_DECODER.decode(text)
    except (ValueError, RecursionError):
        # What it refuses may be JSON for all that, such as half a surrogate pair; and if it is
        # none, the error of the standard library names the place in characters.
        text = text.strip(" \t\n\r")
        value, end = _DECODER.raw_decode(text)
        if end < len(text):
            raise json.JSONDecodeError("Extra data", text, end) from None
    return storable(value) if ODD_ESCAPE.search(text) else value


def too_deep(value: Any, deepest: int) -> bool:
    """Return whether a value nests deeper than so many levels."""
    level = [value] if isinstance(value, NESTED) else []
    for _ in range(deepest):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, NESTED)
        ]
        if not level:
            return False
    return bool(level)


def nests_too_deep(text: str, value: Any) -> bool:
    """Return whether the value of a JSON text nests deeper than a file may."""
    # A text with few brackets cannot nest deeply, and most texts have few.
    return text.count("[") + text.count("{") > DEEPEST and too_deep(value, DEEPEST)


class ItemFile:
    """One pass over a JSON document; its values can be stored by any database."""

    def __init__(self, name: str, raw: BinaryIO) -> None:
        self.name, self.raw = name, raw
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.text, self.at, self.over, self.odd = "", 0, False, False
        self.undecoded = b""
        # Where the last sound item ended, and what must stand before the rest to make it JSON.
        self.sound, self.opening, self.dropped = 0, "", 0
        self.bytes = self.lines = 0
        self.place: tuple[str, int] = ("", 0)

    def entries(self, skip: Collection[str] = (), without: Collection[str] = ()) -> Iterator[Entry]:
        """Yield what ``JsonFile.entries`` does; only items too large for this reader come
        ``without`` fields.
        """
        try:
            yield from self._entries(skip)
        except Unusual:
            yield from self._rest(skip, without)

    def _entries(self, skip: Collection[str]) -> Iterator[Entry]:
        opens = self._next()
        if opens == "[":
            yield from self._list("", "[", 1)
        elif opens == "{":
            yield from self._object(skip)
        else:
            raise Unusual
        self._keep("[]", 0)
        if self._next():
            raise Unusual

    def _list(self, field: str, opening: str, depth: int) -> Iterator[Entry]:
        """Yield the members of the list whose bracket was read."""
        self._keep(opening, 0)
        index = 0
        self.place = (field, index)
        if self._next(peek=True) == "]":
            self._next()
            return
        while True:
            yield field, index, self._value(depth)
            index += 1
            self.place = (field, index)
            self._keep(f"{opening}null", 1)
            ends = self._next()
            if ends == "]":
                return
            if ends != ",":
                raise Unusual

    def _object(self, skip: Collection[str]) -> Iterator[Entry]:
        self._keep("{", 0)
        if self._next(peek=True) == "}":
            self._next()
            return
        while True:
            name = self._value(0)
            if not isinstance(name, str) or self._next() != ":":
                raise Unusual
            if self._next(peek=True) == "[":
                self._next()
                for entry in self._list(name, f"{{{json.dumps(name)}:[", 2):
                    if name not in skip:
                        yield entry
            else:
                value = self._value(1)
                if name not in skip:
                    yield name, None, value
            self._keep('{"":null', 1)
            ends = self._next()
            if ends == "}":
                return
            if ends != ",":
                raise Unusual

    def _keep(self, opening: str, dropped: int) -> None:
        """Note that all before this place is sound and done with."""
        self.sound, self.opening, self.dropped = self.at, opening, dropped

    def _next(self, peek: bool = False) -> str:
        """Return the next character that is no space, or nothing at the end of the file."""
        while True:
            space = _SPACE.match(self.text, self.at)
            self.at = space.end() if space else self.at
            if self.at < len(self.text):
                char = self.text[self.at]
                self.at += not peek
                return char
            if not self._more():
                return ""

    def _value(self, depth: int) -> Any:
        """Return the value that begins here, inside so many levels."""
        if not self._next(peek=True):
            raise Unusual
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except (ValueError, RecursionError):
                end = len(self.text)
            else:
                # A number may go on in the next window, also one that looks whole: 1 of 1.5.
                plain = not isinstance(value, int | float) or self.text[end : end + 1] in _AFTER
                if self.over or (end < len(self.text) and plain):
                    break
            if not self._more():
                raise Unusual
        if too_deep(value, DEEPEST - depth):
            raise Unusual
        self.at = end
        return storable(value) if self.odd else value

    def _more(self) -> bool:
        """Drop what is sound and read on; wider, where the window was too small for an item."""
        if self.over:
            return False
        left = self.text[self.sound :]
        if len(left) > LONGEST_TEXT or sum(map(left.count, ",[{")) > MOST_PARTS:
            raise Unusual
        data = self.raw.read(max(WINDOW, len(left)))
        self.bytes += len(data)
        self.lines += data.count(b"\n")
        self.over = not data
        self.at -= self.sound
        self.text, self.sound = left, 0
        pending = self.decoder.getstate()[0]
        try:
            new = self.decoder.decode(data, final=self.over)
        except UnicodeDecodeError:
            self.undecoded = pending + data
            raise Unusual from None
        self.text += new
        self.odd = ODD_ESCAPE.search(self.text) is not None
        return True

    def _rest(self, skip: Collection[str], without: Collection[str]) -> Iterator[Entry]:
        """Go on carefully from the last sound place."""
        pending = self.undecoded or self.decoder.getstate()[0]
        left = self.text[self.sound :].encode() + pending
        opening, dropped = self.opening.encode(), self.dropped
        field, index = self.place
        inside = opening.endswith((b"[", b"[null"))
        if inside and field in skip:
            dropped = 0
        careful = JsonFile(
            self.name,
            cast(BinaryIO, _Rest(opening + left, self.raw)),
            lines=self.lines - left.count(b"\n"),
            bytes=self.bytes - len(left) - len(opening),
        )
        self.text = ""
        for number, (name, place, value) in enumerate(careful.entries(skip, without)):
            if number < dropped:
                continue
            if place is not None and inside and name == field and number == place:
                place += index - dropped
            yield name, place, storable(value)


class _Rest:
    """Bytes that were read already, and then the file that they came from."""

    def __init__(self, head: bytes, raw: BinaryIO) -> None:
        self.head, self.raw = head, raw

    def read(self, size: int = -1) -> bytes:
        if self.head:
            data, self.head = self.head[:size], self.head[size:]
            return data
        return self.raw.read(size)
