"""CPU cost of a call in a run on an endpoint: asked over HTTP, read, stored, with all that belongs.

Run by ``make bench``. A run of AdaPlanBench whose five roles are all filled by the fake endpoint (a
process of its own, whose CPU does not count) goes through the product's own services with the
shipped settings, on SQLite and, where ``DATABASE_URL`` names one, on that database. Beside it: as
many requests of the same size through the bare HTTP library.
"""

import tempfile
import time

from benchmarks.llm.connections import load_client
from tests.bench.calling import bare, fake_endpoint
from tests.bench.storing import machine, set_up, tell

TASKS, BUDGET_MS = 30, 8.0
ROLES = ("world_judge", "user_judge", "rubric_judge", "simulator")


def measure(url: str) -> tuple[int, float, float]:
    """Calls stored, and CPU and wall milliseconds for each."""
    from benchmarks.endpoints.services import create_endpoint
    from benchmarks.models import Agent, Exchange, Run
    from benchmarks.runs.services import start_runs
    from benchmarks.runs.worker import work_on_run
    from tests.functional.harried import save_tasks

    prices = {"price_in": 1.0, "price_out": 2.0, "parameters": {"max_tokens": 400}}
    create_endpoint(name="bench", title="Bench", base_url=url, model="fake", **prices)
    (run,) = start_runs(
        dataset=save_tasks(TASKS),
        agents=[Agent.objects.get(name="bench")],
        levels=["high"],
        roles=dict.fromkeys(ROLES, ["endpoint:bench"]),
        cost_cap=1000.0,
        wake=False,
    )
    cpu, wall = time.process_time(), time.perf_counter()
    work_on_run(run_id=run.pk, owner="bench")
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    assert Run.objects.get(pk=run.pk).status == Run.Status.DONE
    calls = Exchange.objects.filter(trajectory__run=run, state="answered").count()
    return calls, cpu / calls * 1000, wall / calls * 1000


def floor(url: str, calls: int) -> float:
    """CPU milliseconds of a bare request and its reply."""
    from benchmarks.llm.config import EndpointConfig

    ask = bare(EndpointConfig(name="bench", base_url=url, model="fake", timeout=60))
    ask(0)
    cpu = time.process_time()
    for seed in range(calls):
        ask(seed)
    return (time.process_time() - cpu) / calls * 1000


def main() -> None:
    """Print the figures."""
    load_client()  # measured by calling.py

    with tempfile.TemporaryDirectory() as folder, fake_endpoint() as url:
        set_up(folder)
        from django.db import connection

        print(machine())
        calls, cpu, wall = measure(url)
        least = floor(url, 300)
        print(
            f"{TASKS} episodes, {calls} calls over HTTP, stored on {connection.vendor}: "
            f"{cpu:.2f} ms CPU ({wall:.2f} ms wall) per call; bare HTTP {least:.2f} ms, "
            f"ratio {cpu / least:.1f}; budget {BUDGET_MS} ms"
        )
    tell([f"{cpu:.2f} ms of CPU per call"] if cpu > BUDGET_MS else [])


if __name__ == "__main__":
    main()
