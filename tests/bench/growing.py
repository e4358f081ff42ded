"""Measure what gets slow as a PostgreSQL grows: the table on growth in docs/operating.md.

``python -m tests.bench.growing`` fills an empty PostgreSQL (that of ``DATABASE_URL``, else a
throw-away one) with generated runs of 10,000 trajectories and measures pages and commands. The rows
are made by the database itself, without keys being checked and with indexes made at the end, and
are narrow: each trajectory has one turn of a line, one call and one score. So what costs by the row
is measured, and what costs by the byte is not. ``--filled`` measures what an earlier call has
filled (in that of ``DATABASE_URL``).
"""

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.bench import browsing
from tests.bench._large import timed
from tests.bench.scaling import services
from tests.bench.storing import machine, set_up

TRAJECTORIES, PER_RUN, TASKS, AGENTS = 1_000_000, 10_000, 1_000, 12
# Runs whose rows one statement makes.
TOGETHER = 20
PAGES = (
    ("one trajectory", "/trajectories/{first}/"),
    ("one run", "/runs/{run}/"),
    ("list of runs", "/runs/"),
    ("leaderboard of one dataset", "/analysis/leaderboard/?dataset={dataset}"),
    ("list of judges", "/judges/"),
    ("page for administrators", "/server/"),
)


@contextmanager
def bulk_loading() -> Iterator[None]:
    """Let rows be added without triggers and without the indexes that no constraint needs."""
    from django.db import connection

    from benchmarks.models import Exchange, JudgeScore, Trajectory, Turn

    tables = [model._meta.db_table for model in (Trajectory, Turn, Exchange, JudgeScore)]
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SET synchronous_commit = off")
        cursor.execute("SET maintenance_work_mem = '1GB'")
        cursor.execute(
            "SELECT i.indexname, i.indexdef FROM pg_indexes i WHERE i.tablename = ANY(%s) AND NOT "
            "EXISTS (SELECT FROM pg_constraint c WHERE c.conname = i.indexname) "
            "AND i.indexdef NOT LIKE 'CREATE UNIQUE%%'",
            [tables],
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f'DROP INDEX "{name}"')
        yield
        for _, definition in indexes:
            cursor.execute(definition)
        for table in tables:
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"
            )
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("RESET session_replication_role")


def insert(model: Any, source: str, columns: Mapping[str, str]) -> None:
    """Add a row for each of a source of SQL; columns without an expression get their default."""
    from django.db import connection

    fields = [field for field in model._meta.concrete_fields if field.name != "fulltext"]
    given, values = [], []
    for field in fields:
        expression = columns.get(field.attname)
        if expression is None:
            expression = "%s"
            default = field.get_default()
            values.append(field.get_db_prep_save(default, connection))
        given.append(expression)
    names = ", ".join(f'"{field.column}"' for field in fields)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} ({names}) SELECT {', '.join(given)} FROM {source}",
            values,
        )


