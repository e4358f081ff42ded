"""Plans that were made elsewhere, scored with AdaPlanBench's rubric.

Nobody knows their hidden conditions, so no judge can look for violations; what their files state
as results stays as it is.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.system import Rejudging, Role, Setting, Stored
from benchmarks.core.types import Episode, Outcome, Task
from benchmarks.systems.adaplanbench.rejudging import SCORING, AdaPlanJudging
from benchmarks.systems.external.metrics import summarise


class ImportedJudging(AdaPlanJudging):
    """Rubric judges over imported texts."""

    title = "Made elsewhere"
    roles: tuple[Role, ...] = tuple(
        role for role in AdaPlanJudging.roles if role.name == "rubric_judge"
    )
    settings: tuple[Setting, ...] = SCORING

    def rejudge(
        self, task: Task, stored: Stored, settings: Mapping[str, Any], rng: random.Random
    ) -> Episode:
        yield from super().rejudge(task, stored, settings, rng)
        return Outcome(stored.outcome.termination, stored.outcome.metrics, stored.outcome.undefined)

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        return summarise(outcomes)


REJUDGING: Rejudging = ImportedJudging()
