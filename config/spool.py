"""Message queues in a folder: each message is a file, and each step of its life is one rename.

::

    draft/            being written; nobody looks here
    ready/            complete and waiting, oldest first by name
    held/<holder>/    taken by one reader and not yet done with
    broken/           could not be read, kept for a look
    bell              rings when something is ready

* A reader never sees half a message: it is written in ``draft`` and renamed into ``ready``.
* A message is taken by one reader alone: of two renames of one file, one fails.
* A message outlives its reader: it is deleted when done with, not when read. A holder is alive as
  long as it keeps a lock on its folder; the kernel drops the lock with the process, however that
  ends, and whoever reads next gives its messages back. Process ids would not do, they are reused.

All readers and writers must be on one machine; a network file system need not keep such locks.
"""

import fcntl
import os
import re
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from config.bell import Bell

_QUEUE_NAME = re.compile(r"\A[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_ABANDONED_DRAFT_SECONDS = 3600.0


@dataclass(frozen=True)
class Held:
    """A message taken and not yet done with."""

    path: Path
    body: bytes


class Spool:
    """One process's view of the folder. A holder's place is made when it first takes a message."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ready = folder / "ready"
        self._draft = folder / "draft"
        self._held = folder / "held"
        self._broken = folder / "broken"
        for place in (self._ready, self._draft, self._held, self._broken):
            place.mkdir(parents=True, exist_ok=True)
        self.bell = Bell(folder / "bell")
        self._mine: Path | None = None
        self._lock: IO[bytes] | None = None
        self._owner = 0

    def put(self, queue: str, body: bytes) -> None:
        """Add a message at the end of ``queue``."""
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex}{self._suffix(queue)}"
        draft = self._draft / name
        draft.write_bytes(body)
        draft.rename(self._ready / name)
        self.bell.ring()

    def take(self, queue: str) -> Held | None:
        """Take the oldest message of ``queue``, if there is one."""
        suffix = self._suffix(queue)
        names = sorted(name for name in os.listdir(self._ready) if name.endswith(suffix))
        for name in names:
            path = self._place() / name
            try:
                (self._ready / name).rename(path)
            except FileNotFoundError:
                continue  # another reader was first
            return Held(path, path.read_bytes())
        return None

    def done(self, held: Held) -> None:
        """Forget a message for good."""
        held.path.unlink(missing_ok=True)
        self.bell.ring()  # whoever had taken as many as they may can take another one

    def give_back(self, held: Held) -> None:
        """Put a message back where it was taken from."""
        with suppress(FileNotFoundError):
            held.path.rename(self._ready / held.path.name)
        self.bell.ring()

    def set_aside(self, held: Held) -> Path:
        """Keep a message that cannot be read out of everybody's way."""
        return held.path.rename(self._broken / held.path.name)

    def size(self, queue: str) -> int:
        """How many messages wait in ``queue``."""
        suffix = self._suffix(queue)
        return sum(name.endswith(suffix) for name in os.listdir(self._ready))

    def purge(self, queue: str) -> int:
        """Delete the waiting messages of ``queue`` and say how many there were."""
        deleted = 0
        for path in self._ready.glob(f"*{self._suffix(queue)}"):
            with suppress(FileNotFoundError):
                path.unlink()
                deleted += 1
        return deleted

    def recover(self) -> int:
        """Give back what dead readers held, and say how many messages that were."""
        recovered = 0
        for place in self._held.iterdir():
            if place != self._mine:
                recovered += self._recover_from(place)
        if recovered:
            self.bell.ring()
        self._clear_drafts()
        return recovered

    def close(self) -> None:
        """Give back everything held and give up the place."""
        self.bell.close()
        if self._mine is None or self._lock is None:
            return
        if self._owner == os.getpid():  # after a fork the place is still the parent's
            self._empty(self._mine)
        self._lock.close()
        self._mine = self._lock = None

    def _suffix(self, queue: str) -> str:
        if not _QUEUE_NAME.match(queue):
            raise ValueError(f"{queue!r} cannot be the name of a queue")
        # "~" cannot stand in a queue's name, so that queue "b" does not match messages of "a.b".
        return f"~{queue}.msg"

    def _place(self) -> Path:
        """The folder of what this process holds."""
        if self._mine is None or self._owner != os.getpid():
            name = uuid.uuid4().hex
            draft = self._draft / name
            draft.mkdir()
            lock = (draft / "lock").open("wb")
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Locked before it is seen, else a sweep could take it for a dead reader's.
            self._mine = draft.rename(self._held / name)
            self._lock = lock
            self._owner = os.getpid()
        return self._mine

    def _recover_from(self, place: Path) -> int:
        try:
            lock = (place / "lock").open("rb")
        except FileNotFoundError:
            return self._empty(place)  # somebody began to clear it
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return 0  # alive
            return self._empty(place)

    def _empty(self, place: Path) -> int:
        """Give back all of ``place``, whose lock the caller has, and remove it."""
        given_back = 0
        for path in place.glob("*.msg"):
            with suppress(FileNotFoundError):
                path.rename(self._ready / path.name)
                given_back += 1
        (place / "lock").unlink(missing_ok=True)
        # It may have got a message meanwhile, or another sweep may have removed it first.
        with suppress(OSError):
            place.rmdir()
        return given_back

    def _clear_drafts(self) -> None:
        """Delete what a process left that died while writing."""
        limit = time.time() - _ABANDONED_DRAFT_SECONDS
        for path in self._draft.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < limit and path.is_file():
                    path.unlink()
