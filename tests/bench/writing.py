"""Measure how long concurrent writers to SQLite wait, in the product's queue and in SQLite's own.

Run by ``make bench``. Two processes, as web server and worker are two, on one database with the
shipped, durable settings. Each thread stores messages as a call does, a burst of transactions and
then a rest, as a session does at each reply. What is told is the time from when a thread wants to
write until it is stored; it is wall time, so a busy machine or a slow disk shows in both.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time

from tests.bench.storing import machine, set_up

PROCESSES, BURST, SECONDS = 2, 8, 8.0
# Threads in each process, and how long each rests at most between its bursts, in seconds.
CROWDS = ((4, 4.0), (25, 15.0))
ENGINES = {"in a queue": "config.sqlite", "SQLite's way": "django.db.backends.sqlite3"}


def write(engine: str, folder: str, seed: int, threads: int, rest: float) -> list[float]:
    """Milliseconds of each transaction of one process."""
    import os

    os.environ["PLANJURY_DATA_DIR"] = folder
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
    import django
    from django.conf import settings

    settings.DATABASES["default"]["ENGINE"] = engine
    django.setup()
    from django.db import connection, transaction

    from benchmarks.calls.rows import store_messages
    from benchmarks.core.types import Message

    found: list[float] = []
    until = time.monotonic() + SECONDS

    def work(number: int) -> None:
        chance = random.Random(f"{seed} {number}")
        while time.monotonic() < until:
            for _ in range(BURST):
                said = [Message("user", f"{chance.random()} {n}") for n in range(4)]
                began = time.perf_counter()
                with transaction.atomic():
                    store_messages(said)
                found.append(1000 * (time.perf_counter() - began))
                time.sleep(chance.uniform(0, 0.01))
            time.sleep(chance.uniform(0, rest))
        connection.close()

    crew = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    return found


def measure(engine: str, folder: str, threads: int, rest: float) -> list[float]:
    """All of them, sorted, of the processes at once."""
    children = [
        subprocess.Popen(
            [sys.executable, __file__, "--write", engine, folder, *map(str, (seed, threads, rest))],
            stdout=subprocess.PIPE,
        )
        for seed in range(PROCESSES)
    ]  # fmt: skip
    return sorted(ms for child in children for ms in json.loads(child.communicate()[0]))


def main() -> None:
    """Print a line for each crowd and way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", nargs=5, help="be one of the processes")
    given = parser.parse_args().write
    if given:
        engine, folder, seed, threads, rest = given
        print(json.dumps(write(engine, folder, int(seed), int(threads), float(rest))))
        return
    print(f"{machine()}; ms from wanting to write until it is stored")
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        for threads, rest in CROWDS:
            for name, engine in ENGINES.items():
                found = measure(engine, folder, threads, rest)
                p50, p95, p99 = (found[int(len(found) * share)] for share in (0.5, 0.95, 0.99))
                print(
                    f"{threads} threads in each of {PROCESSES} processes, {name:12s} "
                    f"{len(found):5d} writes: p50 {p50:.1f}, p95 {p95:.0f}, p99 {p99:.0f}, "
                    f"longest {found[-1]:.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
