"""Files of trials from outside: plain, packed, in folders or in archives, all within limits.

Nothing is ever unpacked to disk. An archive that names a path outside itself, holds a link, or
unpacks to more than it plausibly can is refused as a whole.
"""

import gzip
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any

from benchmarks.core.digests import storable
from benchmarks.core.json_files import load
from benchmarks.core.problems import FileRefused, Problem, Problems, Unquoted, json_fault

MOST_MEMBERS = 40_000
LARGEST_MEMBER = 8 << 20
MOST_BYTES = 4 << 30
LARGEST_LINES = 512 << 20
LONGEST_LINE = 2 << 20
MOST_LINES = 50_000
MOST_RATIO = 200
DEEPEST_FOLDER = 12
_BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile, tarfile.TarError, NotImplementedError,
           RuntimeError)  # fmt: skip
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")


def is_archive(path: Path) -> bool:
    """Tell by its name whether a file is an archive that can be read."""
    return path.name.lower().endswith(ARCHIVES)


def refuse(where: str, expected: str, found: str) -> FileRefused:
    return FileRefused([Problem(where, expected, found)])


def read_lines(path: Path, problems: Problems) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) for each line of a JSON Lines file, plain or as .gz."""
    packed = max(1, path.stat().st_size) if path.exists() else 1
    total = count = 0
    try:
        with _open(path) as file:
            while line := file.readline(LONGEST_LINE + 1):
                count += 1
                total += len(line)
                place = f"{path.name}, line {count}"
                if len(line) > LONGEST_LINE:
                    raise refuse(
                        place, f"a line of at most {LONGEST_LINE >> 20} MB", "a longer one"
                    )
                if count > MOST_LINES:
                    raise refuse(path.name, f"at most {MOST_LINES:,} lines", "more")
                _check_size(path.name, total, packed, LARGEST_LINES)
                if not line.strip():
                    continue
                try:
                    yield place, load(line.decode("utf-8-sig" if count == 1 else "utf-8"))
                except (ValueError, RecursionError) as error:
                    problems.add(place, "JSON in UTF-8", Unquoted(json_fault(error)))
    except _BROKEN as error:
        raise refuse(path.name, "a file that can be read", _reason(error)) from None


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if packed else path.open("rb")  # type: ignore[return-value]


def _check_size(name: str, unpacked: int, packed: int, most: int) -> None:
    if unpacked > most:
        raise refuse(name, f"at most {most >> 20:,} MB unpacked", "more")
    if unpacked > 1 << 20 and unpacked > MOST_RATIO * packed:
        raise refuse(name, f"at most {MOST_RATIO} times its packed size", "more when unpacked")


def read_members(path: Path, endings: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the files in a folder or archive whose names end so, in order.

    Names are relative. Raises ``FileRefused`` for links, paths outside, and limits exceeded.
    """
    if path.is_dir():
        yield from _folder(path, endings)
        return
    if not path.exists():
        raise refuse(path.name, "a file or folder", "none")
    try:
        if zipfile.is_zipfile(path):
            yield from _zip(path, endings)
        elif tarfile.is_tarfile(path):
            yield from _tar(path, endings)
        else:
            raise refuse(path.name, "a folder, a .zip, or a .tar archive (plain or gzip)",
                         "a file of another kind, or one that was cut off")  # fmt: skip
    except _BROKEN as error:
        raise refuse(path.name, "an archive that can be read", _reason(error)) from None


def _folder(root: Path, endings: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    count = total = 0
    for folder, names, files in os.walk(root, followlinks=False):
        names.sort()
        here = Path(folder)
        if len(here.relative_to(root).parts) > DEEPEST_FOLDER:
            raise refuse(root.name, f"at most {DEEPEST_FOLDER} levels of folders", "more")
        for name in [*names, *sorted(files)]:
            one = here / name
            shown = str(one.relative_to(root))
            if one.is_symlink():
                raise refuse(f"{root.name}/{shown}", "files and folders alone", "a link")
            if name in names or not shown.endswith(tuple(endings)):
                continue
            count += 1
            if count > MOST_MEMBERS:
                raise refuse(root.name, f"at most {MOST_MEMBERS:,} files", "more")
            with one.open("rb") as file:
                data = file.read(LARGEST_MEMBER + 1)
            total += len(data)
            yield shown, _bounded(shown, data, total)


def _zip(path: Path, endings: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    packed = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > MOST_MEMBERS * 4:
            raise refuse(path.name, f"at most {MOST_MEMBERS * 4:,} members", f"{len(members):,}")
        for one in members:
            _check_name(path.name, one.filename)
            if stat.S_ISLNK(one.external_attr >> 16):
                raise refuse(f"{path.name}, {one.filename}", "files and folders alone", "a link")
        wanted = sorted(
            (m for m in members if not m.is_dir() and m.filename.endswith(tuple(endings))),
            key=lambda member: member.filename,
        )
        _check_size(path.name, sum(m.file_size for m in wanted), packed, MOST_BYTES)
        total = 0
        for member in wanted:
            with archive.open(member) as file:
                data = file.read(LARGEST_MEMBER + 1)
            total += len(data)
            _check_size(path.name, total, packed, MOST_BYTES)
            yield member.filename, _bounded(member.filename, data, total)


def _tar(path: Path, endings: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    packed = path.stat().st_size
    count = skipped = total = 0
    with tarfile.open(path, "r:*") as archive:
        for member in archive:
            count += 1
            if count > MOST_MEMBERS * 4:
                raise refuse(path.name, f"at most {MOST_MEMBERS * 4:,} members", "more")
            _check_name(path.name, member.name)
            if not (member.isfile() or member.isdir()):
                raise refuse(f"{path.name}, {member.name}", "files and folders alone",
                             "a link or a device")  # fmt: skip
            skipped += member.size
            _check_size(path.name, skipped, packed, MOST_BYTES * 4)
            if not member.isfile() or not member.name.endswith(tuple(endings)):
                continue
            file = archive.extractfile(member)
            data = file.read(LARGEST_MEMBER + 1) if file else b""
            total += len(data)
            yield member.name, _bounded(member.name, data, total)


def _check_name(archive: str, name: str) -> None:
    place = PurePosixPath(name.replace("\\", "/"))
    outside = place.is_absolute() or ".." in place.parts or ":" in name[:3] or "\x00" in name
    if outside:
        raise refuse(f"{archive}, {name[:120]!r}", "a path inside the archive", "one outside")


def _bounded(name: str, data: bytes, total: int) -> bytes:
    if len(data) > LARGEST_MEMBER:
        raise refuse(name, f"a file of at most {LARGEST_MEMBER >> 20} MB", "a larger one")
    if total > MOST_BYTES:
        raise refuse(name, f"at most {MOST_BYTES >> 20:,} MB in all", "more")
    return data


def read_json(name: str, data: bytes, problems: Problems) -> Any:
    """Return the JSON in a member, or None with a problem noted."""
    try:
        return storable(load(data.decode("utf-8-sig")))
    except (ValueError, RecursionError) as error:
        problems.add(name, "JSON in UTF-8", Unquoted(json_fault(error)))
        return None


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, EOFError):
        return "one that was cut off"
    return (str(error) or type(error).__name__)[:120]
