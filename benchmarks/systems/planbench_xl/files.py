"""The files of a dataset: found in a folder, plain or packed, read within limits and hashed."""

import gzip
import hashlib
import zlib
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from benchmarks.core.json_files import load
from benchmarks.core.problems import Problems, Unquoted, json_fault

NAMES = (
    "datatypes", "database", "baseline_tools", "noisy_tools", "blocker_tools", "tasks", "queries",
    "paths_set_catalog",
)  # fmt: skip
MOST_BYTES = 256 << 20
_GZIP = b"\x1f\x8b"


class DataFile(NamedTuple):
    """One file as read: its name as it stands in the folder, its content and its checksum."""

    name: str
    content: Any
    sha256: str


def read_files(folder: Path, problems: Problems) -> dict[str, DataFile]:
    """Return the eight files of a folder, each as ``NAME.json`` or ``NAME.json.gz``.

    Checksums are those of the unpacked bytes: packing changes nothing. What cannot be read is
    noted as a problem and left out.
    """
    if not folder.is_dir():
        problems.add(str(folder), "a folder", Unquoted("none"))
        return {}
    files = {}
    for name in NAMES:
        path = next(
            (p for p in (folder / f"{name}.json", folder / f"{name}.json.gz") if p.is_file()), None
        )
        if path is None:
            problems.add(folder.name, f"a file {name}.json or {name}.json.gz", Unquoted("none"))
        elif source := _read(path, problems):
            files[name] = source
    return files


def open_plain_or_packed(path: Path) -> BinaryIO:
    """Return a file for reading, unpacked if its name or its first bytes say that it is packed."""
    with path.open("rb") as file:
        packed = path.suffix == ".gz" or file.read(2) == _GZIP
    return cast(BinaryIO, gzip.open(path)) if packed else path.open("rb")


def read_json(path: Path, problems: Problems) -> Any:
    """Return the content of a JSON file, plain or packed; None, with a problem noted, if
    unreadable.
    """
    source = _read(path, problems)
    return source.content if source else None


def _read(path: Path, problems: Problems) -> DataFile | None:
    try:
        with open_plain_or_packed(path) as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        problems.add(path.name, "a file that can be read", Unquoted(reason_of(error)))
        return None
    if len(data) > MOST_BYTES:
        problems.add(path.name, f"at most {MOST_BYTES >> 20} MB", Unquoted("more"))
        return None
    try:
        content = load(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        problems.add(path.name, "JSON in UTF-8", Unquoted(json_fault(error)))
        return None
    return DataFile(path.name, content, hashlib.sha256(data).hexdigest())


def reason_of(error: Exception) -> str:
    """Return why a file cannot be read; paths of this machine are left out."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
