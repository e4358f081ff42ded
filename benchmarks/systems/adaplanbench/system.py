"""AdaPlanBench, assembled."""

import random
from collections.abc import Mapping
from typing import Any

from benchmarks.core.ports.importer import Importer
from benchmarks.core.ports.published import Published
from benchmarks.core.system import Rejudging, Setting
from benchmarks.core.types import Episode, Task
from benchmarks.systems.adaplanbench import episode
from benchmarks.systems.adaplanbench.base import AdaPlanBenchBase
from benchmarks.systems.adaplanbench.demo_datasets import DEMO
from benchmarks.systems.adaplanbench.display import DISPLAYS
from benchmarks.systems.adaplanbench.importer import IMPORTER
from benchmarks.systems.adaplanbench.people import PEOPLE
from benchmarks.systems.adaplanbench.protocol import SETTINGS
from benchmarks.systems.adaplanbench.published import COMPARABILITY, PAPER, PRESETS, PUBLISHED
from benchmarks.systems.adaplanbench.rejudging import REJUDGING
from benchmarks.systems.adaplanbench.validity import VALIDITY


class AdaPlanBench(AdaPlanBenchBase):
    """Adaptive planning under hidden world and user constraints."""

    settings: tuple[Setting, ...] = SETTINGS
    published: tuple[Published, ...] = PUBLISHED
    paper = PAPER
    presets = PRESETS
    comparability = COMPARABILITY
    importer: Importer | None = IMPORTER
    people = PEOPLE
    displays = DISPLAYS
    demo = DEMO
    rejudging: Rejudging | None = REJUDGING
    validity = VALIDITY

    def seats(self, role: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
        off = {"world_only": "user_judge", "user_only": "world_judge"}
        if off.get(settings["constraints"]) == role:
            return ()
        if role == "rubric_judge":
            return tuple(str(n) for n in range(1, settings["rubric_judges"] + 1))
        return ("",)

    def episode(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
        return episode.episode(task, settings, rng)


SYSTEM = AdaPlanBench()
