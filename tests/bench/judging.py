"""CPU cost of re-judging by call, and of planning a matrix, as stored trajectories grow.

Run by ``make bench``. Among 1,000, 10,000 and 100,000 stored trajectories (copies of some that were
played) the same few dozen are judged by three scripted rubric judges, through the product's own
services on SQLite; and the matrix of an experiment over the dataset is planned. Beside it: the
same episodes of judges carried with a log in memory.
"""

import random
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from tests.bench.storing import machine, set_up, tell

SIZES, JUDGED, BUDGET_MS, GROWTH = (1_000, 10_000, 100_000), 40, 4.0, 1.5
DESIGN = """
name: Bench
dataset: Sample
agents: [careful-tracker, explorer, coin-flipper]
levels: [low, mid, high]
conditions: [{}, {constraints: world_only}, {tracking: true}]
seeds: [1, 2, 3, 4, 5]
"""


def judge(ids: Sequence[int], seed: int) -> tuple[int, float]:
    """Replies of judges, and milliseconds of CPU for each."""
    from benchmarks.judging.selectors import TrajectoryChoice
    from benchmarks.judging.services import start_judging
    from benchmarks.models import Exchange
    from benchmarks.runs.worker import work_on_run

    judges = ["judge-even", "judge-strict", "judge-lenient"]
    cpu = time.process_time()
    runs = start_judging(
        name=f"Bench {seed}",
        chosen=TrajectoryChoice(ids=tuple(ids)),
        roles={"rubric_judge": judges},
        seed=seed,
        wake=False,
    )
    for run in runs:
        work_on_run(run_id=run.pk, owner="bench")
    cpu = time.process_time() - cpu
    calls = Exchange.objects.filter(trajectory__run__in=runs, state="answered").count()
    return calls, cpu / calls * 1000


def plan() -> tuple[int, float]:
    """Cells of the matrix, and milliseconds of CPU for planning it."""
    from benchmarks.experiments.checks import read_checked
    from benchmarks.experiments.plans import plan_design

    cpu = time.process_time()
    found = plan_design(read_checked(DESIGN))
    return len(found.cells), (time.process_time() - cpu) * 1000


def in_memory(ids: Sequence[int]) -> float:
    """CPU milliseconds per reply of the same judges, with a log in memory."""
    from benchmarks.core.driver import Driver
    from benchmarks.core.log import MemoryLog
    from benchmarks.core.registry import get_rejudging
    from benchmarks.core.system import read_settings
    from benchmarks.endpoints.services import answerer_at
    from benchmarks.mappers import core_task, stored_trajectory
    from benchmarks.models import Run, Trajectory
    from benchmarks.roles.services import build_answerers

    system = get_rejudging("adaplanbench")
    settings = read_settings(system.settings, {})
    roles: Any = Run.objects.filter(kind=Run.Kind.JUDGING).order_by("pk")[0].roles
    rows = Trajectory.objects.filter(pk__in=ids).select_related("task", "profile", "run__dataset")
    given = [(core_task(row.task, row.profile), stored_trajectory(row)) for row in rows]
    cpu, calls = time.process_time(), 0
    for task, stored in given:
        log = MemoryLog()
        Driver(
            cast=build_answerers(system, task, roles, settings, answerer_at(system.key)),
            log=log,
            parsers=system.parsers,
            seed_for=lambda step, slot: step * 100 + slot,
        ).run(system.rejudge(task, stored, settings, random.Random(0)))
        calls += len(log.rows)
    return (time.process_time() - cpu) / calls * 1000


def _copies() -> list[int]:
    """Return what is judged: copies, because the pool is filled up from first attempts alone."""
    from benchmarks.models import Trajectory

    rows = Trajectory.objects.filter(attempt__gt=1).order_by("attempt", "pk")
    return list(rows.values_list("pk", flat=True)[:JUDGED])


def main(sizes: Sequence[int] = SIZES) -> None:
    """Print the figures."""
    beyond = []
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        from tests.pools import make_trajectories

        print(machine())
        first, ids = 0.0, []
        for number, size in enumerate(sizes, 1):
            make_trajectories(size)
            ids = ids or _copies()
            calls, each = judge(ids, number)
            cells, planning = plan()
            least = in_memory(ids)
            first = first or each
            print(
                f"{size:,} stored trajectories: {calls} replies of three judges, {each:.2f} ms CPU "
                f"each, in memory {least:.2f} ms, ratio {each / least:.1f}; a matrix of {cells} "
                f"runs planned in {planning:.0f} ms"
            )
            if each > BUDGET_MS:
                beyond.append(f"{each:.2f} ms per reply at {size:,}")
            if each > first * GROWTH:
                beyond.append(f"judging at {size:,} is {each / first:.1f} times that of the first")
    tell(beyond)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or SIZES)
