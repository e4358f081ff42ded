"""The quick way through a JSON file: items are found and built in one step by Python's own scanner.

It reads a window of text, takes item after item from it, and widens it where an item does not
fit. Whatever is unusual (a fault, an item too large, a text too long) is left to ``JsonFile``,
which goes on from the last sound item, slowly and within limits, and finds words for faults.
"""

import codecs
import json
import re
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO, cast

from benchmarks.core.digests import storable
from benchmarks.core.json_stream import DEEPEST, LONGEST_TEXT, MOST_PARTS, JsonFile

Entry = tuple[str, int | None, Any]
WINDOW = 1 << 18
_AFTER = frozenset(" \t\n\r,]}")
_SPACE = re.compile(r"[ \t\n\r]*")
# Escapes of characters that no store can hold, and of emoji, which are told apart by ``storable``.
ODD_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class Unusual(Exception):
    """Something for the careful reader."""


def refuse_constant(name: str) -> Any:
    """NaN and Infinity are no JSON, though Python writes them."""
    raise ValueError(f"{name}, which is no JSON")


def finite(text: str) -> float:
    """A number that does not become infinite."""
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number out of range")
    return value


_DECODER = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite)


def load(text: str) -> Any:
    """The storable value of a JSON text; ``ValueError`` or ``RecursionError`` where it is none."""
    value = _DECODER.decode(text)
    return storable(value) if ODD_ESCAPE.search(text) else value


def too_deep(value: Any, deepest: int) -> bool:
    """Whether a value nests deeper than so many levels."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(deepest):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return bool(level)


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
        """As ``JsonFile.entries``; only items too large for this reader come ``without`` fields."""
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
        """Members of the list whose bracket was read."""
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
        """All before this place is sound and done with."""
        self.sound, self.opening, self.dropped = self.at, opening, dropped

    def _next(self, peek: bool = False) -> str:
        """The next character that is no space, or nothing at the end of the file."""
        while True:
            found = _SPACE.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.text):
                char = self.text[self.at]
                self.at += not peek
                return char
            if not self._more():
                return ""

    def _value(self, depth: int) -> Any:
        """The value that begins here, inside so many levels."""
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
