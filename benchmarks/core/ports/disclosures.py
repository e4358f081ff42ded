"""The disclosures port: what an agent was told during an episode, and whether it kept to it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.core.types import Json


class ViolatedThen(NamedTuple):
    """A violated constraint of a turn; ``revealed`` and ``repeated`` as the protocol says."""

    key: str
    kind: str
    text: str
    revealed: bool
    repeated: bool


class TurnRecord(NamedTuple):
    """What a turn stored: the parts of its payload that the port names, and its violations."""

    number: int
    parts: Json
    violations: Sequence[ViolatedThen] = ()


class Disclosure(NamedTuple):
    """Something that the agent was told after turn ``told``.

    ``text`` says what it is in the words of the task. ``broken`` is the first later turn that goes
    against it; None where no turn does. ``left_out`` says why it cannot be followed, if it cannot.
    """

    text: str
    kind: str
    told: int
    broken: int | None = None
    left_out: str = ""


@dataclass(frozen=True)
class Disclosures:
    """How a system's trajectories show whether an agent keeps what it was told.

    ``noun`` names what is disclosed ("constraint"), ``verb`` how an agent learns of it
    ("disclosed"), ``broken`` what a later turn does with it ("violated again"), ``turn`` what a
    turn is ("plan"). ``kinds`` are titles of its kinds by key, where there are several. ``read``
    takes the turns of one trajectory, ascending, with those parts of their payloads that
    ``turn_parts`` name (None where a turn lacks one); without any, the turns with violations alone.
    ``early`` are endings that cut a trajectory
    short, so that nothing more can be broken.
    """

    noun: str
    verb: str
    broken: str
    turn: str
    read: Callable[[Sequence[TurnRecord]], Iterable[Disclosure]]
    turn_parts: tuple[str, ...] = ()
    kinds: tuple[tuple[str, str], ...] = ()
    early: frozenset[str] = frozenset()
