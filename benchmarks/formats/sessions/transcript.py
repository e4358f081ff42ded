"""A session as it grows from the lines of a file: messages, merged and matched."""

from collections import Counter
from collections.abc import Iterable, Sequence
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


class Transcript:
    """The messages of one session in their order.

    ``unstated`` are counts that the format cannot give; ``counts`` those that the file states.
    ``called`` are the names of called tools by the calls' ids, ``waiting`` the ids that have no
    result.
    """

    def __init__(self, id: str = "", unstated: Iterable[str] = ()) -> None:
        self.id, self.parent, self.model = id, "", ""
        self.said: list[ImportedMessage] = []
        # Contents of the agent's messages by place; those of ``grown`` have become more since.
        self.contents: dict[int, Parts] = {}
        self.grown: set[int] = set()
        self.counts: dict[str, Any] = dict.fromkeys(unstated)
        self.about: dict[str, Any] = {}
        self.tools: tuple[Json, ...] = ()
        self.scores: dict[str, float | None] = {}
        self.termination = ""
        self.task = ""
        self.called: dict[str, str] = {}
        self.waiting: dict[str, None] = {}
        self.answered: set[str] = set()
        self.by_id: dict[str, int] = {}

    def say(
        self,
        speaker: Speaker,
        parts: Parts,
        *,
        by_program: bool = False,
        at: str = "",
        **extra: Any,
    ) -> ImportedMessage:
        """Append a message; a program's, where ``by_program`` says so."""
        if by_program:
            extra["by_program"] = True
        message = _message(speaker, at, extra)
        _fill_in(message, parts)
        self.said.append(message)
        return message

    def agent(
        self,
        parts: Parts,
        *,
        id: str = "",
        at: str = "",
        join: bool = False,
        to_last: bool = False,
        **extra: Any,
    ) -> ImportedMessage:
        """Append what the agent wrote, or add it to the message that has this id already.

        Where it may ``join``, it is added to a message just before that holds thoughts only; with
        ``to_last`` to any message of the agent just before.
        """
        if parts.calls:
            parts.calls = [call for call in parts.calls if self.takes(call)]
        place = self.by_id.get(id) if id else None
        last = self.contents.get(len(self.said) - 1) if join or to_last else None
        if last is not None and (to_last or not (last.texts or last.calls)):
            place = len(self.said) - 1
        if place is None:
            place = len(self.said)
            self.say("assistant", parts, at=at)
            self.contents[place] = parts
            if id:
                self.by_id[id] = place
        else:
            self.contents[place].add(parts)
            self.grown.add(place)
        message = self.said[place]
        if extra:
            message.extra |= extra
        for result in parts.results:
            self.result(result, at=at)
        return message

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

    def result(self, result: Result, at: str = "", **extra: Any) -> ImportedMessage | None:
        """Append a tool's result; None where the call has one already."""
        id = result.call_id
        if id in self.answered:
            return None
        if id:
            self.answered.add(id)
            self.waiting.pop(id, None)
        if result.failed is not None:
            extra["failed"] = result.failed
        if result.hosted:
            extra["hosted"] = True
        if result.attachments:
            extra["attachments"] = result.attachments
        name = result.name or self.called.get(id, "")
        message = _message("tool", at, extra, result.text, id, name)
        self.said.append(message)
        return message

    def add_tokens(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Count tokens of answers that hold no message."""
        for name, count in (("tokens_in", tokens_in), ("tokens_out", tokens_out)):
            if count:
                self.about[name] = self.about.get(name, 0) + count

    def messages(self) -> list[ImportedMessage]:
        """Return all messages that hold something."""
        for place in self.grown:
            _fill_in(self.said[place], self.contents[place])
        return [message for message in self.said if message.speaker == "tool" or _holds(message)]

    def trajectory(self, spot: Spot, default_id: str = "") -> ImportedTrajectory | None:
        """Return the finished trajectory; a session in which no agent speaks is a fault."""
        return finished(self, self.messages(), spot, default_id)


def _message(
    speaker: Speaker,
    at: str,
    extra: dict[str, Any],
    text: str = "",
    call_id: str = "",
    name: str = "",
) -> ImportedMessage:
    # By place, which takes half the time.
    return ImportedMessage(speaker, text, (), call_id, name, False, "", at, None, None, None, extra)


def _fill_in(message: ImportedMessage, parts: Parts) -> None:
    """Give a message its texts, thoughts, calls and attachments."""
    message.text, message.reasoning = parts.text, parts.reasoning
    message.calls = tuple(parts.calls)
    if parts.attachments:
        message.extra["attachments"] = parts.attachments
    if parts.encrypted:
        message.extra["encrypted"] = True


def _holds(message: ImportedMessage) -> bool:
    """Return whether there is something in it to be read."""
    return (
        message.speaks
        or bool(message.reasoning.strip())
        or "attachments" in message.extra
        or "encrypted" in message.extra
    )


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
    if isinstance(text, list):
        text = "\n".join(string(one.get("text")) for one in text if isinstance(one, dict))
    if isinstance(text, str) and text.strip():
        transcript.say("system", Parts([text]))
