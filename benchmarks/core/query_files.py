"""Files whose ``data`` holds one object per query: opened, and read object by object."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.core.digests import digest_text
from benchmarks.core.json_files import JsonFile
from benchmarks.core.problems import (
    FileRefused,
    Problem,
    Problems,
    Unquoted,
    text_fault,
)

LONGEST_ID, LONGEST_QUERY, LONGEST_CONSTRAINT = 100, 20_000, 4_000
MOST_CONSTRAINTS = 5_000


@contextmanager
def reading(path: Path, problems: Problems) -> Iterator[JsonFile]:
    """Open a file whose faults go to ``problems``; one that cannot be opened is refused."""
    try:
        with path.open("rb") as raw:
            yield JsonFile(path, raw)
    except FileRefused as refused:
        problems.extend(refused)
    except OSError as error:
        raise FileRefused(
            [Problem(path.name, "a file to read", error.strerror or "none")]
        ) from None


class QueryItem:
    """One member of ``data``, which its ``query_id`` names; notes what is wrong with it."""

    def __init__(self, file: str, index: int, item: Any, problems: Problems) -> None:
        self.file, self.index, self.problems = file, index, problems
        self.item: Mapping[str, Any] = item if isinstance(item, dict) else {}
        given = self.item.get("query_id")
        self.id = str(given) if isinstance(given, str | int) and given is not True else ""
        if not isinstance(item, dict):
            self.fault("", "an object", item)

    @property
    def place(self) -> str:
        """The place of it, as messages name it."""
        name = f"query_id {self.id[:40]}" if self.id else "no query_id"
        return f"{self.file}, data[{self.index}] ({name})"

    def fault(self, field: str, expected: str, found: Any) -> None:
        """Note that something else was expected in a field, or in place of the item."""
        self.problems.add(f"{self.place}, {field}" if field else self.place, expected, found)

    def read_id(self, seen: set[str]) -> None:
        """Check that the id is there and is the first of its kind."""
        given = self.item.get("query_id")
        if not self.item:
            return
        if isinstance(given, bool) or not isinstance(given, str | int):
            self.fault("query_id", "a text or a whole number", given)
        elif fault := text_fault(self.id, LONGEST_ID):
            self.fault("query_id", fault, given)
        elif (mark := digest_text(self.id)) in seen:
            self.fault("query_id", "an id of its own", Unquoted("one that an earlier query has"))
        else:
            seen.add(mark)
