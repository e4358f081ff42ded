"""``kill -9`` at moments of a run: what comes of it is what an undisturbed run brings."""

import random
import signal
import time
from pathlib import Path

import pytest

from tests.installations import Install, Installation

pytestmark = [pytest.mark.slow, pytest.mark.embedded]

# In the middle of a trajectory, and over one that was killed before: four kills meet both. What a
# kill after any one write does is in tests/contracts/test_every_system.py.
KILLS = 4
TASKS = 10
# A worker on branches dies after so many statements, the next one after twice as many, and so on.
LIFETIME = 8
PREPARE = """
from tests.factories.benchmarks import make_user, save_sample_dataset
save_sample_dataset({tasks})
make_user("researcher")
"""
RUN = ["run_benchmark", "Sample", "--agent", "forgetful", "--level", "high", "--seed", "3"]

CARRY = str(Path(__file__).with_name("carry.py"))
PLAN = "1. Fill the kettle.\n2. Switch the kettle on.\n3. Pour the water."
BRANCH = ["branch_trajectory", "1", "--turn", "2", "--text", PLAN, "--seed", "3"]
BRANCH += ["--as", "researcher"]

# Everything that a trajectory is, but not when and in how many attempts it came about.
OUTCOMES = """
select trajectory.run_id, trajectory.attempt, task.external_id,
       trajectory.status, trajectory.termination, trajectory.turn_count,
       trajectory.seed, trajectory.metrics, trajectory.undefined, trajectory.payload
from benchmarks_trajectory trajectory join benchmarks_task task on task.id = task_id
order by 1, 2, 3"""
TURNS = """
select trajectory.run_id, trajectory.attempt, task.external_id,
       turn."index", turn.text, turn.feedback, turn.payload, turn.is_final
from benchmarks_turn turn join benchmarks_trajectory trajectory on trajectory.id = trajectory_id
join benchmarks_task task on task.id = task_id order by 1, 2, 3, 4"""
VIOLATIONS = """
select trajectory.run_id, trajectory.attempt, task.external_id,
       turn."index", v.key, v.kind, v.text, v.revealed, v.new, v.repeated
from benchmarks_violation v join benchmarks_turn turn on turn.id = v.turn_id
join benchmarks_trajectory trajectory on trajectory.id = turn.trajectory_id
join benchmarks_task task on task.id = task_id order by 1, 2, 3, 4, 5"""
SCORES = """
select trajectory.run_id, trajectory.attempt, task.external_id,
       s.turn_index, s.seat, s.dimension, s.value, s.reason, judge.name,
       s.is_final
from benchmarks_judgescore s join benchmarks_trajectory trajectory on trajectory.id = trajectory_id
join benchmarks_answererversion judge on judge.id = s.judge_id
join benchmarks_task task on task.id = task_id order by 1, 2, 3, 4, 5, 6"""
REPLIES = """
select trajectory.run_id, trajectory.attempt, task.external_id,
       e.step, e.slot, e.role, e.seat, e.seed, e.ask_digest, e.state, e.text, e.value, e.reason
from benchmarks_exchange e join benchmarks_trajectory trajectory on trajectory.id = trajectory_id
join benchmarks_task task on task.id = task_id where e.state != 'lost' order by 1, 2, 3, 4, 5"""


ROWS = (OUTCOMES, TURNS, VIOLATIONS, SCORES, REPLIES)


def replies(place: Installation) -> int:
    (row,) = place.read("select count(*) from benchmarks_exchange where state = 'answered'")
    return int(row[0])


def let_leases_lapse(place: Installation) -> None:
    """Let leases expire, as thirty seconds of waiting would."""
    place.change(
        "update benchmarks_trajectory set lease_until = '2000-01-01' where status = 'running'"
    )


def carry_out(place: Installation, *command: str) -> None:
    assert place.fork(*command).wait() == 0, place.log.read_text()


def test_kills_change_nothing(install: Install) -> None:
    calm, harried = install("calm"), install("harried")
    for place in (calm, harried):
        carry_out(place, "manage.py", "shell", "-v0", "-c", PREPARE.format(tasks=TASKS))
    carry_out(calm, "manage.py", *RUN, "--wait")
    in_all = replies(calm)

    rng = random.Random(20261121)
    command = ["manage.py", *RUN, "--wait"]
    for _ in range(KILLS):
        process = harried.fork(*command)
        wanted = replies(harried) + rng.randint(1, in_all // (KILLS + 2))
        limit = time.monotonic() + 60
        while replies(harried) < wanted:
            assert process.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < limit, "the run does not move"
        time.sleep(rng.uniform(0, 0.01))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        let_leases_lapse(harried)
        command = [CARRY]
    carry_out(harried, *command)

    assert harried.read("select count(*) from benchmarks_trajectory") == [(TASKS,)]
    assert_same(calm, harried)


@pytest.mark.parametrize(
    ("more", "branches"),
    [pytest.param([], 1, id="branch"), pytest.param(["--replays", "4", "--compare"], 8, id="fork")],
)
def test_kills_change_nothing_of_a_branch(install: Install, more: list[str], branches: int) -> None:
    calm, harried = install("calm"), install("harried")
    for place in (calm, harried):
        carry_out(place, "manage.py", "shell", "-v0", "-c", PREPARE.format(tasks=1))
        carry_out(place, "manage.py", *RUN, "--wait")
    original = {query: harried.read(query) for query in ROWS}
    carry_out(calm, "manage.py", *BRANCH, *more, "--wait")

    carry_out(harried, "manage.py", *BRANCH, *more)
    # Each worker lives longer than the one before, so that they get to the end.
    deaths = 0
    while (code := harried.fork(CARRY, str(LIFETIME * (deaths + 1))).wait()) != 0:
        assert code == -signal.SIGKILL, harried.log.read_text()
        let_leases_lapse(harried)
        deaths += 1
    assert deaths >= KILLS, "it ended before it could be killed"

    assert harried.read("select count(*) from benchmarks_branch") == [(branches,)]
    assert_same(calm, harried)
    for query, rows in original.items():
        assert [row for row in harried.read(query) if row[0] == rows[0][0]] == rows
    carry_out(harried, "manage.py", "verify", "--all")


def assert_same(calm: Installation, harried: Installation) -> None:
    """Both hold the same, and nothing is held by a worker or half-written."""
    for query in ROWS:
        expected = calm.read(query)
        assert expected
        assert harried.read(query) == expected
    assert harried.read("select status from benchmarks_run where status != 'done'") == []
    if not harried.database_url:
        assert harried.read("pragma integrity_check") == [("ok",)]
        assert harried.read("pragma foreign_key_check") == []
    held = "select count(*) from benchmarks_trajectory where lease_owner != ''"
    assert harried.read(held) == [(0,)]
