"""Files to import, plain or gzipped, one or several that belong together; read by entry."""

import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from benchmarks.core.json_files import DEEPEST, LONGEST_TEXT, ItemFile, load, nests_too_deep
from benchmarks.core.problems import FileRefused, Problem, Problems, Unquoted, describe, json_fault

GZIP = b"\x1f\x8b"
LONGEST_LINE = 4 * LONGEST_TEXT
_BLOCK = 1 << 20


class FileSource:
    """Content under a name, opened as often as its reader needs.

    ``members`` are the files inside, where it is a folder or an archive. All values that are read
    from it can be stored by any database.
    """

    def __init__(self, name: str, members: "Mapping[str, FileSource] | None" = None) -> None:
        self.name, self.members = name, members or {}

    def raw(self) -> io.BufferedReader:
        """Return the bytes as they lie there."""
        raise refused(self.name, "a file", Unquoted("a folder"))

    def beside(self, path: str) -> "FileSource | None":
        """Return the file at a path relative to this one's folder; None where there is none."""
        return None

    def open(self) -> BinaryIO:
        """Return the content, unzipped where it is gzipped."""
        raw = self.raw()
        zipped = raw.peek(2)[:2] == GZIP
        return io.BufferedReader(_Unzipped(raw, self.name)) if zipped else raw

    def checksum(self) -> str:
        """Return SHA-256 of the bytes; of names and contents, where it is several files."""
        sha = hashlib.sha256()
        for name in sorted(self.members):
            sha.update(f"{self.members[name].checksum()}  {name}\n".encode())
        if not self.members:
            with self.raw() as raw:
                while block := raw.read(_BLOCK):
                    sha.update(block)
        return sha.hexdigest()

    def entries(
        self, skip: Collection[str] = (), without: Collection[str] = ()
    ) -> Iterator[tuple[str, int | None, Any]]:
        """Yield (field, place in its list, value) of a JSON document; see ``ItemFile.entries``."""
        with self.open() as raw:
            yield from ItemFile(self.name, raw).entries(skip, without)

    def document(self, most: int, skip: Collection[str] = ()) -> dict[str, Any]:
        """Return the object of a small file as a whole; none of its lists has more than
        ``most``.
        """
        made: dict[str, Any] = {}
        for field, index, item in self.entries(skip):
            if not field and index is not None:
                raise refused(self.name, "an object", Unquoted("a list"))
            if index is None:
                made[field] = item
                continue
            members = made[field] if index else made.setdefault(field, [])
            if index >= most or not isinstance(members, list):
                raise refused(f"{self.name}, {field}", f"at most {most} members", Unquoted("more"))
            members.append(item)
        return made

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield (number, content) of every line that is not blank."""
        with self.open() as raw:
            number = 0
            while line := raw.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    expected = f"lines of at most {LONGEST_LINE >> 20} MB"
                    raise refused(f"{self.name}, line {number}", expected, Unquoted("a longer one"))
                if not line.isspace():
                    yield number, line


class File(FileSource):
    """A file on disk."""

    def __init__(self, path: Path, name: str = "") -> None:
        super().__init__(name or path.name)
        self.path = path

    def raw(self) -> io.BufferedReader:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise refused(self.name, "a file to read", Unquoted(error.strerror or "none")) from None

    def beside(self, path: str) -> FileSource | None:
        folder = self.path.parent.resolve()
        try:
            target = (folder / path).resolve()
            known = target.is_relative_to(folder) and target.is_file()
        except (OSError, ValueError):  # no path at all, such as an image in Base64
            return None
        return File(target) if known else None


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
            raise refused(self._name, "a sound gzip file", Unquoted(str(error)[:120])) from None
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._zip.close()
        self._raw.close()
        super().close()


def read_line(name: str, number: int, line: bytes, problems: Problems) -> Any:
    """Return the JSON value of a line, or None with its fault noted."""
    expected, found = "an object or a list", None
    try:
        text = line.decode().removeprefix("\ufeff").strip()
        value = load(text)
        if nests_too_deep(text, value):
            value, expected, found = None, f"at most {DEEPEST} levels", Unquoted("more")
    except (ValueError, RecursionError) as error:
        value, expected, found = None, "JSON", Unquoted(json_fault(error))
    if value is None:
        problems.add(f"{name}, line {number}", expected, found)
    return value


def refused(where: str, expected: str, found: Any) -> FileRefused:
    """Return a refusal with one fault."""
    return FileRefused([Problem(where, expected, describe(found))])


class Spot:
    """A place in a file; its words are made up only when there is something to say."""

    __slots__ = ("_above", "_name", "_problems")

    def __init__(
        self, problems: Problems, name: "str | int | Callable[[], str]", above: "Spot | None" = None
    ) -> None:
        self._problems, self._name, self._above = problems, name, above

    def at(self, name: str | int) -> "Spot":
        """Return a field, or a member by its number."""
        return Spot(self._problems, name, self)

    def __str__(self) -> str:
        name = self._name
        if isinstance(name, int):
            name = f"[{name}]"
        elif not isinstance(name, str):
            name = name()
        if self._above is None:
            return name
        above = str(self._above)
        if self._above._above is None:
            return f"{above}, {name}"
        return above + name if name.startswith("[") else f"{above}.{name}"

    def fault(self, expected: str, found: Any) -> None:
        """Note what was expected here."""
        self._problems.add(str(self), expected, found)
