"""Lines of a session file, up to the last sound one of a crashed session."""

from collections.abc import Iterator
from typing import Any

from benchmarks.core.json_files import DEEPEST, load, too_deep
from benchmarks.core.problems import Problems
from benchmarks.formats.sessions.transcript import leave_out
from benchmarks.formats.source import FileSource, Spot, read_line

TRUNCATED = "truncated last line"


def session_lines(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[tuple[Spot, dict[str, Any]]]:
    """Yield the place and the object of each line; a last line that was cut off is left out."""
    for number, line in source.lines():
        spot = Spot(problems, f"{source.name}, line {number}")
        if not line.endswith(b"\n") and _is_cut(line):
            leave_out(header, TRUNCATED)
            return
        before = problems.total
        value = read_line(source.name, number, line, problems)
        if problems.total > before:
            continue
        if isinstance(value, dict):
            yield spot, value
        else:
            spot.fault("an object", value)


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
        if too_deep(inner, DEEPEST):
            break
        value = inner
    return value
