"""The display port: views that a system computes from stored values for its templates.

A template of a system asks for one of its views by name: ``{% display "planbench_xl.graph"
trajectory step as graph %}``. A trajectory or task reaches the view as a ``Subject``, every other
argument as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from benchmarks.core.types import Json, Task

T = TypeVar("T")
View = Callable[..., Any]


@dataclass(frozen=True)
class Subject:
    """The subject of a page: a task and, where it was played, how.

    Parameters
    ----------
    settings
        The run's settings; empty for a task alone.
    roles
        Who fills each role of the run: its role assignments as they are stored.
    read_turns
        Reads the stored turns in order as (index, payload).
    """

    task: Task
    settings: Json = field(default_factory=dict)
    roles: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    read_turns: Callable[[], Sequence[tuple[int, Json]]] = tuple
    _made: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what ``make`` returns, computed once for a page: every turn's card asks for it."""
        if name not in self._made:
            self._made[name] = make()
        value: T = self._made[name]
        return value