def fill(count: int) -> None:
    """Fill the database with so many trajectories in ended runs."""
    from django.utils import timezone

    from benchmarks.models import (
        Agent,
        AnswererVersion,
        Dataset,
        Exchange,
        JudgeScore,
        Judging,
        Run,
        Task,
        Trajectory,
        Turn,
    )

    runs = max(1, count // PER_RUN)
    agents = Agent.objects.bulk_create(
        Agent(name=f"agent-{n}", title=f"Agent {n}", kind="scripted") for n in range(AGENTS)
    )
    datasets = Dataset.objects.bulk_create(
        Dataset(system="adaplanbench", name=f"Dataset {n}", checksum=f"{n:064x}")
        for n in range(max(1, runs // 100))
    )
    tasks = Task.objects.bulk_create(
        Task(dataset=dataset, external_id=f"task-{n}", prompt=f"How do I mend thing {n}?")
        for dataset in datasets
        for n in range(TASKS)
    )
    agent, judge = AnswererVersion.objects.bulk_create(
        AnswererVersion(kind="scripted", name=name, version="1", digest=f"{n:032x}")
        for n, name in enumerate(("agent", "judge-strict"))
    )
    made = Run.objects.bulk_create(
        Run(
            dataset=datasets[n % len(datasets)], agent=agents[n % AGENTS], status="done",
            level=("low", "mid", "high")[n % 3], settings={"tau": 3.5, "quorum": "all"},
            created_trajectories=PER_RUN, finished_at=timezone.now(),
        )
        for n in range(runs)
    )  # fmt: skip
    judgings = Judging.objects.bulk_create(Judging(run=run) for run in made)
    for run, judging in zip(made, judgings, strict=True):
        run.primary_judging = judging
    Run.objects.bulk_update(made, ["primary_judging"], batch_size=500)
    first_task = {dataset.pk: tasks[n * TASKS].pk for n, dataset in enumerate(datasets)}
    with bulk_loading():
        for start in range(0, runs, TOGETHER):
            for run in made[start : start + TOGETHER]:
                base = (run.pk - made[0].pk) * PER_RUN
                rows = f"generate_series(0, {PER_RUN - 1}) AS k"
                key = f"{base} + k + 1"
                insert(Trajectory, rows, {
                    "id": key, "run_id": str(run.pk), "status": "'done'", "turn_count": "1",
                    "task_id": f"{first_task[run.dataset_id]} + k %% {TASKS}",
                    "attempt": f"1 + k / {TASKS}", "profile_id": "NULL",
                    "termination": "(ARRAY['valid_plan', 'early_stop', 'max_turns'])[1 + k %% 3]",
                    "metrics": """CASE WHEN k %% 3 = 0 THEN '{"valid": 1, "accurate": 1}'
                                  ELSE '{"valid": 0, "accurate": 0}' END::jsonb""",
                    "finished_at": "now()",
                })  # fmt: skip
                insert(Turn, rows, {
                    "id": key, "trajectory_id": key, "index": "1", "text": "'1. Do it.'",
                    "is_final": "true",
                })  # fmt: skip
                insert(Exchange, rows, {
                    "id": key, "trajectory_id": key, "step": "0", "slot": "0", "attempt": "1",
                    "role": "'rubric_judge'", "answerer_id": str(judge.pk), "seed": "0",
                    "ask_digest": "''", "state": "'answered'", "text": "'4'", "sent_at": "now()",
                })  # fmt: skip
                insert(JudgeScore, rows, {
                    "id": key, "judging_id": str(run.primary_judging_id), "turn_id": key,
                    "judge_id": str(judge.pk), "seat": "'1'", "dimension": "'quality'",
                    "value": "2 + k %% 4", "exchange_id": key, "trajectory_id": key,
                    "run_id": str(run.pk), "agent_id": str(run.agent_id), "level": "''",
                    "turn_index": "1", "is_final": "true",
                })  # fmt: skip


def cost(act: Any) -> str:
    """Seconds by the clock, and of this process's processor time."""
    cpu = time.process_time()
    clock = timed(act)
    return f"{clock:.2f} s ({time.process_time() - cpu:.2f} s)"


def measure(folder: Path, count: int, filled: bool) -> None:
    """Fill the database, and print a line for each thing that is measured."""
    from django.contrib.auth.models import User
    from django.core.cache import caches
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client

    from analysis.models import RunFacts
    from analysis.trajectory_index.services import request_index
    from benchmarks.jobs.services import perform
    from benchmarks.judging.counts import enqueue_counts
    from benchmarks.models import Dataset, JudgeCounts, Run, Trajectory

    call_command("collectstatic", interactive=False, verbosity=0)
    filling = "" if filled else f", filled in {timed(lambda: fill(count)):.0f} s"
    RunFacts.objects.all().delete()
    JudgeCounts.objects.all().delete()
    caches["kept"].clear()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        size = cursor.fetchone()[0] / 1e9
    trajectories, runs = Trajectory.objects.count(), Run.objects.count()
    print(
        f"{machine()}; {trajectories:,} trajectories in {runs:,} runs, "
        f"{size:.1f} GB{filling}. By the clock (CPU of the process).\n"
    )
    print("| | first | again |\n|---|---|---|", flush=True)
    client = Client(SERVER_NAME="localhost")
    client.force_login(
        User.objects.filter(username="root").first() or User.objects.create_superuser("root")
    )
    known = {
        "first": Trajectory.objects.order_by("pk").values_list("pk", flat=True)[0],
        "run": Run.objects.order_by("pk").values_list("pk", flat=True)[0],
        "dataset": Dataset.objects.order_by("pk").values_list("pk", flat=True)[0],
    }

    def ask(url: str) -> None:
        answer = client.get(url, follow=True)
        b"".join(answer) if answer.streaming else answer.content
        assert answer.status_code == 200, (url, answer.status_code)

    print(f"| list of judges, nothing counted | {cost(lambda: ask('/judges/'))} | |", flush=True)
    counting = enqueue_counts()
    assert counting is not None
    words = cost(lambda: perform(job_id=counting.pk, owner="bench"))
    print(f"| counting judges' replies, in the background | {words} | |", flush=True)
    for name, pattern in PAGES:
        url = pattern.format(**known)
        browsing.forget()
        first = cost(lambda url=url: ask(url))
        print(f"| {name} | {first} | {cost(lambda url=url: ask(url))} |", flush=True)
    number = str(Run.objects.latest("pk").pk)
    words = cost(
        lambda: call_command("detach_runs", number, "--folder", str(folder), "--yes", verbosity=0)
    )
    print(f"| detaching a run of {PER_RUN:,} | {words} | |", flush=True)
    file = str(folder / f"run-{number}.jsonl.gz")
    words = cost(lambda: call_command("attach_runs", file, "--yes", verbosity=0))
    print(f"| attaching it | {words} | |", flush=True)
    backup = folder / "backup.zip"
    words = cost(lambda: call_command("backup", str(backup), verbosity=0))
    print(f"| backup ({backup.stat().st_size / 1e6:,.0f} MB) | {words} | |", flush=True)
    words = cost(lambda: call_command("check_backup", str(backup), "--seed", "1", verbosity=0))
    print(f"| checking it, a tenth of the rows restored | {words} | |", flush=True)
    job = request_index(trajectories=trajectories)
    words = cost(lambda: perform(job_id=job.pk, owner="bench"))
    print(f"| index of trajectories, in the background | {words} | |", flush=True)
    run = Run.objects.get(pk=known["run"])
    Run.objects.filter(pk=run.pk).update(data_version=run.data_version + 1)
    again = request_index(trajectories=trajectories)
    words = cost(lambda: perform(job_id=again.pk, owner="bench"))
    print(f"| the same after one run has changed | {words} | |", flush=True)
    browsing.forget()
    first = cost(lambda: ask("/trajectories/"))
    print(f"| list of trajectories | {first} | {cost(lambda: ask('/trajectories/'))} |", flush=True)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"\nThe process took {memory:,.0f} MB at most.")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trajectories", type=int, default=TRAJECTORIES)
    parser.add_argument("--filled", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.chmod(folder, 0o711)
        found = stack.enter_context(services(Path(folder) / "services"))
        if found is None:
            print("skipped: PostgreSQL is not installed and cannot be (make services)")
            return
        os.environ |= found
        set_up(folder)
        measure(Path(folder), options.trajectories, options.filled)


if __name__ == "__main__":
    main()
