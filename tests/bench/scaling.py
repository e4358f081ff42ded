"""How many calls a second 1, 2 and 4 workers carry, on PostgreSQL and Redis.

Run by ``make bench``. The endpoint takes 200 ms for each answer, as a quick language model does, so
that a worker mostly waits. Workers are processes of their own (``manage.py work``), as they would
be on machines of their own; here all share two cores. PostgreSQL and Redis are those that the
environment names, else throw-away ones; where they cannot be had, this says so and does nothing.
"""

import os
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.bench.calling import ROOT, fake_endpoint
from tests.bench.storing import processor, set_up

TASKS, LATENCY, THREADS = 64, 0.2, 4
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
    command = [sys.executable, "manage.py", "work"]
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


def carry(workers: int, environment: dict[str, str]) -> tuple[int, float]:
    """Calls stored, and seconds from the start of the run to its end."""
    from benchmarks.models import Agent, Dataset, Exchange, Run
    from benchmarks.runs.services import start_runs

    with ExitStack() as stack:
        for _ in range(workers):
            stack.enter_context(worker(environment))
        time.sleep(5)  # the first sweep and the first look at the queue are over
        began = time.perf_counter()
        (run,) = start_runs(
            dataset=Dataset.objects.get(name="Sample"),
            agents=[Agent.objects.get(name="bench")],
            levels=["high"],
            roles=dict.fromkeys(
                ("world_judge", "user_judge", "rubric_judge", "simulator"), ["endpoint:bench"]
            ),
        )
        while Run.objects.get(pk=run.pk).status != Run.Status.DONE:
            assert time.perf_counter() - began < 300, "the run does not end"
            time.sleep(0.1)
        spent = time.perf_counter() - began
    return Exchange.objects.filter(trajectory__run=run, state="answered").count(), spent


def main() -> int:
    """Print calls a second by number of workers."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.chmod(folder, 0o711)  # the servers run as users of their own
        found = stack.enter_context(services(Path(folder) / "services"))
        if found is None:
            print("skipped: PostgreSQL and Redis are not installed and cannot be (make services)")
            return 0
        os.environ |= found
        # One run may use them all; PlanJury's default leaves room for other runs.
        os.environ |= {"PLANJURY_WORKERS_PER_RUN": "64", "PLANJURY_WORKER_THREADS": str(THREADS)}
        url = stack.enter_context(fake_endpoint("--latency", str(LATENCY)))
        set_up(folder)
        from benchmarks.endpoints.services import create_endpoint
        from tests.functional.harried import save_tasks

        create_endpoint(
            name="bench", title="Bench", base_url=url, model="fake", concurrency=200, timeout=30.0
        )
        save_tasks(TASKS)
        load = os.getloadavg()[0]
        print(
            f"{processor()}, {os.cpu_count()} cores, load {load:.2f}, "
            f"Python {platform.python_version()}; PostgreSQL and Redis"
        )
        print(f"{TASKS} episodes, {LATENCY * 1000:.0f} ms an answer, {THREADS} threads a worker")
        one = 0.0
        for workers in (1, 2, 4):
            calls, seconds = carry(workers, dict(os.environ))
            one = one or calls / seconds
            print(
                f"{workers} worker{'s' if workers > 1 else ' '}: {calls} calls in {seconds:.1f} s, "
                f"{calls / seconds:.0f} calls/s, {calls / seconds / one:.2f} times one worker"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
