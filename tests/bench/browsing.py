"""CPU cost of the list of trajectories: 100,000 of them, every choice through the real view.

Run by ``make bench``. It uses the shipped settings on a database of its own: SQLite, or what
``DATABASE_URL`` names, where the database server's work is not in the figures. Trajectories have
one short turn, half of them scores of two judges on eight dimensions; annotators scored some.
Two have 500 turns, with plans of eight steps and scores of both judges on every turn. Two are
imported sessions of 5,000 messages, in one turn and in 99, whose budget is that of any page.
First the facts are read as a worker reads them; then a page is asked for by a process that knows
nothing yet, and by one that does.

Beside it, in the same run: what a plain query with a count for each of seven facets would cost.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.storing import machine, set_up, tell

TRAJECTORIES, RUNS, AGENTS, TASKS = 100_000, 200, 12, 500
BUDGET_MS = 300.0
PAGE_MS = 60.0
ROUNDS, LONG, MESSAGES = 5, 500, 5_000
WORDS = ("take", "the", "red", "cup", "from", "table", "put", "it", "sink", "wipe", "dry", "cloth")
LEVELS = ("low", "mid", "high")
ENDS = ("valid_plan", "early_stop", "max_turns", "judge_failure")


def fill(count: int) -> None:
    """Datasets of three systems, runs of all agents on them, trajectories, scores, ratings."""
    from benchmarks.models import Agent, AnswererVersion, Dataset, Judging, Run, Task

    chance = random.Random(11)
    agents = Agent.objects.bulk_create(
        Agent(name=f"agent-{n}", title=f"Agent {n}", kind="scripted") for n in range(AGENTS)
    )
    systems = ("adaplanbench", "adaplanbench", "planbench_xl", "external")
    datasets = Dataset.objects.bulk_create(
        Dataset(system=system, name=f"Dataset {n}", checksum=f"{n:064x}")
        for n, system in enumerate(systems)
    )
    Task.objects.bulk_create(
        Task(dataset=d, external_id=f"task-{n}", prompt=f"How do I mend thing {n} of {d.name}?")
        for d in datasets
        for n in range(TASKS)
    )
    tasks = {d.pk: list(d.tasks.values_list("pk", flat=True)) for d in datasets}
    judges = AnswererVersion.objects.bulk_create(
        AnswererVersion(kind="scripted", name=f"judge-{n}", version="1", digest=f"{n:032x}")
        for n in range(2)
    )
    first: dict[int, Run] = {}
    for number in range(RUNS):
        dataset = datasets[number % len(datasets)]
        run = Run.objects.create(
            dataset=dataset, agent=agents[number % AGENTS], level=LEVELS[number % 3],
            condition=("standard", "tracking=True")[number % 7 == 0], status="done",
            settings={"tau": 3.5, "quorum": "all"},
        )  # fmt: skip
        run.primary_judging = Judging.objects.create(run=run)
        run.save()
        if dataset.pk in first:
            copy_run(first[dataset.pk], run, number)
        else:
            first[dataset.pk] = run
            fill_run(run, tasks[dataset.pk], count // RUNS, judges, chance)
    rate(chance)


def copy_run(first: Any, run: Any, number: int) -> None:
    """The trajectories of a run again under another: one by one, millions of rows take long."""
    from django.db import connection, transaction

    from benchmarks.models import JudgeScore, Trajectory, Turn, Violation

    away = number * 1_000_000
    moved = {"id": f"x.id + {away}", "trajectory_id": f"x.trajectory_id + {away}",
             "turn_id": f"x.turn_id + {away}", "run_id": str(run.pk),
             "judging_id": str(run.primary_judging_id), "agent_id": str(run.agent_id)}  # fmt: skip
    own = f"SELECT id FROM {Trajectory._meta.db_table} WHERE run_id = {first.pk}"
    turns = f"SELECT id FROM {Turn._meta.db_table} WHERE trajectory_id IN ({own})"
    with transaction.atomic(), connection.cursor() as cursor:
        for model, where in (
            (Trajectory, f"run_id = {first.pk}"),
            (Turn, f"trajectory_id IN ({own})"),
            (Violation, f"turn_id IN ({turns})"),
            (JudgeScore, f"trajectory_id IN ({own})"),
        ):
            names = [field.column for field in model._meta.local_fields]
            quoted = ", ".join(f'"{name}"' for name in names)
            values = ", ".join(moved.get(name, f'x."{name}"') for name in names)
            table = model._meta.db_table
            cursor.execute(
                f"INSERT INTO {table} ({quoted}) SELECT {values} FROM {table} x WHERE {where}"
            )


def fill_run(run: Any, tasks: list[int], count: int, judges: list[Any], chance: Any) -> None:
    """Trajectories of a run with one turn each; violations, and scores where judges score."""
    from benchmarks.models import Trajectory, Turn, Violation
    from benchmarks.systems.adaplanbench.protocol import DIMENSIONS

    rows = []
    for n in range(count):
        valid = float(chance.random() < 0.6)
        accurate = valid * float(chance.random() < 0.5)
        rows.append(
            Trajectory(
                run=run, task_id=tasks[n % len(tasks)], attempt=1 + n // len(tasks), status="done",
                termination=chance.choice(ENDS), turn_count=chance.randint(1, 20),
                metrics={"valid": valid, "accurate": accurate},
            )
        )  # fmt: skip
    rows = Trajectory.objects.bulk_create(rows, batch_size=500)
    turns = Turn.objects.bulk_create(
        (
            Turn(trajectory=row, index=row.turn_count, text="1. Do it.", is_final=True)
            for row in rows
        ),
        batch_size=500,
    )
    Violation.objects.bulk_create(
        Violation(turn=turn, key=f"w{n % 5}", kind=("world", "user")[n % 2], text="No.",
                  revealed=True, new=n % 3 > 0, repeated=n % 3 == 0)
        for n, turn in enumerate(turns) if n % 2
    )  # fmt: skip
    if run.dataset.system != "adaplanbench":
        return
    insert_scores(turns, [dimension.key for dimension in DIMENSIONS], judges, chance)


def fill_long(chance: Any) -> list[int]:
    """Two trajectories of 500 turns in the newest run that judges scored, as ids."""
    from benchmarks.models import AnswererVersion, Run, Trajectory, Turn, Violation
    from benchmarks.systems.adaplanbench.protocol import DIMENSIONS

    def words(count: int) -> str:
        return " ".join(chance.choices(WORDS, k=count))

    run = Run.objects.filter(dataset__system="adaplanbench").latest("pk")
    judges, task = list(AnswererVersion.objects.all()), run.dataset.tasks.all()[0]
    ids = []
    for attempt in (9_001, 9_002):
        row = Trajectory.objects.create(
            run=run, task=task, attempt=attempt, status="done", termination="max_turns",
            turn_count=LONG, metrics={"valid": 0.0, "accurate": 0.0},
        )  # fmt: skip
        turns = Turn.objects.bulk_create(
            Turn(
                trajectory=row, index=index, is_final=index == LONG,
                text="\n".join(f"{n}. {words(12)}" for n in range(1, 9)), feedback=words(40),
            )
            for index in range(1, LONG + 1)
        )  # fmt: skip
        Violation.objects.bulk_create(
            Violation(turn=turn, key="w1", kind="world", text="No cloth.", revealed=True,
                      new=turn.index == 3, repeated=turn.index > 3)
            for turn in turns if turn.index % 3 == 0
        )  # fmt: skip
        insert_scores(turns, [dimension.key for dimension in DIMENSIONS], judges, chance)
        ids.append(row.pk)
    Run.objects.filter(pk=run.pk).update(data_version=run.data_version + 1)
    return ids


def insert_scores(turns: list[Any], keys: list[str], judges: list[Any], chance: Any) -> None:
    """All judges on all dimensions of these turns."""
    from benchmarks.models import JudgeScore

    JudgeScore.objects.bulk_create(
        (
            JudgeScore(
                judging=turn.trajectory.run.primary_judging, turn=turn, judge=judge,
                seat=str(seat), dimension=key, value=chance.choice((2.0, 3.0, 4.0, 5.0)),
                trajectory=turn.trajectory, run=turn.trajectory.run,
                agent=turn.trajectory.run.agent, level=turn.trajectory.run.level,
                condition=turn.trajectory.run.condition, turn_index=turn.index,
                is_final=turn.is_final,
            )
            for turn in turns
            for seat, judge in enumerate(judges, 1)
            for key in keys
        ),
        batch_size=1000,
    )  # fmt: skip


def rate(chance: Any) -> None:
    """One study in which four annotators scored 100 trajectories each."""
    import uuid

    from django.contrib.auth.models import User
    from django.utils import timezone

    from annotation.models import Assignment, Item, Rating, RatingEdit, Study

    study = Study.objects.create(name="Study", questionnaire="ten_questions@1", status="open")
    people = [User.objects.create_user(f"person-{n}") for n in range(4)]
    from benchmarks.models import Trajectory

    judged = Trajectory.objects.filter(run__dataset__system="adaplanbench").order_by("pk")[:400]
    for rank, row in enumerate(judged):
        item = Item.objects.create(study=study, trajectory=row, task_id=row.task_id, rank=rank)
        seat = Assignment.objects.create(
            study=study, item=item, annotator=people[rank % 4], trajectory=row, position=rank,
            state="submitted", submitted_at=timezone.now(),
        )  # fmt: skip
        for question in ("feasibility", "safety"):
            said = {"assignment": seat, "question": question, "value": chance.randint(1, 5)}
            edit = RatingEdit.objects.create(client_id=uuid.uuid4(), by=people[rank % 4], **said)
            Rating.objects.create(edit=edit, updated_at=timezone.now(), **said)


def import_sessions(folder: Path) -> dict[str, str]:
    """Import sessions of a coding agent; return the addresses of their pages."""
    from benchmarks.imports.services import import_trajectories

    pages = {}
    for turns in (1, 99):
        messages: list[dict[str, Any]] = []
        for number in range(MESSAGES // 2):
            if number * turns % (MESSAGES // 2) < turns:
                messages.append({"role": "user", "content": f"Mend part {number} of the parser."})
            key = f"call-{number}"
            given = json.dumps({"command": f"sed -n {number}p parser.py"})
            call = {"id": key, "type": "function", "function": {"name": "bash", "arguments": given}}
            text = f"Step {number}: " + " ".join(WORDS * 3)
            messages.append({"role": "assistant", "content": text, "tool_calls": [call]})
            lines = "def f(x):\n    return x\n" * (1 + number % 40)
            messages.append({"role": "tool", "tool_call_id": key, "content": f"{number}\n{lines}"})
        path = folder / f"{turns}.jsonl"
        path.write_text(json.dumps({"messages": messages, "model": "coder"}))
        row = import_trajectories(path=path).runs[0].trajectories.get()
        assert row.turn_count == turns, row.turn_count
        pages[f"{MESSAGES:,} messages, {turns} turn{'' if turns == 1 else 's'}"] = (
            f"/trajectories/{row.pk}/"
        )
    return pages


def spent(act: Callable[[], Any]) -> float:
    """Milliseconds of CPU of this process."""
    began = time.process_time()
    act()
    return (time.process_time() - began) * 1000


def forget() -> None:
    """Empty the caches, as in a process that has just started; only the database is left."""
    from analysis.trajectory_index import annotations as people
    from analysis.trajectory_index import table

    table._known.clear()
    table._joined = None
    people.read_study_annotations.cache_clear()
    people.labels_on.cache_clear()


def long_pages(first: int, second: int) -> dict[str, str]:
    """Pages about single trajectories, as addresses; those given are long."""
    from benchmarks.models import Trajectory

    rows = Trajectory.objects.filter(run__dataset__system="adaplanbench", turn_count__lt=LONG)
    chosen = "&t=".join(map(str, [*rows.values_list("pk", flat=True)[:6], first, second]))
    return {
        "a trajectory": f"/trajectories/{rows[0].pk}/",
        "500 turns": f"/trajectories/{first}/",
        "500 turns, turn 300": f"/trajectories/{first}/?turn=300",
        "the same in a list": f"/trajectories/{first}/?turn=300&level=low",
        "20 turns more": f"/trajectories/{first}/turns/?stretch=41-499&turn=100",
        "scores of 500 turns": f"/trajectories/{first}/scores/",
        "words in 500 turns": f"/trajectories/{first}/?find=cloth",
        "two of 500 turns compared": f"/compare/?t={first}&t={second}",
        "eight compared": f"/compare/?t={chosen}",
        "groups of failures": "/trajectories/groups/",
    }


def interactions() -> dict[str, str]:
    """Return what a reader does, as query strings."""
    from benchmarks.models import Agent, Run, Trajectory

    ids = Trajectory.objects.order_by("-pk").values_list("pk", flat=True)
    agent, run = Agent.objects.order_by("pk")[1].pk, Run.objects.order_by("pk")[0].pk
    return {
        "first page": "",
        "one agent": f"agent={agent}",
        "one run": f"run={run}",
        "level and ending": "level=mid&end=early_stop&end=max_turns",
        "not valid": "valid=no",
        "fails two dimensions": "rubric-safety=fail&rubric-feasibility=fail",
        "a mean at most": "dimension=safety&score_at_most=3",
        "judge spread": "spread=1&spread=0.5",
        "people and judges": "gap=below&gap=far-below",
        "violated": "violated=world&repeated=yes",
        "turns": "min_turns=3&max_turns=9",
        "words": "q=thing+41",
        "eight choices": "level=mid&valid=yes&accurate=no&spread=0.5&min_turns=2&violated=world"
        "&score=3.5&source=real",
        "by mean score": "order=lowest",
        "by gap": "order=gap",
        "page 200": f"after={ids[199 * 50 - 1]}",
        "page 200 by spread": f"order=spread&after={ids[5000]}",
        "nothing matches": "min_turns=900&valid=no",
    }


def plain() -> float:
    """Return the cost of seven facets and a count as queries of their own, each over all rows."""
    from django.db.models import Count

    from benchmarks.trajectories.selectors import (
        trajectory_list,
        trajectory_rows,
        with_row_relations,
    )

    rows = trajectory_list({"valid": "no"}).order_by()

    def act() -> None:
        rows.count()
        for facet in ("run__agent", "run__dataset", "run__level", "run__condition", "termination",
                      "metrics__valid", "metrics__accurate"):  # fmt: skip
            list(rows.values_list(facet).annotate(n=Count("pk")))
        trajectory_rows(with_row_relations(rows.order_by("-pk"))[:50])

    return statistics.median(spent(act) for _ in range(3))


def run(count: int, folder: Path) -> dict[str, float]:
    """Return milliseconds by what was done; ``folder`` is for files that are imported."""
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client

    from analysis.models import RunFacts
    from analysis.trajectory_index.services import request_index
    from benchmarks.jobs.services import perform

    began = time.perf_counter()
    fill(count)
    long = fill_long(random.Random(12))
    print(
        f"{count:,} trajectories made in {time.perf_counter() - began:.0f} s ({connection.vendor})"
    )
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("root"))

    def get(query: str) -> None:
        ask(f"/trajectories/?{query}", part=True)

    def ask(url: str, *, part: bool) -> None:
        answer = client.get(url, headers={"HX-Request": "true"} if part else {})
        assert answer.status_code == 200, (url, answer.status_code)

    found = {}
    get("")  # templates are loaded
    forget()
    found["first visit, nothing read"] = spent(lambda: get(""))
    job = request_index(trajectories=count)
    reading = spent(lambda: perform(job_id=job.pk, owner="bench"))
    kept = RunFacts.objects.count()
    print(f"the worker read {kept} runs in {reading / 1000:.1f} s of CPU")
    assert kept == RUNS, kept
    forget()
    found["first page of a new process"] = spent(lambda: get(""))
    for name, query in interactions().items():
        found[name] = statistics.median(spent(lambda q=query: get(q)) for _ in range(ROUNDS))
    for name, url in (long_pages(*long) | import_sessions(folder)).items():
        part = "stretch" in url or "find" in url
        ask(url, part=part)
        found[name] = statistics.median(
            spent(lambda u=url, p=part: ask(u, part=p)) for _ in range(ROUNDS)
        )
    return found


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trajectories", type=int, default=TRAJECTORIES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        from django.conf import settings
        from django.core.management import call_command

        call_command("collectstatic", interactive=False, verbosity=0)
        settings.ALLOWED_HOSTS = ["localhost"]
        print(f"{machine()}; CPU of the web process for each page")
        found = run(options.trajectories, Path(folder))
        baseline = plain()
    for name, figure in found.items():
        print(f"{name:<28} {figure:7.0f} ms, {figure / baseline:4.2f} times the plain queries")
    print(f"budget {BUDGET_MS:.0f} ms, of pages of messages {PAGE_MS:.0f} ms")
    print(f"seven facets by queries of their own {baseline:.0f} ms")
    budgets = {name: PAGE_MS if "messages" in name else BUDGET_MS for name in found}
    tell([name for name, figure in found.items() if figure > budgets[name]])


if __name__ == "__main__":
    main()
