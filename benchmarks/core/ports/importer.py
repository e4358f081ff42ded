"""The importer port turns a system's files into tasks: one importer, one or more formats."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from benchmarks.core.errors import CoreError, SettingError, UnknownName
from benchmarks.core.types import Json, Profile, Task

TaskWithProfiles = tuple[Task, Sequence[Profile]]


class FormatUnknown(CoreError):
    """Files whose format nobody can tell; the text says which formats there are."""


@dataclass(frozen=True)
class TaskFile:
    """The checked content of files, ready to be stored as a dataset.

    ``checksum`` stands for all that was read and for the options that change it. ``source`` and
    ``licence`` are what the files say of themselves. ``roles`` are who fills roles on these tasks
    where a run does not say otherwise, ``shared`` is what all tasks have in common. ``notes`` are
    kept with the dataset. On the terminal, ``summary`` follows the number of tasks and ``details``
    are further lines. ``warnings`` name entries that were taken although they are odd.
    """

    tasks: Iterable[TaskWithProfiles]
    checksum: str
    source: str = ""
    licence: str = ""
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    shared: Json | None = None
    notes: str = ""
    summary: str = ""
    details: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportOption:
    """An option of a format. Its kind is that of its default: a text, a whole number, a switch."""

    name: str
    default: str | int | bool
    help: str

    def read(self, raw: Any) -> str | int | bool:
        """Return a value of the option's kind, or raise ``SettingError``."""
        if isinstance(self.default, bool):
            return str(raw).lower() in ("true", "1", "on", "yes")
        if isinstance(self.default, str):
            return str(raw)
        try:
            return int(str(raw))
        except ValueError:
            raise SettingError(self.name, "a whole number", raw) from None


@dataclass(frozen=True)
class TaskFormat:
    """One format of files. ``read`` checks all of them and raises ``FileRefused`` with the faults.

    ``recognises`` tells from names and beginnings whether files are of this format. ``files`` says
    what is expected, ``name`` is the dataset's name where none is given. The import page takes up
    to ``uploads`` files with endings that ``accept`` lists; 0 means by command alone.
    """

    key: str
    title: str
    files: str
    name: str
    read: Callable[[Sequence[Path], Mapping[str, Any]], TaskFile]
    recognises: Callable[[Sequence[Path]], bool] = lambda paths: True
    options: tuple[ImportOption, ...] = ()
    uploads: int = 0
    accept: str = ""

    def read_files(self, paths: Sequence[Path], given: Mapping[str, Any]) -> TaskFile:
        """Read files with options; one that the format does not have is refused."""
        known = {option.name: option for option in self.options}
        for name, raw in given.items():
            if name not in known:
                raise SettingError(name, f"an option of the format {self.key}", raw)
        values = {
            name: option.read(given[name]) if name in given else option.default
            for name, option in known.items()
        }
        return self.read(paths, values)


@dataclass(frozen=True)
class Importer:
    """The formats of a system's datasets; ``write`` writes tasks in the published one."""

    formats: tuple[TaskFormat, ...]
    write: Callable[[Iterable[TaskWithProfiles], IO[str], Mapping[str, str]], int] | None = None

    @property
    def options(self) -> tuple[ImportOption, ...]:
        """Return the options of all formats, each name once."""
        every = (option for known in self.formats for option in known.options)
        return tuple({option.name: option for option in every}.values())

    def find_format(self, paths: Sequence[Path], key: str = "") -> TaskFormat:
        """Return the format that is named, or the first that recognises the files."""
        for known in self.formats:
            if known.key == key or (not key and known.recognises(paths)):
                return known
        if key:
            raise UnknownName("format", key, [known.key for known in self.formats])
        expected = "; or ".join(f"{known.files} ({known.key})" for known in self.formats)
        raise FormatUnknown(f"the files are of no known format; expected {expected}")
