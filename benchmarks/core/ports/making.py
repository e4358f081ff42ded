"""The making port: runs of a construction system make the tasks of another system.

No agent is tried in such runs; what they produce becomes a dataset.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from benchmarks.core.types import Candidate, Json, Outcome, Profile, Task


@dataclass(frozen=True)
class ConstructedTask:
    """A constructed task with its profiles, and every candidate with what was decided about it."""

    task: Task
    profiles: tuple[Profile, ...]
    candidates: tuple[Candidate, ...]

    @property
    def content(self) -> list[Any]:
        """The content as JSON values, by which two of them can be told apart."""
        return [
            self.task.id,
            self.task.prompt,
            self.task.category,
            dict(self.task.payload),
            [[p.level, [asdict(c) for c in p.constraints]] for p in self.profiles],
            [asdict(candidate) for candidate in self.candidates],
        ]


class Making(Protocol):
    """The port by which the outcomes of a construction become tasks.

    ``system`` is the one that plays them, ``termination`` that of outcomes that made a task, and
    ``left_out`` that of those that properly made none. ``checker`` is the role that decides about
    candidates, ``proposing`` those whose replies hold plans.
    """

    system: str
    termination: str
    left_out: str
    checker: str
    proposing: tuple[str, ...]

    def made_task(
        self, problem: Task, outcome: Outcome, proposed: Sequence[Any], decided_by: str
    ) -> ConstructedTask:
        """Return the task that came of a problem; ``proposed``: the read replies of
        ``proposing``.
        """

    def fitting_roles(self, made: Iterable[ConstructedTask]) -> Mapping[str, Sequence[str]]:
        """Return who fills roles on these tasks where a run does not say otherwise."""

    def calls(self, settings: Json) -> Mapping[str, int]:
        """Return how often each role is asked about one problem that passes, when all can be
        read.
        """
