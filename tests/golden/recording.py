"""The world that golden reports are about, made once and kept as ``data/world.sqlite3.xz``.

It holds the demo over fewer tasks, agents of recorded answers, and trajectories made elsewhere.
Scripts of the demo may change without a change here: what is recorded stays.
"""

import lzma
from dataclasses import replace
from pathlib import Path

from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection

from analysis.agreement.inputs import AgreementSettings
from analysis.tables.services import store_table
from annotation.demo import services
from benchmarks import demo
from benchmarks.core.digests import digest
from benchmarks.core.ports.demo import DemoDataset
from benchmarks.core.registry import get_system
from benchmarks.models import Task, ValidityCertificate
from benchmarks.validity.selectors import certificate_versions
from tests.analysis.rows import make_dataset, make_imported, make_run, make_trajectory
from tests.small_demo import first_tasks

WORLD = Path(__file__).parent / "data" / "world.sqlite3.xz"
# Of the small household demo, the full-size one, and every other dataset.
HOUSEHOLD, FULL, OTHERS = 12, 3, 6
AGENTS_OF_FULL = 3
RATERS = (("p1", "human"), ("p2", "human"), ("p3", "human"), ("j1", "llm"), ("j2", "llm"))


def restore_world(database: Path) -> None:
    """Write the recorded world to an SQLite file and bring it up to date."""
    database.write_bytes(lzma.decompress(WORLD.read_bytes()))
    call_command("migrate", verbosity=0)
    # Certificates count under the versions of now alone; these were recorded with the runs.
    for row in ValidityCertificate.objects.select_related("dataset"):
        row.versions = certificate_versions(get_system(row.dataset.system))
        row.versions_digest = digest(row.versions)
        row.save(update_fields=["versions", "versions_digest"])


def record_world() -> None:
    """Make the world in the empty database of these settings and keep it; takes two minutes."""
    call_command("migrate", verbosity=0)
    small = [(system, _smaller(dataset)) for system, dataset in demo.demo_datasets()]
    demo.demo_datasets = services.demo_datasets = lambda: small
    services.ensure_demo()
    _add_recorded_agents()
    rewards = {1: (1.0, 0.0), 2: (1.0, 1.0), 3: (0.0, 0.0), 4: (1.0, None), 5: (0.5, 1.0)}
    make_imported(("gpt-9", "gpt-8"), rewards=rewards, name="Made elsewhere")
    _add_table()
    bare = WORLD.with_suffix("")
    bare.unlink(missing_ok=True)
    with connection.cursor() as cursor:
        for index in ("analysis_search_turns", "analysis_search_tasks"):
            cursor.execute(f"INSERT INTO {index}({index}) VALUES ('delete-all')")
        cursor.execute("DELETE FROM analysis_kept")
        cursor.execute("VACUUM INTO %s", [str(bare)])
    WORLD.write_bytes(lzma.compress(bare.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    bare.unlink()


def _smaller(dataset: DemoDataset) -> DemoDataset:
    """Return a dataset of the demo over fewer tasks; the full-size one with fewer agents, too."""
    full = dataset.name == "Full-size household demo"
    most = HOUSEHOLD if dataset.name == "Household demo" else FULL if full else OTHERS
    agents = AGENTS_OF_FULL if full else None
    runs = tuple(replace(one, agents=one.agents[:agents]) for one in dataset.runs)
    return replace(dataset, load=first_tasks(dataset, most), runs=runs)


def _add_recorded_agents() -> None:
    dataset = make_dataset("Recorded answers")
    Task.objects.filter(dataset=dataset).update(
        payload={"plans": [{"key": "a", "steps": ["One way."], "author": "Prolific"}]}
    )
    for name, policy, values in (("people", "people", (1, 0)), ("models", "gpt4", (0, 0, 1))):
        run = make_run(dataset, name, kind="recorded", policy=policy)
        for task, value in enumerate(values, 1):
            make_trajectory(run, task, accurate=value, accurate_all=value, accurate_main=value)
        dry = dict.fromkeys(("accurate", "valid"), "the pool ran out")
        make_trajectory(run, 4, termination="pool_exhausted", undefined=dry)


def _add_table() -> None:
    """Store ratings of 3 people and 2 judges, whose scores follow from numbers."""
    lines = ["dataset,item,criterion,rater,rater_kind,score,task"]
    for item in range(36):
        for number, (rater, kind) in enumerate(RATERS):
            score = 1 + (item * 7 + (item // 5) * number + item * number % 3) % 5
            for criterion in ("clarity", "safety"):
                lines.append(f"own,{item},{criterion},{rater},{kind},{score},{item // 3}")
    researcher = services.User.objects.get(username="researcher")
    upload = SimpleUploadedFile("own.csv", "\n".join(lines).encode())
    store_table(upload=upload, name="", settings=AgreementSettings(), created_by=researcher)
