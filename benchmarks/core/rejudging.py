"""Judging anew: what a system offers to have judges look at stored turns once more.

A system says so in a module ``rejudging`` of its folder, which exposes one instance as
``REJUDGING``. It is cast and carried as a system is, but its roles are those of judges alone, its
settings say how they are asked, and its episode plays nothing: the turns are there.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.core.errors import CoreError
from benchmarks.core.registry import EXTERNAL, get_system
from benchmarks.core.system import System
from benchmarks.core.types import Episode, Json, Outcome, Task, Turn
from benchmarks.core.words import system_part

# The metric of imported trajectories that says how often they act instead of writing.
TOOL_CALLS = "tool_calls"


class NotJudgedAnew(CoreError):
    """A system of which nobody can judge stored trajectories; the text says why."""


@dataclass(frozen=True)
class Stored:
    """A trajectory as it is stored: its turns in order, how it ended, and the run's settings.

    ``turns`` have the violations that were found while it was played; their scores are left out.
    """

    turns: tuple[Turn, ...]
    outcome: Outcome
    settings: Json


class Rejudging(System, Protocol):
    """How the judges of a system look at stored trajectories."""

    def rejudge(
        self, task: Task, stored: Stored, settings: Mapping[str, Any], rng: random.Random
    ) -> Episode:
        """Ask judges about turns that are stored; nobody else is asked.

        Each turn that was looked at is yielded under its stored index, without text, with scores
        and, in its payload, what else was found. The outcome is that of the stored trajectory with
        those metrics changed that follow from what the judges now say.
        """

    def calls_per_turn(
        self, played: Mapping[str, Any], settings: Mapping[str, Any]
    ) -> Mapping[str, int]:
        """How many replies each role gives about a turn at most; ``played``: the stored run's."""

    def one_ask(
        self, task: Task, stored: Stored, index: int, role: str, settings: Mapping[str, Any]
    ) -> Any:
        """The ask of a role about one turn, to be tried; None where there is nothing to ask."""


def find_rejudging(key: str) -> Rejudging | None:
    """How stored trajectories of a system are judged anew; None where nobody can."""
    found: Rejudging | None = getattr(system_part(key, "rejudging"), "REJUDGING", None)
    return found


def rejudging_of(key: str) -> Rejudging:
    """The same, or ``NotJudgedAnew``."""
    found = find_rejudging(key)
    if found is None:
        title = "what was made elsewhere" if key == EXTERNAL else get_system(key).title
        raise NotJudgedAnew(
            f"trajectories of {title} cannot be judged anew: no judge scores their turns"
        )
    return found
