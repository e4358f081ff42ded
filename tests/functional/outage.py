"""Three rubric judges at an endpoint on a bad day: a budget, a rate limit, an outage, nonsense.

``python -m tests.functional.outage`` plays the same run four times over real HTTP: on a calm
endpoint, under a rate limit, with a cap that is reached and raised, and through an outage of ten
minutes. Time is compressed a hundredfold: that of the outage, and every pause of the client. One of
the judges answers every other request with nonsense. All four must come to the same trajectories,
turns, violations and scores, every attempt must be accounted for, and ``verify`` must find nothing.
The test of the same name plays a small one.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.llm.retries import RetryPolicy
from devtools.fake_endpoint.models import Fault, Model
from devtools.fake_endpoint.replies import Reader
from devtools.fake_endpoint.server import FakeServer
from tests.functional.harried import PRICES, fingerprint, prepare, save_tasks

COMPRESSED = 100.0
OUTAGE_SECONDS = 600 / COMPRESSED
_USUAL = RetryPolicy()
QUICK = RetryPolicy(
    tries=_USUAL.tries,
    base=_USUAL.base / COMPRESSED,
    longest=_USUAL.longest / COMPRESSED,
    patience=_USUAL.patience / COMPRESSED,
)
# At one address; the third judge cannot always be understood.
MODELS = {"agent": "fake", "first": "fake-1", "second": "fake-2", "third": "mumbles"}
ROLES = {
    "world_judge": ["endpoint:agent"],
    "user_judge": ["endpoint:agent"],
    "simulator": ["endpoint:agent"],
    "rubric_judge": ["endpoint:first", "endpoint:second", "endpoint:third"],
}
DIMENSIONS = 8


class Weather(FakeServer):
    """A fake endpoint that refuses everything for a stretch: from a request on, until it is over.

    ``refused`` counts what it turned away.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.calm()

    def calm(self, shares: dict[Fault, float] | None = None, at_once: int = 0) -> None:
        """Begin anew, with these chances of faults."""
        self.counts, self.shares, self.at_once = type(self.counts)(), shares or {}, at_once
        self.after: int | None = None
        self.over: Callable[[], bool] = lambda: True
        self.refused, self.began = 0, 0.0

    def fault_of(self, reader: Reader, model: Model, number: int) -> Fault:
        with self.lock:
            if self.after is not None and self.counts.received > self.after:
                self.began = self.began or time.monotonic()
                if not self.over():
                    self.refused += 1
                    return "503"
        return super().fault_of(reader, model, number)


@contextmanager
def hasty() -> Iterator[None]:
    """Endpoints are tried again as often as always, after a hundredth of the time."""
    from benchmarks.endpoints import services as endpoints

    made = partial(endpoints.EndpointAnswerer, policy=QUICK)
    with patch.object(endpoints, "EndpointAnswerer", made):
        yield


