"""``python -m tests.hasty COMMAND…``: manage.py's commands, with less time between their tries.

The product looks every ten seconds for work that a dead process held, and waits longer each time
before it starts a child that died again. Tests that kill processes would wait for little else, so
here it looks twice a second and never waits longer; what it does then is the same.
"""

import sys
from datetime import timedelta

import django

django.setup()

from django.core.management import execute_from_command_line  # noqa: E402  (needs the settings)

from benchmarks.jobs import services as jobs  # noqa: E402
from config import broker, server, supervisor  # noqa: E402

server.SWEEP_SECONDS = broker.RECOVERY_SECONDS = 0.5
jobs.WAKE_AGAIN_AFTER = timedelta(seconds=1)
supervisor.LONGEST_DELAY_SECONDS = supervisor.FIRST_DELAY_SECONDS

if __name__ == "__main__":
    execute_from_command_line(["manage.py", *sys.argv[1:]])
