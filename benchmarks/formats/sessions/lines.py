"""Lines of a session file, up to the last sound one of a crashed session."""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.core.json_files import load, nests_too_deep
from benchmarks.core.problems import Problems, Unquoted
from benchmarks.formats.sessions.transcript import leave_out
from benchmarks.formats.source import FileSource, Spot, read_line, refused

TRUNCATED = "truncated last line"
# A session is held in memory as a whole.
LARGEST_SESSION = 256 << 20
# Fields by which lines of one format are told from those of another.
TELLING = frozenset(("messages", "payload", "parentUuid", "conversations", "resourceSpans"))


def session_lines(
    source: FileSource,
    problems: Problems,
    header: dict[str, Any],
    own: Sequence[str] = (),
) -> Iterator[tuple[Spot, dict[str, Any]]]:
    """Yield the place and the object of each line; a last line that was cut off is left out.

    Where all lines are one session, ``own`` are fields that tell its lines: a file with one of
    another format is refused, as is one that is too large.
    """
    name, telling, size = source.name, frozenset(own), 0
    for number, line in source.lines():
        size += len(line)
        if own and size > LARGEST_SESSION:
            expected = f"sessions of at most {LARGEST_SESSION >> 20} MB"
            raise refused(f"{name}, line {number}", expected, Unquoted("a larger one"))
        if not line.endswith(b"\n") and _is_cut(line):
            leave_out(header, TRUNCATED)
            return
        value = read_line(name, number, line, problems)
        if value is None:
            continue
        spot = Spot(problems, f"{name}, line {number}")
        if not isinstance(value, dict):
            spot.fault("an object", value)
        elif own and telling.isdisjoint(value) and not TELLING.isdisjoint(value):
            expected = f"a line with {' or '.join(own)}, as the others have"
            found = Unquoted("one of another format; split the file")
            raise refused(str(spot), expected, found)
        else:
            yield spot, value


def _is_cut(line: bytes) -> bool:
    """Return whether a line begins an object that does not end in it."""
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        load(line.decode().strip())
    except (ValueError, RecursionError):
        return True
    return False


def decoded(value: Any, times: int = 2) -> Any:
    """Return a value that an export wrote as JSON text, perhaps more than once."""
    for _ in range(times):
        text = value.strip() if isinstance(value, str) else ""
        if text[:1] not in ("{", "[", '"'):
            break
        try:
            inner = load(text)
        except (ValueError, RecursionError):
            break
        if nests_too_deep(text, inner):
            break
        value = inner
    return value
