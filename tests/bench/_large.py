"""Measure pages, exports, backups and upgrades on a large PostgreSQL: a table for the docs.

``python -m tests.bench._large`` fills an empty PostgreSQL (that of ``DATABASE_URL``, else a
throw-away one) with 100,000 trajectories and 10 million scores of judges, and measures each thing
once it has been asked for by a process that knows nothing yet, and again. Times are those of the
clock: the database's own work counts. ``--part 0.2`` fills a fifth; ``--filled`` measures what an
earlier call has filled (in that of ``DATABASE_URL``). It takes half an hour on two busy cores.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tests.bench import browsing
from tests.bench.scaling import services
from tests.bench.storing import machine, set_up

TRAJECTORIES, SCORES = 100_000, 10_000_000
PAGES = (
    ("list of trajectories", "/trajectories/"),
    ("list, searched by text", "/trajectories/?q=table"),
    ("list, sorted by turns, the last page", "/trajectories/?sort=turns&page=2000"),
    ("one trajectory", "/trajectories/{first}/"),
    ("one run", "/runs/{run}/"),
    ("list of runs", "/runs/"),
    ("leaderboard", "/analysis/leaderboard/"),
    ("mean scores by turn (1.4 million scores)", "/analysis/decline/"),
    ("scores by rubric (1.4 million scores)", "/analysis/decline/rubric/"),
    ("list of judges (counts all scores)", "/judges/"),
    ("one dataset", "/datasets/{dataset}/"),
    ("page for administrators", "/server/"),
)

# The newest migrations of the previous release, 0.3.0; first those that need the others.
RELEASED = (
    ("analysis", "0001_squashed_0002_search"),
    ("annotation", "0001_squashed_0008_live_sessions"),
    ("benchmarks", "0017_rejudging_label"),
)


def multiply_scores(scores: int) -> None:
    """Copy the scores as further replicates until there are so many."""
    from django.core.management.color import no_style
    from django.db import connection

    from benchmarks.models import JudgeScore, Trajectory, Turn, Violation

    columns = [field.column for field in JudgeScore._meta.fields if field.name != "id"]
    there = JudgeScore.objects.count()
    others = ", ".join(f'"{name}"' for name in columns if name != "replicate")
    with connection.cursor() as cursor:
        # Rows were copied under ids of their own: the sequences must go on behind them.
        for statement in connection.ops.sequence_reset_sql(
            no_style(), [Trajectory, Turn, Violation, JudgeScore]
        ):
            cursor.execute(statement)
        cursor.execute(
            f"INSERT INTO benchmarks_judgescore (replicate, {others}) "
            f"SELECT number, {others} FROM benchmarks_judgescore, generate_series(2, %s) number",
            [max(2, round(scores / there))],
        )
        cursor.execute("ANALYZE")


def timed(act: Callable[[], object]) -> float:
    """Seconds by the clock."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", type=float, default=1.0)
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
        measure(Path(folder), options.part, options.filled)


def measure(folder: Path, part: float, filled: bool) -> None:
    """Fill the database, and print a line for each thing that is measured."""
    from django.contrib.auth.models import User
    from django.core.cache import caches
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client

    from analysis.models import RunFacts
    from analysis.trajectory_index.services import request_index
    from benchmarks.jobs.services import perform
    from benchmarks.models import Dataset, JudgeScore, Run, Trajectory

    call_command("collectstatic", interactive=False, verbosity=0)

    def fill() -> None:
        browsing.fill(int(TRAJECTORIES * part))
        multiply_scores(int(SCORES * part))

    filling = f", filled in {timed(fill):.0f} s" if not filled else ""
    RunFacts.objects.all().delete()
    caches["kept"].clear()
    trajectories, scores = Trajectory.objects.count(), JudgeScore.objects.count()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        size = cursor.fetchone()[0] / 1e9
    print(f"{machine()}; {trajectories:,} trajectories, {scores:,} scores, {size:.1f} GB"
          f"{filling}\n")  # fmt: skip
    print("| | first | again |\n|---|---|---|", flush=True)
    job = request_index(trajectories=trajectories)
    seconds = timed(lambda: perform(job_id=job.pk, owner="bench"))
    print(f"| index of trajectories, in the background | {seconds:.1f} s | |", flush=True)
    client = Client(SERVER_NAME="localhost")
    client.force_login(
        User.objects.filter(username="root").first() or User.objects.create_superuser("root")
    )
    known = {
        "first": Trajectory.objects.order_by("pk").values_list("pk", flat=True)[0],
        "run": Run.objects.order_by("pk").values_list("pk", flat=True)[0],
        "dataset": Dataset.objects.order_by("pk").values_list("pk", flat=True)[0],
    }
    for name, pattern in PAGES:
        url = pattern.format(**known)

        def ask(url: str = url) -> None:
            answer = client.get(url, follow=True)
            b"".join(answer) if answer.streaming else answer.content
            assert answer.status_code == 200, (url, answer.status_code)

        browsing.forget()
        print(f"| {name} | {timed(ask):.2f} s | {timed(ask):.2f} s |", flush=True)
    export, backup = folder / "run.jsonl", folder / "backup.zip"
    seconds = timed(
        lambda: call_command("export_trajectories", known["run"], export, format="openai-chat")
    )
    print(f"| export of one run of {browsing.RUNS} | {seconds:.1f} s | |", flush=True)
    seconds = timed(lambda: call_command("backup", str(backup), verbosity=0))
    print(f"| backup ({backup.stat().st_size / 1e6:,.0f} MB) | {seconds:.0f} s | |", flush=True)
    seconds = timed(lambda: call_command("check_backup", str(backup), verbosity=0))
    print(f"| restoring it aside, as `check_backup` does | {seconds:.0f} s | |", flush=True)
    for app, newest in RELEASED:
        call_command("migrate", app, newest, verbosity=0)
    seconds = timed(lambda: call_command("migrate", verbosity=0))
    print(f"| upgrade from 0.3 (migrations) | {seconds:.1f} s | |\n\nat the end: {machine()}")


if __name__ == "__main__":
    main()
