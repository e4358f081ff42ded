"""Folders and archives of many files, recognised file by file.

Files that belong together, such as a session and its sub-agents, are one unit. A unit that cannot
be read is left out with its reason, and the others are read.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.core.problems import FileRefused, Unquoted
from benchmarks.formats.sessions.claude_code import SUBAGENTS, is_subagent, session_of
from benchmarks.formats.source import FileSource, refused

ATIF, CLAUDE_CODE = "atif", "claude-code"
WRONG_FORMAT = "of the format"
UNKNOWN = "no format that can be imported"
MOST_REASONS = 200


@dataclass(frozen=True)
class Unit:
    """One file, or several that belong together; ``format`` is empty where none recognises it."""

    name: str
    source: FileSource
    format: str = ""
    error: str = ""


class Bundle(FileSource):
    """The units of one format in a folder or an archive; ``left_out`` are reasons by file."""

    def __init__(self, name: str, units: Sequence[Unit], left_out: Mapping[str, str]) -> None:
        members = {
            inner: source
            for unit in units
            for inner, source in (unit.source.members or {unit.name: unit.source}).items()
        }
        super().__init__(name, members)
        self.units = [unit.source for unit in units]
        self.left_out = dict(list(left_out.items())[:MOST_REASONS])


def survey(source: FileSource, detect: Callable[[FileSource], str | None]) -> list[Unit]:
    """Return the units in a folder or an archive, by name."""
    formats: dict[str, str] = {}
    errors: dict[str, str] = {}
    for name, member in sorted(source.members.items()):
        try:
            formats[name] = detect(member) or ""
        except FileRefused as refusal:
            errors[name] = str(refusal)
    units = [Unit(name, source.members[name], error=error) for name, error in errors.items()]
    units += _sessions(source.members, [n for n, known in formats.items() if known == CLAUDE_CODE])
    atif = {name: source.members[name] for name, known in formats.items() if known == ATIF}
    if len(atif) > 1:  # one may continue another
        units.append(Unit(next(iter(atif)), FileSource(source.name, atif), ATIF))
    alone = [n for n, known in formats.items() if known != CLAUDE_CODE and n not in atif]
    for name in alone if len(atif) > 1 else [*alone, *atif]:
        error = "" if formats[name] else UNKNOWN
        units.append(Unit(name, source.members[name], formats[name], error))
    return sorted(units, key=lambda unit: unit.name)


def _sessions(members: Mapping[str, FileSource], names: Sequence[str]) -> Iterable[Unit]:
    """Yield sessions of Claude Code with their sub-agents; those without a session alone."""
    subagents = [name for name in names if is_subagent(name)]
    sessions = [name for name in names if not is_subagent(name)]
    stems = {name.split(".jsonl")[0]: name for name in sessions}
    by_session: dict[str, str] = {}
    for name in sessions:
        if subagents:
            by_session.setdefault(session_of(members[name]), name)
    owned: dict[str, list[str]] = {}
    for name in subagents:
        folder = name.rpartition("/")[0]
        owner = stems.get(folder.removesuffix(f"/{SUBAGENTS}")) if folder else None
        owner = owner or by_session.get(session_of(members[name]) or "\x1f")
        owned.setdefault(owner or name, []).append(name)
    for name in sessions:
        own = [name, *owned.pop(name, ())]
        source = FileSource(name, {one: members[one] for one in own})
        yield Unit(name, source if len(own) > 1 else members[name], CLAUDE_CODE)
    for name in owned:
        yield Unit(name, members[name], CLAUDE_CODE)


def bundle(
    source: FileSource, units: Sequence[Unit], format: str, fault: Callable[[Unit], str]
) -> tuple[str, Bundle]:
    """Return the format of the units and those that can be read.

    ``fault`` reads a unit and returns why it cannot be imported, or nothing. Units of several
    formats are refused unless ``format`` names one of them.
    """
    counts = Counter(unit.format for unit in units if unit.format)
    if not counts:
        raise refused(source.name, "files of a format that can be imported", Unquoted("none"))
    if not format and len(counts) > 1:
        words = ", ".join(f"{number} of {name}" for name, number in counts.most_common())
        raise refused(source.name, "files of one format; name it with --format", Unquoted(words))
    format = format or next(iter(counts))
    sound, left_out = [], {}
    for unit in units:
        reason = unit.error
        if not reason and unit.format != format:
            reason = f"{WRONG_FORMAT} {unit.format}"
        reason = reason or fault(unit)
        if reason:
            left_out[unit.name] = reason
        else:
            sound.append(unit)
    if not sound:
        name, reason = next(iter(left_out.items()))
        raise refused(source.name, f"at least one sound file of the format {format}",
                      Unquoted(f"none; {name}: {reason}"))  # fmt: skip
    return format, Bundle(source.name, sound, left_out)
