"""CPU of the analysis pages about runs, over 10,000, 100,000 and 1,000,000 judges' scores.

Run by ``make bench``. On an SQLite of its own with the shipped settings: ten agents on the same
tasks, three judges on eight dimensions of every turn, and four runs of each agent (two of the
standard condition, of which pages take the newer, another level, and an ablation), so that the
pages' own filters choose a part, as they do in use. Every page that is about runs is asked for
through Django's test client: cold with empty caches, which writes the report, and warm, which shows
what is kept. Beside it, in the same run: the same scores summed by a plain cursor. Slopes over
turns are fitted before, as a job does when runs end; what that takes is stated apart.

What the first report after a start spends on loading numpy, pandas and scipy is measured apart: it
is paid once by a process, not by a page.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.storing import machine, processor, set_up, tell

SIZES = (10_000, 100_000, 1_000_000)
AGENTS, TASKS, JUDGES, MOST_TURNS = 10, 307, ("even", "strict", "mild"), 10
# Level, condition, day that it finished: a page shows the first and counts out the second.
SETS = (
    ("mid", "standard", 2),
    ("mid", "standard", 1),
    ("low", "standard", 1),
    ("mid", "condition=world_only", 1),
)
COLD, WARM = 1.0, 0.1
# What pages are asked beside their address alone.
VARIANTS: Mapping[str, Sequence[str]] = {
    "rubric": ("turns=all",),
    "decline": ("align=end",),
    "dispersion": ("turns=all",),
}
IMPORTS = "import time; b = time.process_time(); import numpy, pandas, scipy.stats, {modules}; "
IMPORTS += "print(time.process_time() - b)"
PLAIN = (
    "SELECT judging_id, dimension, turn_index, judge_id, SUM(value), COUNT(value) "
    "FROM benchmarks_judgescore WHERE judging_id IN ({marks}) GROUP BY 1, 2, 3, 4"
)


# --- Data -----------------------------------------------------------------------------------------


def fill(scores: int) -> int:
    """Store about so many scores; returns how many there are."""
    from django.db import transaction

    from benchmarks.models import (
        Agent,
        AnswererVersion,
        Dataset,
        JudgeScore,
        Task,
        Trajectory,
        Turn,
    )
    from benchmarks.systems.adaplanbench.protocol import DIMENSIONS

    rng = random.Random(1)
    keys = [dimension.key for dimension in DIMENSIONS]
    per_turn = len(keys) * len(JUDGES)
    # Trajectories have 3.4 turns on average; where that is too few for all scores, more tasks.
    count = max(1, round(scores / (AGENTS * len(SETS) * per_turn * 3.4)))
    count = min(TASKS, count) if scores <= SIZES[-1] else count
    with transaction.atomic():
        dataset = Dataset.objects.create(
            system="adaplanbench", name=f"Bench {scores}", version="1", checksum=str(scores)
        )
        tasks = Task.objects.bulk_create(
            Task(dataset=dataset, external_id=f"t{n}", prompt=f"Tidy room {n}.")
            for n in range(count)
        )
        judges = [
            AnswererVersion.objects.get_or_create(
                digest=name, defaults={"kind": "scripted", "name": name, "version": "1"}
            )[0].pk
            for name in JUDGES
        ]
        agents = [
            Agent.objects.get_or_create(
                name=f"agent-{n}", defaults={"title": f"Agent {n}", "kind": "scripted"}
            )[0]
            for n in range(AGENTS)
        ]
        runs = [
            make_run(dataset, agent, level, condition, day)
            for level, condition, day in SETS
            for agent in agents
        ]
        trajectories = Trajectory.objects.bulk_create(
            Trajectory(
                run=run, task=task, status="done", turn_count=length(rng),
                termination=rng.choice(("valid_plan", "max_turns")), metrics=outcome(rng),
            )
            for run in runs
            for task in tasks
        )  # fmt: skip
        turns = Turn.objects.bulk_create(
            (
                Turn(trajectory=t, index=i, text="1. Do it.", is_final=i == t.turn_count)
                for t in trajectories
                for i in range(1, t.turn_count + 1)
            ),
            batch_size=10_000,
        )
        insert_scores(turns, keys, judges, rng)
    return JudgeScore.objects.filter(run__dataset=dataset).count()


def length(rng: random.Random) -> int:
    """Turns of a trajectory: 3.4 on average."""
    turns = 1
    while turns < MOST_TURNS and rng.random() < 0.715:
        turns += 1
    return turns


def make_run(dataset: Any, agent: Any, level: str, condition: str, day: int) -> Any:
    """A finished run with its live judging."""
    from datetime import UTC, datetime

    from benchmarks.models import Judging, Run

    run = Run.objects.create(
        dataset=dataset, agent=agent, level=level, condition=condition, status=Run.Status.DONE,
        pins={"scorer": "1", "protocol": "1", "prompts": "1"}, seed=7,
        roles={
            "agent": [{"kind": "scripted", "policy": agent.name, "label": "scripted"}],
            "rubric_judge": [
                {"kind": "scripted", "policy": name, "version": "1", "label": "scripted"}
                for name in JUDGES
            ],
        },
        finished_at=datetime(2026, 1, day, tzinfo=UTC),
    )  # fmt: skip
    run.primary_judging = Judging.objects.create(run=run)
    run.save()
    return run


def outcome(rng: random.Random) -> dict[str, float]:
    """Metrics of one trajectory, as the system's own are called."""
    right = float(rng.random() < 0.5)
    return {
        "accurate": right, "valid": right, "turns": rng.randint(1, MOST_TURNS),
        "world_repeated": rng.randint(0, 2), "user_repeated": rng.randint(0, 2),
        "world_triggered": rng.random(), "user_triggered": rng.random(),
        "accurate_all": right, "accurate_main": right, "readings_differ": 0.0,
    }  # fmt: skip


