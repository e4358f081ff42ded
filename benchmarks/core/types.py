"""The values that protocols, answerers, the driver and the store hand to each other.

All are frozen; ``payload``, ``context`` and ``params`` hold JSON values only, so that every one of
them can be stored and read back unchanged.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from benchmarks.core.digests import digest

Json = Mapping[str, Any]
Speaker = Literal["system", "user", "assistant", "tool"]
ReplyState = Literal["answered", "unreadable", "declined"]


@dataclass(frozen=True)
class Constraint:
    """A hidden condition of a profile; ``about`` names the tool or attribute that it restricts."""

    key: str
    kind: str
    text: str
    about: str = ""


@dataclass(frozen=True)
class Candidate:
    """A constraint that was proposed for a task, and what a checker decided about it.

    ``round`` is the round of construction, 1 to 6, or None where nobody knows it; ``decision`` is
    ``kept``, ``removed``, or None where nothing was decided. ``payload`` is for those who made it;
    pages show of it only how a constructed candidate came about.
    """

    key: str
    kind: str
    text: str
    round: int | None = None
    decision: str | None = None
    reason: str = ""
    decided_by: str = ""
    payload: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Profile:
    """Hidden conditions of a task at one level."""

    level: str
    constraints: tuple[Constraint, ...]

    def of_kind(self, kind: str) -> tuple[Constraint, ...]:
        return tuple(c for c in self.constraints if c.kind == kind)


@dataclass(frozen=True)
class Task:
    """One task as an episode sees it, together with the profile it is played under.

    ``shared`` is what all tasks of a dataset have in common and none should carry alone, such as a
    catalogue of tools. It belongs to the dataset's version, and nobody may change it.
    """

    id: str
    prompt: str
    category: str = ""
    payload: Json = field(default_factory=dict)
    profile: Profile | None = None
    shared: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Message:
    """One message of a dialogue. ``tool_calls`` and ``tool_call_id`` follow the chat format."""

    speaker: Speaker
    text: str
    tool_calls: tuple[Json, ...] = ()
    tool_call_id: str = ""

    @cached_property
    def digest(self) -> str:
        return digest([self.speaker, self.text, list(self.tool_calls), self.tool_call_id])


@dataclass(frozen=True)
class Expect:
    """The shape of reply that an ask needs: a parser of the system, and its parameters.

    ``kind`` also names the form that a person gets who answers in place of a model. A protocol that
    needs other sampling than the answerer's own (several different plans, say) says so in
    ``params["sampling"]``; who does not sample takes no notice. With ``params["continuation"]``
    the reply is how probable that text is (``benchmarks.llm.scoring``).
    """

    kind: str
    params: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Ask:
    """A question to whoever fills ``role`` (at ``seat``, where several share a role).

    ``context`` says in structured form what ``messages`` say in prose, for answerers that do not
    read prose and for the pages of people. It must hold nothing that the role may not know. It is
    no part of the digest, because it adds nothing to what is asked.
    """

    role: str
    messages: tuple[Message, ...]
    expect: Expect
    seat: str = ""
    tools: tuple[Json, ...] = ()
    context: Json = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        return digest(
            [
                self.role,
                self.seat,
                [message.digest for message in self.messages],
                self.expect.kind,
                self.expect.params,
                list(self.tools),
            ]
        )


@dataclass(frozen=True)
class Reply:
    """The reply to an ask: a parsed value, or the reason why there is none.

    ``unreadable``: every allowed attempt failed to parse. ``declined``: the answerer has nothing
    to say (a pool ran dry, a machine timed out); ``reason`` starts with a stable code.
    ``step`` and ``slot`` find the exchange in the log.
    """

    state: ReplyState
    value: Any = None
    text: str = ""
    reason: str = ""
    step: int = -1
    slot: int = -1

    @property
    def readable(self) -> bool:
        return self.state == "answered"


@dataclass(frozen=True)
class Violation:
    """A constraint that a turn violated, and what the agent could know of it."""

    key: str
    kind: str
    text: str
    revealed: bool
    new: bool
    repeated: bool


@dataclass(frozen=True)
class Score:
    """One judge's score of a turn on one dimension; ``value`` None means unscored, ``reason`` why.

    ``step`` and ``slot`` name the exchange in which it was given; ``replicate`` counts from 1 how
    often the judge was asked the same.
    """

    seat: str
    dimension: str
    value: float | None
    reason: str = ""
    step: int = -1
    slot: int = -1
    replicate: int = 1


@dataclass(frozen=True)
class Turn:
    """One finished turn, numbered from 1. It is derived from replies, never a source of its own."""

    index: int
    text: str
    feedback: str = ""
    payload: Json = field(default_factory=dict)
    violations: tuple[Violation, ...] = ()
    scores: tuple[Score, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The end of an episode. A metric that is None is undefined; ``undefined`` says why."""

    termination: str
    metrics: Mapping[str, float | None]
    undefined: Mapping[str, str] = field(default_factory=dict)
    payload: Json = field(default_factory=dict)


Batch = Sequence[Ask]
Episode = Generator[Batch | Turn, Sequence[Reply] | None, Outcome]
