"""Measure time and CPU of a start: the first with empty data, and the next."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PORT = "8191"
URL = f"http://localhost:{PORT}/accounts/login/"


def children_cpu() -> float:
    """Seconds of processor time of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def start_and_stop(folder: str) -> tuple[float, float, float]:
    """Seconds until the first page, seconds to stop, seconds of processor time in all."""
    environment = os.environ | {"PLANJURY_DATA_DIR": folder, "PORT": PORT, "PLANJURY_DEMO": "0"}
    spent, began = children_cpu(), time.monotonic()
    server = subprocess.Popen(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while server.poll() is None:
        try:
            urllib.request.urlopen(URL, timeout=30).close()
            break
        except urllib.error.URLError:
            time.sleep(0.02)
    else:
        sys.exit(f"The server ended with {server.returncode}; is port {PORT} in use?")
    answered = time.monotonic() - began
    time.sleep(1)  # the worker is a moment behind the web server
    stopping = time.monotonic()
    server.send_signal(signal.SIGTERM)
    server.wait()
    return answered, time.monotonic() - stopping, children_cpu() - spent


def main() -> None:
    """Print one line for each start."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("first start", "next start"):
            answered, stopped, cpu = start_and_stop(folder)
            print(f"{name}: page after {answered:.1f} s, stop {stopped:.1f} s, CPU {cpu:.1f} s")


if __name__ == "__main__":
    main()
