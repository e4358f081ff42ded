"""CPU cost of a call to an endpoint over HTTP, and how many calls at once one process carries.

Run by ``make bench``. The fake endpoint is a process of its own, whose CPU does not count. Beside
each figure: the same requests through the bare HTTP library, as the cost of HTTP itself.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from benchmarks.core.types import Ask, Expect, Message
from benchmarks.llm.chat import request_body
from benchmarks.llm.config import EndpointConfig
from benchmarks.llm.connections import close_connections, load_client
from benchmarks.llm.endpoint import EndpointAnswerer
from tests.bench.storing import machine

CALLS, AT_ONCE, BUDGET_MS = 400, 200, 8.0
ROOT = Path(__file__).resolve().parents[2]
# Four kilobytes of brief and dialogue, as a judge gets.
ASK = Ask(
    "agent",
    (Message("system", "You help a person. " * 150), Message("user", "How do I do it? " * 60)),
    Expect("plan"),
)


@contextmanager
def fake_endpoint(*options: str) -> Iterator[str]:
    """The address of a fake endpoint in a process of its own."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "manage.py", "fake_endpoint", "--port", "0", *options]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment)
    assert server.stdout is not None
    found = re.search(r"http://\S+/v1", server.stdout.readline())
    assert found
    try:
        yield found[0]
    finally:
        server.terminate()
        server.wait(20)


def measure(call: Callable[[int], object], threads: int) -> tuple[float, float]:
    """Milliseconds of CPU per call, and calls per second."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(call, range(threads)))  # connections open, modules loaded
        cpu, wall = time.process_time(), time.perf_counter()
        list(pool.map(call, range(CALLS)))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return cpu / CALLS * 1000, CALLS / wall


def bare(config: EndpointConfig) -> Callable[[int], object]:
    """The same request without limits, retries, guards or reading."""
    import httpcore2

    pool = httpcore2.ConnectionPool(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    url = f"{config.base_url}/chat/completions"
    headers = {"content-type": "application/json"}

    def call(seed: int) -> object:
        content = json.dumps(request_body(config, ASK, seed, {})).encode()
        return json.loads(pool.request("POST", url, headers=headers, content=content).content)

    return call


def main() -> None:
    """Print the figures."""
    began = time.process_time()
    load_client()
    loading = time.process_time() - began
    worst = 0.0
    with fake_endpoint() as url:
        config = EndpointConfig(
            name="bench", base_url=url, model="fake", concurrency=AT_ONCE, timeout=60
        )
        who = EndpointAnswerer(config)
        print(machine())
        print(f"loading the library, once per process: {loading:.2f} s of CPU")
        head = f"{'threads':>8} {'CPU ms/call':>12} {'calls/s':>8} {'bare HTTP, CPU ms/call':>23}"
        print(f"{head} {'ratio':>6}")
        for threads in (1, 16, AT_ONCE):
            cpu, rate = measure(lambda seed: who.answer(ASK, seed), threads)
            base, _ = measure(bare(config), threads)
            worst = max(worst, cpu)
            print(f"{threads:>8} {cpu:>12.2f} {rate:>8.0f} {base:>23.2f} {cpu / base:>6.1f}")
        close_connections()
    print(f"budget: {BUDGET_MS} ms of CPU per call: {'kept' if worst <= BUDGET_MS else 'MISSED'}")


if __name__ == "__main__":
    main()
