"""Calls a second to a slow endpoint, beside what its limit and its latency allow.

Run by ``make bench``. 300 episodes of 5 turns ask a fake endpoint (a process of its own) once a
turn: with ``run_benchmark --wait``, then by the worker of `make run`, with the shipped settings. On
SQLite and, where ``DATABASE_URL`` names one, on that database. Beside the calls a second stands the
CPU time of the carrying process, per call and as a share of a core: near 100 % the processor limits
the rate, not the endpoint. Then the worker carries once more while annotators save answers, which
take turns with it at the processors; beside it stands how long a save takes without it. The budget
is that of the carriers alone.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.annotating import batch, ok
from tests.bench.calling import ROOT, fake_endpoint
from tests.bench.storing import (
    machine,
    make_system,
    register,
    save_rooms,
    set_up,
    tell,
    wait_for_jobs,
)
from tests.servers import Server, children, serving

EPISODES, LATENCIES, SHARE = 300, (0.2, 2.0), 0.85
# Annotators at work, and the seconds in which each saves an item once.
PEOPLE, REST = 8, 2.0
BESIDE = "worker beside annotators"
SYSTEM = make_system(judged=False)
# The product's commands, with that system.
MANAGE = ("-m", "tests.bench.waiting", "manage")


@dataclass(frozen=True)
class Rate:
    """Calls of a run, how many a second, and the CPU seconds of the process that made them."""

    calls: int
    a_second: float
    cpu: float

    def __str__(self) -> str:
        per_call, share = 1000 * self.cpu / self.calls, self.cpu * self.a_second / self.calls
        return (
            f"{self.calls} calls, {self.a_second:.1f} a second, "
            f"CPU {per_call:.1f} ms per call, {share:.0%} of a core"
        )


@dataclass
class CpuMeter:
    """Reads the CPU time of a process in a thread until it ends or is stopped."""

    pid: int
    readings: list[tuple[datetime, float]] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "CpuMeter":
        self.thread = threading.Thread(target=self._read)
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopped.set()
        self.thread.join()

    def _read(self) -> None:
        ticks = os.sysconf("SC_CLK_TCK")
        while not self.stopped.wait(0.02):
            try:
                stat = Path(f"/proc/{self.pid}/stat").read_text()
            except OSError:
                return
            user, system = stat.rpartition(")")[2].split()[11:13]
            self.readings.append((datetime.now(UTC), (int(user) + int(system)) / ticks))

    def between(self, first: datetime, last: datetime) -> float:
        """CPU seconds from one moment to another."""
        spent = [seconds for at, seconds in self.readings if first <= at <= last]
        return spent[-1] - spent[0] if spent else float("nan")


def rate(run: int, meter: CpuMeter) -> Rate:
    """Count the calls of a run to the endpoint, from the first that was sent to the last reply."""
    from django.db.models import Max, Min

    from benchmarks.models import Exchange

    calls = Exchange.objects.filter(trajectory__run=run, role="agent", state="answered")
    found = calls.aggregate(first=Min("sent_at"), last=Max("settled_at"))
    number, first, last = calls.count(), found["first"], found["last"]
    return Rate(number, number / (last - first).total_seconds(), meter.between(first, last))


def newest_run() -> int:
    """The run that was started last."""
    from benchmarks.models import Run

    return Run.objects.latest("pk").pk


def wait_here(agent: str) -> Rate:
    """Carry a run with the command alone."""
    command = ["run_benchmark", SYSTEM.title, "--agent", agent, "--wait"]
    carrier = subprocess.Popen(
        [sys.executable, *MANAGE, *command],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with CpuMeter(carrier.pid) as meter:
        assert carrier.wait() == 0
    return rate(newest_run(), meter)


def by_worker(agent: str, server: Server) -> Rate:
    """Have the server's worker carry a run."""
    from benchmarks.models import Agent, Dataset, Run
    from benchmarks.runs.services import start_runs

    wait_for_jobs()  # of the runs before: their slopes are fitted, their texts are indexed
    (worker,) = (pid for pid in children(server.process.pid) if pid not in server.web)
    with CpuMeter(worker) as meter:
        (run,) = start_runs(
            dataset=Dataset.objects.get(system=SYSTEM.key), agents=[Agent.objects.get(name=agent)]
        )
        while Run.objects.get(pk=run.pk).status != Run.Status.DONE:
            time.sleep(0.2)
    return rate(run.pk, meter)


