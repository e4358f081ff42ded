"""A session as it grows from the lines of a file: drafts of messages, merged and matched."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.core.digests import digest_text
from benchmarks.core.problems import Unquoted
from benchmarks.core.types import Json, Speaker
from benchmarks.formats.messages import MOST_MESSAGES, first_words
from benchmarks.formats.sessions.parts import Parts, Result, string
from benchmarks.formats.source import Spot
from benchmarks.formats.trajectory import (
    NOT_STATED,
    ImportedMessage,
    ImportedTask,
    ImportedTrajectory,
    ToolCall,
    task_key,
)

LEFT_OUT = "left_out"


@dataclass
class Draft:
    """A message that later lines may still add to."""

    speaker: Speaker
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    call_id: str = ""
    name: str = ""
    at: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def add(self, parts: Parts) -> None:
        """Add the texts, thoughts, calls and attachments of a content."""
        self.texts += parts.texts
        self.thoughts += filter(None, parts.thoughts)
        self.calls += parts.calls
        if parts.attachments:
            self.extra.setdefault("attachments", []).extend(parts.attachments)
        if parts.encrypted:
            self.extra["encrypted"] = True

    @property
    def empty(self) -> bool:
        """Return whether there is nothing in it to be read."""
        if self.calls or "attachments" in self.extra or "encrypted" in self.extra:
            return False
        return not any(map(str.strip, (*self.texts, *self.thoughts)))

    def message(self) -> ImportedMessage:
        """Return the finished message."""
        return ImportedMessage(
            speaker=self.speaker,
            text="\n".join(self.texts),
            calls=tuple(self.calls),
            call_id=self.call_id,
            name=self.name,
            reasoning="\n".join(self.thoughts),
            at=self.at,
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
            cost=self.cost,
            extra=self.extra,
        )


class Transcript:
    """The messages of one session in their order.

    ``unstated`` are counts that the format cannot give; ``counts`` those that the file states.
    ``called`` are the names of called tools by the calls' ids, ``waiting`` the ids that have no
    result.
    """

    def __init__(self, id: str = "", unstated: Iterable[str] = ()) -> None:
        self.id, self.parent, self.model = id, "", ""
        self.drafts: list[Draft] = []
        self.counts: dict[str, Any] = dict.fromkeys(unstated)
        self.about: dict[str, Any] = {}
        self.tools: tuple[Json, ...] = ()
        self.scores: dict[str, float | None] = {}
        self.termination = ""
        self.task = ""
        self.called: dict[str, str] = {}
        self.waiting: dict[str, None] = {}
        self.answered: set[str] = set()
        self.by_id: dict[str, Draft] = {}

    def say(
        self,
        speaker: Speaker,
        parts: Parts,
        *,
        by_program: bool = False,
        at: str = "",
        **extra: Any,
    ) -> Draft:
        """Append a message; a program's, where ``by_program`` says so."""
        draft = Draft(speaker, at=at, extra=dict(extra))
        if by_program:
            draft.extra["by_program"] = True
        draft.add(parts)
        self.drafts.append(draft)
        return draft

    def agent(
        self, parts: Parts, *, id: str = "", at: str = "", join: bool = False, **extra: Any
    ) -> Draft:
        """Append what the agent wrote, or add it to the message that has this id already.

        Where it may ``join``, it is added to a message just before that holds thoughts only.
        """
        known = self.by_id.get(id) if id else None
        last = self.drafts[-1] if join and self.drafts else None
        if last is not None and last.speaker == "assistant" and not (last.texts or last.calls):
            known = last
        parts.calls = [call for call in parts.calls if self.takes(call)]
        if known is None:
            known = self.say("assistant", parts, at=at)
            if id:
                self.by_id[id] = known
        else:
            known.add(parts)
        known.extra.update(extra)
        for result in parts.results:
            self.result(result, at=at)
        return known

    def takes(self, call: ToolCall) -> bool:
        """Note a call; return False where one of this id is known.

        The ids of what the provider runs are apart from those of the agent's calls.
        """
        id = call.id if call.by == "agent" else f"\x1f{call.id}"
        if id in self.called:
            return False
        if call.id:
            self.called[id] = call.name
            if call.by == "agent":
                self.waiting[call.id] = None
        return True

    def result(self, result: Result, at: str = "", **extra: Any) -> Draft | None:
        """Append a tool's result; None where the call has one already."""
        if result.call_id in self.answered:
            return None
        if result.call_id:
            self.answered.add(result.call_id)
            self.waiting.pop(result.call_id, None)
        draft = Draft("tool", [result.text] if result.text else [], at=at, extra=dict(extra))
        draft.call_id, draft.name = (
            result.call_id,
            result.name or self.called.get(result.call_id, ""),
        )
        if result.failed is not None:
            draft.extra["failed"] = result.failed
        if result.hosted:
            draft.extra["hosted"] = True
        if result.attachments:
            draft.extra["attachments"] = result.attachments
        self.drafts.append(draft)
        return draft

    def add_tokens(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Count tokens of answers that hold no message."""
        for name, count in (("tokens_in", tokens_in), ("tokens_out", tokens_out)):
            if count:
                self.about[name] = self.about.get(name, 0) + count

    def messages(self) -> list[ImportedMessage]:
        """Return all messages that hold something."""
        return [d.message() for d in self.drafts if d.speaker == "tool" or not d.empty]

    def trajectory(self, spot: Spot, default_id: str = "") -> ImportedTrajectory | None:
        """Return the finished trajectory; a session in which no agent speaks is a fault."""
        return finished(self, self.messages(), spot, default_id)


def finished(
    transcript: Transcript,
    messages: Sequence[ImportedMessage],
    spot: Spot,
    default_id: str = "",
) -> ImportedTrajectory | None:
    """Return a trajectory of these messages with what is known of their session; none is made of
    too many messages, or of such without the agent's.
    """
    if len(messages) > MOST_MESSAGES:
        spot.fault(f"at most {MOST_MESSAGES} messages", Unquoted(f"{len(messages)}"))
        return None
    if not any(message.speaker == "assistant" for message in messages):
        spot.fault("at least one message of the agent", Unquoted("none"))
        return None
    counts = dict(transcript.counts)
    for name in ("tokens_in", "tokens_out"):
        apart = transcript.about.pop(name, 0)
        if apart and name not in counts:
            counts[name] = apart + sum(getattr(m, name) or 0 for m in messages)
    asked = [m for m in messages if m.speaker == "user" and not m.by_program]
    prompt = first_words(asked or messages)
    session = {
        "id": transcript.id or default_id,
        "parent": transcript.parent,
        "counts": counts,
    }
    scores = dict(transcript.scores) if transcript.scores else {"reward": None}
    times = [m.at for m in messages if m.at]
    return ImportedTrajectory(
        task=ImportedTask(
            id=task_key(transcript.task) if transcript.task else digest_text(prompt), prompt=prompt
        ),
        messages=tuple(messages),
        agent=transcript.model,
        scores=scores,
        undefined={name: NOT_STATED for name, value in scores.items() if value is None},
        termination=transcript.termination or "not_stated",
        started=times[0] if times else "",
        finished=times[-1] if times else "",
        tools=transcript.tools,
        metadata={
            "session": {name: value for name, value in session.items() if value not in ("", {})},
            **{name: value for name, value in transcript.about.items() if value not in (None, "")},
        },
    )


def leave_out(header: dict[str, Any], kind: str, count: int = 1) -> None:
    """Count a line or part that no message can hold, by its kind."""
    counts: Counter[str] | None = header.get(LEFT_OUT)
    if counts is None:
        counts = header[LEFT_OUT] = Counter()
    if len(counts) < 200 or kind in counts:
        counts[kind[:80]] += count


def tool_definitions(given: Any) -> tuple[Json, ...]:
    """Return the definitions of tools that a request holds."""
    return (
        tuple(tool for tool in given if isinstance(tool, dict)) if isinstance(given, list) else ()
    )


def as_system(transcript: Transcript, text: Any) -> None:
    """Append the system's instructions, where there are any: a text or a list of parts."""
    from_parts = text if isinstance(text, str | list) else ""
    parts = Parts(texts=[from_parts]) if isinstance(from_parts, str) else None
    if parts is None:
        parts = Parts(texts=[string(one.get("text")) for one in text if isinstance(one, dict)])
    if parts.text.strip():
        transcript.say("system", parts)
