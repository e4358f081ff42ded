"""Reads files from outside in a process of their own, with limits on its memory and CPU time.

Parsers check their own limits, but a file may still find a way to make one of them work for ever or
fill the memory. `check_apart` therefore has a file read through once by a child process. At a limit
the child is killed and the file refused; what comes through may be read again here, since reading
the same content anew takes the same time and memory.

A checker is named ``module:function``. It takes texts, reads a file, and raises ``FileRefused`` or
another `CoreError`. The child imports no Django and sees no secrets of the environment.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.core.errors import CoreError
from benchmarks.core.problems import FileRefused, Problem

LOOK_SECONDS = 0.2
# So much longer than its CPU time may the child be there: it may wait for its turn on a busy
# machine.
PATIENCE = 10
OUT_OF_MEMORY = 3
LONGEST_ANSWER = 1 << 20
ROOT = Path(__file__).resolve().parents[2]
# Libraries that start threads reserve memory for each.
_FEW_THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


class LimitReached(CoreError):
    """Reading a file took more memory or CPU time than it may; the text names file and limit."""


@dataclass(frozen=True)
class ProcessLimits:
    """The limits of a child process: seconds of CPU time, and megabytes of memory."""

    seconds: int
    megabytes: int


def check_apart(
    checker: str,
    arguments: Sequence[str],
    *,
    file: str,
    limits: ProcessLimits,
    goes_on: Callable[[], None] = lambda: None,
) -> None:
    """Have ``checker`` read a file in a child process; what it refuses is raised here.

    ``goes_on`` is called several times a second and may raise, which ends the child. Raises
    `LimitReached` where the child was killed at a limit.
    """
    command = [sys.executable, "-m", __name__, str(limits.seconds), str(limits.megabytes), checker]
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    # The child sees the plug-ins that this process sees: they lie on its path.
    kept["PYTHONPATH"] = os.pathsep.join(sys.path)
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            [*command, *arguments],
            cwd=ROOT,
            env=kept | _FEW_THREADS,
            stdin=subprocess.DEVNULL,
            stdout=answer,
            stderr=errors,
        )
        try:
            code = _wait(child, limits.seconds * PATIENCE, goes_on)
        finally:
            child.kill()
            child.wait()
        if code == 0:
            answer.seek(0)
            _raise(json.loads(answer.read(LONGEST_ANSWER)))
            return
        errors.seek(0, os.SEEK_END)
        errors.seek(max(0, errors.tell() - 4000))
        output = errors.read().decode(errors="replace")
    raise _ended(code, file, limits, output)


def _wait(child: "subprocess.Popen[bytes]", seconds: float, goes_on: Callable[[], None]) -> int:
    """Return the exit code of the child, which is killed when its time is over."""
    left = seconds
    while True:
        try:
            return child.wait(LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            left -= LOOK_SECONDS
            goes_on()
        if left <= 0:
            return -signal.SIGXCPU


def _raise(report: Any) -> None:
    if report.get("faults"):
        raise FileRefused([Problem(*fault) for fault in report["faults"]], report["total"])
    if report.get("message"):
        raise CoreError(report["message"])


def _ended(code: int, file: str, limits: ProcessLimits, output: str) -> Exception:
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        words = f"{limits.seconds} seconds of CPU time"
    elif code == OUT_OF_MEMORY or code < 0:  # some libraries abort where memory is short
        words = f"{limits.megabytes:,} MB of memory"
    else:
        return RuntimeError(f"the check of {file} failed: {output}")
    return LimitReached(
        f"{file}: reading it took more than {words} and was stopped; nothing was stored"
    )


# --- In the child ---------------------------------------------------------------------------------


def main(seconds: str, megabytes: str, checker: str, *arguments: str) -> int:
    """Read a file within limits, and print what is wrong with it as JSON."""
    limit(ProcessLimits(int(seconds), int(megabytes)))
    module, _, function = checker.partition(":")
    report: dict[str, Any] = {}
    try:
        getattr(import_module(module), function)(*arguments)
    except FileRefused as refused:
        faults = [[one.where, one.expected, one.found] for one in refused.problems]
        report = {"faults": faults, "total": refused.total}
    except CoreError as error:
        report = {"message": str(error)}
    except MemoryError:
        return OUT_OF_MEMORY
    sys.stdout.write(json.dumps(report))
    return 0


def limit(limits: ProcessLimits) -> None:
    """Bind this process to its limits, and let others go first."""
    resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds + 1))
    memory = limits.megabytes << 20
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    # Libraries map themselves and reserve addresses that they never use.
    resource.setrlimit(resource.RLIMIT_AS, (4 * memory, 4 * memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(5)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
