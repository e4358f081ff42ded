"""Imported trajectories: nothing can run them, but they have labels and judges as a system has."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.system import RecordedTrajectory, Rejudging, Role, Setting, System
from benchmarks.core.types import Episode, Outcome, Task
from benchmarks.formats.trajectory import NOT_STATED
from benchmarks.systems.adaplanbench.rejudging import SCORING, AdaPlanJudging
from benchmarks.systems.external.labels import LABELS, MEASURES


def summarise(outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
    """Compute means over a run with their denominators; what states nothing is left out and
    counted.
    """
    names = [*MEASURES]
    for outcome in outcomes:
        names += [name for name in outcome.metrics if name not in names]
    return {
        "trajectories": len(outcomes),
        "metrics": {name: _mean(name, outcomes) for name in names},
        "terminations": dict(Counter(outcome.termination for outcome in outcomes)),
    }


def _mean(name: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    values = [o.metrics[name] for o in outcomes if o.metrics.get(name) is not None]
    known = [value for value in values if value is not None]
    excluded = Counter(
        outcome.undefined.get(name, NOT_STATED)
        for outcome in outcomes
        if outcome.metrics.get(name) is None
    )
    return {
        "value": sum(known) / len(known) if known else None,
        "n": len(known),
        "excluded": dict(excluded),
    }


class ImportedJudging(AdaPlanJudging):
    """Scores plans that were made elsewhere with AdaPlanBench's rubric.

    Nobody knows their hidden conditions, so no judge can look for violations; what their files
    state as results stays as it is.
    """

    title = "Made elsewhere"
    roles: tuple[Role, ...] = tuple(
        role for role in AdaPlanJudging.roles if role.name == "rubric_judge"
    )
    settings: tuple[Setting, ...] = SCORING

    def rejudge(
        self,
        task: Task,
        stored: RecordedTrajectory,
        settings: Mapping[str, Any],
        rng: random.Random,
    ) -> Episode:
        yield from super().rejudge(task, stored, settings, rng)
        return Outcome(stored.outcome.termination, stored.outcome.metrics, stored.outcome.undefined)

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        return summarise(outcomes)


REJUDGING: Rejudging = ImportedJudging()


class External(System):
    """The ports of a system that imported trajectories fill."""

    key = "external"
    title = "Made elsewhere"
    labels = LABELS
    rejudging: Rejudging | None = REJUDGING

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        return summarise(outcomes)


SYSTEM = External()
