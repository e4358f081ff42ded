"""Measure time and memory of an export of 10,000 items with ten answers each, in each format.

Run by ``make bench``. The study is made in bulk in a database of its own; each format is then sent
as a download would be, a piece at a time. Memory is the most that the process held while sending,
above what it held before, for a study of a tenth the size and for the whole; on PostgreSQL too
where ``DATABASE_URL`` names one.
"""

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.bench.importing import ROOT, databases, peak
from tests.bench.storing import machine, set_up, tell

ITEMS, PEOPLE, MODELS, BUDGET = 10_000, 50, 10, 5.0
FORMATS = ("csv", "json", "parquet", "huggingface", "history")
BATCH = 1_000
AT = datetime(2026, 3, 1, tzinfo=UTC)


def make_study(items: int) -> Any:
    """A study of ten questions in which every item was submitted once."""
    from django.contrib.auth.models import User

    from annotation.models import Assignment, Item, Participant, RatingEdit, Study
    from annotation.questionnaires import load_questionnaire
    from benchmarks.models import Agent, Dataset, Profile, Run, Task, Trajectory, Turn

    asked = [q.key for q in load_questionnaire("ten_questions@1").questions]
    dataset = Dataset.objects.create(system="adaplanbench", name="Bench", checksum="bench")
    prompts = range(items // MODELS)
    tasks = Task.objects.bulk_create(
        [Task(dataset=dataset, external_id=f"task-{n}", prompt=f"Mend {n}.") for n in prompts],
        BATCH,
    )
    profiles = Profile.objects.bulk_create(
        [Profile(task=task, level="mid", rank=1) for task in tasks], BATCH
    )
    runs = [
        Run.objects.create(
            dataset=dataset, level="mid", status="done",
            agent=Agent.objects.create(name=f"agent-{n}", title=f"Agent {n}", kind="scripted"),
        )
        for n in range(MODELS)
    ]  # fmt: skip
    talks = Trajectory.objects.bulk_create(
        [
            Trajectory(run=run, task=profile.task, profile=profile, status="done", turn_count=4)
            for run in runs
            for profile in profiles
        ],
        BATCH,
    )
    text = "1. Take the cloth from the shelf.\n2. Wipe the table with it.\n" * 8
    Turn.objects.bulk_create(
        [
            Turn(trajectory=talk, index=n, text=f"{n}: {text}", feedback="Not yet.")
            for talk in talks
            for n in range(1, 5)
        ],
        BATCH,
    )
    study = Study.objects.create(
        name="Bench", kind="trajectory", questionnaire="ten_questions@1", status="closed",
        settings={"design": {"kind": "queries", "runs": [run.pk for run in runs]}},
    )  # fmt: skip
    people = User.objects.bulk_create([User(username=f"rater-{n}") for n in range(PEOPLE)])
    Participant.objects.bulk_create(
        [Participant(study=study, user=user, number=n) for n, user in enumerate(people, 1)]
    )
    rows = Item.objects.bulk_create(
        [
            Item(
                study=study,
                trajectory=talk,
                task=talk.task,
                asked=asked,
                rank=rank,
                given=1,
                done=1,
            )
            for rank, talk in enumerate(talks, 1)
        ],
        BATCH,
    )
    seats = Assignment.objects.bulk_create(
        [
            Assignment(
                study=study, item=item, trajectory=item.trajectory, annotator=people[n % PEOPLE],
                position=n // PEOPLE + 1, state="submitted", active_ms=90_000, submitted_at=AT,
            )
            for n, item in enumerate(rows)
        ],
        BATCH,
    )  # fmt: skip
    for start in range(0, len(seats), BATCH):
        RatingEdit.objects.bulk_create(
            [
                RatingEdit(
                    assignment=seat, question=key, value=1 + (seat.pk + n) % 5, by=seat.annotator,
                    client_id=uuid.uuid4(), client_time=AT,
                )
                for seat in seats[start : start + BATCH]
                for n, key in enumerate(asked)
            ],
            BATCH,
        )  # fmt: skip
    return study


def measure(items: int) -> None:
    """Export a study in this process; print the figures as JSON for the process above."""
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        from annotation.exports.scope import Scope
        from annotation.exports.services import FORMATS as WAYS
        from annotation.exports.services import ExportRequest
        from annotation.models import Study

        study = Study.objects.get(pk=make_study(items).pk)
        found = {}
        for format in FORMATS:
            gc.collect()
            Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
            before, cpu, wall = peak(), time.process_time(), time.perf_counter()
            size = sum(len(piece) for piece in WAYS[format].write(ExportRequest(Scope(study))))
            found[format] = {
                "cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall,
                "size": size, "memory": peak() - before,
            }  # fmt: skip
    print(json.dumps(found))


def figures(items: int, url: str) -> dict[str, Any]:
    """Return what ``measure`` prints in a process of its own."""
    environment = os.environ | {"DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, __file__, str(items)]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Print the figures."""
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]))
        return
    print(machine())
    print(f"{ITEMS} items, {ITEMS * 10} rows; budget {BUDGET} s of CPU for each format")
    worst = 0.0
    for name, small, large in databases():
        tenth, whole = figures(ITEMS // 10, small), figures(ITEMS, large)
        for format in FORMATS:
            one = whole[format]
            worst = max(worst, one["cpu"])
            print(
                f"{name}, {format:<11} {one['cpu']:.2f} s CPU ({one['wall']:.2f} s wall), "
                f"{one['size'] / 1e6:.0f} MB; memory {one['memory']} MB more while sending, "
                f"{tenth[format]['memory']} MB for a tenth"
            )
    tell([f"{worst:.2f} s of CPU"] if worst > BUDGET else [])


if __name__ == "__main__":
    main()
