"""The embedded broker alone: messages a second, and how deep a queue may get before it tells."""

import tempfile
import time
from contextlib import closing
from pathlib import Path

from config.broker import Spool

QUEUE = "bench"


def measure(messages: int) -> tuple[float, float]:
    """Microseconds to put, and to take and finish, one of so many messages."""
    with tempfile.TemporaryDirectory() as folder, closing(Spool(Path(folder))) as spool:
        began = time.perf_counter()
        for number in range(messages):
            spool.put(QUEUE, b"%d" % number)
        put = time.perf_counter() - began
        began = time.perf_counter()
        while held := spool.take(QUEUE):
            held.read_bytes()
            spool.finish(held)
        taken = time.perf_counter() - began
    return put / messages * 1e6, taken / messages * 1e6


def main() -> None:
    """Print one line for each depth of the queue."""
    for messages in (10, 100, 1000, 3000):
        put, taken = measure(messages)
        print(f"broker, {messages} waiting: put {put:.0f} µs, take and finish {taken:.0f} µs")


if __name__ == "__main__":
    main()
