"""Databases made by earlier versions upgrade to this one, and keep what was stored in them."""

import json
import lzma
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tests import databases
from tests.installations import Install, Installation

pytestmark = [pytest.mark.embedded, pytest.mark.slow]

DATABASES = sorted(Path(__file__).parent.glob("demo-*.sqlite3.xz"))

# What people, agents and judges said, and what it was said about.
KEPT = (
    "annotation_assignment",
    "annotation_consent",
    "annotation_item",
    "annotation_liveevent",
    "annotation_livesession",
    "annotation_membership",
    "annotation_rating",
    "annotation_ratingedit",
    "annotation_study",
    "annotation_studyevent",
    "auth_user",
    "benchmarks_agent",
    "benchmarks_constraint",
    "benchmarks_dataset",
    "benchmarks_exchange",
    "benchmarks_experiment",
    "benchmarks_judgescore",
    "benchmarks_judging",
    "benchmarks_profile",
    "benchmarks_run",
    "benchmarks_storedmessage",
    "benchmarks_task",
    "benchmarks_trajectory",
    "benchmarks_turn",
    "benchmarks_violation",
)

# What `check_upgrade` finds, and what `serve` does first.
PREPARE = """
from config import server
from config.upgrades import migrate_if_needed, planned_migrations
print("obstacles:", sum(len(migration.obstacles) for migration in planned_migrations()))
migrate_if_needed()
server.collect_static_if_needed()
"""

# Visits the pages that show what was stored, as the people of the demo.
VISIT = """
from django.test import Client
from django.contrib.auth import get_user_model
from benchmarks.models import Run, Trajectory
from annotation.models import Study

def visit(name, *addresses):
    client = Client(headers={"host": "localhost"})
    client.force_login(get_user_model().objects.get(username=name))
    for address in addresses:
        answer = client.get(address, follow=True)
        assert answer.status_code == 200, (name, address, answer.status_code)
        assert "login" not in answer.request["PATH_INFO"], (name, address)

runs = [f"/runs/{run.pk}/" for run in Run.objects.order_by("pk")[::12]]
paths = [f"/trajectories/{row.pk}/" for row in Trajectory.objects.order_by("pk")[::150]]
studies = [f"/studies/{study.pk}/" for study in Study.objects.all()]
visit("researcher", "/", "/datasets/", "/agents/", "/trajectories/", *runs, *paths)
visit("researcher", "/analysis/leaderboard/", "/analysis/agreement/", "/analysis/decline/")
visit("manager", "/", *studies)
visit("annotator", "/", f"/studies/{Study.objects.earliest('pk').pk}/annotate/", "/sessions/")
print("visited")
"""


@pytest.fixture(params=DATABASES, ids=lambda file: file.name.removesuffix(".sqlite3.xz"))
def old(request: pytest.FixtureRequest, install: Install) -> tuple[Path, Installation]:
    """A database of an earlier version, unpacked, and an installation with a copy of it."""
    there = install("upgraded", migrated=False)
    kept = there.folder / "before.sqlite3"
    kept.write_bytes(lzma.decompress(request.param.read_bytes()))
    (there.folder / "planjury.sqlite3").write_bytes(kept.read_bytes())
    return kept, there


def test_a_database_of_an_earlier_version_keeps_everything(old: tuple[Path, Installation]) -> None:
    before, there = old
    prepared = run_python(there, "manage.py", "shell", "--no-imports", "-c", PREPARE)

    after = there.folder / "planjury.sqlite3"
    if "obstacles: 0" in prepared:
        assert_that_old_inserts_succeed(before, after)
    for table in KEPT:
        columns = sorted(set(columns_of(before, table)) & set(columns_of(after, table)))
        assert len(columns) > 1, f"{table} has no column left"
        lost = rows(before, table, columns) - rows(after, table, columns)
        assert not lost, f"{lost.total()} rows of {table} are lost or changed"

    new = there.folder / "new.sqlite3"
    databases.make_copy(path=new)
    assert tables(after) == tables(new)

    assert_that_lists_became_places(after)
    assert "visited" in run_python(there, "manage.py", "shell", "--no-imports", "-c", VISIT)
    first = there.read("select min(id) from benchmarks_run where status = 'done'")[0][0]
    assert ": same" in run_python(there, "manage.py", "verify", str(first))


