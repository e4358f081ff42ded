"""Commands of the product as forks of a process that has loaded it: a start costs next to nothing.

``python -m tests.forks`` loads Django on the environment's settings, then reads commands from its
input, a JSON list a line, as they would follow ``python``: ``manage.py`` with arguments, or a file.
It answers each with the process id, and writes the exit code to a file named after that id. A
command is a process of its own, and can be killed like any other.
"""

import json
import os
import runpy
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn


class Fork:
    """A command that was started so; what of ``Popen`` the tests need."""

    def __init__(self, pid: int, folder: Path) -> None:
        self.pid = pid
        self._end = _end_of(folder, pid)

    def poll(self) -> int | None:
        """The exit code, minus the signal that ended it; None while it runs."""
        return int(self._end.read_text()) if self._end.exists() else None

    def wait(self, timeout: float = 600) -> int:
        limit = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > limit:
                raise subprocess.TimeoutExpired("a fork", timeout)
            time.sleep(0.005)
        return code

    def send_signal(self, number: int) -> None:
        # It may have ended before its exit code is written.
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forks:
    """The process that makes them."""

    def __init__(self, folder: Path, environment: dict[str, str], cwd: Path, log: Path) -> None:
        self._folder = folder
        with log.open("a") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forks", str(folder)],
                env=environment, cwd=cwd, text=True, stderr=output,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip

    def start(self, command: tuple[str, ...]) -> Fork:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return Fork(int(self._process.stdout.readline()), self._folder)

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


def _end_of(folder: Path, pid: int) -> Path:
    return folder / f"exit-code-of-{pid}"


def _become(command: list[str]) -> NoReturn:
    """Be the command, in the fork."""
    from django.core.management import execute_from_command_line

    code = 1
    try:
        # Its output goes where the errors go; the lines between the two processes stay clean.
        os.dup2(2, 1)
        os.close(0)
        sys.argv = command
        if command[0] == "manage.py":
            execute_from_command_line(command)
        else:
            runpy.run_path(command[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    import django

    django.setup()
    from django.urls import get_resolver

    get_resolver().url_patterns  # noqa: B018  (loaded when first asked for)
    folder, running = Path(sys.argv[1]), set[int]()
    while True:
        ready, _, _ = select.select([sys.stdin], [], [], 0.01 if running else None)
        if ready:
            line = sys.stdin.readline()
            if not line:
                return
            pid = os.fork()
            if not pid:
                _become(json.loads(line))
            running.add(pid)
            print(pid, flush=True)
        while running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            running.discard(pid)
            aside = folder / "exit-code"
            aside.write_text(str(os.waitstatus_to_exitcode(status)))
            aside.replace(_end_of(folder, pid))


if __name__ == "__main__":
    main()
