"""Measure the deletion of a large run: time, memory, waiting of others, a kill in the middle.

``python -m tests.bench._deleting`` fills an empty database (that of ``DATABASE_URL``, else SQLite)
with a run of 125,000 trajectories, each with two stored replies and eight scores read from one, and
a small run beside it. A process deletes the large one; it is killed once half is gone, and another
one goes on. Meanwhile somebody saves and reads rows of the small run, twenty times a second.
``--part 0.1`` takes a tenth. It takes about ten minutes on two busy cores.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import timedelta
from typing import Any

from tests.bench.calling import ROOT
from tests.bench.storing import machine, set_up

TRAJECTORIES, COPIED, APART = 125_000, 2_500, 1_000_000


def fill(count: int) -> tuple[Any, Any]:
    """Return the large run and the small one."""
    import random

    from benchmarks.models import Agent, AnswererVersion, Dataset, Judging, Run, Task

    agent = Agent.objects.create(name="agent", title="Agent", kind="scripted")
    dataset = Dataset.objects.create(system="adaplanbench", name="Large", checksum="0" * 64)
    tasks = Task.objects.bulk_create(
        Task(dataset=dataset, external_id=f"task-{n}", prompt=f"Mend thing {n}.")
        for n in range(COPIED)
    )
    judge = AnswererVersion.objects.create(kind="scripted", name="j", version="1", digest="0" * 32)
    chance = random.Random(3)
    runs = []
    for size in (count, 100):
        run = Run.objects.create(
            dataset=dataset, agent=agent, level="mid", condition="standard", status="done"
        )
        run.primary_judging = Judging.objects.create(run=run)
        run.save()
        fill_portion(run, [task.pk for task in tasks[:size]], judge, chance)
        multiply(run.pk, size // COPIED)
        runs.append(run)
    return runs[0], runs[1]


def fill_portion(run: Any, tasks: list[int], judge: Any, chance: Any) -> None:
    """Store trajectories of one turn, with the agent's reply and a judge's, and its scores."""
    from django.utils import timezone

    from benchmarks.models import Exchange, JudgeScore, Trajectory, Turn
    from benchmarks.systems.adaplanbench.protocol import DIMENSIONS

    rows = Trajectory.objects.bulk_create(
        Trajectory(run=run, task_id=task, attempt=1, status="done", termination="valid_plan",
                   turn_count=1, metrics={"valid": 1.0, "accurate": 1.0})
        for task in tasks
    )  # fmt: skip
    turns = Turn.objects.bulk_create(
        Turn(trajectory=row, index=1, text="1. Do it.", is_final=True) for row in rows
    )
    replies = Exchange.objects.bulk_create(
        Exchange(trajectory=row, step=0, slot=slot, attempt=1, role=role, answerer=judge,
                 ask_digest="0" * 32, seed=1, state="answered", text="A reply. " * 60,
                 sent_at=timezone.now(), settled_at=timezone.now())
        for row in rows for slot, role in enumerate(("agent", "rubric_judge"))
    )  # fmt: skip
    JudgeScore.objects.bulk_create(
        (
            JudgeScore(judging=run.primary_judging, turn=turn, judge=judge, seat="1",
                       dimension=dimension.key, value=float(chance.randint(1, 5)), exchange=reply,
                       trajectory=turn.trajectory, run=run, agent=run.agent, level="mid",
                       condition="standard", turn_index=1, is_final=True)
            for turn, reply in zip(turns, replies[1::2], strict=True)
            for dimension in DIMENSIONS
        ),
        batch_size=2_000,
    )  # fmt: skip


def multiply(run: int, times: int) -> None:
    """Copy the rows of a run until there are so many times of them, under ids of their own."""
    from django.db import connection

    from benchmarks.models import Exchange, JudgeScore, Trajectory, Turn

    models: list[Any] = [Trajectory, Turn, Exchange, JudgeScore]
    own = f"SELECT id FROM {Trajectory._meta.db_table} WHERE run_id = {run} AND id < {APART}"
    with connection.cursor() as cursor:
        for number in range(1, times):
            for model in models:
                names = [field.column for field in model._meta.local_fields]
                moved = {
                    name: f"{name} + {number * APART}"
                    for name in ("id", "trajectory_id", "turn_id", "exchange_id")
                }
                if model is Trajectory:
                    moved["attempt"] = f"attempt + {number}"
                columns = ", ".join(f'"{name}"' for name in names)
                values = ", ".join(moved.get(name, f'"{name}"') for name in names)
                key = "id" if model is Trajectory else "trajectory_id"
                cursor.execute(
                    f"INSERT INTO {model._meta.db_table} ({columns}) SELECT {values} "
                    f"FROM {model._meta.db_table} WHERE {key} IN ({own})"
                )


def delete(job: int) -> None:
    """Do the job in this process, and print its memory."""
    from benchmarks.jobs.services import perform

    perform(job_id=job, owner=f"bench:{os.getpid()}:1")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory of the deleting process: {memory:.0f} MB")


class Neighbour(threading.Thread):
    """Somebody who saves and reads other rows, and notes how long that took at the most."""

    def __init__(self, run: Any) -> None:
        super().__init__(daemon=True)
        self.run_id, self.over = run.pk, threading.Event()
        self.saves: list[float] = []
        self.reads: list[float] = []

    def run(self) -> None:
        """Save and read until told to stop."""
        from django.db import connection

        from benchmarks.models import Run, Trajectory

        while not self.over.wait(0.05):
            began = time.perf_counter()
            Run.objects.filter(pk=self.run_id).update(condition="standard")
            self.saves.append(time.perf_counter() - began)
            began = time.perf_counter()
            list(Trajectory.objects.filter(run=self.run_id)[:50])
            self.reads.append(time.perf_counter() - began)
        connection.close()

    def __str__(self) -> str:
        words = []
        for name, values in (("saving", self.saves), ("reading", self.reads)):
            ordered = sorted(values)
            shares = (0.5, 0.99, 1.0)
            at = [1000 * ordered[int(share * (len(ordered) - 1))] for share in shares]
            words.append(
                f"{name} {len(ordered)} times: median {at[0]:.0f} ms, 99 % {at[1]:.0f} ms, "
                f"most {at[2]:.0f} ms"
            )
        return "; ".join(words)


def started(job: int) -> subprocess.Popen[bytes]:
    """Return a process that does the job."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.bench._deleting", "--job", str(job)], cwd=ROOT
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", type=float, default=1.0)
    parser.add_argument("--job", type=int)
    options = parser.parse_args()
    if options.job:
        set_up(os.environ["PLANJURY_DATA_DIR"])
        delete(options.job)
        return
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        measure(int(TRAJECTORIES * options.part))


