"""What tools of coding agents did, as people read it: files changed, commands run, output.

Programs name their tools and arguments differently; what is of no known name is shown as any call.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from benchmarks.formats.plan_commits import plain_tool

_TERMINALS = frozenset(
    ("bash", "shell", "sh", "execcommand", "localshell", "localshellcall", "runshellcommand")
    + ("executebash", "runcommand", "runterminalcmd", "runinterminal", "terminal", "cmdrun")
    + ("executecommand", "containerexec", "unifiedexec", "shellcommand", "bashexecution", "run")
)
_WRITERS = frozenset(("write", "writefile", "writetofile", "create", "createfile", "savefile"))
_PATHS = ("file_path", "path", "filename", "filepath", "target_file", "file")
_BEFORE = ("old_string", "old_str", "oldText", "old_text", "search")
_AFTER = ("new_string", "new_str", "newText", "new_text", "replace", "insert_text")
_WHOLE = ("content", "file_text", "contents", "text")
_PATCHES = ("patch", "input", "diff", "command")
# A change of more lines is not compared, and of a longer one only the beginning is drawn.
MOST_COMPARED, MOST_DRAWN = 2000, 200
# Escape sequences of terminals: colours and moves, titles, and other single ones.
ESCAPES = re.compile(
    r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])"
)
# Where programs say how a command ended; looked for in the first and last characters only.
_EXIT = re.compile(
    r"(?:exit code:?|exited with code|returncode>|exit_code\W{1,4}) ?(-?[0-9]{1,5})", re.IGNORECASE
)
_HEAD, _TAIL = 160, 200
LineKind = Literal["same", "added", "removed"]


class FileChange(NamedTuple):
    """A change of a file by a call: its lines with what became of each.

    ``more`` lines are not drawn.
    """

    path: str
    lines: tuple[tuple[LineKind, str], ...]
    more: int = 0

    @property
    def added(self) -> int:
        return sum(kind == "added" for kind, _ in self.lines)

    @property
    def removed(self) -> int:
        return sum(kind == "removed" for kind, _ in self.lines)


def is_terminal(name: str) -> bool:
    """Return whether a tool runs commands, so that its result is what a terminal showed."""
    return plain_tool(name) in _TERMINALS


def command_of(name: str, arguments: Any) -> str:
    """Return the command that a call runs; empty if it runs none."""
    if not is_terminal(name) or not isinstance(arguments, Mapping):
        return ""
    given = next((arguments[key] for key in ("command", "cmd", "script") if key in arguments), "")
    if isinstance(given, list):
        words = [str(word) for word in given]
        if len(words) == 3 and words[1] in ("-c", "-lc"):
            return words[2]
        return " ".join(words)
    return given if isinstance(given, str) else ""


def exit_code(text: str) -> int | None:
    """Return the exit code that the output of a command states at its beginning or end."""
    for part in (text[:_HEAD], text[_HEAD:][-_TAIL:]):
        if stated := _EXIT.search(part):
            return int(stated[1])
    return None


def file_changes(name: str, arguments: Any) -> list[FileChange]:
    """Return what a call changes in files, as far as its arguments show it."""
    if isinstance(arguments, str):
        return _patch(arguments)
    if not isinstance(arguments, Mapping):
        return []
    path = _text(arguments, _PATHS)
    edits = arguments.get("edits")
    parts = [arguments, *(edits if isinstance(edits, list) else ())]
    changes = []
    for part in parts:
        if not isinstance(part, Mapping):
            continue
        before, after = _text(part, _BEFORE), _text(part, _AFTER)
        if before or after:
            changes.append(_compared(_text(part, _PATHS) or path, before, after))
    whole = _text(arguments, _WHOLE)
    tool = plain_tool(name)
    creates = tool in _WRITERS or arguments.get("command") in ("create", "write")
    if not changes and whole and path and creates:
        changes.append(_drawn(path, [("added", line) for line in whole.splitlines()]))
    if not changes and (patch := _text(arguments, _PATCHES)):
        changes += _patch(patch)
    return changes


def _text(given: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((given[name] for name in names if isinstance(given.get(name), str)), "")


def _compared(path: str, before: str, after: str) -> FileChange:
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_COMPARED:
        lines = [("removed", line) for line in old] + [("added", line) for line in new]
        return _drawn(path, lines)  # type: ignore[arg-type]
    # The first two lines name files, which have no names here.
    differences = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    return _drawn(path, list(_kinds(differences)))


def _patch(text: str) -> list[FileChange]:
    """Return the changes of a unified diff or of a patch as ``apply_patch`` takes it."""
    if not is_patch(text):
        return []
    return [_drawn("", list(_kinds(text.splitlines())))]


def is_patch(text: str) -> bool:
    """Return whether a text is a difference between files."""
    start = text[:2000]
    return (
        "*** Begin Patch" in start
        or start.startswith("diff --git ")
        or "\ndiff --git " in start
        or (("\n@@ " in start or start.startswith("@@ ")) and ("\n+" in start or "\n-" in start))
    )


def _kinds(lines: list[str]) -> Iterator[tuple[LineKind, str]]:
    for line in lines:
        if line.startswith("+") and not line.startswith("+++"):
            yield "added", line[1:]
        elif line.startswith("-") and not line.startswith("---"):
            yield "removed", line[1:]
        else:
            yield "same", line.removeprefix(" ")


def _drawn(path: str, lines: list[tuple[LineKind, str]]) -> FileChange:
    return FileChange(path, tuple(lines[:MOST_DRAWN]), max(0, len(lines) - MOST_DRAWN))
