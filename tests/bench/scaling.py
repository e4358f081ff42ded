"""Measure one run on 1, 4 and 16 workers, on PostgreSQL and Redis: the table in the docs.

Run by ``make bench``. Each worker makes 16 calls at once, and the endpoint's limit is 16 for each.
Workers are processes of their own (``manage.py work``), as on machines of their own; here all share
the cores with PostgreSQL, Redis and the endpoint. So the table says how busy the cores were: where
they are, the processor is the limit, and more machines would help. It also says what a call cost
each of these programs, and how many connections PostgreSQL had at most. A run lasts half a minute
at least, so that starting counts for little.
PostgreSQL and Redis are those that the environment names, else throw-away ones; where they cannot
be had, nothing is done.
"""

import argparse
import math
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.bench.calling import ROOT, fake_endpoint
from tests.bench.storing import (
    TURNS,
    machine,
    make_system,
    register,
    save_rooms,
    set_up,
    wait_for_jobs,
)
from tests.servers import children, cpu_of

WORKERS, LATENCIES, AT_ONCE, SECONDS = (1, 4, 16), (2.0, 0.2), 16, 30.0
# Above this share of all cores the processor is the limit.
BUSY = 0.9
SYSTEM = make_system(judged=False)
SERVICES = ROOT / "requirements" / "scripts" / "services.sh"


@contextmanager
def services(folder: Path) -> Iterator[dict[str, str] | None]:
    """The variables that name PostgreSQL and Redis; None where there are none to be had."""
    names = ("DATABASE_URL", "PLANJURY_BROKER_URL")
    if all(os.environ.get(name) for name in names):
        yield {name: os.environ[name] for name in names}
        return
    started = subprocess.run(
        [SERVICES, "start", folder], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    if started.returncode == 3:
        yield None
        return
    started.check_returncode()
    words = shlex.split(started.stdout.replace("export ", ""))
    try:
        yield dict(word.split("=", 1) for word in words)
    finally:
        subprocess.run([SERVICES, "stop", folder], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)


@contextmanager
def worker(environment: dict[str, str]) -> Iterator[int]:
    """A worker that has begun to listen; its process id."""
    command = [sys.executable, "-m", "tests.bench.waiting", "manage", "work"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    assert b"Working" in process.stdout.readline(), "the worker did not start"
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def cpu_jiffies() -> tuple[int, int]:
    """Jiffies of all cores so far: busy, and all."""
    fields = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return sum(fields) - fields[3] - fields[4], sum(fields)


def cpu_by_program(workers: list[int]) -> Counter[str]:
    """Seconds of processor time so far of the workers, and of the other programs by their names."""
    found = Counter[str]()
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError):
                pid = int(place.name)
                name = "workers" if pid in workers else (place / "comm").read_text().strip()
                command = (place / "cmdline").read_bytes()
                seconds = cpu_of(pid) + (ended_children(place) if name == "postgres" else 0.0)
                found["endpoint" if b"fake_endpoint" in command else name] += seconds
    return found


def ended_children(place: Path) -> float:
    """Seconds of the children of a process that have ended, such as PostgreSQL's back ends."""
    user, system = (place / "stat").read_text().rpartition(")")[2].split()[13:15]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Row:
    """One line of the table; ``costs`` are milliseconds of processor time per call."""

    workers: int
    latency: float
    rate: float
    costs: dict[str, float]
    busy: float
    connections: int

    def markdown(self, one: "Row") -> str:
        """The line, beside that of one worker."""
        allowed = self.workers * AT_ONCE / self.latency
        bound = " (CPU-bound)" if self.busy > BUSY else ""
        return (
            f"| {self.latency:g} s | {self.workers} | {self.rate:.1f} | {self.rate / one.rate:.2f} "
            f"| {self.rate / allowed:.0%} of {allowed:.0f} "
            + "".join(f"| {self.costs[name]:.1f} " for name in PROGRAMS)
            + f"| {self.busy:.0%}{bound} | {self.connections} |"
        )


PROGRAMS = ("workers", "postgres", "endpoint", "redis-server")
HEAD = """\
| latency | workers | calls/s | times one worker | of what the limit allows | ms of CPU per call: workers | PostgreSQL | endpoint | Redis | all cores | connections |
|---|---|---|---|---|---|---|---|---|---|---|"""  # noqa: E501


def dataset_name(workers: int, latency: float) -> str:
    """The dataset whose run takes these workers long enough."""
    return f"{SYSTEM.title} {workers} {latency:g}"


def carry(workers: int, latency: float, url: str, environment: dict[str, str]) -> Row:
    """Carry one run of equally long episodes, three for each call at once."""
    from django.db import connection
    from django.db.models import Max, Min

    from benchmarks.endpoints.services import create_endpoint
    from benchmarks.models import Agent, Dataset, Exchange, Run
    from benchmarks.runs.services import start_runs

    name = f"bench-{workers}-{latency:g}".replace(".", "-")
    create_endpoint(
        name=name, title=name, base_url=f"{url}", model="fake", timeout=60.0,
        concurrency=workers * AT_ONCE,
    )  # fmt: skip
    with ExitStack() as stack:
        parents = [stack.enter_context(worker(environment)) for _ in range(workers)]
        time.sleep(5)  # the first sweep and the first look at the queue are over
        wait_for_jobs()
        pids = [pid for parent in parents for pid in children(parent)]
        cpu, (busy, every) = cpu_by_program(pids), cpu_jiffies()
        began = time.perf_counter()
        (run,) = start_runs(
            dataset=Dataset.objects.get(name=dataset_name(workers, latency)),
            agents=[Agent.objects.get(name=name)],
        )
        connections = 0
        while Run.objects.get(pk=run.pk).status != Run.Status.DONE:
            assert time.perf_counter() - began < 300, "the run does not end"
            connections = max(connections, connections_to_database())
            time.sleep(0.5)
        cpu, (busy_now, every_now) = cpu_by_program(pids) - cpu, cpu_jiffies()
        connection.close()
    calls = Exchange.objects.filter(trajectory__run=run, role="agent", state="answered")
    found = calls.aggregate(first=Min("sent_at"), last=Max("settled_at"))
    count = calls.count()
    rate = count / (found["last"] - found["first"]).total_seconds()
    costs = {name: cpu[name] / count * 1000 for name in PROGRAMS}
    share = (busy_now - busy) / (every_now - every)
    return Row(workers, latency, rate, costs, share, connections)


def connections_to_database() -> int:
    """How many connections PostgreSQL has to the database, but for the one that asks."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        (count,) = cursor.fetchone()
    return int(count)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    parser.add_argument("--latency", type=float, nargs="+", default=LATENCIES)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.chmod(folder, 0o711)  # the servers run as users of their own
        found = stack.enter_context(services(Path(folder) / "services"))
        if found is None:
            print("skipped: PostgreSQL and Redis are not installed and cannot be (make services)")
            return 0
        os.environ |= found
        os.environ["PLANJURY_ENDPOINT_THREADS"] = str(AT_ONCE)
        set_up(folder)
        register(SYSTEM)
        for workers in options.workers:
            for latency in options.latency:
                rounds = math.ceil(SECONDS / latency / TURNS)
                save_rooms(SYSTEM, workers * AT_ONCE * rounds, name=dataset_name(workers, latency))
        print(f"{machine()}; PostgreSQL and Redis\n\n{HEAD}")
        for latency in options.latency:
            with fake_endpoint("--latency", str(latency)) as url:
                one = None
                for workers in options.workers:
                    row = carry(workers, latency, url, dict(os.environ))
                    one = one or row
                    print(row.markdown(one), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
