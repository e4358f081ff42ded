"""Imported trajectories: nothing can run them, but they have labels and judges as a system has."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.system import Rejudging, System
from benchmarks.core.types import Outcome
from benchmarks.systems.external import metrics
from benchmarks.systems.external.labels import LABELS
from benchmarks.systems.external.rejudging import REJUDGING


class External(System):
    """What imported trajectories fill of a system's ports."""

    key = "external"
    title = "Made elsewhere"
    labels = LABELS
    rejudging: Rejudging | None = REJUDGING

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        return metrics.summarise(outcomes)


SYSTEM = External()
