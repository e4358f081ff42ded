"""The embedded Celery broker ``fsq://``: kombu's virtual transport over a folder of files.

kombu's own file system transport loses what a worker held when it dies, and may read a message
that is still being written; docs/decisions/embedded-broker.md has the measurements. Only queues are
offered, no fanout: the truth about background work is a Job row, and a message is a doorbell.

A reader is woken by a bell, and looks by itself as well, every ``polling_interval`` seconds.
Transport options: ``folder`` (required), ``polling_interval``, ``recovery_interval``.
"""

import json
import logging
import time
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import virtual

from config.spool import Held, Spool

logger = logging.getLogger(__name__)

DEFAULT_POLLING_SECONDS = 0.2
DEFAULT_RECOVERY_SECONDS = 10.0


class QoS(virtual.QoS):
    """Deletes a message's file when the message is done with."""

    channel: "Channel"

    def ack(self, delivery_tag: str) -> None:
        """The message is done with."""
        super().ack(delivery_tag)
        self.channel.forget(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """The message is done with, or was just given back."""
        super().reject(delivery_tag, requeue=requeue)
        self.channel.forget(delivery_tag)


class Channel(virtual.Channel):
    """One connection's way to the queues."""

    QoS = QoS

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        options: dict[str, Any] = connection.client.transport_options
        self._spool = Spool(Path(options["folder"]))
        self._recovery_interval = options.get("recovery_interval", DEFAULT_RECOVERY_SECONDS)
        self._recovery_due = 0.0
        self._held: dict[str, Held] = {}
        self._unacknowledged_queues: set[str] = set()

    def forget(self, delivery_tag: str) -> None:
        """Delete a held message. Tasks call this from their own threads."""
        if held := self._held.pop(delivery_tag, None):
            self._spool.done(held)

    def basic_consume(
        self, queue: str, no_ack: bool, callback: Any, consumer_tag: str | None, **kwargs: Any
    ) -> Any:
        """Consume from ``queue``; with ``no_ack`` a message is done with as soon as it is read."""
        if no_ack:
            self._unacknowledged_queues.add(queue)
        else:
            self._unacknowledged_queues.discard(queue)
        return super().basic_consume(queue, no_ack, callback, consumer_tag, **kwargs)

    def basic_get(self, queue: str, no_ack: bool = False, **kwargs: Any) -> Any:
        """One message of ``queue``, or None."""
        message = super().basic_get(queue, no_ack=no_ack, **kwargs)
        if message is not None and no_ack:
            self.forget(str(message.delivery_tag))
        return message

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
        self._recover_now_and_then()
        while held := self._spool.take(queue):
            try:
                message: dict[str, Any] = json.loads(held.body)
                tag = message["properties"]["delivery_tag"]
            except (ValueError, LookupError, TypeError):
                # A power cut can leave an empty file; the Job's own sweep rings again.
                kept = self._spool.set_aside(held)
                logger.error("A message could not be read and was kept as %s.", kept)
                continue
            if queue in self._unacknowledged_queues:
                self._spool.done(held)
            else:
                self._held[tag] = held
            return message
        raise Empty

    def _size(self, queue: str) -> int:
        return self._spool.size(queue)

    def _purge(self, queue: str) -> int:
        return self._spool.purge(queue)

    def _recover_now_and_then(self) -> None:
        now = time.monotonic()
        if now < self._recovery_due:
            return
        self._recovery_due = now + self._recovery_interval
        if count := self._spool.recover():
            logger.warning("%d messages held by a worker that died were given back.", count)


class Transport(virtual.Transport):
    """Registered for ``fsq://`` in config/celery.py."""

    Channel = Channel
    polling_interval = DEFAULT_POLLING_SECONDS
    driver_type = "fsq"
    driver_name = "fsq"

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self._bell = Spool(Path(client.transport_options["folder"])).bell

    def drain_events(self, connection: Any, timeout: float | None = None, **kwargs: Any) -> None:
        """Deliver one message. As kombu's own, but for the bell that is waited for."""
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
                self._bell.wait(wait)
            else:
                return

    def close_connection(self, connection: Any) -> None:
        """Close the channels, and stop listening."""
        super().close_connection(connection)
        self._bell.close()

    @property
    def default_connection_params(self) -> dict[str, Any]:
        """None: kombu would warn of a missing host name."""
        return {}

    def driver_version(self) -> str:
        """Shown in Celery's reports."""
        return "1"
