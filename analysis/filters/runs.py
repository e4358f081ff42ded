"""The runs that a page takes from a choice, and facts about all of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count

from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.experiments.selectors import taken_runs
from benchmarks.models import Experiment, Run, Trajectory

FINISHED = (Run.Status.DONE, Run.Status.ATTENTION)
UNFINISHED = (Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.PAUSED, Run.Status.WAITING)


# How a note begins that names the experiment which a page chose.
SHOWN = "Shown is "
# Of what somebody changed while it was played on.
BRANCHES = "Branches are not counted: "


def is_judged(system: str) -> bool:
    """Return whether judges have a part in a system."""
    return system in SYSTEMS and any(role.judges for role in get_system(system).roles)


def trajectory_counts(
    runs: Sequence[int], left_out: Mapping[int, frozenset[int]] | None = None
) -> dict[int, dict[str, int]]:
    """Return the trajectories by run and status; ``left_out`` are tasks that a run leaves out."""
    counts: dict[int, dict[str, int]] = {pk: {} for pk in runs}
    if runs:
        rows = Trajectory.objects.filter(run__in=runs)
        for pk, tasks in (left_out or {}).items():
            rows = rows.exclude(run=pk, task__in=tasks)
        statuses = rows.values_list("run", "status")
        for pk, status, count in statuses.annotate(n=Count("pk")).order_by():
            counts[pk][status] = count
    return counts


def newest_each(
    rows: Sequence[Run],
    counts: Mapping[int, Mapping[str, int]],
    labels: Mapping[str, str],
    names: Mapping[int, str],
) -> tuple[list[Run], list[str]]:
    """Return the newest finished run of each agent, else the newest with anything done.

    A run of an experiment that compares agents goes before one that was started by itself. Runs of
    one agent are not put together: their trajectories share tasks. ``names`` are the agents by run,
    ``labels`` what to call them.
    """
    together = {experiment.pk for experiment in comparing(rows)}
    by_agent: dict[str, list[Run]] = {}
    for run in rows:
        by_agent.setdefault(names[run.pk], []).append(run)
    kept, left_out = [], []
    for name, runs in by_agent.items():
        begun = [run for run in runs if counts[run.pk].get(Trajectory.Status.DONE)]
        if not begun:
            left_out += [f"{labels[name]}: run {run.pk} has finished nothing yet" for run in runs]
            continue
        best = max(
            begun,
            key=lambda run: (run.status in FINISHED, run.experiment_id in together, run.pk),
        )
        kept.append(best)
        others = [str(run.pk) for run in runs if run is not best]
        if others:
            word = "runs" if len(others) > 1 else "run"
            left_out.append(f"{labels[name]}: {word} {', '.join(others)}; shown is {best.pk}")
    return kept, left_out


def experiments_of(rows: Sequence[Run]) -> dict[Experiment, list[Run]]:
    """Return the runs of each experiment, with those that it took from others; the oldest first."""
    by_experiment: dict[Experiment, list[Run]] = {}
    for run in rows:
        if run.experiment is not None:
            by_experiment.setdefault(run.experiment, []).append(run)
    for experiment, own in by_experiment.items():
        taken = set(taken_runs(experiment))
        own += [run for run in rows if run.pk in taken and run.experiment_id != experiment.pk]
    return dict(sorted(by_experiment.items(), key=lambda item: item[0].pk))


def comparing(rows: Sequence[Run]) -> list[Experiment]:
    """Return the experiments that compare two agents or more, the oldest first.

    Those of which a run is still going on count only where no other has ended. A run that somebody
    started by itself is an experiment with one agent: it compares nothing.
    """
    several = {
        experiment: runs
        for experiment, runs in experiments_of(rows).items()
        if len({run.agent_id for run in runs if run.status in FINISHED}) > 1
    }
    ended = [
        experiment
        for experiment, runs in several.items()
        if not any(run.status in UNFINISHED for run in runs)
    ]
    return ended or list(several)


def agent_labels(names: Mapping[str, str]) -> dict[str, str]:
    """Return a label for each agent: its title, with the name where two share one."""
    titles = Counter(names.values())
    return {
        name: f"{title} ({name})" if titles[title] > 1 else title or name
        for name, title in names.items()
    }


# A mean of exactly the threshold must pass, though thirds are not exact in binary.
NEARLY = 1e-9


class PassThreshold(NamedTuple):
    """The mean that passes in a run, and whether every judge must have scored for it to count."""

    threshold: float
    everybody: bool


def pass_threshold(settings: Mapping[str, Any]) -> PassThreshold | None:
    """Return the threshold in a run's settings; None for systems without one."""
    tau = settings.get("tau")
    return (
        None if tau is None else PassThreshold(float(tau), settings.get("quorum", "all") == "all")
    )