def insert_scores(
    turns: Sequence[Any], keys: Sequence[str], judges: Sequence[int], rng: random.Random
) -> None:
    """Three judges on every dimension of every turn, without a model's instance for each."""
    from django.db import connection

    from benchmarks.models import JudgeScore

    fields = (
        "judging", "turn", "judge", "seat", "dimension", "replicate", "value", "reason",
        "trajectory", "run", "agent", "level", "condition", "turn_index", "is_final",
    )  # fmt: skip
    columns = [JudgeScore._meta.get_field(name).column for name in fields]
    into = f"INSERT INTO {JudgeScore._meta.db_table} ({', '.join(columns)})"
    with connection.cursor() as cursor:
        cursor.executemany(
            f"{into} VALUES ({', '.join(['%s'] * len(columns))})",
            score_rows(turns, keys, judges, rng),
        )


def score_rows(
    turns: Sequence[Any], keys: Sequence[str], judges: Sequence[int], rng: random.Random
) -> Iterator[tuple[Any, ...]]:
    """The rows of these turns; one reply in 200 cannot be read."""
    for turn in turns:
        run = turn.trajectory.run
        about = (turn.trajectory_id, run.pk, run.agent_id, run.level, run.condition)
        for dimension in keys:
            for place, judge in enumerate(judges):
                read = rng.random() >= 0.005
                yield (
                    run.primary_judging_id, turn.pk, judge, str(place + 1), dimension, 1,
                    rng.randint(2, 5) if read else None, "" if read else "no score in the reply",
                    *about, turn.index, turn.is_final,
                )  # fmt: skip


# --- Measuring ------------------------------------------------------------------------------------


def imports() -> float:
    """CPU seconds that a process spends on loading what reports need, once."""
    modules = (
        "analysis.stats.descriptive.means, analysis.stats.judges.dispersion, "
        "analysis.figures.decline"
    )
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS.format(modules=modules)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return float(done.stdout)


def addresses() -> dict[str, str]:
    """The pages that are about runs made here, by name."""
    from django.urls import reverse

    from analysis.pages.catalogue import PAGES

    found = {}
    for name, page in PAGES.items():
        if page.of_study or page.imported:
            continue
        for query in ("", *VARIANTS.get(name, ())):
            words = f"{name} {query}".strip()
            found[words] = reverse(f"analysis:{name}") + (f"?{query}" if query else "")
    return found


