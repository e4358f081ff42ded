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
PREPARE = f"""
from tests.factories.benchmarks import save_sample_dataset
save_sample_dataset({TASKS})
"""
RUN = ["run_benchmark", "Sample", "--agent", "forgetful", "--level", "high", "--seed", "3"]

# Everything that a trajectory is, but not when and in how many attempts it came about.
OUTCOMES = """
select task.external_id, trajectory.status, trajectory.termination, trajectory.turn_count,
       trajectory.seed, trajectory.metrics, trajectory.undefined, trajectory.payload
from benchmarks_trajectory trajectory join benchmarks_task task on task.id = task_id
order by task.external_id"""
TURNS = """
select task.external_id, turn."index", turn.text, turn.feedback, turn.payload, turn.is_final
from benchmarks_turn turn join benchmarks_trajectory trajectory on trajectory.id = trajectory_id
join benchmarks_task task on task.id = task_id order by 1, 2"""
VIOLATIONS = """
select task.external_id, turn."index", v.key, v.kind, v.text, v.revealed, v.new, v.repeated
from benchmarks_violation v join benchmarks_turn turn on turn.id = v.turn_id
join benchmarks_trajectory trajectory on trajectory.id = turn.trajectory_id
join benchmarks_task task on task.id = task_id order by 1, 2, 3"""
SCORES = """
select task.external_id, s.turn_index, s.seat, s.dimension, s.value, s.reason, judge.name,
       s.is_final
from benchmarks_judgescore s join benchmarks_trajectory trajectory on trajectory.id = trajectory_id
join benchmarks_answererversion judge on judge.id = s.judge_id
join benchmarks_task task on task.id = task_id order by 1, 2, 3, 4"""
REPLIES = """
select task.external_id, e.step, e.slot, e.role, e.seat, e.seed, e.ask_digest, e.state, e.text,
       e.value, e.reason
from benchmarks_exchange e join benchmarks_trajectory trajectory on trajectory.id = trajectory_id
join benchmarks_task task on task.id = task_id where e.state != 'lost' order by 1, 2, 3"""


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
        carry_out(place, "manage.py", "shell", "-v0", "-c", PREPARE)
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
        command = [str(Path(__file__).with_name("carry.py"))]
    carry_out(harried, *command)

    assert harried.read("select status from benchmarks_run") == [("done",)]
    assert harried.read("select count(*) from benchmarks_trajectory") == [(TASKS,)]
    for query in (OUTCOMES, TURNS, VIOLATIONS, SCORES, REPLIES):
        expected = calm.read(query)
        assert expected
        assert harried.read(query) == expected
    if not harried.database_url:
        assert harried.read("pragma integrity_check") == [("ok",)]
        assert harried.read("pragma foreign_key_check") == []
    held = "select count(*) from benchmarks_trajectory where lease_owner != ''"
    assert harried.read(held) == [(0,)]
