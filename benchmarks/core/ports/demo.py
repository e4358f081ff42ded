"""The demo port: tasks of our own writing for the demo, and the runs of scripts on them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.core.candidates import CandidateRow
from benchmarks.core.ports.importer import TaskFile, TaskWithProfiles
from benchmarks.core.types import Json


@dataclass(frozen=True)
class DemoRuns:
    """Runs of scripted agents on all tasks of a demo dataset, under one condition.

    They are found again by their ``title``, so a title is never changed.
    """

    title: str
    agents: tuple[str, ...]
    level: str = ""
    settings: Json = field(default_factory=dict)
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class DemoRejudging:
    """Scripted judges look again at the trajectories of some agents on every nth task."""

    title: str
    roles: Mapping[str, Sequence[str]]
    settings: Json
    agents: tuple[str, ...]
    level: str
    nth_task: int = 1


@dataclass(frozen=True)
class DemoDataset:
    """A dataset that ships with the product; ``candidates`` returns its rows for filter checks.

    ``rated``: how many plans of each agent simulated people rate, drawn at random, in a study of
    its own.
    """

    name: str
    load: Callable[[], TaskFile]
    runs: tuple[DemoRuns, ...] = ()
    rejudging: DemoRejudging | None = None
    candidates: Callable[[Iterable[TaskWithProfiles]], Iterable[CandidateRow]] | None = None
    rated: int = 0