def measure(client: Any, url: str, rounds: int = 5) -> tuple[float, float, bool]:
    """CPU seconds of a page, cold and warm (least of a few), and whether it has anything to say."""
    from django.core.cache import caches

    def get() -> tuple[float, Any]:
        began = time.process_time()
        response = client.get(url)
        spent = time.process_time() - began
        assert response.status_code == 200, (url, response.status_code)
        return spent, response

    cold = []
    for _ in range(2):
        caches["reports"].clear()
        spent, response = get()
        cold.append(spent)
    warm = min(get()[0] for _ in range(rounds))
    return min(cold), warm, b'<div class="empty">' not in response.content


def plain() -> float:
    """CPU seconds of summing the scores of the shown runs with nothing around it."""
    from django.db import connection

    from analysis.filters import Filters
    from analysis.filters.datasets import select_runs

    judgings = select_runs(Filters()).judgings
    marks = ", ".join(["%s"] * len(judgings))
    spent = []
    for _ in range(3):
        began = time.process_time()
        with connection.cursor() as cursor:
            cursor.execute(PLAIN.format(marks=marks), judgings)
            cursor.fetchall()
        spent.append(time.process_time() - began)
    return min(spent)


def at_size(size: int) -> dict[str, Any]:
    """Every page over so many scores."""
    from django.contrib.auth.models import User
    from django.test import Client

    from benchmarks.models import Dataset, JudgeScore, Run, Trajectory, Turn

    for model in (JudgeScore, Turn):
        model.objects.all()._raw_delete("default")  # type: ignore[attr-defined]
    Trajectory.objects.all().delete()
    Run.objects.all().delete()
    Dataset.objects.all().delete()
    began = time.perf_counter()
    stored = fill(size)
    filled = time.perf_counter() - began
    client = Client()
    user, _ = User.objects.get_or_create(username="bench", is_superuser=True, is_staff=True)
    client.force_login(user)
    client.get("/analysis/leaderboard/")  # templates and modules are loaded
    fitted = fit_slopes()
    found = {name: measure(client, url) for name, url in addresses().items()}
    pages = {n: {"cold": c, "warm": w} for n, (c, w, told) in found.items() if told}
    return {
        "scores": stored, "filled": filled, "fitted": fitted, "plain": plain(), "pages": pages,
    }  # fmt: skip


def fit_slopes() -> float:
    """CPU seconds of the job that fits slopes over turns."""
    from analysis.pages.decline.services import fit_after_run
    from benchmarks.jobs.services import perform
    from benchmarks.models import Job, Run

    fit_after_run(run_id=Run.objects.latest("pk").pk)
    job = Job.objects.latest("pk")
    began = time.process_time()
    perform(job_id=job.pk, owner="bench")
    job.refresh_from_db()
    assert job.status == Job.Status.DONE, job.message
    return time.process_time() - began


def report(figures: Mapping[str, Any]) -> list[str]:
    """Print one size; returns what is over its budget."""
    print(
        f"{figures['scores']:,} scores (stored in {figures['filled']:.0f} s); those shown "
        f"summed by a plain cursor: {figures['plain']:.3f} s; slopes fitted in "
        f"{figures['fitted']:.0f} s of CPU"
    )
    beyond = []
    for name, spent in figures["pages"].items():
        missed = [k for k, most in (("cold", COLD), ("warm", WARM)) if spent[k] > most]
        beyond += [f"{name} {kind} at {figures['scores']:,}" for kind in missed]
        ratio = spent["cold"] / figures["plain"]
        print(
            f"  {name:<26} cold {spent['cold']:6.3f} s ({ratio:4.1f} times the plain sums)   "
            f"warm {spent['warm']:6.3f} s"
        )
    sys.stdout.flush()
    return beyond


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=int, nargs="+", default=SIZES)
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{machine()}; seconds of CPU; budgets: cold {COLD} s, warm {WARM} s")
    found: dict[str, Any] = {"imports": imports(), "sizes": []}
    print(f"loading numpy, pandas and scipy, once a process: {found['imports']:.2f} s")
    beyond: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        from django.conf import settings
        from django.core.management import call_command

        call_command("collectstatic", interactive=False, verbosity=0)
        settings.ALLOWED_HOSTS = ["testserver"]
        for size in options.scores:
            found["sizes"].append(at_size(size))
            beyond += report(found["sizes"][-1])
    if options.json:
        found |= {"processor": processor(), "cores": os.cpu_count(), "load": load}
        options.json.write_text(json.dumps(found, indent=2))
    tell(beyond)


if __name__ == "__main__":
    main()
