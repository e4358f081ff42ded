"""Playing roles live: which places a system offers, and what whoever sits there sees.

A system says so in a module ``live`` of its folder: ``MODES`` are the ways in which people can take
part, ``DIALOGUES`` map kinds of reply to what has been said, as far as the context of an ask tells
it to that role. A system without the module can be played all the same, one role at a time, and
shows the messages of the ask.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.core.registry import get_system
from benchmarks.core.types import Json
from benchmarks.core.words import system_part


@dataclass(frozen=True)
class Place:
    """A place at the table: the roles that one person fills together."""

    title: str
    roles: tuple[str, ...]


@dataclass(frozen=True)
class Mode:
    """One way in which people take part. Results of different modes are never pooled.

    ``suggests`` are roles of which a script or model answers beside the person, without deciding.
    ``advice`` is for those who make sessions, ``about`` for everybody. ``settings`` are offered in
    place of the protocol's usual ones, by name and as text.
    """

    key: str
    title: str
    about: str
    places: tuple[Place, ...]
    suggests: tuple[str, ...] = ()
    advice: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def roles(self) -> frozenset[str]:
        """All roles that people fill."""
        return frozenset(role for place in self.places for role in place.roles)


@dataclass(frozen=True)
class Line:
    """One thing that was said, in its order: by whom in a word, and of which turn (0: before any).

    ``plan``: it is a plan of the agent, which pages compare with the one before.
    """

    speaker: str
    text: str
    turn: int = 0
    plan: bool = False


Dialogue = Callable[[Json], Sequence[Line]]


@dataclass(frozen=True)
class Story:
    """What all players are told of an episode when it is over, and ``roles`` while it is played.

    ``tell`` makes it of the query, of text and feedback of the finished turns, and of the agent's
    newest text where its turn is not finished (else empty).
    """

    roles: frozenset[str]
    tell: Callable[[str, Sequence[tuple[str, str]], str], Sequence[Line]]


def modes_of(key: str) -> tuple[Mode, ...]:
    """The modes of a system: its own, or one for each role."""
    own: tuple[Mode, ...] = getattr(system_part(key, "live"), "MODES", ())
    return own or tuple(
        Mode(role.name, role.title, "", (Place(role.title, (role.name,)),))
        for role in get_system(key).roles
    )


def story_of(key: str) -> Story | None:
    """How a system tells of a whole episode; None where it does not."""
    found: Story | None = getattr(system_part(key, "live"), "STORY", None)
    return found


def dialogue_of(key: str, kind: str) -> Dialogue | None:
    """What was said before a reply of this kind, as the system tells it; None where it does not."""
    found: Mapping[str, Dialogue] = getattr(system_part(key, "live"), "DIALOGUES", {})
    return found.get(kind)
