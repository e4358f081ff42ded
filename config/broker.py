"""The embedded Celery broker ``fsq://``: kombu's virtual transport over a folder of files.

Each message is a file, and each step of its life is one rename::

    draft/            being written; nobody looks here
    ready/            complete and waiting, oldest first by name
    held/<holder>/    taken by one reader and not yet acknowledged
    broken/           could not be read, kept for a look
    bell              a named pipe that wakes readers up

* A reader never sees half a message: it is written in ``draft`` and renamed into ``ready``.
* A message is taken by one reader alone: of two renames of one file, one fails.
* A message outlives its reader: it is deleted when acknowledged, not when read. A holder is alive
  as long as it keeps a lock on its folder; the kernel drops the lock with the process, however that
  ends, and whoever reads next gives its messages back. Process ids would not do: they are reused.

kombu's own file transport keeps none of these promises (docs/decisions/embedded-broker.md). There
is no fanout and no ``no_ack``: a Job row is the truth about background work, a message only a
wake-up. All processes must be on one machine; a network file system need not keep such locks.

Transport options: ``folder`` (required), ``polling_interval``, ``recovery_interval``.
"""

import fcntl
import json
import logging
import os
import re
import select
import time
import uuid
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import IO, Any

from kombu.transport import virtual

logger = logging.getLogger(__name__)

# Readers look by themselves so often, whatever wake-up was lost.
POLLING_SECONDS = 0.2
RECOVERY_SECONDS = 10.0
# And so often where the file system has no named pipes.
_NO_PIPE_SECONDS = 0.02
_WAKE_UPS_AT_ONCE = 4096
_ABANDONED_DRAFT_SECONDS = 3600.0
_QUEUE_NAME = re.compile(r"\A[A-Za-z0-9][A-Za-z0-9._-]*\Z")


class WakeUp:
    """A named pipe: waking writes a byte, waiting reads what is there.

    A byte written while nobody waits is kept for whoever waits next.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pipe: int | None = None
        with suppress(OSError):  # it is there, or there can be none
            os.mkfifo(path, 0o600)

    def send(self) -> None:
        """Wake whoever waits."""
        with suppress(OSError):  # nobody has ever waited, or nobody has read for long
            pipe = os.open(self._path, os.O_WRONLY | os.O_NONBLOCK)
            try:
                os.write(pipe, b".")
            finally:
                os.close(pipe)

    def wait(self, seconds: float) -> None:
        """Return at the next wake-up, at once if one came since, or after ``seconds``."""
        if self._pipe is None:
            try:
                # Open for writing as well, else the pipe would end whenever a writer has left.
                self._pipe = os.open(self._path, os.O_RDWR | os.O_NONBLOCK)
            except OSError:
                time.sleep(min(seconds, _NO_PIPE_SECONDS))
                return
        ready = select.poll()  # select() knows no descriptors beyond 1,023
        ready.register(self._pipe, select.POLLIN)
        if ready.poll(1000 * seconds):
            with suppress(BlockingIOError):  # another process was quicker to read
                os.read(self._pipe, _WAKE_UPS_AT_ONCE)

    def close(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None


class Spool:
    """One process's view of the folder. Taking a message moves it into this process's holder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ready, self._draft = folder / "ready", folder / "draft"
        self._held, self._broken = folder / "held", folder / "broken"
        for place in (self._ready, self._draft, self._held, self._broken):
            place.mkdir(parents=True, exist_ok=True)
        self.wake_up = WakeUp(folder / "bell")
        self._mine: Path | None = None
        self._lock: IO[bytes] | None = None
        self._owner = 0

    def put(self, queue: str, body: bytes) -> None:
        """Add a message at the end of ``queue``."""
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex}{_suffix(queue)}"
        draft = self._draft / name
        draft.write_bytes(body)
        draft.rename(self._ready / name)
        self.wake_up.send()

    def take(self, queue: str) -> Path | None:
        """Take the oldest message of ``queue``, if there is one, and return its file."""
        suffix = _suffix(queue)
        for name in sorted(name for name in os.listdir(self._ready) if name.endswith(suffix)):
            with suppress(FileNotFoundError):  # another reader was first
                return (self._ready / name).rename(self._holder() / name)
        return None

    def finish(self, held: Path) -> None:
        """Delete a message that was acknowledged."""
        held.unlink(missing_ok=True)
        self.wake_up.send()  # whoever held as many as they may can take another one

    def give_back(self, held: Path) -> None:
        """Put a message back where it was taken from."""
        with suppress(FileNotFoundError):
            held.rename(self._ready / held.name)
        self.wake_up.send()

    def set_aside(self, held: Path) -> Path:
        """Keep a message that cannot be read out of everybody's way."""
        return held.rename(self._broken / held.name)

    def size(self, queue: str) -> int:
        """Return how many messages wait in ``queue``."""
        suffix = _suffix(queue)
        return sum(name.endswith(suffix) for name in os.listdir(self._ready))

    def purge(self, queue: str) -> int:
        """Delete the waiting messages of ``queue`` and return how many there were."""
        deleted = 0
        for path in self._ready.glob(f"*{_suffix(queue)}"):
            with suppress(FileNotFoundError):
                path.unlink()
                deleted += 1
        return deleted

    def recover(self) -> int:
        """Give back what dead readers held and return how many messages that were."""
        recovered = sum(self._recover(place) for place in self._held.iterdir())
        if recovered:
            self.wake_up.send()
        limit = time.time() - _ABANDONED_DRAFT_SECONDS
        for path in self._draft.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < limit and path.is_file():
                    path.unlink()
        return recovered

    def close(self) -> None:
        """Give back everything held and give up the holder."""
        self.wake_up.close()
        if self._mine is not None and self._lock is not None:
            if self._owner == os.getpid():  # after a fork the holder is still the parent's
                self._empty(self._mine)
            self._lock.close()
            self._mine = self._lock = None

    def _holder(self) -> Path:
        """Return the folder of what this process holds; it is made when first needed."""
        if self._mine is None or self._owner != os.getpid():
            name = uuid.uuid4().hex
            draft = self._draft / name
            draft.mkdir()
            lock = (draft / "lock").open("wb")
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Locked before it is seen, else somebody could take it for a dead reader's.
            self._mine, self._lock = draft.rename(self._held / name), lock
            self._owner = os.getpid()
        return self._mine

    def _recover(self, holder: Path) -> int:
        if holder == self._mine:
            return 0
        try:
            lock = (holder / "lock").open("rb")
        except FileNotFoundError:
            return self._empty(holder)  # somebody began to clear it
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return 0  # alive
            return self._empty(holder)

    def _empty(self, holder: Path) -> int:
        """Give back all of a folder, whose lock the caller has, and remove it."""
        given_back = 0
        for path in holder.glob("*.msg"):
            with suppress(FileNotFoundError):
                path.rename(self._ready / path.name)
                given_back += 1
        (holder / "lock").unlink(missing_ok=True)
        # It may have got a message meanwhile, or somebody else may have removed it first.
        with suppress(OSError):
            holder.rmdir()
        return given_back


