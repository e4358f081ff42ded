"""Workers as on machines of their own: nothing in common but PostgreSQL and Redis.

On SQLite with the embedded broker there is one machine; its workers are killed in
test_kill_worker.py and test_killed_sessions.py.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.conf import settings

from tests.installations import Install, Installation
from tests.servers import kill_whole

pytestmark = pytest.mark.slow

TASKS = 16
PREPARE = f"""
from tests.factories.benchmarks import save_sample_dataset, start_sample_runs
start_sample_runs("forgetful", dataset=save_sample_dataset({TASKS}), level="high", seed=3)
"""
RING = """
from benchmarks.models import Run
from benchmarks.jobs.wake_up import wake_for_runs
wake_for_runs(list(Run.objects.values_list("pk", flat=True)))
"""


def wait_for(what: Callable[[], object], seconds: float = 90) -> None:
    limit = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.05)


def machine(place: Installation, name: str) -> Installation:
    """Another machine of the same installation."""
    folder = place.folder / name
    folder.mkdir()
    return replace(place, folder=folder)


def done(place: Installation) -> int:
    ((count,),) = place.read("select count(*) from benchmarks_trajectory where status = 'done'")
    return int(count)


def owners(place: Installation) -> set[str]:
    rows = place.read("select lease_owner from benchmarks_trajectory where lease_owner != ''")
    return {owner.rpartition(":")[0] for (owner,) in rows}


@pytest.mark.skipif(
    not settings.TEST_DATABASE_URL,
    reason="needs PostgreSQL and Redis; on SQLite workers are killed in test_kill_worker.py",
)
def test_a_machine_that_dies_is_made_up_for(install: Install) -> None:
    place = install("shared")
    assert place.fork("manage.py", "shell", "-v0", "-c", PREPARE).wait() == 0
    doomed = machine(place, "doomed").start("manage.py", "work", PLANJURY_WORKER_THREADS="2")
    assert place.fork("manage.py", "shell", "-v0", "-c", RING).wait() == 0
    wait_for(lambda: done(place) >= 2 and owners(place))
    kill_whole(doomed)
    before = done(place)
    assert before < TASKS, "it was killed too late to show anything"

    # What thirty seconds of waiting for leases and runs would do.
    place.change(
        "update benchmarks_trajectory set lease_until = '2000-01-01' where lease_owner != ''"
    )
    place.change("update benchmarks_run set created_at = '2000-01-01'")
    # Nobody rings: the sweep of the new machine does.
    heir = machine(place, "heir").start("-m", "tests.hasty", "work")
    wait_for(lambda: place.read("select status from benchmarks_run") == [("done",)])
    assert done(place) == TASKS
    assert owners(place) == set()
    heir.terminate()
    assert heir.wait(60) == 0


@pytest.mark.embedded
def test_a_server_that_is_away_is_named_in_a_line(install: Install) -> None:
    place = install("alone")
    url, broker = "postgresql://me:secret@127.0.0.1:1/jury", "redis://:secret@127.0.0.1:1/0"
    for name, address in (("DATABASE_URL", url), ("PLANJURY_BROKER_URL", broker)):
        assert place.start("manage.py", "work", **{name: address}).wait(60) == 1
    said = place.log.read_text()
    assert "Cannot reach PostgreSQL at 127.0.0.1:1, database jury (DATABASE_URL): " in said
    assert "Cannot reach the broker at redis://:**@127.0.0.1:1/0 (PLANJURY_BROKER_URL): " in said
    assert "Traceback" not in said
    assert "secret" not in said
