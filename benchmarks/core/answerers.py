"""The answerer port, which language models, scripts, recordings, machines and people fill."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

from benchmarks.core.digests import digest
from benchmarks.core.errors import AnswererFailed
from benchmarks.core.types import Ask, Json

Kind = Literal["scripted", "recorded", "endpoint", "machine", "human"]


@dataclass(frozen=True)
class Identity:
    """The answerer, precisely enough to ask again: kind, name, version and parameters."""

    kind: Kind
    name: str
    version: str
    parameters: Json = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        return digest([self.kind, self.name, self.version, self.parameters])


@dataclass(frozen=True)
class Answer:
    """A reply as received. ``declined`` is a code and a sentence when there is no answer to give.

    ``latency`` is in seconds, ``cost`` in the currency of the endpoint's price list; ``finish`` is
    an endpoint's word for why the reply ended (``stop``, ``length``, ``content_filter``);
    ``tries`` counts how often the ask was sent, refusals that cost nothing included.
    """

    text: str
    declined: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    latency: float | None = None
    reasoning: str = ""
    model_reported: str = ""
    finish: str = ""
    tries: int = 1


class Answerer(Protocol):
    """A function of the ask and a seed that keeps nothing between calls.

    Chance that has to last for a whole episode (a lapse that stays forgotten) cannot come from the
    seed, which is another one at every call: the protocol draws a number at the start and puts it
    into the context of its asks.

    ``instant`` answerers do not wait for anything and are called in line; the others of a batch
    are called concurrently.
    """

    @property
    def identity(self) -> Identity: ...

    @property
    def instant(self) -> bool: ...

    def answer(self, ask: Ask, seed: int) -> Answer: ...


@runtime_checkable
class Priced(Protocol):
    """An answerer whose answers cost money."""

    def most(self, ask: Ask, seed: int) -> float | None:
        """Return the most that one answer can cost; None where nobody can tell."""


def most_cost(answerer: Answerer, ask: Ask, seed: int) -> float | None:
    """Return the most that an answer can cost: 0 where answers are free, None where nobody can
    tell.
    """
    return answerer.most(ask, seed) if isinstance(answerer, Priced) else 0.0


@dataclass(frozen=True)
class Scripted:
    """An answerer that follows a rule: the embedded stand-in that needs no key."""

    name: str
    version: str
    rule: Callable[[Ask, int], Answer]
    parameters: Json = field(default_factory=dict)
    kind: Kind = "scripted"
    instant: bool = True

    @cached_property
    def identity(self) -> Identity:
        return Identity(self.kind, self.name, self.version, self.parameters)

    def answer(self, ask: Ask, seed: int) -> Answer:
        return self.rule(ask, seed)


@dataclass(frozen=True)
class Recorded:
    """Replies that were given before, found by the digest of the ask.

    A recording that does not know an ask fails loudly: a guess would pass for a record.
    """

    name: str
    version: str
    replies: Mapping[str, Answer]
    instant: bool = True

    @cached_property
    def identity(self) -> Identity:
        return Identity("recorded", self.name, self.version)

    def answer(self, ask: Ask, seed: int) -> Answer:
        try:
            return self.replies[ask.digest]
        except KeyError:
            raise AnswererFailed(
                f"recording {self.name!r} holds no reply to this ask of role {ask.role!r}"
            ) from None


@dataclass(frozen=True)
class Human:
    """A person: never called. The driver leaves an open ask, and the posted reply resumes."""

    name: str = "person"
    instant: bool = False

    @cached_property
    def identity(self) -> Identity:
        return Identity("human", self.name, "1")

    def answer(self, ask: Ask, seed: int) -> Answer:
        raise AnswererFailed("a person answers through an open ask, not through a call")


@dataclass(frozen=True)
class Cast:
    """The answerers of all roles; roles with several seats list one answerer per seat."""

    roles: Mapping[str, Mapping[str, Answerer]]

    def answerer_of(self, ask: Ask) -> Answerer:
        try:
            return self.roles[ask.role][ask.seat]
        except KeyError:
            where = f"role {ask.role!r}" + (f", seat {ask.seat!r}" if ask.seat else "")
            raise AnswererFailed(f"nobody fills {where} in this run") from None


def person(value: Any) -> bool:
    """Return whether an answerer is a person, whose reply must be waited for."""
    return isinstance(value, Human)
