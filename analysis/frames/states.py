"""The states of plans from refinement on: whether each was valid and passed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models.fields.json import KeyTransform

from analysis.filters.selection import ChosenRun
from analysis.stats.comparison.refinement import State
from benchmarks.models import Trajectory

NO_VERDICT = "whether the last plan is valid is unknown"
NO_STATES = "the states of its plans were not recorded"


@dataclass(frozen=True)
class Chains:
    """A chain per trajectory, with its agent and task; ``left_out`` counts those without one."""

    labels: list[str] = field(default_factory=list)
    tasks: list[int] = field(default_factory=list)
    chains: list[tuple[State, ...]] = field(default_factory=list)
    left_out: Mapping[str, int] = field(default_factory=dict)


def refinement_chains(runs: Sequence[ChosenRun], most: int) -> Chains:
    """The states of every finished trajectory from its first valid plan on, or its last alone.

    Refinement begins after the first valid plan, so that plan is the state before any extra turn.
    """
    labels = {run.rejudged_by or run.pk: run.label for run in runs}
    rows = (
        Trajectory.objects.filter(run__in=list(labels), status=Trajectory.Status.DONE)
        .annotate(states=KeyTransform("states", "payload"))
        .order_by("pk")
        .values_list("run", "task", "metrics", "states")
    )
    found = Chains()
    left: Counter[str] = Counter()
    for run, task, metrics, states in rows:
        if metrics.get("valid") is None:
            left[NO_VERDICT] += 1
        elif not states:
            left[NO_STATES] += 1
        else:
            first = next((i for i, s in enumerate(states) if s["valid"]), len(states) - 1)
            chain = tuple((bool(s["valid"]), s["passed"]) for s in states[first:])
            found.labels.append(labels[run])
            found.tasks.append(task)
            found.chains.append(chain[: most + 1])
    return Chains(found.labels, found.tasks, found.chains, dict(left.most_common()))