def measure(count: int) -> None:
    """Fill, plan, delete, kill, go on."""
    from django.db import connection
    from django.utils import timezone

    from benchmarks.deletion.plans import plan_run
    from benchmarks.deletion.services import begin_deletion
    from benchmarks.models import Job, JudgeScore, Run, Trajectory

    began = time.perf_counter()
    large, small = fill(count)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    scores = JudgeScore.objects.count()
    print(f"{machine()}; {connection.vendor}; {count:,} trajectories, {scores:,} scores, filled in "
          f"{time.perf_counter() - began:.0f} s", flush=True)  # fmt: skip
    began = time.perf_counter()
    plan = plan_run(large)
    print(f"counted in {time.perf_counter() - began:.2f} s: {dict(plan.counts)}", flush=True)
    began = time.perf_counter()
    job = begin_deletion(plan, by=None)
    print(f"marked in {time.perf_counter() - began:.2f} s", flush=True)
    rows = Trajectory.objects.filter(run=large.pk)
    neighbour = Neighbour(small)
    neighbour.start()
    began = time.perf_counter()
    process = started(job.pk)
    while rows.count() > count // 2:
        assert process.poll() is None, "it ended early"
        time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    half = time.perf_counter() - began
    left = rows.count()
    job.refresh_from_db()
    print(f"killed after {half:.0f} s: {left:,} trajectories left, {job.done:,} reported",
          flush=True)  # fmt: skip
    # What the sweep waits for: the dead worker's lease runs out.
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(hours=1))
    began = time.perf_counter()
    assert started(job.pk).wait() == 0
    rest = time.perf_counter() - began
    neighbour.over.set()
    neighbour.join()
    job.refresh_from_db()
    print(f"resumed and {job.status} after {rest:.0f} s ({left / rest:,.0f} trajectories a second)")
    print(f"left: {Run.objects.count()} run, {Trajectory.objects.count()} trajectories, "
          f"{JudgeScore.objects.count()} scores; job {job.done:,} of {job.total:,}")  # fmt: skip
    print(neighbour)
    print(f"at the end: {machine()}")


if __name__ == "__main__":
    main()
