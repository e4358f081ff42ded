"""Requests to a model that repeat their history, put together where they go on from one another."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from benchmarks.core.digests import canonical_json
from benchmarks.core.problems import Unquoted
from benchmarks.core.types import Json
from benchmarks.formats.source import Spot
from benchmarks.formats.trajectory import ImportedMessage

MOST_WAITING = 200_000


@dataclass
class Exchange:
    """One call of a model: what it was told, and its reply with times, tokens and cost.

    A call goes on from calls of its ``group`` only. One that names a ``previous`` response tells
    only what is new.
    """

    spot: Spot
    told: Sequence[ImportedMessage]
    reply: Sequence[ImportedMessage]
    id: str = ""
    previous: str = ""
    model: str = ""
    tools: tuple[Json, ...] = ()
    ending: str = ""
    group: str = ""


@dataclass
class Chain:
    """Calls that go on from one another: all messages once, each marked for comparison."""

    spot: Spot
    group: str = ""
    id: str = ""
    model: str = ""
    ending: str = ""
    tools: tuple[Json, ...] = ()
    calls: int = 0
    messages: list[ImportedMessage] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)

    def add(self, call: Exchange, new: Sequence[ImportedMessage]) -> None:
        """Append what the call tells anew, and its reply."""
        self.messages += [*new, *call.reply]
        self.marks += _marks([*new, *call.reply])
        self.model = call.model or self.model
        self.ending = call.ending or self.ending
        self.tools = max(self.tools, call.tools, key=len)
        self.calls += 1


class Chains:
    """The chains of the calls that were added, in the order in which they begin.

    A call goes on from a chain if it begins with all messages of it; system messages are not
    compared, because programs change them, and results are matched by their calls.
    """

    def __init__(self) -> None:
        self.all: list[Chain] = []
        self._by_response: dict[str, Chain] = {}
        self._by_call: dict[tuple[str, str], Chain] = {}
        self._by_start: dict[tuple[str, int], list[Chain]] = {}
        self._kept = 0

    def add(self, call: Exchange) -> Chain | None:
        """Add a call to the chain that it goes on from, or to a new one."""
        chain = self._by_response.get(call.previous) if call.previous else None
        new = list(call.told)
        if chain is None:
            chain = self._continued(call)
            if chain is not None:
                new = _after(call.told, chain)
        if chain is None:
            chain = Chain(call.spot, call.group, call.id)
            self.all.append(chain)
        known = len(chain.marks)
        chain.add(call, new)
        self._kept += len(new) + len(call.reply)
        if self._kept > MOST_WAITING:
            call.spot.fault(f"at most {MOST_WAITING} messages in a log", Unquoted("more; split it"))
            return None
        if known == 0 and chain.marks:
            self._by_start.setdefault((call.group, chain.marks[0]), []).append(chain)
        if call.id:
            self._by_response[call.id] = chain
        for id in (one.id for message in call.reply for one in message.calls if one.id):
            self._by_call[call.group, id] = chain
        return chain

    def _continued(self, call: Exchange) -> Chain | None:
        marks = _marks(call.told)
        if not marks:  # it tells only the results of calls before it
            ids = [m.call_id for m in call.told if m.speaker == "tool" and m.call_id]
            return next((c for id in ids if (c := self._by_call.get((call.group, id)))), None)
        for chain in reversed(self._by_start.get((call.group, marks[0]), ())):
            if marks[: len(chain.marks)] == chain.marks:
                return chain
        return None


def _compared(message: ImportedMessage) -> bool:
    """Return whether a message is compared: not a result, which some tell after its call and others
    after all calls, and no thoughts alone, which many leave out.
    """
    return message.speaker == "user" or (message.speaker == "assistant" and message.speaks)


def _after(told: Sequence[ImportedMessage], chain: Chain) -> list[ImportedMessage]:
    """Return the messages that are not in the chain yet: results, and all after its last one."""
    known = len(chain.marks)
    results = Counter(_result(m) for m in chain.messages if m.speaker == "tool")
    new = []
    for message in told:
        if message.speaker == "tool":
            results[_result(message)] -= 1
            if results[_result(message)] < 0:
                new.append(message)
        elif known:
            known -= _compared(message)
        elif message.speaker != "system":
            new.append(message)
    return new


def _result(message: ImportedMessage) -> tuple[str, str]:
    return (message.call_id, "" if message.call_id else message.text)


def _marks(messages: Sequence[ImportedMessage]) -> list[int]:
    """Return for each message what it has in common with itself when it is told again."""
    return [
        hash((
            m.speaker,
            " ".join(m.text.split()),
            tuple((c.name, canonical_json(c.arguments)) for c in m.calls if c.by == "agent"),
        ))
        for m in messages
        if _compared(m)
    ]  # fmt: skip


def with_figures(
    reply: Sequence[ImportedMessage],
    *,
    at: str = "",
    tokens_in: int | None = None,
    tokens_out: int | None = None,
    cost: float | None = None,
) -> list[ImportedMessage]:
    """Return a reply whose last message of the agent has the call's time, tokens and cost."""
    messages = list(reply)
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].speaker == "assistant":
            messages[place] = replace(
                messages[place], at=at or messages[place].at, tokens_in=tokens_in,
                tokens_out=tokens_out, cost=cost,
            )  # fmt: skip
            break
    return messages
