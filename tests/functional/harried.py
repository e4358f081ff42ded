"""A run on a rough endpoint whose workers are killed again and again, compared with a calm one.

``python -m tests.functional.harried`` plays it in full, on whatever database and broker the
environment names: 100 trajectories and 20 kills. The test of the same name plays a small one.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.servers import children, serving

# Chances by try; "500" with the other two make up what a bad day looks like.
ROUGH = {"500": 0.10, "429": 0.04, "stall": 0.01, "hang-up": 0.01}
PRICES = {"price_in": 1.0, "price_out": 2.0}
ROLES = ("world_judge", "user_judge", "rubric_judge", "simulator")
TIMEOUT = 2.0


@dataclass
class Trial:
    """A trial to be played, and its result."""

    trajectories: int = 100
    kills: int = 20
    seed: int = 20261121
    latency: float = 0.02
    hasty: bool = False
    say: Any = print
    found: dict[str, Any] = field(default_factory=dict)

    def play(self) -> dict[str, Any]:
        """A calm run, a harried one, a capped one; raises where one of the promises is broken."""
        from benchmarks.endpoints.services import create_endpoint
        from devtools.fake_endpoint.server import FakeServer

        with FakeServer(latency=self.latency) as server:
            values = {"parameters": {"max_tokens": 400}, "timeout": TIMEOUT, "concurrency": 16}
            create_endpoint(
                name="fake", title="Fake", base_url=server.base_url, model="fake",
                **values, **PRICES,
            )  # fmt: skip
            command = ("-m", "tests.hasty", "serve") if self.hasty else ()
            with serving(*command) as running:
                parent = running.process
                calm = self._carry(server, parent, shares={}, kills=0)
                harried = self._carry(server, parent, shares=ROUGH, kills=self.kills)
                self._compare(calm["run"], harried["run"])
                self._account(harried)
                cap = calm["committed"] * 0.4
                capped = self._carry(server, parent, shares=ROUGH, kills=self.kills // 4, cap=cap)
                self._capped(capped, cap)
        return self.found

    # --- playing ----------------------------------------------------------------------------------

    def _carry(
        self, server: Any, parent: "subprocess.Popen[bytes]", *, shares: Any, kills: int,
        cap: float | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        from benchmarks.models import Agent, Dataset, Exchange, Run
        from benchmarks.runs.services import start_runs

        rng = random.Random(self.seed)
        server.shares, server.counts = shares, type(server.counts)()
        began = time.monotonic()
        (run,) = start_runs(
            dataset=Dataset.objects.get(name="Sample"),
            agents=[Agent.objects.get(name="fake")],
            levels=["high"],
            roles=dict.fromkeys(ROLES, ["endpoint:fake"]),
            seed=7,
            cost_cap=cap,
        )
        settled = Exchange.objects.filter(trajectory__run=run, state="answered")
        # Kills fall between the first reply and the last, as far as that is known.
        whole = self.found.get("calm", {}).get("stored", 0) * (0.25 if cap else 1.0)
        due = sorted(rng.uniform(0.02, 0.9) * whole for _ in range(kills))
        died = 0
        while True:
            run.refresh_from_db()
            if run.status not in (Run.Status.QUEUED, Run.Status.RUNNING):
                break
            if time.monotonic() - began > 60 + 40 * (kills + 2):
                raise AssertionError(f"the run does not end: {run.status}, {settled.count()}")
            if died < len(due) and settled.count() >= due[died]:
                died += kill_worker(parent, rng)
                let_leases_lapse(run)
            time.sleep(0.05)
        left_alone(run)
        run.refresh_from_db()
        result = {
            "run": run,
            "kills": died,
            "seconds": round(time.monotonic() - began, 1),
            "stored": settled.count(),
            "committed": run.committed,
            "counts": server.counts,
            **server.counts.report(),
        }
        name = "capped" if cap else "harried" if kills else "calm"
        self.found[name] = {k: v for k, v in result.items() if k not in ("run", "counts")}
        self.found[name]["status"] = run.status
        self.say(f"{name}: {json.dumps(self.found[name])}")
        return result

    # --- judging ----------------------------------------------------------------------------------

    def _compare(self, calm: Any, harried: Any) -> None:
        before, after = fingerprint(calm), fingerprint(harried)
        self.found["sha256"] = after
        assert before == after, f"trajectories differ: {before} {after}"
        self.say(f"same trajectories, turns, violations, scores: SHA-256 {after[:16]}…")

    def _account(self, played: dict[str, Any]) -> None:
        """Every request that the server saw belongs to an attempt, and every attempt is told."""
        from django.db.models import F, Sum, Value
        from django.db.models.functions import Coalesce

        from benchmarks.models import Exchange, Run

        run = played["run"]
        assert run.status == Run.Status.DONE, run.status
        rows = Exchange.objects.filter(trajectory__run=run)
        assert not rows.filter(state="sent").exists()
        stored: Counter[int] = Counter()
        lost: Counter[int] = Counter()
        ended: dict[tuple[int, int, int], int] = {}
        for row in rows.order_by("trajectory", "step", "slot", "attempt"):
            key = (row.trajectory_id, row.step, row.slot)
            assert key not in ended, f"asked again although its reply is stored: {row}"
            number = row.seed % 2**31
            if row.state == "answered":
                ended[key] = row.attempt
                stored[number] += 1
            elif row.state == "lost":
                lost[number] += 1
        seen: Counter[str] = Counter()
        for number, tally in played["counts"].by_seed.items():
            beyond = tally["answered"] - stored[number]
            assert beyond >= 0, "a reply is stored that the server did not give"
            unknown = beyond + tally["broken"]
            assert unknown <= lost[number], "a call is not in the log"
            seen["answered"] += beyond
            seen["broken"] += tally["broken"]
        total = sum(lost.values())
        beyond = played["received"] - tally_refused(played) - sum(stored.values())
        account = {
            "unknown_outcome": total,
            "of_these_answered_by_the_server": seen["answered"],
            "of_these_stalled_or_broken_off": seen["broken"],
            "of_these_killed_before_they_left_or_between_tries": total - sum(seen.values()),
            "received_minus_refused_minus_stored": beyond,
        }
        assert beyond == sum(seen.values())
        self.found["account"] = account
        cost = Coalesce(F("cost"), F("most"), Value(0.0))
        recomputed = rows.aggregate(all=Sum(cost))["all"]
        assert abs(recomputed - run.committed) < 1e-9 * max(1.0, recomputed), (recomputed, run)
        assert self._billed(played) <= run.committed + 1e-9
        self.say(f"every request accounted for: {json.dumps(account)}")

    def _capped(self, played: dict[str, Any], cap: float) -> None:
        from benchmarks.models import Run

        run = played["run"]
        billed = self._billed(played)
        assert run.status == Run.Status.PAUSED and "cost cap" in run.problem, run.status
        # Sums of costs differ in their last digit with the order in which calls ended.
        assert billed <= run.committed + 1e-9 and run.committed <= cap, (billed, run, cap)
        self.found["cap"] = {"cap": cap, "committed": run.committed, "billed_by_server": billed}
        self.say(f"the cap holds: {json.dumps(self.found['cap'])}")

    def _billed(self, played: dict[str, Any]) -> float:
        counts = played["counts"]
        return (
            float(counts.tokens_in * PRICES["price_in"] + counts.tokens_out * PRICES["price_out"])
            / 1e6
        )


def tally_refused(played: dict[str, Any]) -> int:
    return sum(tally["refused"] for tally in played["counts"].by_seed.values())


def kill_worker(parent: "subprocess.Popen[bytes]", rng: random.Random) -> int:
    """``kill -9`` of the background worker: the child that has no children of its own."""
    time.sleep(rng.uniform(0, 0.05))
    for pid in children(parent.pid):
        if not children(pid):
            os.kill(pid, signal.SIGKILL)
            return 1
    return 0


def let_leases_lapse(run: Any) -> None:
    """Let leases expire, as thirty seconds of waiting would."""
    from datetime import UTC, datetime

    time.sleep(0.2)
    run.trajectories.filter(status="running").update(lease_until=datetime(2000, 1, 1, tzinfo=UTC))


def left_alone(run: Any) -> None:
    """Wait until no worker holds a trajectory of the run: what is under way is still logged."""
    limit = time.monotonic() + 60
    while run.trajectories.exclude(lease_owner="").exists() and time.monotonic() < limit:
        time.sleep(0.1)


def fingerprint(run: Any) -> str:
    """SHA-256 over all that a run's trajectories are, but not when or how they came about."""
    from benchmarks.models import JudgeScore, Trajectory, Turn, Violation

    mine = {"trajectory__run": run}
    task = "trajectory__task__external_id"
    queries = [
        Trajectory.objects.filter(run=run).order_by("task__external_id").values_list(
            "task__external_id", "status", "termination", "turn_count", "seed", "metrics",
            "undefined", "payload",
        ),
        Turn.objects.filter(**mine).order_by(task, "index").values_list(
            task, "index", "text", "feedback", "payload", "is_final"
        ),
        Violation.objects.filter(turn__trajectory__run=run)
        .order_by(f"turn__{task}", "turn__index", "key")
        .values_list(f"turn__{task}", "turn__index", "key", "kind", "revealed", "new", "repeated"),
        JudgeScore.objects.filter(run=run)
        .order_by(task, "turn_index", "seat", "dimension")
        .values_list(task, "turn_index", "seat", "dimension", "value", "reason", "is_final"),
    ]  # fmt: skip
    digest = hashlib.sha256()
    for rows in queries:
        found = [list(row) for row in rows]
        assert found
        digest.update(json.dumps(found, sort_keys=True).encode())
    return digest.hexdigest()


