"""A file to import: plain or gzipped, read one entry at a time and hashed on the way."""

import gzip
import hashlib
import io
import json
import math
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from benchmarks.core.json_stream import DEEPEST, LONGEST_TEXT, JsonFile
from benchmarks.core.problems import FileRefused, Problem, Problems, Said, describe

GZIP = b"\x1f\x8b"
LONGEST_LINE = 4 * LONGEST_TEXT
_BLOCK = 1 << 20


class Source:
    """A file by its name, opened as often as its reader needs."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name

    def open(self) -> BinaryIO:
        """The content, unzipped where it is gzipped."""
        try:
            raw = self.path.open("rb")
        except OSError as error:
            raise refused(self.name, "a file to read", Said(error.strerror or "none")) from None
        zipped = raw.read(2) == GZIP
        raw.seek(0)
        return io.BufferedReader(_Unzipped(raw, self.name)) if zipped else raw

    def checksum(self) -> str:
        """SHA-256 of the file as it lies there."""
        sha = hashlib.sha256()
        try:
            with self.path.open("rb") as raw:
                while block := raw.read(_BLOCK):
                    sha.update(block)
        except OSError as error:
            raise refused(self.name, "a file to read", Said(error.strerror or "none")) from None
        return sha.hexdigest()

    def beside(self, *parts: str) -> "Source":
        """A file in the same folder."""
        return Source(self.path.parent.joinpath(*parts))

    def entries(
        self, skip: Collection[str] = (), without: Collection[str] = ()
    ) -> Iterator[tuple[str, int | None, Any]]:
        """(field, place in its list, value) of a JSON document; see ``JsonFile.entries``."""
        with self.open() as raw:
            yield from JsonFile(self.path, raw).entries(skip, without)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """(number, content) of every line that is not blank."""
        with self.open() as raw:
            number = 0
            while line := raw.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    expected = f"lines of at most {LONGEST_LINE >> 20} MB"
                    raise refused(f"{self.name}, line {number}", expected, Said("a longer one"))
                if line.strip():
                    yield number, line


class _Unzipped(io.RawIOBase):
    """The content of a gzipped file; a broken one is a fault of the file."""

    def __init__(self, raw: BinaryIO, name: str) -> None:
        self._zip, self._raw, self._name = gzip.GzipFile(fileobj=raw), raw, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._zip.read(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            raise refused(self._name, "a sound gzip file", Said(str(error)[:120])) from None
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._zip.close()
        self._raw.close()
        super().close()


def read_line(name: str, number: int, line: bytes, problems: Problems) -> Any:
    """The JSON value of a line, or None with its fault noted."""
    where = f"{name}, line {number}"
    try:
        value = json.loads(line, parse_constant=refuse_constant, parse_float=finite)
        deep = depth(value, DEEPEST)
    except (ValueError, RecursionError) as error:
        why = "too many levels" if isinstance(error, RecursionError) else str(error)[:120]
        problems.add(where, "JSON", Said(why))
        return None
    if deep:
        problems.add(where, f"at most {DEEPEST} levels", Said("more"))
        return None
    if value is None:
        problems.add(where, "an object or a list", None)
    return value


def depth(value: Any, most: int) -> bool:
    """Whether a value nests deeper than ``most`` levels."""
    level: list[Any] = [value]
    for _ in range(most):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def refuse_constant(name: str) -> Any:
    """NaN and Infinity are no JSON, though Python writes them."""
    raise ValueError(f"{name}, which is no JSON")


def finite(text: str) -> float:
    """A number that does not become infinite."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number out of range")
    return value


def refused(where: str, expected: str, found: Any) -> FileRefused:
    """A refusal with one fault."""
    return FileRefused([Problem(where, expected, describe(found))])


class Spot:
    """A place in a file; its words are made up only when there is something to say."""

    __slots__ = ("_above", "_name", "_problems")

    def __init__(
        self, problems: Problems, name: "str | Callable[[], str]", above: "Spot | None" = None
    ) -> None:
        self._problems, self._name, self._above = problems, name, above

    def at(self, name: str) -> "Spot":
        """A field or member inside."""
        return Spot(self._problems, name, self)

    def __str__(self) -> str:
        name = self._name if isinstance(self._name, str) else self._name()
        if self._above is None:
            return name
        above = str(self._above)
        if self._above._above is None:
            return f"{above}, {name}"
        return above + name if name.startswith("[") else f"{above}.{name}"

    def fault(self, expected: str, found: Any) -> None:
        """Note what was expected here."""
        self._problems.add(str(self), expected, found)