def assert_that_lists_became_places(after: Path) -> None:
    """Each annotator of a study that was dealt beforehand has a place with their items, in order,
    under their number.
    """
    with closing(sqlite3.connect(after)) as database:
        dealt = database.execute(
            "select a.study_id, p.number, a.annotator_id, i.rank from annotation_assignment a "
            "join annotation_study s on s.id = a.study_id and s.dealing = 'named' "
            "and s.id not in (select study_id from annotation_liveplan) "
            "join annotation_participant p on p.study_id = s.id and p.user_id = a.annotator_id "
            "join annotation_item i on i.id = a.item_id where a.part = 'main' "
            "order by a.study_id, p.number, a.position"
        ).fetchall()
        places = database.execute(
            "select study_id, number, user_id, ranks from annotation_studyplace "
            "order by study_id, number"
        ).fetchall()
    lists: dict[tuple[int, int, int], list[int]] = {}
    for study, number, user, rank in dealt:
        lists.setdefault((study, number, user), []).append(rank)
    assert lists
    assert {(*row[:3],): json.loads(row[3]) for row in places} == lists


def assert_that_old_inserts_succeed(before: Path, after: Path) -> None:
    """Each table has the columns that it had, and needs no value for the others."""
    for table in tables(before):
        if table.startswith(("sqlite_", "analysis_search")):
            continue
        known = columns_of(before, table)
        assert set(known) <= set(columns_of(after, table)), table
        with closing(sqlite3.connect(after)) as database:
            needed = database.execute(
                'select name from pragma_table_info(?) where "notnull" and dflt_value is null '
                "and not pk",
                [table],
            ).fetchall()
        assert {name for (name,) in needed} <= set(known), table


def columns_of(file: Path, table: str) -> list[str]:
    """Return the names of a table's columns."""
    with closing(sqlite3.connect(file)) as database:
        return [row[1] for row in database.execute(f"pragma table_info({table})")]


def tables(file: Path) -> dict[str, list[object]]:
    """Return the columns, foreign keys and indexes of each table, in an order of their own."""
    found: dict[str, list[object]] = {}
    with closing(sqlite3.connect(file)) as database:

        def read(query: str, *names: str) -> list[tuple[object, ...]]:
            return database.execute(query, names).fetchall()

        for (table,) in read("select name from sqlite_master where type = 'table'"):
            name = str(table)
            columns = read('select name, type, "notnull", pk from pragma_table_info(?)', name)
            keys = read(
                'select "table", "from", "to", on_delete from pragma_foreign_key_list(?)', name
            )
            indexes = read(
                "select i.name, i.[unique], i.partial, c.seqno, c.name "
                "from pragma_index_list(?) i, pragma_index_info(i.name) c "
                "where i.origin = 'c'",
                name,
            )
            found[name] = [sorted(columns), sorted(keys), sorted(indexes)]
    return found


def rows(file: Path, table: str, columns: list[str]) -> Counter[tuple[object, ...]]:
    """Return how often each row stands in a table, of these columns."""
    with closing(sqlite3.connect(file)) as database:
        listed = ", ".join(f'"{column}"' for column in columns)
        return Counter(database.execute(f"select {listed} from {table}"))


def run_python(there: Installation, *command: str) -> str:
    """Run a command of the product in this installation and return what it printed."""
    before = len(there.log.read_text()) if there.log.exists() else 0
    code = there.fork(*command).wait(timeout=300)
    said = there.log.read_text()[before:]
    assert code == 0, said
    return said
