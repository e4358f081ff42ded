"""Shared code of commands that start runs: reading arguments, carrying runs, progress."""

import sys
import time
from collections.abc import Iterable

from django.core.management.base import CommandError

from benchmarks.core.errors import UnknownName
from benchmarks.jobs.threads import owner_name
from benchmarks.models import Agent, Run
from benchmarks.runs.prepared import WORKABLE
from benchmarks.runs.selectors import RunProgress, runs_progress
from benchmarks.runs.worker import work_on_run


def find_agents(names: list[str]) -> list[Agent]:
    """Return agents by name, in the order given."""
    agents = Agent.objects.in_bulk(names, field_name="name")
    for name in names:
        if name not in agents:
            raise UnknownName("agent", name, sorted(Agent.objects.values_list("name", flat=True)))
    return [agents[name] for name in names]


def speed(progress: RunProgress) -> str:
    """Rate and time left in words, where they are known."""
    if progress.rate is None:
        return ""
    words = f", {progress.rate:.0f} a minute"
    return words if progress.left is None else f"{words}, {progress.left:.0f} s left"


def carry_run(run: Run) -> None:
    """Carry a run in this process; where workers share it, wait for them too."""
    while True:
        work_on_run(run_id=run.pk, owner=owner_name())
        run.refresh_from_db()
        progress = runs_progress([run])[run.pk]
        sys.stderr.write(
            f"\rrun {run.pk} {run.agent.name}: {progress.done} of {progress.total} done, "
            f"{progress.failed} failed{speed(progress)} "
        )
        if run.status not in WORKABLE or run.status == Run.Status.WAITING:
            break
        time.sleep(1)
    sys.stderr.write("\n")


def failed_lines(runs: Iterable[Run]) -> list[str]:
    """Return a line for each run of which no trajectory came to an end, because all failed."""
    return [
        f"run {pk}: {one.failed} of {one.total} trajectories failed, so there is nothing to count"
        for pk, one in runs_progress(list(runs)).items()
        if one.failed and not one.done
    ]


def refuse_failed(runs: Iterable[Run]) -> None:
    """End the command with an error where all trajectories of a run failed."""
    if lines := failed_lines(runs):
        raise CommandError("\n".join(lines))
