"""Measure a search among 100,000 trajectories of 3 turns, and the filling of its index.

Run by ``make bench`` on SQLite, in a database of its own, with the shipped settings; with
``requirements/scripts/throwaway.sh .venv/bin/python tests/bench/searching.py`` on PostgreSQL. There
the server does the work, so the budget is about the time that passes, of several rounds the least.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.bench.storing import machine, set_up, tell

TRAJECTORIES, TURNS, RUNS, TASKS, ROUNDS = 100_000, 3, 20, 500, 5
PLAN, FEEDBACK, VOCABULARY = 60, 20, 20_000
BUDGET_MS, LONG_BUDGET_S = 150.0, 5.0
BATCH = 2_000
# Words are drawn by Zipf's law, so w0 stands in nearly all turns and w15000 in a few.
CASES = (
    ("a rare word", "w15000"),
    ("a word of every fifth turn", "w50"),
    ("a word of nearly all turns", "w0"),
    ("two common words", "w1 w2"),
    ("a common word without another", "w1 -w50"),
    ("a phrase of two words", '"w10 w20"'),
    ("a beginning", "w15*"),
    ("five words", "w3 w40 w500 w600 w7000"),
)


def texts(rng: Any) -> Iterator[tuple[str, str]]:
    """Plans and feedback without end."""
    share = 1 / np.arange(1, VOCABULARY + 1)
    share /= share.sum()
    words = np.array([f"w{number}" for number in range(VOCABULARY)])
    while True:
        drawn = words[rng.choice(VOCABULARY, size=(1000, PLAN + FEEDBACK), p=share)]
        for row in drawn.tolist():
            yield " ".join(row[:PLAN]), " ".join(row[PLAN:])


def store() -> list[int]:
    """Runs with their trajectories and turns, as ids."""
    from benchmarks.models import Agent, Dataset, Run, Task, Trajectory, Turn

    dataset = Dataset.objects.create(system="adaplanbench", name="Bench", checksum="0" * 64)
    agent = Agent.objects.create(name="bench", title="Bench", kind="scripted")
    told = texts(np.random.default_rng(1))
    tasks = Task.objects.bulk_create(
        [Task(dataset=dataset, external_id=f"task-{n}", prompt=next(told)[1]) for n in range(TASKS)]
    )
    each = TRAJECTORIES // RUNS
    runs = [Run.objects.create(dataset=dataset, agent=agent, status="done").pk for _ in range(RUNS)]
    for run in runs:
        for low in range(0, each, BATCH):
            rows = Trajectory.objects.bulk_create(
                [
                    Trajectory(
                        run_id=run, task=tasks[n % TASKS], attempt=1 + n // TASKS, status="done",
                        turn_count=TURNS,
                    )
                    for n in range(low, min(each, low + BATCH))
                ]
            )  # fmt: skip
            Turn.objects.bulk_create(
                [
                    Turn(trajectory=row, index=index, text=plan, feedback=back)
                    for row in rows
                    for index in range(1, TURNS + 1)
                    for plan, back in [next(told)]
                ]
            )
    return runs


def store_long(run: int) -> None:
    """One trajectory with a text of 4 MB among 500 turns."""
    from benchmarks.models import Run, Task, Trajectory, Turn

    task = Task.objects.first()
    assert task is not None
    row = Trajectory.objects.create(
        run_id=run, task=task, attempt=10_000, status="done", turn_count=500
    )
    told = texts(np.random.default_rng(2))
    plans = [next(told)[0] for _ in range(500)]
    long = ""
    while len(long) < 4_000_000:
        long += " ".join(next(told)[0] for _ in range(1000))
    plans[250] = f"{long} needle"
    Turn.objects.bulk_create(
        Turn(trajectory=row, index=index, text=plan) for index, plan in enumerate(plans, start=1)
    )
    Run.objects.filter(pk=run).update(data_version=1)


def look_through() -> int:
    """Return what there is without an index: every text looked through for a word."""
    from benchmarks.models import Turn

    word = "w15000"
    rows = Turn.objects.filter(text__contains=word) | Turn.objects.filter(feedback__contains=word)
    return rows.order_by().count()


def measure(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """The least milliseconds of CPU, and of time, of some rounds."""
    spent = []
    for _ in range(ROUNDS):
        cpu, wall = time.process_time(), time.perf_counter()
        found = work()
        spent.append((time.process_time() - cpu, time.perf_counter() - wall))
    return 1000 * min(s[0] for s in spent), 1000 * min(s[1] for s in spent), found


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        from django.core.cache import caches
        from django.db import connection

        from analysis.search.matches import find_trajectories
        from analysis.search.services import index_run
        from analysis.search.snippets import snippets

        counted = "time" if connection.vendor == "postgresql" else "CPU"
        print(f"{machine()}, {connection.display_name}")

        def search(words: str) -> Any:
            caches["reports"].clear()  # a second search for the same is for nothing
            return find_trajectories(words=words)

        runs = store()
        cpu, wall = time.process_time(), time.perf_counter()
        turns = sum(index_run(run_id=run) for run in runs)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        print(f"taking in {turns:,} turns of {PLAN + FEEDBACK} words: {cpu:.1f} s CPU, "
              f"{wall:.1f} s ({1000 * cpu / turns:.3f} ms CPU a turn)")  # fmt: skip
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("VACUUM ANALYZE")
        print(f"budget {BUDGET_MS:.0f} ms of {counted} a search")
        worst = 0.0
        looked, passed, _ = measure(look_through)
        least = passed if counted == "time" else looked
        print(f"looking for one word through all texts by LIKE: {least:.0f} ms of {counted}")
        for name, words in CASES:
            spent, passed, found = measure(lambda words=words: search(words))
            ids = found[-50:].tolist()
            more, longer, shown = measure(
                lambda words=words, ids=ids: snippets(words=words, trajectory_ids=ids)
            )
            assert len(shown) == len(ids)
            mine = passed if counted == "time" else spent
            worst = max(worst, mine)
            print(f"{name:<30} {len(found):>7,} found: {spent:6.1f} ms CPU, {passed:6.1f} ms, "
                  f"{mine / least:.2f} of LIKE; "
                  f"{len(shown):>2} excerpts: {more:5.1f} ms CPU, {longer:5.1f} ms")  # fmt: skip
        store_long(runs[0])
        cpu = time.process_time()
        index_run(run_id=runs[0])
        cpu = time.process_time() - cpu
        assert len(find_trajectories(words="needle")) == 1
        print(f"500 turns, one of 4 MB: {cpu:.1f} s CPU; budget {LONG_BUDGET_S:.0f} s")
        tell(
            [*(["searching"] if worst > BUDGET_MS else []),
             *(["taking in 4 MB"] if cpu > LONG_BUDGET_S else [])]
        )  # fmt: skip


if __name__ == "__main__":
    main()