def save_until(over: threading.Event, people: Sequence[object], study: int) -> list[float]:
    """Milliseconds of each batch that annotators save until then."""
    found: list[float] = []

    def work(number: int) -> None:
        over.wait(REST * number / len(people))
        while not over.is_set():
            began = time.perf_counter()
            ok([batch(people[number], study)])
            found.append(1000 * (time.perf_counter() - began))
            over.wait(REST)

    with ThreadPoolExecutor(len(people)) as pool:
        list(pool.map(work, range(len(people))))
    return found


def words(milliseconds: Sequence[float]) -> str:
    """The median and the 95th percentile."""
    ordered = sorted(milliseconds)
    late = ordered[int(0.95 * len(ordered))]
    return f"median {statistics.median(ordered):.0f}, p95 {late:.0f} ms of {len(ordered)}"


def main() -> None:
    """Print calls a second by latency and by who carries."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=EPISODES)
    parser.add_argument("--latency", type=float, nargs="+", default=LATENCIES)
    options = parser.parse_args()
    beyond = []
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        os.environ["PLANJURY_DEMO"] = "0"
        from django.db import connection

        from benchmarks.endpoints.services import create_endpoint
        from tests.annotators import Annotator
        from tests.pools import PASSWORD, make_people, make_pool
        from tests.servers import wait_until_answered

        register(SYSTEM)
        save_rooms(SYSTEM, options.episodes)
        names = [f"person-{number}" for number in range(PEOPLE)]
        users = make_people(names)
        study = make_pool(items=2000, people=users)
        print(f"{machine()}; {connection.vendor}")
        for latency in options.latency:
            with fake_endpoint("--latency", str(latency)) as url:
                agent = f"bench-{latency:g}".replace(".", "-")
                endpoint = create_endpoint(
                    name=agent, title=agent, base_url=url, model="fake", timeout=60.0
                )
                bound = endpoint.concurrency / latency
                found = {"run_benchmark --wait": wait_here(agent)}
                with serving(*MANAGE, "serve", PLANJURY_PROXIES="1") as server:
                    wait_until_answered(server)
                    found["worker"] = by_worker(agent, server)
                    people = [
                        Annotator(server.port, name, PASSWORD, {"X-Forwarded-For": f"10.0.0.{n}"})
                        for n, name in enumerate(names)
                    ]
                    for person in people:
                        person.sign_in()
                    over, saves = threading.Event(), {}
                    for beside in ("alone", "beside the run"):
                        over.clear()
                        with ThreadPoolExecutor(1) as pool:
                            saving = pool.submit(save_until, over, people, study.pk)
                            if beside == "alone":
                                time.sleep(8)
                            else:
                                found[BESIDE] = by_worker(agent, server)
                            over.set()
                            saves[beside] = saving.result()
                    connection.close()
                for who, reached in found.items():
                    share = reached.a_second / bound
                    print(
                        f"latency {latency:g} s, limit {endpoint.concurrency}, {who}: {reached}, "
                        f"{share:.0%} of {bound:.0f}"
                    )
                    if share < SHARE and who != BESIDE:
                        beyond.append(f"{who} at {latency:g} s: {share:.0%}")
                for beside, milliseconds in saves.items():
                    print(f"    an item's answers saved {beside}: {words(milliseconds)}")
    tell(beyond)


def manage(arguments: Sequence[str]) -> None:
    """Run a command of the product in a process that knows the system."""
    from django.core.management import execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
    register(SYSTEM)
    execute_from_command_line(["manage.py", *arguments])


if __name__ == "__main__":
    if sys.argv[1:2] == ["manage"]:
        manage(sys.argv[2:])
    else:
        main()
