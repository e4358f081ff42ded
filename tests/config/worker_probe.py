"""A real worker with one task, for test_worker.py: notes that it began, may hang, notes its end."""

import time
from pathlib import Path

import django

django.setup()

from config.celery import app  # noqa: E402  (needs the settings)
from config.processes import run_worker  # noqa: E402


@app.task(name="probe.mark")
def mark(folder: str) -> None:
    """Append to ``began``; hang while there is a file ``hang``; append to ``done``."""
    place = Path(folder)
    with (place / "began").open("a") as file:
        file.write("x")
    while (place / "hang").exists():
        time.sleep(0.05)
    with (place / "done").open("a") as file:
        file.write("x")


if __name__ == "__main__":
    run_worker()
