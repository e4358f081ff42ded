"""CPU cost and memory of importing trajectories, in the shape of tau-bench's published ones.

Run by ``make bench``. A file is generated with the sizes that the published trajectories of an
airline agent have, and imported through the product's own service with the shipped settings into a
database of its own: SQLite always, and PostgreSQL where ``DATABASE_URL`` names one. Beside each
figure stands a bare loop over the same bytes: ``json.load`` and ``executemany`` into a plain table.
``PLANJURY_BENCH_TURNS`` sets the size of the smaller file.
"""

import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.storing import machine, set_up, tell

ROOT = Path(__file__).resolve().parents[2]
TURNS = int(os.environ.get("PLANJURY_BENCH_TURNS", "10000"))
LEAST = {"sqlite": 5000, "postgresql": 1000}
# Characters of the published messages at seven even steps from the shortest to the longest.
SIZES = {
    "user": (10, 53, 74, 90, 110, 148, 318),
    "assistant": (47, 140, 200, 269, 390, 540, 1246),
    "tool": (0, 10, 300, 629, 740, 850, 8117),
    "arguments": (2, 25, 35, 56, 150, 280, 936),
    "messages": (10, 18, 22, 26, 34, 42, 62),
}
PROMPT = 6155
TASKS = 50
WORDS = ("the", "flight", "reservation", "passenger", "please", "confirm", "payment", "policy")


def text(rng: random.Random, size: int) -> str:
    """Words of about so many characters, with the quotes and line ends that JSON escapes."""
    made = []
    while size > 0:
        word = rng.choice(WORDS)
        made.append(word)
        size -= len(word) + 1
    return ' "id":\n'.join(" ".join(made[n : n + 20]) for n in range(0, len(made), 20))


def length(rng: random.Random, kind: str) -> int:
    """A size drawn from the distribution of the published ones."""
    place = rng.random() * (len(SIZES[kind]) - 1)
    low, high = SIZES[kind][int(place)], SIZES[kind][int(place) + 1]
    return int(low + (high - low) * (place - int(place)))


def messages(rng: random.Random, prompt: str) -> Iterator[dict[str, Any]]:
    """A talk of user, agent and tools; about half of what the agent does are calls."""
    yield {"role": "system", "content": prompt}
    yield {"role": "user", "content": text(rng, length(rng, "user"))}
    for _ in range(length(rng, "messages") // 2 - 1):
        if rng.random() < 0.49:
            key = f"call_{rng.getrandbits(96):024x}"
            arguments = json.dumps({"text": text(rng, length(rng, "arguments"))})
            call = {"name": "get_reservation_details", "arguments": arguments}
            calls = [{"function": call, "id": key, "type": "function"}]
            yield {"content": None, "role": "assistant", "tool_calls": calls}
            found = text(rng, length(rng, "tool"))
            about = {"name": "get_reservation_details", "content": found}
            yield {"role": "tool", "tool_call_id": key, **about}
        else:
            yield {"content": text(rng, length(rng, "assistant")), "role": "assistant"}
            yield {"role": "user", "content": text(rng, length(rng, "user"))}


def write(path: Path, turns: int) -> None:
    """A file with at least so many turns, written one trajectory at a time."""
    rng = random.Random(7)
    prompt = text(rng, PROMPT)
    hidden = [text(rng, 700) for _ in range(TASKS)]
    count = number = 0
    with path.open("w") as file:
        while count < turns:
            task, trial = number % TASKS, number // TASKS
            talk = list(messages(rng, prompt))
            count += sum(a["role"] == "user" for a in talk[:-1])
            actions = [{"name": "book", "kwargs": {"text": text(rng, 600)}}]
            about = {"user_id": f"u{task}", "instruction": hidden[task], "actions": []}
            item = {
                "task_id": task,
                "reward": float(rng.random() < 0.4),
                "info": {
                    "task": about,
                    "user_cost": rng.random() / 100,
                    "reward_info": {"reward": 0.0, "actions": actions},
                },
                "traj": talk,
                "trial": trial,
            }
            file.write(("[" if not number else ", ") + json.dumps(item))
            number += 1
        file.write("]")


def bare(path: Path, folder: Path) -> float:
    """CPU seconds of a loop that only parses and inserts: the floor."""
    began = time.process_time()
    rows = []
    for number, item in enumerate(json.loads(path.read_bytes())):
        starts = [n for n, m in enumerate(item["traj"]) if m["role"] == "user"]
        for start, end in zip(starts, [*starts[1:], len(item["traj"])], strict=True):
            rows.append((number, start, json.dumps(item["traj"][start:end])))
    database = sqlite3.connect(folder / "bare.sqlite3")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("CREATE TABLE turn (trajectory INTEGER, place INTEGER, messages TEXT)")
    with database:
        database.executemany("INSERT INTO turn VALUES (?, ?, ?)", rows)
    database.close()
    return time.process_time() - began


def peak() -> int:
    """The most memory that this process has held since it began, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10


def measure(path: Path) -> None:
    """Import a file in this process; print the figures as JSON for the process above."""
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        from benchmarks.imports.services import import_trajectories
        from benchmarks.models import Turn

        cpu, wall = time.process_time(), time.perf_counter()
        saved = import_trajectories(path=path, format="tau-bench")
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        most = peak()
        assert Turn.objects.count() == saved.turns
        floor = bare(path, Path(folder)) if "--bare" in sys.argv else None
    print(json.dumps({"turns": saved.turns, "cpu": cpu, "wall": wall, "peak": most, "bare": floor}))


def figures(path: Path, url: str, *more: str) -> dict[str, Any]:
    """Return what ``measure`` prints in a process of its own."""
    environment = os.environ | {"DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, __file__, str(path), *more]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def databases() -> Iterator[tuple[str, str, str]]:
    """(name, address for the small file, address for the large one); new ones, taken away again."""
    yield "sqlite", "", ""
    url = os.environ.get("DATABASE_URL", "")
    if not url:
        return
    import psycopg
    from psycopg.sql import SQL, Identifier

    names = [f"planjury_bench_{os.getpid()}_{size}" for size in ("small", "large")]
    with psycopg.connect(url, autocommit=True) as connection:
        for name in names:
            connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        try:
            yield "postgresql", *(f"{url.rpartition('/')[0]}/{name}" for name in names)
        finally:
            for name in names:
                connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


def main() -> None:
    """Print the figures."""
    print(machine())
    slow = []
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small.json"), Path(folder, "large.json")
        write(small, TURNS)
        write(large, 10 * TURNS)
        size, ten = (path.stat().st_size / 1e6 for path in (small, large))
        for name, first, second in databases():
            one = figures(small, first, "--bare")
            rate = one["turns"] / one["cpu"]
            print(
                f"{name}, {one['turns']} turns, {size:.0f} MB: {rate:.0f} turns and "
                f"{size / one['cpu']:.1f} MB per CPU second ({one['wall']:.1f} s wall); "
                f"bare loop {one['turns'] / one['bare']:.0f} turns, "
                f"ratio {one['cpu'] / one['bare']:.1f}; at least {LEAST[name]} wanted"
            )
            more = figures(large, second)
            print(
                f"{name}, {more['turns']} turns, {ten:.0f} MB: "
                f"{more['turns'] / more['cpu']:.0f} turns per CPU second; "
                f"peak memory {more['peak']} MB against {one['peak']} MB for a tenth of it"
            )
            slow += [name] if rate < LEAST[name] else []
    tell(slow)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
    else:
        main()
