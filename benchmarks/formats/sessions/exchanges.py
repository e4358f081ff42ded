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
    """Calls that go on from one another: all messages once.

    ``marks`` has a number for each compared message, which stands for it and all before it.
    """

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
        self.marks += _marks([*new, *call.reply], self.marks[-1] if self.marks else 0)
        self.model = call.model or self.model
        self.ending = call.ending or self.ending
        self.tools = max(self.tools, call.tools, key=len)
        self.calls += 1


class Chains:
    """The chains of the calls that were added, in the order in which they begin.

    A call goes on from a chain if it begins with all messages of it; system messages are not
    compared, because programs change them, and results are matched by their calls. Of several, it
    is the longest, and of these the one told last.
    """

    def __init__(self) -> None:
        self.all: list[Chain] = []
        self._by_response: dict[str, Chain] = {}
        self._by_call: dict[tuple[str, str], Chain] = {}
        self._by_mark: dict[tuple[str, int], dict[int, Chain]] = {}
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
        self._alike(chain).pop(id(chain), None)
        chain.add(call, new)
        self._alike(chain)[id(chain)] = chain
        self._kept += len(new) + len(call.reply)
        if self._kept > MOST_WAITING:
            call.spot.fault(f"at most {MOST_WAITING} messages in a log", Unquoted("more; split it"))
            return None
        if call.id:
            self._by_response[call.id] = chain
        for made in (one for message in call.reply for one in message.calls if one.id):
            self._by_call[call.group, made.id] = chain
        return chain

    def _alike(self, chain: Chain) -> dict[int, Chain]:
        """Return the chains whose compared messages are those of this one, the last told last."""
        return self._by_mark.setdefault((chain.group, chain.marks[-1] if chain.marks else 0), {})

    def _continued(self, call: Exchange) -> Chain | None:
        marks = _marks(call.told, 0)
        if not marks:  # it tells only the results of calls before it
            ids = [m.call_id for m in call.told if m.speaker == "tool" and m.call_id]
            return next((c for id in ids if (c := self._by_call.get((call.group, id)))), None)
        alike = (self._by_mark.get((call.group, mark)) for mark in reversed(marks))
        return next((next(reversed(chains.values())) for chains in alike if chains), None)


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


def _marks(messages: Sequence[ImportedMessage], mark: int) -> list[int]:
    """Return for each compared message a number that is the same where it is told again after the
    same messages; those before the first have ``mark``.
    """
    marks = []
    for m in filter(_compared, messages):
        calls = tuple((c.name, canonical_json(c.arguments)) for c in m.calls if c.by == "agent")
        mark = hash((mark, m.speaker, " ".join(m.text.split()), calls))
        marks.append(mark)
    return marks


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