def _suffix(queue: str) -> str:
    if not _QUEUE_NAME.match(queue):
        raise ValueError(f"{queue!r} cannot be the name of a queue")
    # "~" cannot stand in a queue's name, so that queue "b" does not match messages of "a.b".
    return f"~{queue}.msg"


class QoS(virtual.QoS):
    """Deletes a message's file when the message is acknowledged or rejected."""

    channel: "Channel"

    def ack(self, delivery_tag: str) -> None:
        super().ack(delivery_tag)
        self.channel.finish(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        super().reject(delivery_tag, requeue=requeue)
        self.channel.finish(delivery_tag)  # nothing is left to delete where it was given back


class Channel(virtual.Channel):
    """One connection's way to the queues."""

    QoS = QoS

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        options: dict[str, Any] = connection.client.transport_options
        self._spool = Spool(Path(options["folder"]))
        self._recovery_interval = options.get("recovery_interval", RECOVERY_SECONDS)
        self._recovery_due = 0.0
        self._held: dict[str, Path] = {}

    def finish(self, delivery_tag: str) -> None:
        """Delete a held message. Tasks call this from their own threads."""
        if held := self._held.pop(delivery_tag, None):
            self._spool.finish(held)

    def close(self) -> None:
        """Give back what was not acknowledged and leave."""
        super().close()
        self._held.clear()
        self._spool.close()

    def _restore(self, message: Any) -> None:
        # The base class would write the message anew; its file is still there.
        if held := self._held.pop(message.delivery_tag, None):
            self._spool.give_back(held)

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        self._spool.put(queue, json.dumps(message).encode())

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        if time.monotonic() >= self._recovery_due:
            self._recovery_due = time.monotonic() + self._recovery_interval
            if count := self._spool.recover():
                logger.warning("%d messages held by a worker that died were given back.", count)
        while held := self._spool.take(queue):
            try:
                message: dict[str, Any] = json.loads(held.read_bytes())
                self._held[message["properties"]["delivery_tag"]] = held
            except (ValueError, LookupError, TypeError):
                # A power cut can leave an empty file; the sweep of jobs enqueues again.
                kept = self._spool.set_aside(held)
                logger.error("A message could not be read and was kept as %s.", kept)
            else:
                return message
        raise Empty

    def _size(self, queue: str) -> int:
        return self._spool.size(queue)

    def _purge(self, queue: str) -> int:
        return self._spool.purge(queue)


class Transport(virtual.Transport):
    """Registered for ``fsq://`` in config/celery.py."""

    Channel = Channel
    polling_interval = POLLING_SECONDS
    driver_type = driver_name = "fsq"
    # Without a host name kombu would warn.
    default_connection_params: dict[str, Any] = {}

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self._wake_up = Spool(Path(client.transport_options["folder"])).wake_up

    def drain_events(self, connection: Any, timeout: float | None = None, **kwargs: Any) -> None:
        """Deliver one message. As kombu's own, but it waits for a wake-up instead of sleeping."""
        cycle: Any = self.cycle
        began = time.monotonic()
        while True:
            try:
                cycle.get(self._deliver, timeout=timeout)
            except Empty:
                wait = self.polling_interval
                if timeout is not None:
                    wait = min(wait, timeout - (time.monotonic() - began))
                    if wait <= 0:
                        raise TimeoutError from None
                self._wake_up.wait(wait)
            else:
                return

    def close_connection(self, connection: Any) -> None:
        """Close the channels, and stop listening."""
        super().close_connection(connection)
        self._wake_up.close()

    def driver_version(self) -> str:
        """Return what Celery's reports show."""
        return "1"
