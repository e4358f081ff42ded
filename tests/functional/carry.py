"""A process that carries the newest run as far as it goes, for test_kill_worker.py."""

import django

django.setup()

from benchmarks.jobs.threads import owner_name  # noqa: E402
from benchmarks.models import Run  # noqa: E402  (needs the settings)
from benchmarks.runs.worker import work_on_run  # noqa: E402

if __name__ == "__main__":
    work_on_run(run_id=Run.objects.latest("pk").pk, owner=owner_name())