@dataclass
class Trial:
    """A trial to be played on ``dataset`` with so many workers, and its result."""

    dataset: Any
    server: Weather
    workers: int = 4
    settings: dict[str, Any] = field(default_factory=lambda: {"reply_attempts": 2})
    over: Callable[[Weather], bool] = lambda server: (
        time.monotonic() - server.began > OUTAGE_SECONDS
    )
    say: Any = print
    found: dict[str, Any] = field(default_factory=dict)

    def play(self) -> dict[str, Any]:
        """All four; raises where one of the promises is broken."""
        from benchmarks.models import Run

        self._endpoints()
        with hasty():
            self.server.calm()
            calm = self._settle("calm", self._start())
            self.server.calm({"429": 0.2}, at_once=4)
            self._same(calm, self._settle("rate limit", self._start()))
            assert self.found["rate limit"]["faults"]["429"] > 0

            self.server.calm()
            cap = calm.committed * 0.4
            capped = self._carry(self._start(cap))
            assert capped.status == Run.Status.PAUSED and "cost cap" in capped.problem
            billed = self._billed()
            assert 0 < billed <= capped.committed + 1e-9, (billed, capped.committed)
            at_cap = capped.committed
            self._raise(capped, calm.committed * 3)
            self._same(calm, self._settle("budget", capped))
            self.found["budget"] |= {"cap": cap, "committed_at_cap": at_cap}

            self.server.calm()
            self.server.after, self.server.over = 5, lambda: self.over(self.server)
            self._same(calm, self._settle("outage", self._start()))
            assert self.found["outage"]["states"]["failed"] > 0
            self.found["outage"]["refused"] = self.server.refused
        self.say(json.dumps(self.found, indent=2))
        return self.found

    # --- playing ----------------------------------------------------------------------------------

    def _endpoints(self) -> None:
        from benchmarks.endpoints.services import create_endpoint

        for name, model in MODELS.items():
            create_endpoint(
                name=name, title=name.title(), base_url=self.server.base_url, model=model,
                parameters={"max_tokens": 400}, timeout=5.0, concurrency=8, **PRICES,
            )  # fmt: skip

    def _start(self, cap: float | None = None) -> Any:
        from benchmarks.models import Agent
        from benchmarks.runs.services import start_runs

        (run,) = start_runs(
            dataset=self.dataset,
            agents=[Agent.objects.get(name="agent")],
            levels=["high"],
            roles=ROLES,
            settings=self.settings,
            seed=7,
            cost_cap=cap,
            wake=False,
        )
        return run

    def _carry(self, run: Any) -> Any:
        """Carry the run as far as it goes; its committed cost must stay below its cap."""
        from benchmarks.runs.worker import work_on_run

        if self.workers == 1:
            work_on_run(run_id=run.pk, owner="only")
        else:
            with ThreadPoolExecutor(self.workers) as pool:
                owners = [f"worker {number}" for number in range(self.workers)]
                done = [pool.submit(_work, run.pk, owner) for owner in owners]
                while not all(each.done() for each in done):
                    self._within(run)
                    time.sleep(0.02)
                for each in done:
                    each.result()
        self._within(run)
        return run

    def _within(self, run: Any) -> None:
        run.refresh_from_db()
        assert run.cost_cap is None or run.committed <= run.cost_cap, (run.committed, run.cost_cap)

    def _raise(self, run: Any, cap: float) -> None:
        from benchmarks.models import Run
        from benchmarks.runs.services import change_cost_cap

        change_cost_cap(run=run, cap=cap)
        assert run.status == Run.Status.QUEUED, run.status

    def _settle(self, name: str, run: Any) -> Any:
        """Carry a run to its end, taking up again what was let down, and account for it."""
        from benchmarks.models import Run, Trajectory
        from benchmarks.runs.services import retry_trajectory

        began, taken_up = time.monotonic(), 0
        self._carry(run)
        while run.status == Run.Status.ATTENTION:
            assert taken_up < 1000, "it does not end"
            for row in run.trajectories.filter(status=Trajectory.Status.FAILED):
                assert "503" in row.problem or "server" in row.problem, row.problem
                retry_trajectory(trajectory=row)
                taken_up += 1
            self._carry(run)
        assert run.status == Run.Status.DONE, (run.status, run.problem)
        self.found[name] = {
            "seconds": round(time.monotonic() - began, 1),
            "taken_up_again": taken_up,
            **self._account(run),
        }
        return run

    # --- judging ----------------------------------------------------------------------------------

    def _same(self, first: Any, second: Any) -> None:
        assert fingerprint(first) == fingerprint(second), "trajectories differ"

    def _account(self, run: Any) -> dict[str, Any]:
        """Counts that add up: requests, attempts, scores, and what every metric rests on."""
        from benchmarks.models import Exchange
        from benchmarks.runs.selectors import run_metrics
        from benchmarks.verification.services import SAME, verify_run

        rows = list(Exchange.objects.filter(trajectory__run=run).order_by("pk"))
        states = Counter(row.state for row in rows)
        told = ("answered", "unreadable", "declined", "failed", "lost")
        assert len(rows) == sum(states[state] for state in told), states
        received = self.server.counts.received
        assert received == sum(row.tries for row in rows), "a request is not in the log"
        cost = sum(row.cost if row.cost is not None else row.most or 0.0 for row in rows)
        assert abs(cost - run.committed) < 1e-9 * max(1.0, cost), (cost, run.committed)
        assert self._billed() <= run.committed + 1e-9
        scores = self._scores(run, rows)
        metrics = run_metrics(run)
        left_out = {}
        for name, metric in metrics["metrics"].items():
            assert metric["n"] + sum(metric["excluded"].values()) == metrics["trajectories"], name
            left_out[name] = sum(metric["excluded"].values())
        verified = verify_run(run=run)
        assert verified.counts == {SAME: metrics["trajectories"]}, verified.findings
        return {
            "requests": received,
            "faults": dict(self.server.counts.faults),
            "attempts": len(rows),
            "states": dict(states),
            **scores,
            "trajectories": metrics["trajectories"],
            "without_acc": left_out["accurate"],
            "committed": run.committed,
            "verified": verified.counts[SAME],
        }

    def _scores(self, run: Any, rows: list[Any]) -> dict[str, int]:
        """Turns times judges times dimensions; none is unscored without a reason in the log."""
        from benchmarks.models import JudgeScore, Turn

        scores = JudgeScore.objects.filter(run=run)
        turns = Turn.objects.filter(trajectory__run=run).count()
        seats = len(ROLES["rubric_judge"])
        assert scores.count() == turns * seats * DIMENSIONS
        last = {(r.trajectory_id, r.step, r.slot): r for r in rows if r.role == "rubric_judge"}
        assert len(last) == turns * seats
        unreadable = sum(row.state == "unreadable" for row in last.values())
        withheld = sum(
            value is None
            for row in last.values()
            if row.state == "answered"
            for value in row.value["scores"].values()
        )
        unscored = scores.filter(value=None)
        assert unscored.count() == unreadable * DIMENSIONS + withheld
        assert not unscored.filter(reason="").exists()
        return {
            "turns": turns,
            "scores": scores.count(),
            "judges_not_understood": unreadable,
            "unscored": unscored.count(),
        }

    def _billed(self) -> float:
        counts = self.server.counts
        spent = counts.tokens_in * PRICES["price_in"] + counts.tokens_out * PRICES["price_out"]
        return float(spent) / 1e6


def _work(run_id: int, owner: str) -> None:
    from django.db import connection

    from benchmarks.runs.worker import work_on_run

    try:
        work_on_run(run_id=run_id, owner=owner)
    finally:
        connection.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trajectories", type=int, default=40)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    options = parser.parse_args()
    prepare(0)
    with Weather(retry_after=str(1 / COMPRESSED)) as server:
        trial = Trial(save_tasks(options.trajectories), server, options.workers)
        found = trial.play()
    if options.json:
        options.json.write_text(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