def prepare(trajectories: int) -> None:
    """Django on the environment's database, with so many tasks in it."""
    os.environ.setdefault("PLANJURY_DATA_DIR", tempfile.mkdtemp(prefix="planjury-trial-"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.local"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    save_tasks(trajectories)


def save_tasks(count: int) -> Any:
    """A dataset of so many tasks: those of the demo, over and over, under other names."""
    from benchmarks.datasets.services import save_dataset
    from benchmarks.systems.adaplanbench.demo import load_demo_tasks

    shipped = load_demo_tasks()
    tasks = []
    for number in range(count):
        task, profiles = shipped[number % len(shipped)]
        again = replace(task, id=f"{task.id}-{number:03}", prompt=f"{task.prompt} ({number})")
        tasks.append((again, profiles))
    return save_dataset(
        system="adaplanbench",
        name="Sample",
        version="",
        source="Written for the tests",
        licence="",
        checksum=f"harried-{count}",
        tasks=tasks,
        is_demo=False,
    ).dataset


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trajectories", type=int, default=100)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    parser.add_argument("--hasty", action="store_true", help="as in tests/hasty.py: wait less")
    options = parser.parse_args()
    prepare(options.trajectories)
    found = Trial(options.trajectories, options.kills, hasty=options.hasty).play()
    if options.json:
        options.json.write_text(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
